"""A locked campaign is frozen, with its promotions and all their parts; nothing else is."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest

from promenade.errors import Conflict
from tests.workflows.authoring.desk import Desk
from tests.workflows.authoring.test_every_entity import refused

Call = Callable[[], Coroutine[Any, Any, Any]]


async def frozen(desk: Desk) -> dict[str, str]:
    """A campaign with a promotion, a promotion without campaign, and a row of every dependent entity of both."""
    made = {"Campaigns": await desk.given("Campaigns"), "free": await desk.given("Promotions")}
    made["Promotions"] = await desk.given("Promotions", campaign_ID=made["Campaigns"])
    of = {"promotion_ID": made["Promotions"]}
    for name in ("Conditions", "DiscountActions", "LoyaltyActions", "PromotionPosGroups", "PromotionPilotConfigs",
                 "CalculationConfigs", "BudgetPromotions", "CouponTypePromotions", "PriorityGroupPromotions",
                 "StakeholderPromotions"):  # fmt: skip
        made[name] = await desk.given(name, **of)
    below = {
        "ConditionValueListItems": {"condition_ID": made["Conditions"]},
        "BundleComponents": {"action_ID": made["DiscountActions"]},
        "LoyaltyActionArticleListItems": {"loyaltyAction_ID": made["LoyaltyActions"]},
        "PilotPosGroups": {"config_ID": made["PromotionPilotConfigs"]},
        "CampaignPosGroups": {"campaign_ID": made["Campaigns"]},
    }
    for name, owner in below.items():
        made[name] = await desk.given(name, **owner)
    made["ActionExclusions"] = await desk.given("ActionExclusions", action_ID=made["DiscountActions"])
    made["ActionExclusionArticleListItems"] = await desk.given(
        "ActionExclusionArticleListItems", exclusion_ID=made["ActionExclusions"]
    )
    return made


CHANGES: dict[str, dict[str, Any]] = {
    "Campaigns": {"notes": "x"},
    "Promotions": {"description": "x"},
    "Conditions": {"value": "x"},
    "DiscountActions": {"maxBundles": 2},
    "LoyaltyActions": {"points": 2},
    "CalculationConfigs": {"precision": 2},
    "PromotionPilotConfigs": {"controlGroupSize": 3},
    "PriorityGroupPromotions": {"sequence": 9},
    "StakeholderPromotions": {"sharePercentage": 2},
    "ConditionValueListItems": {"value": "x"},
    "BundleComponents": {"quantity": 2},
    "LoyaltyActionArticleListItems": {"ean": "2"},
    "ActionExclusions": {"manufacturer": "x"},
    "ActionExclusionArticleListItems": {"ean": "2"},
}


async def test_all_parts_of_a_locked_campaign_refuse_changes_until_it_is_unlocked(desk: Desk) -> None:
    made = await frozen(desk)
    await desk.transition("Campaigns", made["Campaigns"], "lock")
    calls: list[Call] = [partial(desk.update, name, made[name], **changes) for name, changes in CHANGES.items()]
    calls += [partial(desk.remove, name, made[name]) for name in made if name not in ("free", "Promotions")]
    calls += [
        lambda: desk.create("Conditions", promotion_ID=made["Promotions"], conditionType="CHANNEL"),
        lambda: desk.update("Promotions", made["Promotions"], campaign_ID=None),
        lambda: desk.update("Promotions", made["Promotions"], status="INACTIVE"),
        lambda: desk.update("Promotions", made["free"], campaign_ID=made["Campaigns"]),
        lambda: desk.update("Conditions", made["Conditions"], promotion_ID=made["free"]),
        lambda: desk.given("Promotions", campaign_ID=made["Campaigns"]),
        lambda: desk.update("Promotions", made["Promotions"], posGroups=[]),
        lambda: desk.update("Campaigns", made["Campaigns"], posGroups=[]),
    ]
    for call in calls:
        error = await refused(desk, Conflict, call())
        assert error.code == "LOCKED"
    error = await refused(desk, Conflict, calls[-5]())
    assert error.target == "campaign_ID"
    await desk.update("Promotions", made["free"], description="free still")
    await desk.transition("Campaigns", made["Campaigns"], "unlock")
    for name, changes in CHANGES.items():
        await desk.update(name, made[name], **changes)


@pytest.mark.parametrize("verb", ["lock", "unlock"])
async def test_locking_twice_changes_nothing(desk: Desk, verb: str) -> None:
    campaign = await desk.given("Campaigns")
    await desk.transition("Campaigns", campaign, verb)
    before = await desk.row("Campaigns", campaign)
    await desk.transition("Campaigns", campaign, verb)
    assert await desk.row("Campaigns", campaign) == before


async def test_subscribers_get_the_events_of_a_campaign(desk: Desk) -> None:
    campaign = await desk.given("Campaigns")
    await desk.transition("Campaigns", campaign, "lock")
    await desk.transition("Campaigns", campaign, "unlock")
    await desk.update("Campaigns", campaign, notes="x")
    kinds = sorted(row["kind"] for row in await desk.system_rows("outbox_events"))
    assert kinds == ["CAMPAIGN_CREATED", "CAMPAIGN_LOCKED", "CAMPAIGN_UNLOCKED"]


async def test_activating_a_campaign_also_sends_that_it_started(desk: Desk) -> None:
    await desk.given("Campaigns", status="ACTIVE")
    await desk.given("Campaigns", status="SCHEDULED")
    kinds = sorted(row["kind"] for row in await desk.system_rows("outbox_events"))
    assert kinds == ["CAMPAIGN_CREATED", "CAMPAIGN_CREATED", "CAMPAIGN_STARTED"]
