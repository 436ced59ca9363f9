"""The retailer's data for the week: budgets, codes, limits and points."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.web.replica.link.chain import OPENED
from tests.web.replica.link.shelf import BERLIN, identity, offer

__all__ = ["BUDGET", "COUPON_TYPE", "Sale", "code", "rows", "sales"]

BUDGET, COUPON_TYPE = identity(0xF1), identity(0xF2)
CHARGED, BY_COUPON, LIMITED, POINTS = 1, 2, 3, 4  # promotions
COUPON_EVERY = 20
CUSTOMERS = 40


@dataclass(frozen=True, slots=True)
class Sale:
    """A basket that a customer brings to a till."""

    transaction_id: str
    items: tuple[tuple[str, int], ...]  # article, pieces at 10.00
    coupon: str | None
    customer: str | None

    def basket(self) -> dict[str, Any]:
        """Return the basket as the till sends it."""
        lines = [{"articleNumber": article, "quantity": pieces, "unitPrice": 10.0} for article, pieces in self.items]
        request: dict[str, Any] = {
            "posGroupCode": "BERLIN",
            "items": lines,
            "header": {"transactionId": self.transaction_id},
        }
        if self.coupon is not None:
            request["coupons"] = [{"code": self.coupon}]
        if self.customer is not None:
            request["customer"] = {"customerId": self.customer}
        return {"request": request}


def code(number: int) -> str:
    return f"CODE-{number:06}"


def rows(number: int) -> dict[str, list[dict[str, Any]]]:
    """Return the rows for a week with this many sales.

    There is half of the budget that they could spend, and a code for everyone who presents one.
    """
    codes = number // COUPON_EVERY + 2
    made: dict[str, list[dict[str, Any]]] = {
        "PosGroups": [{"ID": BERLIN, "code": "BERLIN", "name": "Berlin", "currency": "EUR"}],
        "CouponTypes": [{"ID": COUPON_TYPE, "code": "HALF", "name": "Half", "status": "ACTIVE"}],
        "Budgets": [
            {"ID": BUDGET, "code": "WEEK", "name": "The week's", "status": "ACTIVE", "currency": "EUR",
             "totalAmount": max(number // 4, 4)}
        ],
        "CouponCodes": [
            {"ID": identity(0xF3, one), "couponType_ID": COUPON_TYPE, "code": code(one),
             "status": "ACTIVE", "issuedAt": OPENED}
            for one in range(codes)
        ],
        "LoyaltyActions": [
            {"ID": identity(0xF4), "promotion_ID": identity(0xB, POINTS), "actionType": "ADD_FIXED", "points": 5}
        ],
    }  # fmt: skip
    limit = {"maxApplicationsTotal": max(number // 8, 4)}
    for at, article, percent, members in (
        (CHARGED, "A-1", 10, {}),
        (BY_COUPON, "A-2", 50, {}),
        (LIMITED, "A-3", 30, limit),
    ):
        for set_name, of_set in offer(at, article, percent, **members).items():
            made.setdefault(set_name, []).extend(of_set)
    made["Promotions"].append(
        {"ID": identity(0xB, POINTS), "code": "P4", "name": "Points for A-4", "status": "ACTIVE", "type": "LOYALTY"}
    )
    made["Conditions"].append(
        {"ID": identity(0xC, POINTS), "promotion_ID": identity(0xB, POINTS), "sequence": 1, "conditionType": "ARTICLE",
         "articleNumber": "A-4"}
    )  # fmt: skip
    made["BudgetPromotions"] = [{"ID": identity(0xF5), "budget_ID": BUDGET, "promotion_ID": identity(0xB, CHARGED)}]
    made["CouponTypePromotions"] = [
        {"ID": identity(0xF6), "couponType_ID": COUPON_TYPE, "promotion_ID": identity(0xB, BY_COUPON)}
    ]
    # Referenced rows come first.
    order = ("PosGroups", "CouponTypes", "Budgets", "Promotions", "Conditions", "DiscountActions", "LoyaltyActions",
             "BudgetPromotions", "CouponTypePromotions", "CouponCodes")  # fmt: skip
    return {name: made[name] for name in order}


def sales(number: int, branch: int, draw: random.Random) -> Iterator[Sale]:
    """Return the sales of one store; both stores use the same transaction numbers. Each code is presented in both."""
    for one in range(number):
        items = tuple((f"A-{at}", draw.randint(1, 3)) for at in (1, 2, 3, 4) if draw.random() < 0.5) or (("A-1", 1),)
        coupon = None
        if one % (COUPON_EVERY // 2) == branch:
            coupon = code(one * 2 // COUPON_EVERY)
            items = (("A-2", 1), *(item for item in items if item[0] != "A-2"))
        customer = f"customer-{draw.randrange(CUSTOMERS)}" if draw.random() < 0.7 else None
        yield Sale(f"T-{one:06}", items, coupon, customer)
