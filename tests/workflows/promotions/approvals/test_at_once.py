"""Edits and activations at the same time: an edit that an activation has not seen does not run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import timedelta

import pytest

from promenade.errors import PromenadeError
from tests.workflows.authoring.desk import NOON
from tests.workflows.promotions.approvals.house import House

ROUNDS = 8


async def tried(step: Awaitable[None]) -> bool:
    """Return whether a step was carried out."""
    try:
        await step
    except PromenadeError:
        return False
    return True


@pytest.mark.parametrize("edit", ["link", "unlink", "field", "campaign"])
async def test_what_runs_is_what_was_approved(house: House, edit: str) -> None:
    coupons = await house.desk.given("CouponTypes")
    for number in range(ROUNDS):
        campaign = await house.create("ann", "Campaigns", code=f"C{number}", name="C", endAt=NOON + timedelta(days=100))
        key = await house.promotion(campaign_ID=campaign)
        if edit == "unlink":
            await edited(house, "link", key, campaign, coupons)
        await house.approved(key)
        approved = (await house.contents())[key]
        await house.move("ann", key, "deactivate")
        steps = [tried(edited(house, edit, key, campaign, coupons)), tried(house.move("bob", key, "activate"))]
        assert any(await asyncio.gather(*(steps if number % 2 else reversed(steps))))
        if await house.status(key) == "ACTIVE":
            assert (await house.contents())[key] == approved


async def edited(house: House, edit: str, key: str, campaign: str, coupons: str) -> None:
    match edit:
        case "link":
            await house.create("ann", "CouponTypePromotions", promotion_ID=key, couponType_ID=coupons)
        case "unlink":
            (link,) = await house.desk.rows("CouponTypePromotions", promotion_ID=key)
            await house.remove("ann", "CouponTypePromotions", link["ID"])
        case "field":
            await house.update("ann", "Promotions", key, priority=1)
        case _:
            await house.update("ann", "Campaigns", campaign, endAt=None)
