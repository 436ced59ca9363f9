"""Expired reservations release their codes; those of shared codes are deleted a day later."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from promenade.workflows.clockwork.coupons import PORTION, release
from tests.workflows.clockwork.coupons.ageing import logged, put_codes, run_out, statuses
from tests.workflows.shop import NOON, Shop, identity

UNTIL = NOON + timedelta(minutes=15)
MICROSECOND = timedelta(microseconds=1)


@pytest.fixture
async def shop(shop: Shop) -> Shop:
    await shop.coupon_type("gift")
    await shop.coupon_type("all", code_type="GENERIC", generic_code="ALL")
    return shop


async def reserve(shop: Shop, code: str, **columns: Any) -> None:
    reserved = {
        "status": "RESERVED",
        "reservation_ref": identity(f"of {code}"),
        "reserved_until": UNTIL,
        "reserved_by_transaction_id": "T-1",
        "customer_id": "C-7",
    }
    await shop.coupon(code, "gift", **reserved | columns)


async def share(shop: Shop, name: str, state: str = "HELD", **columns: Any) -> None:
    row = {
        "id": identity(name),
        "coupon_type_id": identity("all"),
        "transaction_id": name,
        "customer_id": "C-8",
        "state": state,
        "reserved_at": NOON,
        "reserved_until": UNTIL,
    }
    await shop.put("coupon_reservations", **row | columns)


async def states(shop: Shop) -> dict[str, str]:
    return {row.transaction_id: row.state for row in await shop.rows("coupon_reservations")}


async def test_a_code_is_free_exactly_when_its_reservation_ends(shop: Shop) -> None:
    await reserve(shop, "HELD")
    await reserve(shop, "LONGER", reserved_until=UNTIL + MICROSECOND)
    await reserve(shop, "CLAIMED", redeemed_transaction_id="T-1")
    shop.now[0] = UNTIL - MICROSECOND
    assert await run_out(release, shop) == 0
    shop.now[0] = UNTIL
    assert await run_out(release, shop) == 1
    row = await shop.row("CouponCodes", "HELD")
    assert row.status == "ACTIVE"
    # A till that uses it later gets "expired", not "not found".
    assert (row.reservation_ref, row.reserved_until) == (identity("of HELD"), UNTIL)
    assert (row.modified_by, row.version) == ("system", 2)
    for name in ("LONGER", "CLAIMED"):
        assert (await shop.row("CouponCodes", name)).status == "RESERVED"
    (log,) = await logged(shop, "CANCELLED")
    assert (log.coupon_code_id, log.coupon_type_id) == (identity("HELD"), identity("gift"))
    assert (log.transaction_id, log.customer_id, log.occurred_at) == ("T-1", "C-7", UNTIL)
    assert await run_out(release, shop) == 0


async def test_reservations_of_a_shared_code_end_and_are_deleted_a_day_later(shop: Shop) -> None:
    await share(shop, "held")
    await share(shop, "longer", reserved_until=UNTIL + timedelta(days=3))
    await share(shop, "redeemed", "REDEEMED", ended_at=NOON)
    await share(shop, "cancelled", "CANCELLED", ended_at=UNTIL + timedelta(hours=1))
    shop.now[0] = UNTIL - MICROSECOND
    assert await run_out(release, shop) == 0
    shop.now[0] = UNTIL
    assert await run_out(release, shop) == 1
    assert await states(shop) == {
        "held": "CANCELLED", "longer": "HELD", "redeemed": "REDEEMED", "cancelled": "CANCELLED",
    }  # fmt: skip
    (log,) = await logged(shop, "CANCELLED")
    assert (log.coupon_code_id, log.coupon_type_id) == (None, identity("all"))
    assert (log.transaction_id, log.customer_id) == ("held", "C-8")
    (ended,) = [row.ended_at for row in await shop.rows("coupon_reservations", transaction_id="held")]
    assert ended == UNTIL
    shop.now[0] = UNTIL + timedelta(days=1)
    assert await run_out(release, shop) == 2
    assert set(await states(shop)) == {"longer", "cancelled"}
    shop.later(hours=1)
    assert await run_out(release, shop) == 1
    assert await states(shop) == {"longer": "HELD"}
    assert len(await logged(shop, "CANCELLED")) == 1


async def test_concurrent_workers_free_each_code_once(shop: Shop) -> None:
    number = 3 * PORTION + 5
    await put_codes(shop, number, status="RESERVED", reserved_until=NOON, reserved_by_transaction_id="T-1")
    await asyncio.gather(*(run_out(release, shop) for _ in range(4)))
    assert await statuses(shop) == {"ACTIVE": number}
    logs = [row.coupon_code_id for row in await logged(shop, "CANCELLED")]
    assert len(logs) == len(set(logs)) == number
