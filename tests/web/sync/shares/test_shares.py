"""`/sync/budget-grants` and `/sync/coupon-leases` as a store and a till use them (interface decisions, Sync)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.web.sync.shares.conftest import (
    BUDGET,
    COUPONS,
    LIMITED,
    NORTH,
    PROMOTION,
    SOUTH,
    THEIR_BUDGET,
    THEIRS,
    Link,
)


def test_a_budget_is_granted_once_for_each_key_and_given_back(link: Link) -> None:
    first = link.ask("budget-grants", key="one", budgetId=BUDGET, amount="12.34")
    assert (first["granted"], first["currency"]) == ("12.340", "EUR") or Decimal(first["granted"]) == Decimal("12.34")
    ends = datetime.fromisoformat(first["expiresAt"])
    assert timedelta(days=13) < ends - datetime.now(UTC) < timedelta(days=14, minutes=1)
    assert link.ask("budget-grants", key="one", budgetId=BUDGET, amount=12.34) == first
    assert Decimal(link.ask("budget-grants", budgetId=BUDGET, amount=0)["outstanding"]) == Decimal("12.34")
    back = link.ask("budget-grants", key="two", budgetId=BUDGET, amount=-100)
    assert (Decimal(back["granted"]), Decimal(back["outstanding"])) == (Decimal("-12.34"), Decimal(0))
    assert Decimal(link.ask("budget-grants", budgetId=BUDGET)["granted"]) == 250
    part = link.ask("budget-grants", budgetId=BUDGET, amount="-0.009")
    assert (part["granted"], part["outstanding"]) == ("0.00", "250.000")  # fractions of a cent are not returned
    link.ask("budget-grants", budgetId=BUDGET, amount=-1000)


def test_a_code_that_a_store_holds_is_refused_at_a_till_until_it_comes_back(link: Link) -> None:
    code = link.code()
    leased = link.ask("coupon-leases", codes=[code, "NO-SUCH", code])
    assert [one["code"] for one in leased["leased"]] == [code]
    assert leased["leased"][0]["couponTypeId"] == COUPONS
    assert leased["refused"] == [{"code": "NO-SUCH", "reason": "UNKNOWN_CODE"}]
    till = link.shop.call("/pos/coupons/validate", {"code": code})
    assert till.json()["reason"] == "RESERVED_ELSEWHERE"
    other = link.ask("coupon-leases", deploymentId=SOUTH, codes=[code])
    assert other["refused"] == [{"code": code, "reason": "RESERVED_ELSEWHERE"}]
    # A release that arrives after the code was leased anew changes nothing.
    link.ask("coupon-leases", release=[code], expiresAt="2026-01-01T00:00:00Z")
    assert link.shop.call("/pos/coupons/validate", {"code": code}).json()["valid"] is False
    link.ask("coupon-leases", release=[code], expiresAt=leased["expiresAt"])
    assert link.shop.call("/pos/coupons/validate", {"code": code}).json()["valid"] is True


def test_uses_and_codes_to_issue_are_leased_by_their_type(link: Link) -> None:
    given = link.ask("coupon-leases", key="uses", couponTypeId=LIMITED, quantity=7)
    assert (given["leased"], given["refused"], given["outstanding"]) == (7, [], 7)
    assert link.ask("coupon-leases", key="uses", couponTypeId=LIMITED, quantity=7) == given
    assert link.ask("coupon-leases", promotionId=PROMOTION, quantity=3)["leased"] == 3
    pool = link.ask("coupon-leases", key="pool", couponTypeId=COUPONS, quantity=2)
    assert [one["issuedAt"] for one in pool["leased"]] == [None, None]
    assert link.ask("coupon-leases", key="pool", couponTypeId=COUPONS, quantity=2)["leased"] == pool["leased"]
    link.ask("coupon-leases", release=[one["code"] for one in pool["leased"]])


@pytest.mark.parametrize(
    ("what", "body", "status", "code"),
    [
        ("budget-grants", {"budgetId": BUDGET, "amount": "NaN"}, 400, "NOT_A_NUMBER"),
        ("budget-grants", {"budgetId": BUDGET, "amount": "sNaN"}, 400, "NOT_A_NUMBER"),
        ("budget-grants", {"budgetId": BUDGET, "amount": "1_000"}, 400, "NOT_A_NUMBER"),
        ("budget-grants", {"budgetId": BUDGET, "amount": 1e400}, 400, None),
        ("budget-grants", {"budgetId": BUDGET, "amount": 10**14}, 400, "OUT_OF_RANGE"),
        ("budget-grants", {"budgetId": BUDGET, "amount": "0.0001"}, 400, "TOO_MANY_DECIMALS"),
        ("budget-grants", {"budgetId": BUDGET, "amount": [1]}, 400, None),
        ("budget-grants", {"budgetId": "b", "amount": 1}, 400, "NOT_A_UUID"),
        ("budget-grants", {"amount": 1}, 400, "REQUIRED"),
        ("budget-grants", {"deploymentId": None, "budgetId": BUDGET}, 400, None),
        ("budget-grants", {"budgetId": THEIR_BUDGET, "amount": 1}, 404, "BUDGET_NOT_FOUND"),
        ("budget-grants", {"deploymentId": THEIRS, "budgetId": BUDGET}, 404, "DEPLOYMENT_NOT_FOUND"),
        ("coupon-leases", {}, 400, "ONE_OF_SEVERAL"),
        ("coupon-leases", {"codes": ["A"], "release": ["B"]}, 400, "ONE_OF_SEVERAL"),
        ("coupon-leases", {"codes": ["A"] * 101}, 400, "TOO_LONG"),
        ("coupon-leases", {"codes": [""]}, 400, "EMPTY"),
        ("coupon-leases", {"codes": ["A" * 65]}, 400, "TOO_LONG"),
        ("coupon-leases", {"codes": [1]}, 400, "WRONG_TYPE"),
        ("coupon-leases", {"codes": ["\0"]}, 400, "NUL_CHARACTER"),
        ("coupon-leases", {"release": ["A", "A\0"]}, 400, "NUL_CHARACTER"),
        ("coupon-leases", {"release": ["A"], "expiresAt": "2026-01-01T00:00:00"}, 400, None),
        ("coupon-leases", {"couponTypeId": COUPONS, "purpose": "ISSUE", "quantity": 0}, 400, "OUT_OF_RANGE"),
        ("coupon-leases", {"couponTypeId": COUPONS, "purpose": "ISSUE"}, 400, "OUT_OF_RANGE"),
        ("coupon-leases", {"couponTypeId": LIMITED, "purpose": "ISSUE", "quantity": 1}, 409, "NOT_INDIVIDUAL"),
        ("coupon-leases", {"couponTypeId": LIMITED, "quantity": 10**7}, 400, "OUT_OF_RANGE"),
        ("coupon-leases", {"couponTypeId": NORTH, "quantity": 1}, 404, "COUPON_TYPE_NOT_FOUND"),
        ("coupon-leases", {"promotionId": NORTH, "quantity": 1}, 404, "PROMOTION_NOT_FOUND"),
        ("coupon-leases", {"deploymentId": THEIRS, "codes": ["A"]}, 404, "DEPLOYMENT_NOT_FOUND"),
        ("coupon-leases", {"deploymentId": THEIRS, "release": []}, 404, "DEPLOYMENT_NOT_FOUND"),
    ],
)
def test_every_field_of_a_share_request_is_validated(
    link: Link, what: str, body: dict[str, Any], status: int, code: str | None
) -> None:
    answer = link.post(what, **{"deploymentId": NORTH, **body})
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert code in (None, error["code"], *(one["code"] for one in error.get("details", ()))), answer.text


def test_idempotency_keys_and_scopes_are_validated(link: Link) -> None:
    for key in ("x" * 65, "x" * 200):
        answer = link.post("budget-grants", key=key, deploymentId=NORTH, budgetId=BUDGET, amount=0)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "INVALID_KEY")
    for what in ("budget-grants", "coupon-leases"):
        assert link.post(what, client="till", deploymentId=NORTH).status_code == 403
        assert link.shop.http.post(f"/sync/{what}", json={}).status_code == 401
        assert link.shop.call(f"/sync/{what}", b"[]", client="store").status_code == 400


@pytest.mark.parametrize(
    ("what", "body", "back", "held"),
    [
        ("budget-grants", {"budgetId": BUDGET, "amount": 5}, {"amount": -100}, f"Budgets({BUDGET})"),
        ("coupon-leases", {"couponTypeId": LIMITED, "quantity": 2}, {"quantity": -100}, f"CouponTypes({LIMITED})"),
        ("coupon-leases", {"promotionId": PROMOTION, "quantity": 2}, {"quantity": -100}, f"Promotions({PROMOTION})"),
    ],
    ids=["budget", "coupon type", "promotion"],
)
def test_budgets_and_codes_held_by_stores_cannot_be_deleted(
    link: Link, what: str, body: dict[str, Any], back: dict[str, Any], held: str
) -> None:
    """Otherwise the stores' spending could never be booked."""
    link.ask(what, **body)
    sent = {"authorization": f"Bearer {link.shop.token('author')}"}
    public = link.shop.http.delete(f"/api/v1/{held}", headers=sent)
    assert (public.status_code, public.json()["code"]) == (409, "HELD_BY_STORES")
    admin = link.shop.http.delete(
        f"/admin/{held.replace(')', ',IsActiveEntity=true)').replace('(', '(ID=')}", headers=sent
    )
    assert (admin.status_code, admin.json()["error"]["code"]) == (409, "HELD_BY_STORES")
    link.ask(what, **body | back)
    assert link.shop.http.delete(f"/api/v1/{held}", headers=sent).status_code == 204
