"""State machines: every pair of states by PATCH, every verb, and read-only statuses."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any

import pytest

from promenade import model
from promenade.errors import Conflict, Invalid, NotAllowed
from tests.workflows.authoring.desk import NOON, Desk
from tests.workflows.authoring.test_every_entity import faults, refused

# data-model.md, "State machines": allowed changes of `status` by PATCH.
BY_PATCH = {
    "Promotions": {
        *(("DRAFT", to) for to in ("PENDING_APPROVAL", "ACTIVE", "INACTIVE", "ARCHIVED")),
        *(("PENDING_APPROVAL", to) for to in ("APPROVED", "REJECTED", "ACTIVE", "INACTIVE")),
        *(("APPROVED", to) for to in ("ACTIVE", "INACTIVE")),
        *(("REJECTED", to) for to in ("PENDING_APPROVAL", "ACTIVE", "INACTIVE", "ARCHIVED")),
        *(("ACTIVE", to) for to in ("INACTIVE",)),
        *(("INACTIVE", to) for to in ("ACTIVE", "ARCHIVED")),
        *(("EXPIRED", to) for to in ("ACTIVE", "INACTIVE", "ARCHIVED")),
        *(("ARCHIVED", to) for to in ("ACTIVE", "INACTIVE")),
    },
    "Campaigns": {
        ("DRAFT", "SCHEDULED"),
        ("CANCELLED", "SCHEDULED"),
        *((before, "CANCELLED") for before in ("DRAFT", "SCHEDULED", "ACTIVE")),
    },
    "Budgets": {("DRAFT", "ACTIVE")},
    "CouponTypes": {("ACTIVE", "INACTIVE"), ("INACTIVE", "ACTIVE")},
    "CouponCodes": {("CREATED", "CANCELLED"), ("ACTIVE", "CANCELLED")},
}
_NUMBERS = itertools.count()


async def standing(desk: Desk, set_name: str, status: str) -> str:
    """Return a row in any state."""
    columns: dict[str, Any] = {"status": status, "name": "n", "code": f"c-{next(_NUMBERS)}"}
    if set_name == "Budgets":
        columns |= {"currency": "EUR", "total_amount": 100}
    if set_name == "CouponCodes":
        columns |= {"coupon_type_id": await desk.given("CouponTypes"), "source": "MANUAL"}
    made = await desk.put(set_name, **columns)
    if set_name == "Promotions":
        await desk.put("DiscountActions", promotion_id=made, action_type="RECEIPT", discount_type="ABSOLUTE",
                       discount_value=1)  # fmt: skip
        start, end = NOON, NOON + timedelta(days=1)
        await desk.put("PromotionPilotConfigs", promotion_id=made, pilot_start_at=start, pilot_end_at=end)
    return made


@pytest.mark.parametrize("set_name", BY_PATCH)
async def test_a_patch_changes_the_status_only_as_the_state_machine_allows(desk: Desk, set_name: str) -> None:
    states = model.code_list(str(model.entity(set_name).field("status").code_list)).codes
    for before, after in itertools.permutations(states, 2):
        made = await standing(desk, set_name, before)
        if (before, after) in BY_PATCH[set_name]:
            await desk.update(set_name, made, status=after)
            assert (await desk.row(set_name, made))["status"] == after
        else:
            error = await refused(desk, Conflict, desk.update(set_name, made, status=after))
            assert (error.code, error.target) == ("INVALID_TRANSITION", "status")
            assert (await desk.row(set_name, made))["status"] == before


VERBS = {
    "submit": ("DRAFT REJECTED", "PENDING_APPROVAL"),
    "approve": ("PENDING_APPROVAL", "APPROVED"),
    "reject": ("PENDING_APPROVAL", "REJECTED"),
    "activate": (" ".join(model.code_list("PromotionStatuses").codes), "ACTIVE"),
    "deactivate": (" ".join(model.code_list("PromotionStatuses").codes), "INACTIVE"),
    "startPilot": ("DRAFT APPROVED INACTIVE", "PILOT"),
    "promoteToActive": ("PILOT", "ACTIVE"),
    "endPilot": ("PILOT", "INACTIVE"),
    "expire": ("ACTIVE PILOT", "EXPIRED"),
    "archive": ("DRAFT REJECTED INACTIVE EXPIRED", "ARCHIVED"),
}


async def test_an_action_changes_the_status_of_a_promotion(desk: Desk) -> None:
    for verb, (sources, target) in VERBS.items():
        for before in model.code_list("PromotionStatuses").codes:
            made = await desk.put("Promotions", name="n", status=before)
            await desk.put("LoyaltyActions", promotion_id=made, action_type="ADD_FIXED", points=1)
            start, end = NOON, NOON + timedelta(days=1)
            await desk.put("PromotionPilotConfigs", promotion_id=made, pilot_start_at=start, pilot_end_at=end)
            if before in sources.split():
                await desk.transition("Promotions", made, verb)
                assert (await desk.row("Promotions", made))["status"] == target
            else:
                error = await refused(desk, Conflict, desk.transition("Promotions", made, verb))
                assert error.code == "INVALID_TRANSITION"


@pytest.mark.parametrize(
    ("set_name", "allowed"),
    [
        ("Promotions", "DRAFT INACTIVE ACTIVE"),
        ("Campaigns", "DRAFT SCHEDULED ACTIVE"),
        ("Budgets", "DRAFT ACTIVE"),
        ("CouponTypes", "ACTIVE INACTIVE"),
    ],
)
async def test_a_new_row_starts_in_a_status_that_clients_may_set(desk: Desk, set_name: str, allowed: str) -> None:
    for status in model.code_list(str(model.entity(set_name).field("status").code_list)).codes:
        sample = await desk.sample(set_name) | {"status": status}
        if status in allowed.split():
            await desk.create_row(set_name, sample)
        else:
            error = await refused(desk, Invalid, desk.create_row(set_name, sample))
            assert error.code == "INVALID_INITIAL_STATUS"
            assert error.target == "status"


async def test_a_budget_that_begins_later_stays_scheduled(desk: Desk) -> None:
    later = NOON + timedelta(days=1)
    budget = await desk.given("Budgets", status="ACTIVE", validFrom=later)
    assert (await desk.row("Budgets", budget))["status"] == "SCHEDULED"
    for verb in ("patch", "activate"):
        budget = await desk.given("Budgets", validFrom=later)
        if verb == "patch":
            await desk.update("Budgets", budget, status="ACTIVE")
        else:
            await desk.transition("Budgets", budget, verb)
        assert (await desk.row("Budgets", budget))["status"] == "SCHEDULED"


async def test_a_promotion_that_cannot_run_is_not_activated(desk: Desk) -> None:
    promotion = await desk.given("Promotions", validTo=NOON)
    error = await refused(desk, Invalid, desk.update("Promotions", promotion, status="ACTIVE"))
    assert faults(error) == {("ACTION_MISSING", "DiscountActions"), ("VALIDITY_OVER", "validTo")}
    await desk.update("Promotions", promotion, validTo=None)
    action = await desk.create("DiscountActions", promotion_ID=promotion, actionType="RECEIPT")
    error = await refused(desk, Invalid, desk.transition("Promotions", promotion, "activate"))
    assert error.target is not None
    assert error.target.startswith("DiscountActions(1)/")
    await desk.update("DiscountActions", action, discountType="ABSOLUTE", discountValue=1)
    await desk.update("Promotions", promotion, status="ACTIVE")
    assert (await desk.row("Promotions", promotion))["status"] == "ACTIVE"


async def test_a_live_promotion_refuses_changes_that_would_break_it(desk: Desk) -> None:
    promotion = await desk.given("Promotions", status="ACTIVE")
    bad = {"promotion_ID": promotion, "conditionType": "RECEIPT_AMOUNT", "value": "much"}
    error = await refused(desk, Invalid, desk.create_row("Conditions", bad))
    assert error.target == "value"
    condition = await desk.create_row("Conditions", bad | {"value": "10"})
    error = await refused(desk, Invalid, desk.update("Conditions", condition, operator="BETWEEN"))
    assert error.target == "valueTo"
    draft = await desk.given("Promotions")
    await desk.create_row("Conditions", bad | {"promotion_ID": draft})


async def test_a_condition_of_an_active_promotion_can_be_replaced_but_not_removed(desk: Desk) -> None:
    promotion = await desk.given("Promotions", status="ACTIVE")
    other = await desk.given("Promotions")
    new = {"promotion_ID": promotion, "conditionType": "CHANNEL", "value": "app"}
    condition = await desk.create_row("Conditions", new)
    for call in (
        desk.remove("Conditions", condition),
        desk.update("Conditions", condition, promotion_ID=other),
    ):
        error = await refused(desk, Conflict, call)
        assert error.code == "PROMOTION_ACTIVE"

    async def replace(authoring: Any) -> str:
        await authoring.remove("Conditions", condition)
        return str(await authoring.create("Conditions", new))

    replaced = await desk.unit(replace)

    async def stop(authoring: Any) -> None:
        await authoring.remove("Conditions", replaced)
        await authoring.update("Promotions", promotion, {"status": "INACTIVE"})

    await desk.unit(stop)
    assert await desk.rows("Conditions") == []


async def test_a_running_pilot_keeps_its_configuration(desk: Desk) -> None:
    promotion = await desk.given("Promotions")
    await desk.create("LoyaltyActions", promotion_ID=promotion, actionType="ADD_FIXED", points=1)
    error = await refused(desk, Invalid, desk.transition("Promotions", promotion, "startPilot"))
    assert error.code == "PILOT_CONFIG_MISSING"
    config = await desk.given("PromotionPilotConfigs", promotion_ID=promotion)
    await desk.transition("Promotions", promotion, "startPilot")
    error = await refused(desk, Conflict, desk.remove("PromotionPilotConfigs", config))
    assert error.code == "PILOT_RUNNING"


async def test_the_locked_flag_of_a_campaign_is_read_only(desk: Desk) -> None:
    campaign = await desk.given("Campaigns", locked=True)
    assert (await desk.row("Campaigns", campaign))["locked"] is False
    for value in (True, False, None):
        error = await refused(desk, NotAllowed, desk.update("Campaigns", campaign, locked=value, name="x"))
        assert error.code == "LOCKED_IS_READ_ONLY"
