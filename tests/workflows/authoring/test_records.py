"""The audit trail, and the events about promotions."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from promenade.errors import Conflict, Invalid, PromenadeError
from promenade.workflows.authoring.shapes import shape_of
from tests.workflows.authoring.desk import Desk, writable_sets


async def events(desk: Desk) -> list[tuple[str, Any]]:
    """Return kind and data of the emitted events, in no order."""
    rows = [json.loads(row["payload"]) for row in await desk.system_rows("outbox_events")]
    return [(row["type"], row["data"]) for row in rows]


async def test_every_changed_row_leaves_an_audit_entry(desk: Desk) -> None:
    for set_name in writable_sets():
        made = await desk.given(set_name)
        await desk.remove(set_name, made)
        trail = [row["action"] for row in await desk.rows("AuditLogs", entityType=set_name, entityId=made)]
        assert sorted(trail) == ["CREATE", "DELETE"], set_name


async def test_the_audit_trail_names_the_user_and_the_change(desk: Desk) -> None:
    promotion = await desk.given(
        "Promotions", name="Spring", posGroups=[{"posGroup_ID": await desk.given("PosGroups")}]
    )
    await desk.update("Promotions", promotion, description="x", priority=2)
    await desk.update("Promotions", promotion, description="x")
    await desk.update("Promotions", promotion, status="INACTIVE")
    await desk.transition("Promotions", promotion, "archive")
    trail = [row for row in await desk.rows("AuditLogs") if row["entityId"] == promotion]
    assert {(row["action"], row["note"]) for row in trail} == {
        ("CREATE", None),
        ("UPDATE", "description, priority"),
        ("DEACTIVATE", "status"),
        ("ARCHIVE", "status"),
    }
    assert len(trail) == 4
    assert {(row["actor"], row["entityName"], row["timestamp"]) for row in trail} == {("ann", "Spring", desk.now)}
    assert not [row for row in await desk.rows("AuditLogs") if row["entityType"] == "PromotionPosGroups"]


async def test_subscribers_get_the_events_of_a_promotion(desk: Desk) -> None:
    promotion = await desk.given("Promotions", name="Spring")
    await desk.create("LoyaltyActions", promotion_ID=promotion, actionType="ADD_FIXED", points=1)

    async def work(authoring: Any) -> None:
        await authoring.create("Conditions", {"promotion_ID": promotion, "conditionType": "CHANNEL", "value": "app"})
        await authoring.update("Promotions", promotion, {"description": "x", "status": "PENDING_APPROVAL"})

    await desk.unit(work)
    for status in ("APPROVED", "ACTIVE", "INACTIVE", "ARCHIVED"):
        await desk.update("Promotions", promotion, status=status)
    told = await events(desk)
    assert sorted((kind, data.get("changed")) for kind, data in told) == [
        ("PROMOTION_ACTIVATED", None),
        ("PROMOTION_APPROVED", None),
        ("PROMOTION_ARCHIVED", None),
        ("PROMOTION_DEACTIVATED", None),
        ("PROMOTION_SUBMITTED", None),
        ("PROMOTION_UPDATED", ["Conditions", "description"]),
        ("PROMOTION_UPDATED", ["LoyaltyActions"]),
    ]
    assert {data["promotionId"] for _, data in told} == {promotion}
    await desk.given("Promotions", status="ACTIVE")
    assert len(await events(desk)) == 8


async def test_concurrent_creates_with_one_key_store_one_row(desk: Desk) -> None:
    """Every unique key of every set: two units request it concurrently, one gets it, the other's error names the
    key.
    """
    for set_name in writable_sets():
        for columns in shape_of(set_name).keys:
            names = [shape_of(set_name).wires[column] for column in columns]
            sample = await desk.sample(set_name, full=True)
            rows = [await desk.sample(set_name, full=True) | {name: sample[name] for name in names} for _ in range(3)]
            answers = await asyncio.gather(*(desk.create_row(set_name, row) for row in rows), return_exceptions=True)
            refusals = [one for one in answers if isinstance(one, BaseException)]
            assert len(refusals) == 2, (set_name, answers)
            for one in refusals:
                assert isinstance(one, Conflict), (set_name, one)
                assert one.code == "ALREADY_EXISTS"
                assert one.target in names


async def test_a_concurrent_delete_and_reference_do_not_both_succeed(desk: Desk) -> None:
    for _ in range(10):
        group = await desk.given("MutualExclusionGroups")
        promotion = await desk.given("Promotions")
        answers = await asyncio.gather(
            desk.remove("MutualExclusionGroups", group),
            desk.update("Promotions", promotion, mutualExclusionGroup_ID=group),
            return_exceptions=True,
        )
        refusals = [one for one in answers if isinstance(one, BaseException)]
        assert len(refusals) == 1
        assert isinstance(refusals[0], Conflict | Invalid)
        assert refusals[0].code in ("IN_USE", "UNKNOWN_REFERENCE")


async def test_a_concurrent_lock_and_change_either_succeed_in_order_or_one_is_refused(desk: Desk) -> None:
    for number in range(10):
        campaign = await desk.given("Campaigns")
        promotion = await desk.given("Promotions", campaign_ID=campaign)
        answers = await asyncio.gather(
            desk.transition("Campaigns", campaign, "lock"),
            desk.update("Promotions", promotion, description=str(number)),
            return_exceptions=True,
        )
        for one in answers:
            assert one is None or (isinstance(one, PromenadeError) and one.code == "LOCKED")


async def test_authors_of_one_promotion_wait_for_each_other(desk: Desk) -> None:
    """At the root and below, deep and direct: no author is refused because of a deadlock."""
    promotion = await desk.given("Promotions")
    condition = await desk.create("Conditions", promotion_ID=promotion, conditionType="CHANNEL", value="app")
    items = [await desk.create("ConditionValueListItems", condition_ID=condition, value=str(n)) for n in range(4)]
    for turn in range(3):
        deep = [[{"ID": key, "value": f"{turn} {number}"} for key in items] for number in range(4)]
        await asyncio.gather(
            *(desk.update("ConditionValueListItems", key, value=f"{turn} {key[:4]}") for key in items),
            *(desk.update("Conditions", condition, valueListItems=rows) for rows in deep),
            *(desk.update("Promotions", promotion, description=f"{turn} {number}") for number in range(4)),
            *(desk.create("ConditionArticleListItems", condition_ID=condition, ean="1") for _ in range(2)),
        )
    assert len(await desk.rows("ConditionArticleListItems")) == 6


async def test_concurrent_changes_of_one_promotion_all_count(desk: Desk) -> None:
    promotion = await desk.given("Promotions")
    before = (await desk.row("Promotions", promotion))["version"]
    await asyncio.gather(
        *(desk.create("Conditions", promotion_ID=promotion, conditionType="CHANNEL", value="x") for _ in range(6)),
        *(desk.update("Promotions", promotion, description=str(number)) for number in range(6)),
    )
    assert (await desk.row("Promotions", promotion))["version"] == before + 12
