"""The life of a draft: may be incomplete, changed only by its user, activated as a whole or discarded."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from promenade import model
from promenade.errors import Conflict, Forbidden, Invalid, NotFound
from promenade.model.declare import DRAFT
from promenade.workflows.authoring import Delta
from tests.workflows.authoring.desk import NOON
from tests.workflows.drafts.editor import Editor, codes, refusal

ROOTS = [entity.set_name for entity in model.entities() if entity.admin is DRAFT]


async def test_a_new_draft_looks_like_a_new_row_and_nobody_else_sees_it(ann: Editor) -> None:
    key = await ann.begin("Promotions")
    row = await ann.draft_row("Promotions", key)
    assert (row["type"], row["status"], row["priority"], row["isExperiment"]) == ("ARTICLE", "DRAFT", 100, False)
    assert row["name"] is None
    assert (row["createdBy"], row["createdAt"], row["draft_owner"], row["version"]) == ("ann", NOON, "ann", 1)
    assert (row["changed"], row["removed"]) == (None, False)
    assert await ann.rows("Promotions") == []
    assert await ann.rows("AuditLogs") == []


async def test_every_root_is_made_and_changed_through_drafts(ann: Editor) -> None:
    for set_name in ROOTS:
        await made_and_edited(ann, set_name)


async def made_and_edited(ann: Editor, set_name: str) -> None:
    """The active row equals the draft, for every property that a client may write."""
    sample = await ann.sample(set_name, full=True)
    key = await ann.begin(set_name)
    await ann.change(set_name, key, **sample)
    assert await ann.activate(set_name, key) is True
    row = await ann.row(set_name, key)
    assert {wire: row[wire] for wire in sample} == sample
    assert await ann.drafts() == []
    assert await ann.draft_rows(set_name) == []

    await ann.edit(set_name, key)
    copy = await ann.draft_row(set_name, key)
    assert {wire: copy[wire] for wire in row if wire != "version"} == {w: row[w] for w in row if w != "version"}
    assert await ann.activate(set_name, key) is False
    assert await ann.row(set_name, key) == row, "nothing was changed, so nothing is written"


async def test_a_draft_is_deep_to_any_depth_and_its_rows_keep_their_ids(ann: Editor) -> None:
    key = await ann.begin(
        "PromotionTemplates",
        name="Pack",
        conditions=[{"conditionType": "CHANNEL", "valueListItems": [{"value": "WEB"}, {"value": "POS"}]}],
        discountActions=[
            {
                "actionType": "ARTICLE",
                "exclusions": [{"exclusionType": "ARTICLE", "articleListItems": [{"ean": "1"}]}],
            }
        ],
    )
    drafted = {name: [row["ID"] for row in await ann.draft_rows(name)] for name in TREE}
    assert [len(ids) for ids in drafted.values()] == [1, 1, 2, 1, 1, 1]
    assert await ann.activate("PromotionTemplates", key) is True
    assert {name: [row["ID"] for row in await ann.rows(name)] for name in TREE} == drafted
    (item,) = await ann.rows("TemplateConditionValueListItems", value="WEB")
    (condition,) = await ann.rows("TemplateConditions")
    assert item["condition_ID"] == condition["ID"]
    assert condition["template_ID"] == key


TREE = (
    "PromotionTemplates",
    "TemplateConditions",
    "TemplateConditionValueListItems",
    "TemplateDiscountActions",
    "TemplateDiscountActionExclusions",
    "TemplateDiscountActionExclusionArticleListItems",
)


async def test_missing_and_wrong_values_are_reported_on_activation(ann: Editor) -> None:
    key = await ann.begin("Promotions", type="NOSUCH", campaign_ID="00000000-0000-4000-8000-000000000000")
    await ann.begin("PromotionPosGroups", promotion_ID=key)
    error = await refusal(ann.activate("Promotions", key), Invalid)
    assert codes(error) >= {("REQUIRED", "name"), ("UNKNOWN_CODE", "type")}
    found = await ann.prepare("Promotions", key)
    assert {(one.code, one.target) for one in found} == codes(error)
    assert len(await ann.draft_rows("Promotions")) == 1
    assert await ann.rows("Promotions") == []


async def test_values_that_cannot_be_stored_are_refused_at_once(ann: Editor) -> None:
    key = await ann.begin("Promotions", name="Two for one")
    too_long = await refusal(ann.change("Promotions", key, name="x" * 256), Invalid)
    assert codes(too_long) == {("TOO_LONG", "name")}
    nul = await refusal(ann.change("Promotions", key, posGroups=[{"posGroup_ID": None}], description="a\0b"), Invalid)
    assert codes(nul) == {("INVALID_CHARACTER", "description")}
    unknown = await refusal(ann.begin("Promotions", posGroups="none", nosuch=1), Invalid)
    assert codes(unknown) == {("INVALID_VALUE", "posGroups"), ("UNKNOWN_PROPERTY", "nosuch")}
    beyond = await refusal(ann.change("Promotions", key, priority=2**31), Invalid)
    assert codes(beyond) == {("OUT_OF_RANGE", "priority")}
    await ann.change("Promotions", key, maxApplicationsTotal=-1)  # invalid, which is accepted for now
    assert (await ann.draft_row("Promotions", key))["maxApplicationsTotal"] == -1
    assert (await ann.draft_row("Promotions", key))["name"] == "Two for one"


async def test_another_tenant_cannot_be_written_and_what_the_service_sets_is_ignored(ann: Editor) -> None:
    foreign = await refusal(ann.begin("Promotions", name="x", tenantId="tenant-b"), Forbidden)
    assert foreign.code == "FOREIGN_TENANT"
    key = await ann.begin("Promotions", name="x", tenantId=ann.tenant, applicationsCount=7, createdBy="eve")
    row = await ann.draft_row("Promotions", key)
    assert (row["applicationsCount"], row["createdBy"]) == (0, "ann")


async def test_a_client_chooses_ids_that_are_free(ann: Editor, bob: Editor) -> None:
    key, part = "ABCDEF00-0000-4000-8000-000000000001", "abcdef00-0000-4000-8000-000000000002"
    assert await ann.begin("Promotions", ID=key, posGroups=[{"ID": part}]) == key.lower()
    for other in (ann, bob):
        assert codes(await refusal(other.begin("Promotions", ID=key), Conflict)) == {("ALREADY_EXISTS", "ID")}
    taken = await refusal(bob.begin("Promotions", posGroups=[{"ID": part}]), Conflict)
    assert codes(taken) == {("ALREADY_EXISTS", "posGroups/0/ID")}
    active = await ann.given("Campaigns")
    assert (await refusal(ann.begin("Campaigns", ID=active), Conflict)).code == "ALREADY_EXISTS"


async def test_parts_are_added_changed_and_taken_away_one_by_one(ann: Editor) -> None:
    places = [await ann.given("PosGroups") for _ in range(3)]
    key = await ann.given("Promotions", posGroups=[{"posGroup_ID": places[0]}, {"posGroup_ID": places[1]}])
    (first, second) = [(await ann.rows("PromotionPosGroups", posGroup_ID=one))[0]["ID"] for one in places[:2]]
    await ann.edit("Promotions", key)
    added = await ann.begin("PromotionPosGroups", promotion_ID=key, posGroup_ID=places[0])
    await ann.change("PromotionPosGroups", added, posGroup_ID=places[2])
    await ann.discard("PromotionPosGroups", first)
    assert (await ann.draft_row("PromotionPosGroups", first))["removed"] is True
    passing = await ann.begin("PromotionPosGroups", promotion_ID=key, posGroup_ID=places[0])
    await ann.discard("PromotionPosGroups", passing)
    assert await ann.draft_rows("PromotionPosGroups", ID=passing) == []
    for gone in (first, passing):
        await refusal(ann.change("PromotionPosGroups", gone, posGroup_ID=places[2]), NotFound)
    await ann.activate("Promotions", key)
    assert {row["ID"]: row["posGroup_ID"] for row in await ann.rows("PromotionPosGroups")} == {
        second: places[1],
        added: places[2],
    }


async def test_a_list_replaces_the_full_set_and_a_delta_does_not(ann: Editor) -> None:
    key = await ann.given("PromotionTemplates", conditions=[condition("A"), condition("B"), condition("C")])
    await ann.edit("PromotionTemplates", key)
    ids = {row["fieldName"]: row["ID"] for row in await ann.rows("TemplateConditions")}
    items = {row["value"]: row["ID"] for row in await ann.rows("TemplateConditionValueListItems")}
    changed = {"ID": ids["B"], "fieldName": "B2", "valueListItems": Delta(({"value": "new"},), (items["B1"],))}
    await ann.change("PromotionTemplates", key, conditions=[changed, condition("D")])
    rows = {row["fieldName"]: row["removed"] for row in await ann.draft_rows("TemplateConditions")}
    assert rows == {"A": True, "B2": False, "C": True, "D": False}
    values = {row["value"]: row["removed"] for row in await ann.draft_rows("TemplateConditionValueListItems")}
    assert values == {
        "A1": True, "A2": True, "C1": True, "C2": True, "B1": True, "B2": False, "new": False, "D1": False, "D2": False,
    }  # fmt: skip
    await ann.change("PromotionTemplates", key, conditions=Delta((), (ids["B"],)))
    await ann.change(
        "PromotionTemplates",
        key,
        conditions=Delta(({"ID": ids["A"], "fieldName": "A again", "conditionType": "CHANNEL"},)),
    )
    await ann.activate("PromotionTemplates", key)
    (again,) = await ann.rows("TemplateConditions", ID=ids["A"])
    assert (again["fieldName"], again["value"]) == ("A again", None), "it came back as if it were new"
    assert {row["fieldName"] for row in await ann.rows("TemplateConditions")} == {"A again", "D"}
    assert {row["value"] for row in await ann.rows("TemplateConditionValueListItems")} == {"D1", "D2"}


def condition(name: str) -> dict[str, Any]:
    items = [{"value": f"{name}{n}"} for n in (1, 2)]
    return {"fieldName": name, "value": name, "conditionType": "CHANNEL", "valueListItems": items}


async def test_a_to_one_part_is_created_at_most_once(ann: Editor) -> None:
    key = await ann.given("Promotions", calculationConfig={"precision": 1})
    await ann.edit("Promotions", key)
    assert (await refusal(ann.begin("CalculationConfigs", promotion_ID=key), Conflict)).code == "ALREADY_EXISTS"
    await ann.change("Promotions", key, calculationConfig={"precision": 2})
    await ann.activate("Promotions", key)
    (config,) = await ann.rows("CalculationConfigs")
    assert config["precision"] == 2
    await ann.edit("Promotions", key)
    await ann.discard("CalculationConfigs", config["ID"])
    other = await ann.begin("CalculationConfigs", promotion_ID=key, precision=3)
    await ann.activate("Promotions", key)
    assert [(row["ID"], row["precision"]) for row in await ann.rows("CalculationConfigs")] == [(other, 3)]
    await ann.edit("Promotions", key)
    await ann.change("Promotions", key, calculationConfig=None)
    await ann.activate("Promotions", key)
    assert await ann.rows("CalculationConfigs") == []


async def test_parts_belong_to_a_draft_and_stay_there(ann: Editor) -> None:
    key, other = await ann.begin("Promotions"), await ann.begin("Promotions")
    part = await ann.begin("PromotionPosGroups", promotion_ID=key)
    moved = await refusal(ann.change("PromotionPosGroups", part, promotion_ID=other), Invalid)
    assert codes(moved) == {("OTHER_PARENT", "promotion_ID")}
    nowhere = await refusal(ann.begin("PromotionPosGroups", promotion_ID=await ann.given("Promotions")), Invalid)
    assert codes(nowhere) == {("UNKNOWN_REFERENCE", "promotion_ID")}
    assert codes(await refusal(ann.begin("PromotionPosGroups"), Invalid)) == {("REQUIRED", "promotion_ID")}


async def test_a_change_counts_and_a_change_of_nothing_only_keeps_the_lock(ann: Editor) -> None:
    key = await ann.given("Promotions", name="Old", priority=5)
    await ann.edit("Promotions", key)
    ann.later(minutes=1)
    await ann.change("Promotions", key, name="New")
    row = await ann.draft_row("Promotions", key)
    assert (row["version"], row["changed"], row["modifiedAt"], row["modifiedBy"]) == (2, ["name"], ann.now, "ann")
    ann.later(minutes=1)
    await ann.change("Promotions", key, name="New")
    assert await ann.draft_row("Promotions", key) == row
    (draft,) = await ann.drafts()
    assert draft["changed_at"] == ann.now
    assert draft["created_at"] == NOON


async def test_put_sets_the_rest_to_its_defaults(ann: Editor) -> None:
    key = await ann.given("Promotions", name="Old", priority=5, description="long", status="INACTIVE")
    await ann.edit("Promotions", key)
    await ann.replace("Promotions", key, name="New")
    await ann.activate("Promotions", key)
    row = await ann.row("Promotions", key)
    assert (row["name"], row["priority"], row["description"], row["status"]) == ("New", 100, None, "INACTIVE")


async def test_discarding_a_draft_leaves_the_active_row_unchanged(ann: Editor) -> None:
    key = await ann.given("Budgets", name="Old", totalAmount=Decimal("10.00"))
    before = await ann.row("Budgets", key)
    await ann.edit("Budgets", key)
    await ann.change("Budgets", key, name="New")
    await ann.discard("Budgets", key)
    assert await ann.row("Budgets", key) == before
    assert await ann.draft_rows("Budgets") == []
    for work in (ann.change("Budgets", key, name="x"), ann.discard("Budgets", key), ann.activate("Budgets", key)):
        assert (await refusal(work, NotFound)).code == "NOT_FOUND"
    assert (await refusal(ann.edit("Budgets", key.replace(key[:4], "ffff")), NotFound)).code == "NOT_FOUND"
