"""Activating writes what the draft's user has changed, and keeps concurrent changes of others."""

from __future__ import annotations

from typing import Any

import pytest

from promenade.errors import Conflict, Invalid
from promenade.workflows.authoring import Delta
from tests.workflows.drafts.editor import Editor, codes, refusal

ITEMS = "TemplateConditionValueListItems"


async def test_other_columns_and_rows_that_others_changed_survive(ann: Editor, bob: Editor) -> None:
    places = [await ann.given("PosGroups") for _ in range(4)]
    key = await ann.given(
        "Promotions", name="Old", priority=1, posGroups=[{"posGroup_ID": one} for one in places[:2]], description="d"
    )
    first, second = [await ann.rows("PromotionPosGroups", posGroup_ID=one) for one in places[:2]]
    await ann.edit("Promotions", key)
    await ann.change("Promotions", key, name="Hers", description=None)
    await ann.discard("PromotionPosGroups", first[0]["ID"])
    bob.later(minutes=1)
    ann.later(minutes=2)
    theirs = Delta(({"posGroup_ID": places[2]}, {"ID": second[0]["ID"], "posGroup_ID": places[3]}))
    await bob.update("Promotions", key, priority=2, name="His", posGroups=theirs)
    assert await ann.activate("Promotions", key) is False
    row = await ann.row("Promotions", key)
    assert (row["name"], row["priority"], row["description"]) == ("Hers", 2, None)
    assert (row["modifiedBy"], row["modifiedAt"]) == ("ann", ann.now)
    assert {one["posGroup_ID"] for one in await ann.rows("PromotionPosGroups")} == set(places[2:])


async def test_a_status_that_others_moved_stays_unless_the_user_wrote_one(ann: Editor, bob: Editor) -> None:
    key = await ann.given("Promotions", status="INACTIVE")
    await ann.edit("Promotions", key)
    await ann.change("Promotions", key, name="Hers")
    await bob.transition("Promotions", key, "archive")
    await ann.activate("Promotions", key)
    assert (await ann.row("Promotions", key))["status"] == "ARCHIVED"
    await ann.edit("Promotions", key)
    await ann.change("Promotions", key, status="INACTIVE")
    await ann.activate("Promotions", key)
    assert (await ann.row("Promotions", key))["status"] == "INACTIVE"
    await ann.edit("Promotions", key)
    await ann.change("Promotions", key, status="EXPIRED")
    assert codes(await refusal(ann.activate("Promotions", key), Conflict)) == {("INVALID_TRANSITION", "status")}


async def test_activating_an_unchanged_draft_writes_nothing(ann: Editor, bob: Editor) -> None:
    key = await ann.given("PromotionTemplates", conditions=[{"conditionType": "CHANNEL", "valueListItems": []}])
    await ann.edit("PromotionTemplates", key)
    await ann.change("PromotionTemplates", key, conditions=Delta(({"conditionType": "CHANNEL"},)))
    (added,) = [row for row in await ann.draft_rows("TemplateConditions") if row["changed"] is None]
    await ann.discard("TemplateConditions", added["ID"])
    before = await ann.row("PromotionTemplates", key), await ann.rows("TemplateConditions"), await ann.rows("AuditLogs")
    ann.later(minutes=5)
    assert await ann.activate("PromotionTemplates", key) is False
    assert (
        await ann.row("PromotionTemplates", key), await ann.rows("TemplateConditions"), await ann.rows("AuditLogs")
    ) == before  # fmt: skip
    assert await ann.drafts() == []


async def test_a_change_in_a_nested_part_only_is_written(ann: Editor) -> None:
    key = await template(ann)
    await ann.edit("PromotionTemplates", key)
    (item,) = await ann.rows(ITEMS, value="A1")
    await ann.change(ITEMS, item["ID"], value="A9")
    (condition,) = await ann.rows("TemplateConditions", fieldName="B")
    await ann.begin(ITEMS, condition_ID=condition["ID"], value="B9")
    await ann.activate("PromotionTemplates", key)
    assert {row["value"]: row["version"] for row in await ann.rows(ITEMS)} == {
        "A9": 2,
        "A2": 1,
        "B1": 1,
        "B2": 1,
        "B9": 1,
    }


async def test_activating_restores_a_row_deleted_meanwhile_completely(ann: Editor, bob: Editor) -> None:
    place = await ann.given("PosGroups")
    key = await ann.given("Promotions", name="Old", priority=7, status="ACTIVE", posGroups=[{"posGroup_ID": place}])
    (part,) = await ann.rows("PromotionPosGroups")
    await ann.edit("Promotions", key)
    await ann.change("Promotions", key, name="Hers")
    await bob.remove("Promotions", key)
    assert await ann.activate("Promotions", key) is True
    row = await ann.row("Promotions", key)
    assert (row["name"], row["priority"], row["createdBy"]) == ("Hers", 7, "ann")
    assert row["status"] == "DRAFT", "its conditions and actions are gone: it must not go live by itself"
    assert [one["ID"] for one in await ann.rows("PromotionPosGroups")] == [part["ID"]]


