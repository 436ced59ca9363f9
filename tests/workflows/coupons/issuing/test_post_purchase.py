"""After a purchase a promotion's coupon is issued once, however often it is requested."""

from __future__ import annotations

import asyncio
import secrets

import pytest

from promenade.errors import Conflict
from promenade.store.coupons import pool as coupon_pool
from promenade.store.driver.unit import Session
from promenade.workflows.coupons.issuing import IssuedCoupon, Order, issue_one
from tests.workflows.shop import Shop, identity


async def issue(shop: Shop, kind: str = "gift", transaction_id: str = "T-1") -> IssuedCoupon:
    order = Order("POST_PURCHASE", ("C-7",), identity("off"), transaction_id)

    async def work(session: Session) -> IssuedCoupon:
        found = await coupon_pool.read_type(session, identity(kind))
        assert found is not None
        at, new_id = shop.context.clock(), shop.context.new_id
        return await issue_one(session, found, order, at=at, new_id=new_id, draw=secrets.choice)

    return await shop.context.database.write(work, tenant=shop.tenant)


async def test_a_repeated_request_gets_the_same_coupon_and_one_event(shop: Shop) -> None:
    await shop.coupon_type("gift")
    first = await issue(shop)
    assert await issue(shop) == first
    assert (await issue(shop, transaction_id="T-2")).code != first.code
    assert (
        await shop.count("CouponCodes") == await shop.count("RedemptionLogs") == await shop.count("outbox_events") == 2
    )


async def test_concurrent_requests_issue_one_coupon(shop: Shop) -> None:
    """The second request may fail in the database, and finds the coupon on retry."""
    await shop.coupon_type("gift")
    for number in range(4):
        await shop.coupon(f"POOLED-{number}", "gift")
    await asyncio.gather(*(issue(shop) for _ in range(8)), return_exceptions=True)
    coupon = await issue(shop)
    issued = [row.id for row in await shop.rows("CouponCodes") if row.issued_at is not None]
    assert issued == [coupon.id]
    assert await shop.count("RedemptionLogs") == await shop.count("outbox_events") == 1


async def test_a_type_without_its_shared_code_cannot_issue_coupons(shop: Shop) -> None:
    await shop.coupon_type("shared", code_type="GENERIC")
    with pytest.raises(Conflict) as caught:
        await issue(shop, "shared")
    assert caught.value.code == "NO_GENERIC_CODE"
    assert await shop.count("RedemptionLogs") == 0
