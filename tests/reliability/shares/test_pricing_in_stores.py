"""The answers to a store's till about a coupon that the store does not hold (pricing semantics, section 10)."""

from __future__ import annotations

import pytest

from promenade.engine.basket import BasketLine
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import record_change
from promenade.workflows.pricing.evaluate import PricingRequest, evaluate, simulate
from tests.reliability.shares.offline import Branch
from tests.reliability.shares.stores import Stores

pytestmark = pytest.mark.parametrize("dialect", ["sqlite"])


async def _refused(branch: Branch, *codes: str, simulated: bool = False) -> list[tuple[str, str]]:
    """Return the coupons that an evaluate refuses, with the reasons."""
    request = PricingRequest(
        lines=(BasketLine("1", "A-1", 1000, 1000),), transaction_id="T1", pos_group_code="SHOP", coupons=codes
    )
    price = simulate if simulated else evaluate
    priced = await price(branch.shop.context, branch.shop.tenant, request)
    return [(one.code, one.reason) for one in priced.outcome.coupons_refused]


async def _furnished(stores: Stores, branch: Branch) -> Branch:
    for shop in (stores.shop, branch.shop):
        await shop.coupon_type("save")
    await stores.shop.coupon("SAVE-1", "save")
    await stores.shop.coupon("SPENT", "save", status="REDEEMED")

    async def work(session: Session) -> None:
        for kind in ("CouponTypes", "PosGroups", "Promotions"):
            await record_change(session, kind, at=stores.shop.now[0])

    await branch.shop.context.database.write(work, tenant=branch.shop.tenant)
    return branch


@pytest.mark.parametrize("simulated", [False, True])
async def test_unknown_codes_are_fetched_at_once_or_need_the_cloud(
    stores: Stores, branches: list[Branch], simulated: bool
) -> None:
    north = await _furnished(stores, branches[0])
    north.uplink.is_connected = False
    codes = ("SAVE-1", "SPENT", "NONE")
    assert await _refused(north, *codes, simulated=simulated) == [(code, "NEEDS_CLOUD") for code in codes]
    assert north.wire.sent == []
    north.uplink.is_connected = True
    north.wire.faults = ["before"]
    assert await _refused(north, "NONE", simulated=simulated) == [("NONE", "NEEDS_CLOUD")]
    answered = await _refused(north, *codes, simulated=simulated)
    assert ("SPENT", "ALREADY_REDEEMED") in answered
    assert ("NONE", "UNKNOWN_CODE") in answered
    assert "NEEDS_CLOUD" not in {reason for _, reason in answered}
    assert len(north.wire.sent) == 2  # one request for all
    assert await stores.status("SAVE-1") == "RESERVED"
    north.uplink.is_connected = False
    assert ("SAVE-1", "NEEDS_CLOUD") not in await _refused(north, *codes, simulated=simulated)


async def test_pricing_in_the_cloud_sends_no_requests(stores: Stores, branches: list[Branch]) -> None:
    north = await _furnished(stores, branches[0])
    north.shop.context = stores.shop.context
    assert await _refused(north, "NONE") == [("NONE", "UNKNOWN_CODE")]
    assert north.wire.sent == []


async def test_codes_that_cannot_be_fetched_are_guessed_at_no_faster(stores: Stores, branches: list[Branch]) -> None:
    north = await _furnished(stores, branches[0])
    for start in range(0, 120, 40):
        await _refused(north, *(f"GUESS-{number}" for number in range(start, start + 40)))
    assert await _refused(north, "SAVE-1") == [("SAVE-1", "TOO_MANY_ATTEMPTS")]
    assert await stores.status("SAVE-1") == "ACTIVE"