@pytest.mark.parametrize("what", ["row", "part"])
async def test_a_part_that_is_gone_meanwhile_comes_back_whole_if_the_draft_changed_it(
    ann: Editor, bob: Editor, what: str
) -> None:
    key = await template(ann)
    await ann.edit("PromotionTemplates", key)
    ids = {row["fieldName"]: row["ID"] for row in await ann.rows("TemplateConditions")}
    if what == "row":
        await ann.change("TemplateConditions", ids["A"], operator="EQUALS")
    else:
        await ann.begin(ITEMS, condition_ID=ids["A"], value="A3")
    await bob.update("PromotionTemplates", key, conditions=[])
    await ann.activate("PromotionTemplates", key)
    (condition,) = await ann.rows("TemplateConditions")
    assert (condition["ID"], condition["fieldName"]) == (ids["A"], "A")
    assert {row["value"] for row in await ann.rows(ITEMS)} == {"A1", "A2"} | ({"A3"} if what == "part" else set())


async def test_a_part_removed_by_both_users_is_gone(ann: Editor, bob: Editor) -> None:
    key = await template(ann)
    await ann.edit("PromotionTemplates", key)
    ids = {row["fieldName"]: row["ID"] for row in await ann.rows("TemplateConditions")}
    await ann.discard("TemplateConditions", ids["A"])
    await bob.update("PromotionTemplates", key, conditions=Delta((), (ids["A"],)))
    await ann.activate("PromotionTemplates", key)
    assert [row["ID"] for row in await ann.rows("TemplateConditions")] == [ids["B"]]


async def template(ann: Editor) -> str:
    """A template with conditions A and B of two values each."""
    conditions: list[dict[str, Any]] = [
        {"fieldName": name, "conditionType": "CHANNEL", "valueListItems": [{"value": f"{name}{n}"} for n in (1, 2)]}
        for name in "AB"
    ]
    return await ann.given("PromotionTemplates", conditions=conditions)


async def test_a_key_taken_by_another_user_meanwhile_is_reported(ann: Editor, bob: Editor) -> None:
    place = await ann.given("PosGroups")
    key = await ann.given("Promotions")
    await ann.edit("Promotions", key)
    await ann.change("Promotions", key, code="SUMMER")
    added = await ann.begin("PromotionPosGroups", promotion_ID=key, posGroup_ID=place)
    await bob.update("Promotions", key, posGroups=Delta(({"posGroup_ID": place},)))
    await bob.given("Promotions", code="SUMMER")
    target = f"posGroups(ID={added},IsActiveEntity=false)/posGroup_ID"
    found = await ann.prepare("Promotions", key)
    assert {(one.code, one.target) for one in found} == {("ALREADY_EXISTS", "code"), ("ALREADY_EXISTS", target)}
    assert codes(await refusal(ann.activate("Promotions", key), Conflict)) == {
        ("ALREADY_EXISTS", "code"), ("ALREADY_EXISTS", target),
    }  # fmt: skip
    assert len(await ann.drafts()) == 1
    assert (await ann.row("Promotions", key))["code"] is None


async def test_preparing_reports_all_faults_and_stores_nothing(ann: Editor) -> None:
    key = await ann.given("Promotions", name="Old", status="ACTIVE", currency="EUR")
    await ann.edit("Promotions", key)
    await ann.change("Promotions", key, name="New", validTo=ann.now, status="INACTIVE")
    sets = ("Promotions", "AuditLogs")
    tables = ("outbox_events", "catalogue_changes")

    async def stored() -> list[Any]:
        return [
            *[await ann.rows(name) for name in sets],
            *[await ann.system_rows(name) for name in tables],
            await ann.drafts(),
            await ann.draft_rows("Promotions"),
        ]

    before = await stored()
    ann.later(minutes=1)
    assert await ann.prepare("Promotions", key) == ()
    assert await stored() == before
    await ann.change("Promotions", key, status="ACTIVE", name=None)
    (found,) = await ann.prepare("Promotions", key)
    assert (found.code, found.target, found.message) == ("REQUIRED", "name", "name is required.")


async def test_preparing_also_reports_faults_checked_at_the_end_of_a_unit(ann: Editor) -> None:
    """A promotion that becomes active must have an effect; that is checked when everything is written."""
    key = await ann.given("Promotions")
    await ann.edit("Promotions", key)
    await ann.change("Promotions", key, status="ACTIVE")
    (found,) = await ann.prepare("Promotions", key)
    assert found.code == "ACTION_MISSING"
    assert (await refusal(ann.activate("Promotions", key), Invalid)).code == "ACTION_MISSING"
    assert len(await ann.drafts()) == 1
