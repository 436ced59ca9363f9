"""CouponAnalytics: the codes of coupon types by state."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from promenade.workflows.clockwork.coupon_counts import count
from promenade.workflows.reports import coupons
from tests.workflows.reports.money.books import exported, read_report, report
from tests.workflows.shop import NOON, Shop, identity

TOTALS = ("issued", "active", "reserved", "redeemed", "expired", "cancelled", "created", "pooled")
LATER = NOON + timedelta(days=40)
PARTS = ((NOON - timedelta(days=1), LATER), (LATER, NOON + timedelta(days=100)))


async def codes(shop: Shop, kind: str, number: int, status: str, **columns: Any) -> None:
    for place in range(number):
        await shop.coupon(f"{kind}-{status}-{len(columns)}-{place}", kind, **{"status": status, **columns})


async def totals(shop: Shop, kind: str) -> dict[str, int]:
    """Return the nonzero totals of a type."""
    row = await report(shop, "CouponAnalytics", coupon_type_id=kind)
    return {name: value for name in TOTALS if (value := getattr(row, f"total_{name}"))}


async def all_kinds(shop: Shop) -> None:
    """Create a type with 13 codes: 3 in the pool, 9 issued, and one that was spent from a leaflet."""
    await shop.coupon_type("ten", code_type="INDIVIDUAL")
    await codes(shop, "ten", 3, "ACTIVE")
    for number, status in ((1, "CREATED"), (2, "ACTIVE"), (1, "RESERVED"), (3, "REDEEMED"), (1, "EXPIRED")):
        await codes(shop, "ten", number, status, issued_at=NOON)
    await codes(shop, "ten", 1, "CANCELLED", issued_at=LATER)
    await codes(shop, "ten", 1, "REDEEMED")


async def test_codes_are_counted_by_their_state(shop: Shop) -> None:
    await all_kinds(shop)
    await shop.coupon_type("none", code_type="INDIVIDUAL")
    assert await totals(shop, "ten") == {}
    assert (await count(shop.context, None)).done == 2
    assert await totals(shop, "none") == {}
    assert (await report(shop, "CouponAnalytics", coupon_type_id="none")).redemption_rate is None
    assert (await count(shop.context, None)).done == 0  # nothing has changed, so nothing is written
    counted = {"issued": 10, "active": 5, "reserved": 1, "redeemed": 4, "expired": 1, "cancelled": 1, "created": 1}
    assert await totals(shop, "ten") == {**counted, "pooled": 3}
    row = await report(shop, "CouponAnalytics", coupon_type_id="ten")
    assert (row.coupon_type_name, row.code_type, row.redemption_rate) == ("ten", "INDIVIDUAL", 40)
    await codes(shop, "ten", 5, "REDEEMED", issued_at=LATER, redemption_count=1)
    await count(shop.context, None)
    assert (await report(shop, "CouponAnalytics", coupon_type_id="ten")).redemption_rate == 60


async def test_many_codes_are_counted_by_the_index_to_the_same(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    await all_kinds(shop)
    await shop.coupon_type("agency", code_type="INDIVIDUAL")
    await codes(shop, "agency", 4, "ACTIVE", source="EXTERNAL")
    await codes(shop, "agency", 1, "REDEEMED", source="EXTERNAL")
    await count(shop.context, None)
    before = [tuple(row) for row in await read_report(shop, "CouponAnalytics")]
    assert await totals(shop, "agency") == {"issued": 5, "active": 4, "redeemed": 1}
    assert (await report(shop, "CouponAnalytics", coupon_type_id="agency")).redemption_rate == 20
    monkeypatch.setattr(coupons, "FEW_CODES", 0)
    await count(shop.context, None)
    assert [tuple(row) for row in await read_report(shop, "CouponAnalytics")] == before
    await codes(shop, "agency", 2, "CANCELLED", source="EXTERNAL")
    await shop.put("ImportJobs", entity="CouponCodes", source="BULK_IMPORT", status="SUCCEEDED", completed_at=NOON,
                   total_rows=2)  # fmt: skip
    await codes(shop, "ten", 2, "CREATED", issued_at=LATER, redemption_count=0)
    await count(shop.context, None)
    assert await totals(shop, "agency") == {"issued": 7, "active": 4, "redeemed": 1, "cancelled": 2}
    assert (await totals(shop, "ten"))["created"] == 3


async def test_a_shared_code_counts_its_uses(shop: Shop) -> None:
    await shop.coupon_type("spring", code_type="GENERIC", generic_code="SPRING")
    kind = identity("spring")
    await shop.put("coupon_usage", coupon_type_id=kind, customer_id="", count=6)
    await shop.put("coupon_usage", coupon_type_id=kind, customer_id="C1", count=4)
    for place in range(8):
        at = NOON + timedelta(days=10 * place)
        await shop.put("RedemptionLogs", coupon_type_id=kind, action="ISSUED" if place else "REDEEMED", occurred_at=at)
        claim = {"coupon_code_id": kind, "slot": place, "coupon_type_id": kind, "origin": "cloud"}
        await shop.put("coupon_claims", **claim, transaction_id=f"T{place}", transaction_counter=1, claimed_at=at)
        held = {"state": "HELD", "reserved_at": at, "reserved_until": NOON + timedelta(minutes=place)}
        await shop.put("coupon_reservations", coupon_type_id=kind, transaction_id=f"H{place}", **held)
    shop.later(minutes=5)
    await count(shop.context, None)
    assert await totals(shop, "spring") == {"issued": 7, "reserved": 2, "redeemed": 6}
    assert (await report(shop, "CouponAnalytics", coupon_type_id="spring")).redemption_rate == Decimal("85.71")
    (row,) = await exported(shop, "couponAnalytics", NOON, NOON + timedelta(days=30))
    assert (row["totalIssued"], row["totalRedeemed"], row["totalReserved"], row["redemptionRate"]) == (2, 3, 0, 150)
    # The parts of all time are what the report counts.
    whole = [await exported(shop, "couponAnalytics", *part) for part in PARTS]
    sums = {name: sum(row[f"total{name.capitalize()}"] for (row,) in whole) for name in ("issued", "reserved")}
    assert sums == {"issued": 7, "reserved": 2}


async def test_a_run_continues_where_the_previous_one_stopped(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        await shop.coupon_type(name, code_type="INDIVIDUAL")
    monkeypatch.setattr(coupons, "TYPES_MAX", 1)
    monkeypatch.setattr("promenade.workflows.clockwork.paced.RUN_SECONDS", 1e-9)
    cursor: str | None = None
    done = 0
    for _ in range(12):
        ran = await count(shop.context, cursor)
        done, cursor = done + ran.done, ran.cursor
    assert done <= 3
    monkeypatch.undo()
    assert done + (await count(shop.context, cursor)).done + (await count(shop.context, None)).done == 3


async def test_an_export_has_the_coupons_issued_in_its_period(shop: Shop) -> None:
    await all_kinds(shop)
    await shop.coupon_type("agency", code_type="INDIVIDUAL")
    await codes(shop, "agency", 4, "ACTIVE", source="EXTERNAL", created_at=LATER)
    await shop.put("CouponTypePromotions", coupon_type_id=identity("agency"), promotion_id=identity("off"))
    await shop.put("BudgetPromotions", budget_id=identity("marketing"), promotion_id=identity("off"))
    await shop.put("Stakeholders", id=identity("brand"), code="B", name="B", type="BRAND", is_active=True)
    share = {"budget_id": identity("marketing"), "stakeholder_id": identity("brand"), "share_percentage": Decimal(10)}
    await shop.put("BudgetStakeholders", **share)
    await count(shop.context, None)

    def shown(rows: list[dict[str, Any]]) -> dict[str, tuple[Any, ...]]:
        return {row["couponTypeName"]: tuple(row.values())[2:] for row in rows}

    month = await exported(shop, "couponAnalytics", NOON, LATER)
    # The code from a leaflet counts from its creation, which was also at noon.
    assert shown(month) == {
        "ten": (9, 2, 1, 4, 1, 0, Decimal("44.44")),
        "agency": (0, 0, 0, 0, 0, 0, None),
    }
    rest = await exported(shop, "couponAnalytics", LATER, LATER + timedelta(days=1))
    assert shown(rest) == {"ten": (1, 0, 0, 0, 0, 1, 0), "agency": (4, 4, 0, 0, 0, 0, 0)}
    of_promotion = await exported(shop, "couponAnalytics", NOON, LATER, promotion_id="off")
    of_stakeholder = await exported(shop, "couponAnalytics", NOON, LATER, stakeholder_id="brand")
    assert list(shown(of_promotion)) == list(shown(of_stakeholder)) == ["agency"]
    assert not await exported(shop, "couponAnalytics", NOON, LATER, promotion_id="saver")
