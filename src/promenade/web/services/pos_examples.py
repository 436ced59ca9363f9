"""Requests of tills as examples in the OpenAPI document: a test sends each of them to the service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_BASKET: Mapping[str, Any] = {
    "posGroupCode": "DE-HAM",
    "header": {"transactionId": "0042-20260302-0815"},
    "customer": {"customerId": "C-1001"},
    "items": [{"articleNumber": "100078", "quantity": 2, "unitPrice": 8.69}],
}

POS_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "evaluate": {"request": _BASKET},
    "simulate": {"request": _BASKET},
    "confirm": {
        "request": {
            "header": {"transactionId": "0042-20260302-0815", "transactionCounter": 1, "receiptId": "R-815"},
            "transactionId": "0042-20260302-0815",
            "appliedPromotions": [],
        }
    },
    "cancel": {"transactionId": "0042-20260302-0815", "transactionCounter": 1, "reason": "Card refused"},
    "validateCoupon": {"code": "WELCOME10", "customerId": "C-1001"},
}
"""By the name of the operation; in the order in which a till sends them."""
