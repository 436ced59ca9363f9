"""What a store sells in the recording and in the tests: a budget, a limit and coupons, each with its promotion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.web.replica.link.chain import OPENED
from tests.web.replica.link.shelf import BERLIN, identity, offer

__all__ = ["ALL_SALES", "BUDGET", "BY_COUPON", "CANCELLED", "CODES", "LIMITED", "SHELF", "TILL_TRANSACTION", "Sale"]

BUDGET, COUPON_TYPE = identity(0xF1), identity(0xF2)
CHARGED, BY_COUPON, LIMITED = 1, 2, 3  # numbers of promotions
CODES = ("CODE-1", "CODE-2")  # the first for a sale, the second for a till that redeems it without one
TILL_TRANSACTION = "PEER-TILL"


@dataclass(frozen=True, slots=True)
class Sale:
    """A basket of one article at 10.00, and what the customer pays, worked out by hand."""

    transaction_id: str
    article: str
    pays: str
    promotion: int
    coupon: str | None = None


ALL_SALES = (
    Sale("PEER-1", "A-1", "9.00", CHARGED),
    Sale("PEER-2", "A-2", "5.00", BY_COUPON, CODES[0]),
    Sale("PEER-3", "A-3", "7.00", LIMITED),
    Sale("PEER-4", "A-1", "9.00", CHARGED),
)
CANCELLED = ALL_SALES[3]


def _shelf() -> dict[str, list[dict[str, Any]]]:
    made: dict[str, list[dict[str, Any]]] = {
        "PosGroups": [{"ID": BERLIN, "code": "BERLIN", "name": "Berlin", "currency": "EUR"}],
        "Articles": [{"ID": identity(0xE, 1), "articleNumber": "A-1", "name": "Apple"}],
        "CouponTypes": [{"ID": COUPON_TYPE, "code": "HALF", "name": "Half", "status": "ACTIVE"}],
        "Budgets": [
            {"ID": BUDGET, "code": "B", "name": "B", "status": "ACTIVE", "currency": "EUR", "totalAmount": 1000}
        ],
    }
    for number, article, percent, members in (
        (CHARGED, "A-1", 10, {}),
        (BY_COUPON, "A-2", 50, {}),
        (LIMITED, "A-3", 30, {"maxApplicationsTotal": 1000}),
    ):
        for set_name, rows in offer(number, article, percent, **members).items():
            made.setdefault(set_name, []).extend(rows)
    made["BudgetPromotions"] = [{"ID": identity(0xF5), "budget_ID": BUDGET, "promotion_ID": identity(0xB, CHARGED)}]
    made["CouponTypePromotions"] = [
        {"ID": identity(0xF6), "couponType_ID": COUPON_TYPE, "promotion_ID": identity(0xB, BY_COUPON)}
    ]
    made["CouponCodes"] = [
        {"ID": identity(0xF3, number), "couponType_ID": COUPON_TYPE, "code": code, "status": "ACTIVE",
         "issuedAt": OPENED}
        for number, code in enumerate(CODES)
    ]  # fmt: skip
    return made


SHELF = _shelf()
"""Rows by wire names; referenced rows come first."""
