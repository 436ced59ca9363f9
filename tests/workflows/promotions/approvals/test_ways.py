"""No way leads past a binding approval: a table of ways to make a promotion run, and to change one that runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from promenade.errors import Conflict, Forbidden, PromenadeError
from promenade.store.authoring.approvals import read_policy
from promenade.store.driver.unit import Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.promotions.campaigns import add_promotions
from promenade.workflows.promotions.copying import copy_promotion
from promenade.workflows.promotions.lifecycle import move_promotion
from promenade.workflows.promotions.templates import create_promotion_from_template
from tests.workflows.authoring.desk import NOON
from tests.workflows.promotions.approvals.house import House

Way = Callable[[House, str], Awaitable[Any]]
REQUIRED, OWN = "APPROVAL_REQUIRED", "OWN_APPROVAL"
LATER = NOON + timedelta(days=100)


# ---- to make a promotion run; ann has created it, and zoe may approve -----------------------------------------------


async def activate(house: House, key: str) -> None:
    await house.move("ann", key, "activate")


async def activate_as_the_approver(house: House, key: str) -> None:
    await house.move("zoe", key, "activate")


async def write_the_status(house: House, key: str) -> None:
    await house.update("zoe", "Promotions", key, status="ACTIVE")


async def create_it_active(house: House, _: str) -> None:
    await house.create("ann", "Promotions", name="New", status="ACTIVE")


async def import_it_active(house: House, _: str) -> None:
    codes = await house.bring("Promotions", {"name": "Good", "status": "DRAFT"}, {"name": "Bad", "status": "ACTIVE"})
    for code in codes:
        raise Conflict(code, "of the import")


async def activate_a_draft(house: House, key: str) -> None:
    await house.by_draft("zoe", key, {"status": "ACTIVE"})


async def activate_a_new_draft(house: House, _: str) -> None:
    await house.by_draft("ann", None, {"name": "New", "status": "ACTIVE"})


async def start_a_pilot(house: House, key: str) -> None:
    await pilot(house, key)
    await house.move("zoe", key, "startPilot")


async def roll_a_pilot_out_by_clock(house: House, key: str) -> None:
    await pilot(house, key)
    await house.settle(approval="OFF")
    await house.move("ann", key, "startPilot")
    await house.settle(approval="BINDING")
    await house.act(
        "clockwork", lambda authoring, _: authoring.transition("Promotions", key, "promoteToActive"), by_clock=True
    )
    assert await house.status(key) == "PILOT"


async def copy_an_approved_one(house: House, key: str) -> None:
    await house.approved(key)
    copy = await house.act(
        "ann", lambda authoring, session: copy_promotion(authoring, session, key, code=None, name=None)
    )
    await house.move("ann", copy, "activate")


async def activate_one_from_a_template(house: House, _: str) -> None:
    action = {"actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 10}
    template = await house.create("ann", "PromotionTemplates", name="Ten off", discountActions=[action])
    made = await house.act(
        "ann", lambda authoring, session: create_promotion_from_template(authoring, session, template)
    )
    await house.move("ann", made, "activate")


async def write_the_status_approved(house: House, key: str) -> None:
    await house.move("ann", key, "submit")
    await house.update("zoe", "Promotions", key, status="APPROVED")


async def write_the_status_rejected(house: House, key: str) -> None:
    await house.move("ann", key, "submit")
    await house.update("zoe", "Promotions", key, status="REJECTED")


async def activate_a_submitted_one(house: House, key: str) -> None:
    await house.move("ann", key, "submit")
    await house.move("zoe", key, "activate")


async def activate_a_rejected_one(house: House, key: str) -> None:
    await house.move("ann", key, "submit")
    await house.move("zoe", key, "reject", reason="Too much.")
    await house.move("ann", key, "activate")


async def edit_after_the_approval(house: House, key: str) -> None:
    await house.approved(key)
    await house.update("ann", "Promotions", key, priority=1)
    await house.move("ann", key, "activate")


async def edit_and_activate_in_one_change_set(house: House, key: str) -> None:
    await house.approved(key)

    async def step(authoring: Authoring, _: Session) -> None:
        await authoring.update("Promotions", key, {"priority": 1})
        await authoring.transition("Promotions", key, "activate")

    await house.act("ann", step)


async def edit_after_the_approval_and_back(house: House, key: str) -> None:
    await house.approved(key)
    await house.update("zoe", "Promotions", key, priority=1)
    await house.update("zoe", "Promotions", key, priority=100)
    await house.move("zoe", key, "activate")


async def link_a_coupon_type_after_the_approval(house: House, key: str) -> None:
    await house.approved(key)
    await house.create(
        "ann", "CouponTypePromotions", promotion_ID=key, couponType_ID=await house.desk.given("CouponTypes")
    )
    await house.move("ann", key, "activate")


async def unlink_a_budget_after_the_approval(house: House, key: str) -> None:
    link = await house.create("ann", "BudgetPromotions", promotion_ID=key, budget_ID=await budget(house))
    await house.approved(key)
    await house.remove("tom", "BudgetPromotions", link)
    await house.move("ann", key, "activate")


async def move_it_to_a_longer_campaign_after_the_approval(house: House, key: str) -> None:
    await house.approved(key)
    campaign = await house.create("ann", "Campaigns", code="LONG", name="Long", endAt=LATER)
    await house.act("ann", lambda authoring, session: add_promotions(authoring, session, campaign, [key]))
    await house.move("ann", key, "activate")


async def prolong_its_campaign_after_the_approval(house: House, key: str) -> None:
    campaign = await house.create("ann", "Campaigns", code="LONG", name="Long", endAt=LATER)
    await house.act("ann", lambda authoring, session: add_promotions(authoring, session, campaign, [key]))
    await house.approved(key)
    await house.update("tom", "Campaigns", campaign, endAt=None)
    await house.move("ann", key, "activate")


async def revive_the_campaign_of_one_that_was_never_approved(house: House, key: str) -> None:
    campaign = await house.create("ann", "Campaigns", code="OLD", name="Old")
    await house.act("ann", lambda authoring, session: add_promotions(authoring, session, campaign, [key]))
    await house.update("ann", "Campaigns", campaign, status="CANCELLED")
    await house.settle(approval="OFF")
    await house.move("ann", key, "activate")
    await house.settle(approval="BINDING")
    await house.update("ann", "Campaigns", campaign, status="SCHEDULED")


async def approve_as_the_creator(house: House, key: str) -> None:
    await house.move("tom", key, "submit")
    await house.move("ann", key, "approve")


async def approve_as_the_submitter(house: House, key: str) -> None:
    await house.move("zoe", key, "submit")
    await house.move("zoe", key, "approve")


async def approve_as_who_changed_it_last(house: House, key: str) -> None:
    await house.update("zoe", "Promotions", key, priority=1)
    await house.move("ann", key, "submit")
    await house.move("zoe", key, "approve")


async def approve_as_who_changed_it_before_somebody_else(house: House, key: str) -> None:
    await house.update("zoe", "Promotions", key, priority=1)
    await house.update("tom", "Promotions", key, priority=2)
    await house.move("ann", key, "submit")
    await house.move("zoe", key, "approve")


async def approve_as_who_linked_a_coupon_type(house: House, key: str) -> None:
    await house.create(
        "zoe", "CouponTypePromotions", promotion_ID=key, couponType_ID=await house.desk.given("CouponTypes")
    )
    await house.move("ann", key, "submit")
    await house.move("zoe", key, "approve")


async def approve_and_edit_in_one_change_set(house: House, key: str) -> None:
    await house.move("ann", key, "submit")

    async def step(authoring: Authoring, session: Session) -> None:
        await decide(house, authoring, session, key)
        await authoring.update("Promotions", key, {"priority": 1})

    await house.act("zoe", step)


async def submit_and_approve_in_one_change_set(house: House, key: str) -> None:
    async def step(authoring: Authoring, session: Session) -> None:
        await authoring.transition("Promotions", key, "submit")
        await decide(house, authoring, session, key)

    await house.act("zoe", step)


async def pilot(house: House, key: str) -> None:
    groups = [{"posGroup_ID": await house.desk.given("PosGroups")} for _ in range(2)]
    await house.create(
        "ann", "PromotionPilotConfigs", promotion_ID=key, pilotStartAt=NOON, pilotEndAt=LATER,
        pilotPosGroups=groups[:1], controlPosGroups=groups[1:],
    )  # fmt: skip


async def budget(house: House) -> str:
    return await house.create("ann", "Budgets", code="B1", name="Marketing", totalAmount=100, currency="EUR")


async def decide(house: House, authoring: Authoring, session: Session, key: str) -> None:
    await move_promotion(authoring, session, key, "approve", house.now, policy=await read_policy(session))


TO_RUN: dict[str, tuple[Way, ...]] = {
    REQUIRED: (
        activate, activate_as_the_approver, write_the_status, create_it_active, import_it_active, activate_a_draft,
        activate_a_new_draft, start_a_pilot, roll_a_pilot_out_by_clock, copy_an_approved_one,
        activate_one_from_a_template, write_the_status_approved, write_the_status_rejected, activate_a_submitted_one,
        activate_a_rejected_one, edit_after_the_approval, edit_and_activate_in_one_change_set,
        edit_after_the_approval_and_back, link_a_coupon_type_after_the_approval, unlink_a_budget_after_the_approval,
        move_it_to_a_longer_campaign_after_the_approval, prolong_its_campaign_after_the_approval,
        revive_the_campaign_of_one_that_was_never_approved,
    ),
    OWN: (
        approve_as_the_creator, approve_as_the_submitter, approve_as_who_changed_it_last,
        approve_as_who_changed_it_before_somebody_else, approve_as_who_linked_a_coupon_type,
        approve_and_edit_in_one_change_set, submit_and_approve_in_one_change_set,
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("code", "way"),
    [pytest.param(code, way, id=way.__name__) for code, ways in TO_RUN.items() for way in ways],
)
async def test_no_way_makes_a_promotion_run(house: House, code: str, way: Way) -> None:
    key = await house.promotion()
    refused = await refusal(house, way, key)
    assert refused.code == code
    assert isinstance(refused, Conflict if code == REQUIRED else Forbidden)
    running = {"ACTIVE"} if way is revive_the_campaign_of_one_that_was_never_approved else set()
    running |= {"PILOT"} if way is roll_a_pilot_out_by_clock else set()
    assert {row["status"] for row in await house.desk.rows("Promotions")} & {"ACTIVE", "PILOT"} == running


async def refusal(house: House, way: Way, key: str) -> PromenadeError:
    """Return the refusal of the last step of a way, which left nothing behind."""
    act = house.act
    before: list[Any] = []

    async def watched(*args: Any, **options: Any) -> Any:
        before[:] = await house.trace()
        return await act(*args, **options)

    house.act = watched  # type: ignore[method-assign]
    with pytest.raises(PromenadeError) as refused:
        await way(house, key)
    if way is not import_it_active:  # its good row is stored
        assert await house.trace() == before
    return refused.value


# ---- to change one that runs ----------------------------------------------------------------------------------------


async def change_it(house: House, key: str) -> None:
    await house.update("ann", "Promotions", key, validTo=LATER)


async def change_what_a_return_refunds(house: House, key: str) -> None:
    await house.update("ann", "Promotions", key, returnPolicy="REPRICE")


async def change_its_places(house: House, key: str) -> None:
    await house.update("ann", "Promotions", key, posGroups=[{"posGroup_ID": await house.desk.given("PosGroups")}])


async def change_its_action(house: House, key: str) -> None:
    (action,) = await house.desk.rows("DiscountActions", promotion_ID=key)
    await house.update("ann", "DiscountActions", action["ID"], discountValue=20)


async def replace_its_action(house: House, key: str) -> None:
    (action,) = await house.desk.rows("DiscountActions", promotion_ID=key)

    async def step(authoring: Authoring, _: Session) -> None:
        await authoring.remove("DiscountActions", action["ID"])
        row = {"actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 20, "promotion_ID": key}
        await authoring.create("DiscountActions", row)

    await house.act("ann", step)


async def add_a_condition(house: House, key: str) -> None:
    await house.create("ann", "Conditions", promotion_ID=key, conditionType="RECEIPT_AMOUNT", minAmount=5)


async def import_a_condition(house: House, key: str) -> None:
    other = await house.promotion()
    good, bad = ({"promotion_ID": one, "conditionType": "RECEIPT_AMOUNT", "minAmount": 5} for one in (other, key))
    for code in await house.bring("Conditions", good, bad):
        raise Conflict(code, "of the import")


async def change_it_by_a_draft(house: House, key: str) -> None:
    await house.by_draft("ann", key, {"validTo": LATER})


async def link_a_budget(house: House, key: str) -> None:
    await house.create("ann", "BudgetPromotions", promotion_ID=key, budget_ID=await budget(house))


async def link_a_coupon_type(house: House, key: str) -> None:
    await house.create(
        "ann", "CouponTypePromotions", promotion_ID=key, couponType_ID=await house.desk.given("CouponTypes")
    )


async def put_it_into_a_priority_group(house: House, key: str) -> None:
    group = await house.desk.given("PriorityGroups")
    await house.create("ann", "PriorityGroupPromotions", promotion_ID=key, priorityGroup_ID=group)


async def give_it_a_pilot(house: House, key: str) -> None:
    await pilot(house, key)


async def put_it_into_a_campaign(house: House, key: str) -> None:
    campaign = await house.create("ann", "Campaigns", code="C", name="C", endAt=LATER)
    await house.act("ann", lambda authoring, session: add_promotions(authoring, session, campaign, [key]))


async def deactivate_change_and_activate(house: House, key: str) -> None:
    await house.move("ann", key, "deactivate")
    await house.update("ann", "Promotions", key, validTo=LATER)
    await house.move("ann", key, "activate")


async def deactivate_change_and_activate_in_one_change_set(house: House, key: str) -> None:
    async def step(authoring: Authoring, _: Session) -> None:
        await authoring.transition("Promotions", key, "deactivate")
        await authoring.update("Promotions", key, {"validTo": LATER})
        await authoring.transition("Promotions", key, "activate")

    await house.act("ann", step)


TO_CHANGE = (
    change_it, change_what_a_return_refunds, change_its_places, change_its_action, replace_its_action, add_a_condition,
    import_a_condition, change_it_by_a_draft, link_a_budget, link_a_coupon_type, put_it_into_a_priority_group,
    give_it_a_pilot, put_it_into_a_campaign, deactivate_change_and_activate,
    deactivate_change_and_activate_in_one_change_set,
)  # fmt: skip


@pytest.mark.parametrize("way", TO_CHANGE, ids=lambda way: way.__name__)
async def test_no_way_changes_a_running_promotion(house: House, way: Way) -> None:
    key = await house.running()
    content = (await house.contents())[key]
    refused = await refusal(house, way, key) if way is not import_a_condition else None
    if refused is None:
        with pytest.raises(Conflict, match="of the import") as imported:
            await way(house, key)
        refused = imported.value
    assert refused.code == REQUIRED
    if way is deactivate_change_and_activate:
        assert await house.status(key) == "INACTIVE"
    else:
        assert ((await house.contents())[key], await house.status(key)) == (content, "ACTIVE")


async def test_a_campaign_of_running_promotions_keeps_its_window_and_places(house: House) -> None:
    campaign = await house.create("ann", "Campaigns", code="C", name="C", endAt=LATER)
    key = await house.running(campaign_ID=campaign)
    group = await house.desk.given("PosGroups")
    for changes in ({"endAt": None}, {"startAt": NOON}, {"posGroups": [{"posGroup_ID": group}]}):
        before = await house.trace()
        with pytest.raises(Conflict) as refused:
            await house.update("ann", "Campaigns", campaign, **changes)
        assert refused.value.code == REQUIRED
        assert await house.trace() == before
    await house.update("ann", "Campaigns", campaign, name="Another name", notes="What customers get stays.")
    assert await house.status(key) == "ACTIVE"


# ---- what is allowed ------------------------------------------------------------------------------------------------


async def test_an_approval_by_somebody_else_lets_it_run(house: House) -> None:
    key = await house.running()
    assert await house.status(key) == "ACTIVE"
    (approval,) = await house.approvals(key)
    assert (approval["status"], approval["submittedBy"], approval["decidedBy"]) == ("APPROVED", "ann", "zoe")


async def test_what_customers_do_not_get_may_change(house: House) -> None:
    key = await house.running()
    await house.update("ann", "Promotions", key, description="New", code="X1", externalReference="7")
    assert await house.status(key) == "ACTIVE"
    await house.move("ann", key, "deactivate")
    await house.move("ann", key, "activate")  # the same content, approved
    assert await house.status(key) == "ACTIVE"


async def test_what_ran_before_approval_was_binding_runs_on_unchanged(house: House) -> None:
    await house.settle(approval="OFF")
    key = await house.promotion()
    await house.move("ann", key, "activate")
    await house.settle(approval="BINDING")
    await house.update("ann", "Promotions", key, description="New")
    with pytest.raises(Conflict):
        await house.update("ann", "Promotions", key, validTo=LATER)
    await house.move("ann", key, "deactivate")
    with pytest.raises(Conflict):
        await house.move("ann", key, "activate")
    await house.approved(key)  # an INACTIVE promotion can be submitted
    await house.move("ann", key, "activate")
    assert await house.status(key) == "ACTIVE"


@pytest.mark.parametrize("state", ["PENDING_APPROVAL", "APPROVED"])
async def test_an_edit_takes_submission_and_approval_away(house: House, state: str) -> None:
    key = await house.promotion()
    await house.move("ann", key, "submit")
    if state == "APPROVED":
        await house.move("zoe", key, "approve")
    await house.update("tom", "Promotions", key, description="Not what customers get")
    assert await house.status(key) == state
    await house.update("tom", "Promotions", key, priority=1)
    assert await house.status(key) == "DRAFT"
    (approval,) = await house.approvals(key)
    assert (approval["status"], approval["decidedBy"]) == ("WITHDRAWN", "tom")
    trail = [row for row in await house.desk.rows("AuditLogs", entityId=key) if row["actor"] == "tom"]
    assert [row["action"] for row in trail].count("WITHDRAW") == 1


async def test_an_approval_lets_earlier_authors_approve_what_others_change_later(house: House) -> None:
    key = await house.promotion()
    await house.update("zoe", "Promotions", key, priority=1)
    await house.approved(key, approver="tom")
    await house.update("ann", "Promotions", key, priority=2)
    await house.approved(key, approver="zoe")
    assert await house.status(key) == "APPROVED"


async def test_a_rejection_tells_its_reason(house: House) -> None:
    key = await house.promotion()
    await house.move("ann", key, "submit")
    for reason in (None, "", "  "):
        with pytest.raises(PromenadeError) as refused:
            await house.move("zoe", key, "reject", reason=reason)
        assert (refused.value.code, refused.value.target) == ("REQUIRED", "reason")
    await house.move("zoe", key, "reject", reason=" Too expensive. ")
    (approval,) = await house.approvals(key)
    assert (approval["status"], approval["reason"], approval["decidedBy"]) == ("REJECTED", "Too expensive.", "zoe")
    (entry,) = await house.desk.rows("AuditLogs", entityId=key, action="REJECT")
    assert entry["note"] == "Too expensive."


async def test_a_deleted_promotion_waits_for_nobody(house: House) -> None:
    key = await house.promotion()
    await house.move("ann", key, "submit")
    await house.remove("ann", "Promotions", key)
    assert [one["status"] for one in await house.approvals(key)] == ["WITHDRAWN"]


async def test_the_queue_is_right_when_approval_becomes_binding(house: House) -> None:
    left, waits = await house.promotion(), await house.promotion()
    await house.move("ann", left, "submit")
    await house.settle(approval="OFF")
    await house.move("ann", left, "deactivate")
    await house.move("tom", waits, "submit")
    await house.settle(approval="BINDING")
    assert [one["status"] for one in await house.approvals(left)] == ["WITHDRAWN"]
    (approval,) = await house.approvals(waits)
    assert (approval["status"], approval["submittedBy"]) == ("PENDING", "tom")
    with pytest.raises(Forbidden):
        await house.move("tom", waits, "approve")
    await house.move("zoe", waits, "approve")


async def test_without_it_nothing_is_different(house: House) -> None:
    await house.settle(approval="OFF")
    key = await house.promotion()
    await house.move("ann", key, "submit")
    await house.move("ann", key, "reject")
    await house.update("ann", "Promotions", key, status="PENDING_APPROVAL")
    await house.update("ann", "Promotions", key, status="APPROVED")
    await house.update("ann", "Promotions", key, priority=1)
    assert await house.status(key) == "APPROVED"
    await house.move("ann", key, "activate")
    await house.update("ann", "Promotions", key, validTo=LATER)
    assert await house.approvals(key) == []
    assert await house.desk.system_rows("promotion_authors") == []
    await house.move("ann", key, "deactivate")
    with pytest.raises(Conflict, match="cannot become"):
        await house.move("ann", key, "submit")
