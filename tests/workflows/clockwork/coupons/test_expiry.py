"""Expired codes become EXPIRED, once each, with an event for each holder."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from promenade.store.coupons import clock as coupon_clock
from promenade.store.coupons.clock import Due
from promenade.store.driver.unit import Session
from promenade.workflows.clockwork.coupons import PORTION, expire
from tests.workflows.clockwork.coupons.ageing import beside, logged, news, put_codes, statuses, sweep
from tests.workflows.counting import count_statements
from tests.workflows.shop import NOON, Shop, identity, open_shop

HOUR = timedelta(hours=1)


@pytest.fixture
async def shop(shop: Shop) -> Shop:
    await shop.coupon_type("gift")
    return shop


async def status(shop: Shop, code: str) -> str:
    return str((await shop.row("CouponCodes", code)).status)


async def test_a_code_expires_exactly_at_its_end(shop: Shop) -> None:
    end = NOON + HOUR
    for state in ("CREATED", "ACTIVE", "RESERVED", "REDEEMED", "CANCELLED"):
        await shop.coupon(state, "gift", status=state, valid_until=end, issued_at=NOON)
    await shop.coupon("LATER", "gift", valid_until=end + timedelta(microseconds=1), issued_at=NOON)
    await shop.coupon("EVER", "gift", issued_at=NOON)
    shop.now[0] = end - timedelta(microseconds=1)
    assert await sweep(shop) == 0
    shop.now[0] = end
    assert await sweep(shop) == 3
    assert [await status(shop, one) for one in ("CREATED", "ACTIVE", "RESERVED")] == ["EXPIRED"] * 3
    assert [await status(shop, one) for one in ("REDEEMED", "CANCELLED")] == ["REDEEMED", "CANCELLED"]
    assert [await status(shop, one) for one in ("LATER", "EVER")] == ["ACTIVE", "ACTIVE"]
    row = await shop.row("CouponCodes", "ACTIVE")
    assert (row.modified_by, row.modified_at, row.version) == ("system", end, 2)
    assert await sweep(shop) == 0


async def test_a_code_expires_with_its_type(shop: Shop) -> None:
    await shop.coupon_type("short", valid_to=NOON + HOUR)
    await shop.coupon("OWN", "short", valid_until=NOON + 2 * HOUR, issued_at=NOON)
    await shop.coupon("TYPE", "short", issued_at=NOON)
    await shop.coupon("OTHER", "gift", issued_at=NOON)
    shop.later(hours=1)
    assert await sweep(shop) == 2
    assert [await status(shop, one) for one in ("OWN", "TYPE", "OTHER")] == ["EXPIRED", "EXPIRED", "ACTIVE"]
    assert {one["validUntil"] for one in await news(shop)} == {"2026-03-02T13:00:00Z"}


async def test_expiry_sends_events_for_held_codes_and_none_for_others(shop: Shop) -> None:
    end = NOON + HOUR
    await shop.coupon("ISSUED", "gift", valid_until=end, issued_at=NOON, customer_id="C-7")
    await shop.coupon("OUTSIDE", "gift", valid_until=end, source="EXTERNAL")
    await shop.coupon("POOLED", "gift", valid_until=end)
    await shop.coupon("NAMED", "gift", valid_until=end, source="EXTERNAL", customer_id="C-8")
    shop.later(hours=2)
    assert await sweep(shop) == 4
    assert await statuses(shop) == {"EXPIRED": 4}
    told = {one["couponId"]: one for one in await news(shop)}
    assert told == {
        identity("ISSUED"): {
            "couponId": identity("ISSUED"),
            "couponTypeId": identity("gift"),
            "validUntil": "2026-03-02T13:00:00Z",
            "customerId": "C-7",
        },
        identity("NAMED"): {
            "couponId": identity("NAMED"),
            "couponTypeId": identity("gift"),
            "validUntil": "2026-03-02T13:00:00Z",
            "customerId": "C-8",
        },
    }
    logs = {row.coupon_code_id: row for row in await logged(shop, "EXPIRED")}
    assert set(logs) == set(told)
    log = logs[identity("ISSUED")]
    assert (log.coupon_type_id, log.customer_id, log.occurred_at) == (identity("gift"), "C-7", NOON + 2 * HOUR)
    assert log.created_by == "system"


async def test_a_reservation_ends_with_its_code_and_a_claim_does_not(shop: Shop) -> None:
    """A code claimed by a sale is spent: the worker that completes the redemption still finds the claim."""
    end = NOON + HOUR
    reserved = {
        "status": "RESERVED",
        "valid_until": end,
        "issued_at": NOON,
        "reservation_ref": identity("reservation"),
        "reserved_until": end + HOUR,
        "reserved_by_transaction_id": "T-1",
    }
    await shop.coupon("HELD", "gift", **reserved)
    await shop.coupon("CLAIMED", "gift", **reserved | {"redeemed_transaction_id": "T-2", "reserved_until": None})
    await shop.coupon_type("ended", valid_to=end)
    await shop.coupon("CLAIMED TOO", "ended", status="RESERVED", redeemed_transaction_id="T-2", issued_at=NOON)
    shop.later(hours=1)
    assert await sweep(shop) == 1
    row = await shop.row("CouponCodes", "HELD")
    assert (row.status, row.reservation_ref) == ("EXPIRED", identity("reservation"))
    assert [await status(shop, one) for one in ("CLAIMED", "CLAIMED TOO")] == ["RESERVED", "RESERVED"]
    (log,) = await logged(shop, "EXPIRED")
    assert log.transaction_id == "T-1"


async def test_codes_of_every_tenant_expire(shop: Shop) -> None:
    shops = [shop]
    for tenant in ("tenant-b", "tenant-c"):
        other = await open_shop(shop.context.database, tenant)
        await other.put("CouponTypes", id=identity("gift"), code="gift", name="gift", status="ACTIVE")
        shops.append(other)
    for one in shops:
        await put_codes(one, 3, valid_until=NOON, issued_at=NOON)
    assert await sweep(shop) == 9
    for one in shops:
        assert await statuses(one) == {"EXPIRED": 3}
        assert len(await news(one)) == 3


async def test_many_codes_expire_in_portions_with_as_many_statements_as_a_few(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = count_statements(monkeypatch)
    taken = []
    for number in (2, PORTION - 1):
        await put_codes(shop, number, valid_until=NOON, issued_at=NOON)
        before = counted()
        assert await sweep(shop) == number
        taken.append(counted() - before)
    assert taken[0] == taken[1]
    await put_codes(shop, 2 * PORTION + 1, valid_until=NOON)
    assert await sweep(shop) == 2 * PORTION + 1
    assert await statuses(shop) == {"EXPIRED": 3 * PORTION + 2}
    assert len(await news(shop)) == PORTION + 1


async def test_concurrent_workers_expire_each_code_once(shop: Shop, database_url: str) -> None:
    await put_codes(shop, 5 * PORTION, valid_until=NOON, issued_at=NOON)
    async with beside(shop, database_url) as shops:
        await asyncio.gather(*(sweep(one) for one in shops))
    await sweep(shop)
    assert await statuses(shop) == {"EXPIRED": 5 * PORTION}
    logs, told_of = await logged(shop, "EXPIRED"), await news(shop)
    for told in ([row.coupon_code_id for row in logs], [one["couponId"] for one in told_of]):
        assert len(told) == len(set(told)) == 5 * PORTION


async def test_a_clock_that_jumps_ahead_expires_the_codes_due_by_then(shop: Shop) -> None:
    await put_codes(shop, 1, valid_until=NOON + HOUR, issued_at=NOON)
    shop.later(hours=-1)
    assert await sweep(shop) == 0
    shop.later(hours=2)
    assert await sweep(shop) == 1
    shop.later(hours=-1)
    assert (await sweep(shop), await statuses(shop)) == (0, {"EXPIRED": 1})


async def test_a_failure_for_one_tenant_does_not_delay_others(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shops = [shop]
    for tenant in ("tenant-b", "tenant-c"):
        other = await open_shop(shop.context.database, tenant)
        await other.put("CouponTypes", id=identity("gift"), code="gift", name="gift", status="ACTIVE")
        shops.append(other)
    for one in shops:
        await put_codes(one, 3, valid_until=NOON, issued_at=NOON)
    end_codes = coupon_clock.end_codes

    async def fail_for_one(session: Session, due: Due, *how: Any) -> Any:
        if due.tenant_id == shop.tenant:
            raise ArithmeticError("what nobody has foreseen")
        return await end_codes(session, due, *how)

    monkeypatch.setattr(coupon_clock, "end_codes", fail_for_one)
    ran = await expire(shop.context, None)
    assert (ran.done, ran.more, ran.trouble) == (6, False, "tenant-a: ArithmeticError")
    assert [await statuses(one) for one in shops] == [{"ACTIVE": 3}, {"EXPIRED": 3}, {"EXPIRED": 3}]
    monkeypatch.undo()
    ran = await expire(shop.context, None)
    assert (ran.done, ran.trouble) == (3, None)
