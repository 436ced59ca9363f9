"""A locked campaign freezes itself, its promotions and their pilots, and also their drafts."""

from __future__ import annotations

from typing import Any

import pytest

from promenade.errors import Conflict
from tests.workflows.drafts.editor import Editor, refusal


async def locked_row(ann: Editor, set_name: str) -> tuple[str, str]:
    """Return a row that a campaign freezes, and the campaign, which is not locked yet."""
    campaign = await ann.given("Campaigns", posGroups=[{"posGroup_ID": await ann.given("PosGroups")}])
    if set_name == "Campaigns":
        return campaign, campaign
    promotion = await ann.given("Promotions", campaign_ID=campaign)
    if set_name == "Promotions":
        return promotion, campaign
    return await ann.given("PromotionPilotConfigs", promotion_ID=promotion), campaign


WRITTEN: dict[str, tuple[dict[str, Any], str, str]] = {
    "Campaigns": ({"name": "x"}, "CampaignPosGroups", "campaign_ID"),
    "Promotions": ({"name": "x"}, "PromotionPosGroups", "promotion_ID"),
    "PromotionPilotConfigs": ({"controlGroupSize": 3}, "PilotPosGroups", "config_ID"),
}


@pytest.mark.parametrize("set_name", WRITTEN)
async def test_a_locked_campaign_refuses_drafts_of_all_that_it_freezes(ann: Editor, set_name: str) -> None:
    changes, part, owner = WRITTEN[set_name]
    key, campaign = await locked_row(ann, set_name)
    await ann.edit(set_name, key)
    added = await ann.begin(part, **{owner: key})
    await ann.transition("Campaigns", campaign, "lock")
    before = await ann.draft_rows(set_name), await ann.draft_rows(part)
    for work in (
        ann.change(set_name, key, **changes),
        ann.begin(part, **{owner: key}),
        ann.change(part, added, posGroup_ID=None),
        ann.discard(part, added),
        ann.activate(set_name, key),
    ):
        assert (await refusal(work, Conflict)).code == "LOCKED"
    assert (await ann.draft_rows(set_name), await ann.draft_rows(part)) == before
    assert [one.code for one in await ann.prepare(set_name, key)] == ["LOCKED"]
    await ann.discard(set_name, key)  # discarding a draft changes nothing frozen
    assert (await refusal(ann.edit(set_name, key), Conflict)).code == "LOCKED"
    assert await ann.drafts() == []
    await ann.transition("Campaigns", campaign, "unlock")
    await ann.edit(set_name, key)


async def test_a_draft_that_changed_nothing_is_not_activated_either(ann: Editor) -> None:
    key, campaign = await locked_row(ann, "Promotions")
    await ann.edit("Promotions", key)
    await ann.transition("Campaigns", campaign, "lock")
    assert (await refusal(ann.activate("Promotions", key), Conflict)).code == "LOCKED"


async def test_a_draft_cannot_add_a_promotion_to_a_locked_campaign(ann: Editor) -> None:
    campaign = await ann.given("Campaigns")
    await ann.transition("Campaigns", campaign, "lock")
    new = await ann.begin("Promotions", name="New", campaign_ID=campaign)
    other = await ann.given("Promotions")
    await ann.edit("Promotions", other)
    await ann.change("Promotions", other, campaign_ID=campaign)
    for key in (new, other):
        error = await refusal(ann.activate("Promotions", key), Conflict)
        assert (error.code, error.target) == ("LOCKED", "campaign_ID")
    await ann.change("Promotions", new, campaign_ID=None)  # a draft can leave the campaign
    assert await ann.activate("Promotions", new) is True
