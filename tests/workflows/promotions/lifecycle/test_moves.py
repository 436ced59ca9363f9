"""Every verb from every state of the data model's state machines: its changes, events and audit rows."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from promenade import model
from promenade.errors import Conflict, Invalid, NotFound
from promenade.model.operations import admin_operations
from promenade.store.pricing.catalogue import Catalogues
from promenade.web.promotions.lifecycle import OPERATIONS
from tests.workflows.authoring.desk import NOON
from tests.workflows.authoring.test_states import standing
from tests.workflows.promotions.lifecycle.acting import Office

# data-model.md, State machines: set, verb, from state ("any"), to state, event for subscribers.
MOVES = [
    ("Promotions", "activate", "any", "ACTIVE", "PROMOTION_ACTIVATED"),
    ("Promotions", "deactivate", "any", "INACTIVE", "PROMOTION_DEACTIVATED"),
    ("Promotions", "submit", "DRAFT REJECTED", "PENDING_APPROVAL", "PROMOTION_SUBMITTED"),
    ("Promotions", "approve", "PENDING_APPROVAL", "APPROVED", "PROMOTION_APPROVED"),
    ("Promotions", "reject", "PENDING_APPROVAL", "REJECTED", "PROMOTION_REJECTED"),
    ("Promotions", "archive", "DRAFT REJECTED INACTIVE EXPIRED", "ARCHIVED", "PROMOTION_ARCHIVED"),
    ("Promotions", "startPilot", "DRAFT APPROVED INACTIVE", "PILOT", "PROMOTION_UPDATED"),
    ("Promotions", "endPilot", "PILOT", "INACTIVE", "PROMOTION_DEACTIVATED"),
    ("Promotions", "promoteToActive", "PILOT", "ACTIVE", "PROMOTION_ACTIVATED"),
    ("CouponTypes", "activate", "any", "ACTIVE", None),
    ("CouponTypes", "deactivate", "any", "INACTIVE", None),
    ("Budgets", "activate", "DRAFT", "ACTIVE", None),
]
CODES = {"startPilot": "START_PILOT", "endPilot": "END_PILOT", "promoteToActive": "PROMOTE_TO_ACTIVE"}


def states(set_name: str) -> tuple[str, ...]:
    return tuple(model.code_list(str(model.entity(set_name).field("status").code_list)).codes)


def test_every_action_that_changes_a_status_is_tested() -> None:
    declared = {(one.binding, one.name) for one in admin_operations() if one.name in OPERATIONS}
    moves = {(set_name, verb) for set_name, verb, *_ in MOVES}
    others = {
        ("Campaigns", "lock"), ("Campaigns", "unlock"), ("Campaigns", "addPromotions"),
        ("Campaigns", "removePromotion"), ("Promotions", "copy"), ("CouponTypes", "generateCodes"),
        ("CouponTypes", "issueCoupon"),
    }  # fmt: skip
    assert declared == moves | others


@pytest.mark.parametrize(("set_name", "verb", "sources", "target", "event"), MOVES, ids=str)
async def test_an_action_works_in_its_source_states_and_sends_its_event(
    office: Office, set_name: str, verb: str, sources: str, target: str, event: str | None
) -> None:
    allowed = states(set_name) if sources == "any" else sources.split()
    for before in states(set_name):
        row_id = await standing(office, set_name, before)
        if before not in allowed:
            with pytest.raises(Conflict) as caught:
                await office.move(set_name, row_id, verb)
            assert caught.value.code == "INVALID_TRANSITION"
            assert (await office.row(set_name, row_id))["status"] == before
        else:
            await office.move(set_name, row_id, verb)
            assert (await office.row(set_name, row_id))["status"] == target
        moved = before in allowed and before != target
        assert await office.trail(row_id) == ([CODES.get(verb, verb.upper())] if moved else [])
        news = await office.news(row_id)
        assert [one["type"] for one in news] == ([event] if moved and event else [])
        for one in news:
            data = one["data"]
            assert (data["promotionId"], data["status"], data["actor"]) == (row_id, target, "ann")
            assert data["promotionName"] == "n"


@pytest.mark.parametrize("set_name", ["Promotions", "CouponTypes", "Campaigns"])
async def test_a_status_change_reaches_the_next_evaluation_and_a_repeated_one_changes_nothing(
    office: Office, set_name: str
) -> None:
    catalogues = Catalogues(office.database)
    row_id = await standing(office, set_name, "DRAFT" if set_name != "CouponTypes" else "INACTIVE")
    await catalogues.current(office.tenant)
    verbs = ("lock", "unlock") if set_name == "Campaigns" else ("activate", "deactivate")
    for verb in verbs:
        versions = []
        for _ in range(2):
            await office.move(set_name, row_id, verb)
            versions.append((await catalogues.current(office.tenant)).version)
        assert versions[0] == versions[1]
        if set_name == "Promotions":
            found = (await catalogues.current(office.tenant)).definitions[row_id]
            assert found.status == (await office.row("Promotions", row_id))["status"]
    (counted,) = await office.system_rows("catalogue_versions")
    assert counted["promotions"] == len(verbs)


async def test_a_lock_sends_an_event_and_is_audited(office: Office) -> None:
    campaign = await office.given("Campaigns", code="S", name="Spring", startAt=NOON)
    for verb in ("lock", "lock", "unlock", "unlock"):
        await office.move("Campaigns", campaign, verb)
    assert sorted(await office.trail(campaign)) == ["CREATE", "LOCK", "UNLOCK"]
    told = [one for one in await office.news() if one["type"] != "CAMPAIGN_CREATED"]
    assert [one["type"] for one in told] == ["CAMPAIGN_LOCKED", "CAMPAIGN_UNLOCKED"]
    assert told[0]["data"]["campaignCode"] == "S"
    assert told[0]["data"]["actor"] == "ann"


async def test_a_locked_campaign_keeps_its_promotions_from_being_moved_wherever_they_stand(office: Office) -> None:
    campaign = await office.given("Campaigns")
    made = {status: await standing(office, "Promotions", status) for status in states("Promotions")}
    for row_id in made.values():
        await office.update("Promotions", row_id, campaign_ID=campaign)
    await office.move("Campaigns", campaign, "lock")
    for status, row_id in made.items():
        for set_name, verb, sources, *_ in MOVES:
            if set_name == "Promotions" and (sources == "any" or status in sources.split()):
                with pytest.raises(Conflict) as caught:
                    await office.move("Promotions", row_id, verb)
                assert caught.value.code == "LOCKED", (status, verb)
        assert (await office.row("Promotions", row_id))["status"] == status
    await office.move("Campaigns", campaign, "unlock")
    await office.move("Promotions", made["DRAFT"], "activate")


async def test_all_missing_parts_are_reported_at_once(office: Office) -> None:
    promotion = await office.put("Promotions", name=" ", status="DRAFT", valid_from=NOON, valid_to=NOON)
    for number in range(3):
        await office.put("Conditions", promotion_id=promotion, sequence=number, condition_type="RECEIPT_AMOUNT",
                         value="5" if number == 1 else "much")  # fmt: skip
    with pytest.raises(Invalid) as caught:
        await office.move("Promotions", promotion, "activate")
    found = [(one.code, one.target) for one in caught.value.details]
    assert found[:3] == [("REQUIRED", "name"), ("ACTION_MISSING", "DiscountActions"), ("WINDOW_EMPTY", "validTo")]
    assert [target for _, target in found[3:]] == ["Conditions(1)/value", "Conditions(3)/value"]
    for action in ("RECEIPT", "LOYALTY"):
        await office.put("DiscountActions", promotion_id=promotion, action_type=action)
    await office.put("LoyaltyActions", promotion_id=promotion, action_type="ADD_FIXED")
    with pytest.raises(Invalid) as caught:
        await office.move("Promotions", promotion, "startPilot")
    targets = {(one.target or "").split("/")[0].replace("(2)", "(1)") for one in caught.value.details}
    assert targets == {
        "name", "validTo", "Conditions(1)", "Conditions(3)", "DiscountActions(1)", "LoyaltyActions(1)",
        "PromotionPilotConfigs",
    }  # fmt: skip
    assert (await office.row("Promotions", promotion))["status"] == "DRAFT"
    assert await office.trail(promotion) == []


async def test_a_promotion_activated_too_early_gets_an_error(office: Office) -> None:
    promotion = await office.given("Promotions", status="ACTIVE")
    with pytest.raises(Invalid) as caught:
        await office.move("Promotions", promotion, "activate")
    assert (caught.value.code, caught.value.target) == ("ACTION_MISSING", "DiscountActions")


async def test_a_pilot_whose_window_is_over_does_not_start(office: Office) -> None:
    promotion = await standing(office, "Promotions", "DRAFT")
    office.now = NOON + timedelta(days=1)
    with pytest.raises(Invalid) as caught:
        await office.move("Promotions", promotion, "startPilot")
    assert (caught.value.code, caught.value.target) == ("PILOT_OVER", "PromotionPilotConfigs/pilotEndAt")


async def test_nothing_of_another_tenant_is_moved(office: Office) -> None:
    other = Office(office.database, "tenant-b")
    for set_name, verb in (("Promotions", "activate"), ("Campaigns", "lock"), ("CouponTypes", "activate")):
        foreign = await standing(other, set_name, "DRAFT" if set_name != "CouponTypes" else "INACTIVE")
        with pytest.raises(NotFound):
            await office.move(set_name, foreign, verb)


async def test_two_concurrent_activations_activate_once(office: Office) -> None:
    promotion = await standing(office, "Promotions", "DRAFT")
    await asyncio.gather(*(office.move("Promotions", promotion, "activate") for _ in range(8)))
    assert await office.trail(promotion) == ["ACTIVATE"]
    assert [one["type"] for one in await office.news()] == ["PROMOTION_ACTIVATED"]
    assert (await office.row("Promotions", promotion))["version"] == 2


async def test_only_one_of_concurrent_approval_and_rejection_succeeds(office: Office) -> None:
    promotion = await standing(office, "Promotions", "PENDING_APPROVAL")
    answers = await asyncio.gather(
        *(office.move("Promotions", promotion, verb) for verb in ("approve", "reject") * 4), return_exceptions=True
    )
    assert sum(answer is None for answer in answers) == 1
    assert {answer.code for answer in answers if isinstance(answer, Conflict)} == {"INVALID_TRANSITION"}
    assert len(await office.trail(promotion)) == 1
