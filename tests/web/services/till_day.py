"""A day of a till: each operation of the POS service once, with the requests of the OpenAPI document's examples.

The examples are recorded from a demo, after `POST /api/v1/CouponTypes` with the type below:
`python -m tests.web.services.till_day URL TOKEN >src/promenade/web/services/pos_examples.json`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import httpx2

__all__ = ["COUPON_TYPE", "play"]

COUPON_TYPE: Mapping[str, Any] = {
    "code": "SORRY-5",
    "name": "Sorry for the queue",
    "status": "ACTIVE",
    "codeType": "INDIVIDUAL",
}
"""What coupons are issued of."""
Call = Callable[[str, Any], Any]
"""Sends a body to a path below /pos, or without one reads it; returns the answer, which has succeeded."""

_TRANSACTION, _CUSTOMER = "0042-20260302-0815", "C-1001"


def play(call: Call, pos_group: str) -> dict[str, dict[str, Any]]:
    """Return operation -> ``request``, if it has a body, and ``answer``."""
    day: dict[str, dict[str, Any]] = {}

    def send(operation: str, path: str, request: Any = None) -> Any:
        answer = call(path, request)
        day[operation] = {} if request is None else {"request": request}
        day[operation]["answer"] = answer
        return answer

    send("heartbeat", "/heartbeat")
    article = {"articleNumber": "A-9001", "name": "Tea towel", "basePrice": "4.99", "currency": "EUR"}
    send("importArticles", "/articles/import", {"articles": [article]})
    send("importArticlesBatch", "/articles/import-batch", {"name": "Evening", "articles": [article]})
    _sell(send, pos_group)
    _use_coupons(send)
    send("loyalty", f"/v2/customers/{_CUSTOMER}/loyalty")
    return day


def _sell(send: Callable[..., Any], pos_group: str) -> None:
    basket = {
        "posGroupCode": pos_group,
        "header": {"transactionId": _TRANSACTION},
        "customer": {"customerId": _CUSTOMER},
        "items": [{"articleNumber": "100078", "quantity": "2", "unitPrice": "8.69"}],
    }
    send("simulate", "/v2/simulate", {"request": basket})
    asked = {"posGroupCode": pos_group, "items": [{"articleNumber": "A-9001"}, {"articleNumber": "100078"}]}
    send("prices", "/v2/prices", {"request": asked})
    priced = send("evaluate", "/v2/evaluate", {"request": basket})
    counter = priced["meta"]["header"]["transactionCounter"]
    iteration = f"/v2/transactions/{_TRANSACTION}/{counter}"
    send("iteration", iteration)
    sale = {
        "header": {"transactionId": _TRANSACTION, "transactionCounter": counter, "receiptId": "R-815"},
        "transactionId": _TRANSACTION,
        "appliedPromotions": [],
    }
    send("confirm", "/v2/confirm", {"request": sale})
    send("sideEffects", f"{iteration}/side-effects")
    send("transaction", f"/v2/transactions/{_TRANSACTION}")
    undone = {"transactionId": _TRANSACTION, "transactionCounter": counter, "reason": "Card refused"}
    send("cancel", "/v2/cancel", undone)


def _use_coupons(send: Callable[..., Any]) -> None:
    order = {"couponTypeName": COUPON_TYPE["name"], "customerId": _CUSTOMER, "reason": "Checkout down"}
    code = send("issueCoupons", "/coupons/issue", order)["issuedCoupons"][0]["code"]
    send("activateCoupon", "/coupons/activate", {"code": code, "customerId": _CUSTOMER})
    send("validateCoupon", "/coupons/validate", {"code": code, "customerId": _CUSTOMER})
    held = {"code": code, "transactionId": "0042-20260302-0816", "customerId": _CUSTOMER}
    first = send("reserveCoupon", "/coupons/reserve", held)["reservationId"]
    send("cancelCoupon", "/coupons/cancel", {"reservationId": first})
    reservation = send("reserveCoupon", "/coupons/reserve", held)["reservationId"]
    redeemed = {"reservationId": reservation, "transactionId": held["transactionId"]}
    send("redeemCoupon", "/coupons/redeem", redeemed)


def _main(url: str, token: str) -> None:
    with httpx2.Client(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=30) as till:

        def call(path: str, body: Any) -> Any:
            address = f"/pos{path}"
            answer = till.get(address) if body is None else till.post(address, json=body)
            return answer.raise_for_status().json()

        day = play(call, "DE-HAM")
    waiting = {name: value for name, value in day["sideEffects"]["answer"].items() if name != "startedAt"}
    day["requeueSideEffects"] = {"answer": waiting | {"status": "PENDING"}}
    lines = [f"{json.dumps(name)}: {json.dumps(one, ensure_ascii=False)}" for name, one in day.items()]
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    _main(*sys.argv[1:])
