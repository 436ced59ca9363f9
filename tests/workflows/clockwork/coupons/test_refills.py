"""Low pools are refilled, by one order at a time."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete

from promenade.errors import Invalid
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.workflows.clockwork.coupons import refill
from tests.workflows.authoring.desk import Desk
from tests.workflows.clockwork.coupons.ageing import beside, put_codes, run_out
from tests.workflows.shop import NOON, TENANT, Shop, identity


@pytest.fixture
async def shop(shop: Shop) -> Shop:
    await shop.coupon_type("gift")
    return shop


async def schedule(shop: Shop, kind: str = "gift", **columns: Any) -> None:
    given = {
        "id": identity(f"schedule of {kind}"),
        "coupon_type_id": identity(kind),
        "minimum_pool_size": 10,
        "refill_quantity": 50,
        "interval_minutes": 60,
        "is_active": True,
    }
    await shop.put("CouponRefillSchedules", **given | columns)


async def last_run(shop: Shop, kind: str = "gift") -> Any:
    return (await shop.row("CouponRefillSchedules", f"schedule of {kind}")).last_run_at


async def look(shop: Shop) -> list[Any]:
    """Run the clockwork job for the schedules; return the resulting batches."""
    await run_out(refill, shop)
    return list(await shop.rows("CouponCodeBatches"))


async def test_a_low_pool_is_refilled(shop: Shop) -> None:
    await schedule(shop)
    await put_codes(shop, 9)
    (batch,) = await look(shop)
    assert (batch.coupon_type_id, batch.quantity, batch.status) == (identity("gift"), 50, "QUEUED")
    assert (batch.name, batch.created_by) == ("Refill", "system")
    assert await last_run(shop) == NOON
    (audit,) = await shop.rows("AuditLogs")
    assert (audit.actor, audit.action, audit.entity_id) == ("system", "CREATE", batch.id)
    await shop.work()
    assert len(await shop.rows("CouponCodes")) == 59
    shop.later(hours=1)
    assert len(await look(shop)) == 1


@pytest.mark.parametrize(
    ("columns", "is_enough"),
    [
        ({}, True),
        ({"source": "EXTERNAL"}, False),
        ({"issued_at": NOON}, False),
        ({"status": "CANCELLED"}, False),
        ({"valid_until": NOON}, False),
        ({"valid_until": NOON + timedelta(minutes=1)}, True),
    ],
)
async def test_only_codes_that_can_be_issued_count_as_the_pool(
    shop: Shop, columns: dict[str, Any], is_enough: bool
) -> None:
    await schedule(shop)
    await put_codes(shop, 10, **columns)
    assert (await look(shop) == []) is is_enough
    assert await last_run(shop) == NOON


async def test_a_pool_is_checked_once_per_interval(shop: Shop) -> None:
    await schedule(shop)
    await put_codes(shop, 10)
    assert await look(shop) == []
    await shop.context.database.write(clear_pool, tenant=shop.tenant)
    shop.now[0] = NOON + timedelta(minutes=60) - timedelta(microseconds=1)
    assert await look(shop) == []
    shop.now[0] = NOON + timedelta(minutes=60)
    assert len(await look(shop)) == 1


async def clear_pool(session: Session) -> None:
    await session.rowcount(delete(table("CouponCodes")))


async def test_a_missed_check_of_a_pool_is_caught_up_once(shop: Shop) -> None:
    await schedule(shop, last_run_at=NOON)
    shop.later(days=3)
    assert len(await look(shop)) == 1
    assert await last_run(shop) == shop.now[0]


async def test_a_clock_set_back_does_not_delay_a_refill(shop: Shop) -> None:
    await schedule(shop, last_run_at=NOON + timedelta(hours=12))
    assert len(await look(shop)) == 1
    assert await last_run(shop) == NOON


@pytest.mark.parametrize("status", ["QUEUED", "RUNNING", "COMPLETED", "FAILED"])
async def test_a_refill_waits_for_the_running_batch(shop: Shop, status: str) -> None:
    await schedule(shop)
    await shop.put("CouponCodeBatches", coupon_type_id=identity("gift"), quantity=5, status=status)
    assert len(await look(shop)) == (1 if status in ("QUEUED", "RUNNING") else 2)


async def test_only_types_whose_codes_can_be_issued_are_filled(shop: Shop) -> None:
    await shop.coupon_type("off", status="INACTIVE")
    await shop.coupon_type("ended", valid_to=NOON)
    await shop.coupon_type("shared", code_type="GENERIC", generic_code="ALL")
    for kind in ("off", "ended", "shared"):
        await schedule(shop, kind)
    await schedule(shop, "gift", is_active=False)
    assert await look(shop) == []
    assert {await last_run(shop, kind) for kind in ("off", "ended", "shared")} == {NOON}
    assert await last_run(shop) is None


async def test_concurrent_workers_order_one_refill(shop: Shop, database_url: str) -> None:
    kinds = [f"kind-{number}" for number in range(8)]
    for kind in kinds:
        await shop.coupon_type(kind)
        await schedule(shop, kind)
    async with beside(shop, database_url) as shops:
        await asyncio.gather(*(run_out(refill, one) for one in shops for _ in range(3)))
    ordered = [row.coupon_type_id for row in await shop.rows("CouponCodeBatches")]
    assert sorted(ordered) == sorted(map(identity, kinds))


async def test_an_invalid_refill_schedule_is_refused(shop: Shop) -> None:
    desk = Desk(shop.context.database, TENANT)
    given = {"couponType_ID": identity("gift"), "minimumPoolSize": 5, "refillQuantity": 1_000_000, "intervalMinutes": 1}
    row = await desk.create("CouponRefillSchedules", **given)
    for changes in ({"refillQuantity": 1_000_001}, {"minimumPoolSize": 1_000_001}):
        with pytest.raises(Invalid) as caught:
            await desk.update("CouponRefillSchedules", row, **changes)
        assert (caught.value.code, caught.value.target) == ("OUT_OF_RANGE", next(iter(changes)))
    await shop.coupon_type("shared", code_type="GENERIC", generic_code="ALL")
    with pytest.raises(Invalid) as caught:
        await desk.create("CouponRefillSchedules", **given | {"couponType_ID": identity("shared")})
    assert (caught.value.code, caught.value.target) == ("INDIVIDUAL_ONLY", "couponType_ID")
