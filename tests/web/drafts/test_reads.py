"""What a draft and its active row show of each other and of themselves, in every kind of read."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tests.web.drafts.desk import ANNA, BEN, Desk, active, draft, one

EXPAND = "$expand=SiblingEntity($select=name),DraftAdministrativeData,posGroups($select=posGroup_ID)"


@pytest.fixture
def taken(desk: Desk) -> tuple[str, str, str]:
    """Create a promotion whose draft by Anna has another name and another place; return it with both places."""
    place, other = desk.pos_group(), desk.pos_group()
    entity_id = desk.promotion(name="Active", posGroups=[{"posGroup_ID": place}])
    desk.edit(entity_id)
    desk.patch(draft(entity_id), {"name": "Draft", "posGroups": [{"posGroup_ID": other}]}, status=200)
    return entity_id, place, other


def test_a_draft_and_its_active_row_expand_each_other(desk: Desk, form: str, taken: tuple[str, str, str]) -> None:
    entity_id, place, other = taken
    ours = one(desk, form, "GET", f"{draft(entity_id)}?{EXPAND}").body
    theirs = one(desk, form, "GET", f"{active(entity_id)}?{EXPAND}").body
    of_ben = one(desk, form, "GET", f"{active(entity_id)}?{EXPAND}", user=BEN).body
    assert (ours["IsActiveEntity"], ours["HasActiveEntity"], ours["HasDraftEntity"]) == (False, True, False)
    assert (theirs["IsActiveEntity"], theirs["HasActiveEntity"], theirs["HasDraftEntity"]) == (True, False, True)
    assert (ours["SiblingEntity"]["name"], ours["SiblingEntity"]["IsActiveEntity"]) == ("Active", True)
    assert (theirs["SiblingEntity"]["name"], theirs["SiblingEntity"]["IsActiveEntity"]) == ("Draft", False)
    assert of_ben["SiblingEntity"] is None
    assert [part["posGroup_ID"] for part in ours["posGroups"]] == [other]
    assert [part["posGroup_ID"] for part in theirs["posGroups"]] == [place]
    data = ours["DraftAdministrativeData"]
    assert data == theirs["DraftAdministrativeData"]
    assert (data["CreatedByUser"], data["LastChangedByUser"], data["InProcessByUser"]) == (ANNA, ANNA, ANNA)
    assert data["DraftIsCreatedByMe"] is data["DraftIsProcessedByMe"] is True
    begun, changed = (datetime.fromisoformat(data[name]) for name in ("CreationDateTime", "LastChangeDateTime"))
    assert begun <= changed
    mine = ("DraftIsCreatedByMe", "DraftIsProcessedByMe")
    assert of_ben["DraftAdministrativeData"] == {**data, **dict.fromkeys(mine, False)}


def test_a_draft_and_its_active_row_navigate_to_each_other(desk: Desk, form: str, taken: tuple[str, str, str]) -> None:
    entity_id, place, other = taken
    for path, name, where in (
        (f"{draft(entity_id)}/SiblingEntity", "Active", place),
        (f"{active(entity_id)}/SiblingEntity", "Draft", other),
    ):
        assert one(desk, form, "GET", path).body["name"] == name
        assert [part["posGroup_ID"] for part in one(desk, form, "GET", f"{path}/posGroups").body["value"]] == [where]
    assert one(desk, form, "GET", f"{active(entity_id)}/SiblingEntity", user=BEN).status in {204, 404}
    data = one(desk, form, "GET", f"{active(entity_id)}/DraftAdministrativeData", user=BEN)
    assert (data.status, data.body["CreatedByUser"], data.body["DraftIsCreatedByMe"]) == (200, ANNA, False)


def test_parts_are_read_only_through_their_own_draft_or_active_row(
    desk: Desk, form: str, taken: tuple[str, str, str]
) -> None:
    entity_id, _, other = taken
    (part,) = one(desk, form, "GET", f"{draft(entity_id)}/posGroups").body["value"]
    assert (part["posGroup_ID"], part["IsActiveEntity"], part["HasActiveEntity"]) == (other, False, False)
    own = draft(part["ID"], "PromotionPosGroups")
    below = one(desk, form, "GET", f"{draft(entity_id)}/posGroups(ID={part['ID']},IsActiveEntity=false)").body
    alone = one(desk, form, "GET", own).body
    assert {**below, "@odata.context": ""} == {**alone, "@odata.context": ""}
    owner = one(desk, form, "GET", f"{own}/promotion?$select=name").body
    assert (owner["name"], owner["IsActiveEntity"]) == ("Draft", False)
    assert one(desk, form, "GET", f"{own}/posGroup").body["IsActiveEntity"] is True
    assert one(desk, form, "GET", f"PromotionPosGroups({part['ID']})").status == 404


def test_counts_properties_and_values_are_the_drafts(desk: Desk, taken: tuple[str, str, str]) -> None:
    entity_id, _, _ = taken
    assert desk.read(f"{draft(entity_id)}/name")["value"] == "Draft"
    assert desk.get(f"{draft(entity_id)}/name/$value").text == "Draft"
    assert desk.read(f"{active(entity_id)}/name")["value"] == "Active"
    assert desk.get(f"{draft(entity_id)}/posGroups/$count").text == "1"
    assert desk.get(f"{draft(entity_id)}/posGroups/$count", user=BEN).status_code == 404
    filtered = f"Promotions?$filter=IsActiveEntity%20eq%20false%20and%20ID%20eq%20{entity_id}"
    assert desk.read(f"{filtered}&$expand=posGroups($count=true)")["value"][0]["posGroups@odata.count"] in {1, "1"}


def test_a_selection_always_has_the_whole_key(desk: Desk, form: str, taken: tuple[str, str, str]) -> None:
    entity_id, _, _ = taken
    for path, name, is_active in ((draft(entity_id), "Draft", False), (active(entity_id), "Active", True)):
        row = one(desk, form, "GET", f"{path}?$select=name").body
        shown = {key: value for key, value in row.items() if not key.startswith("@")}
        assert shown == {"ID": entity_id, "name": name, "IsActiveEntity": is_active}


def test_a_list_can_be_chosen_by_what_the_parts_and_siblings_say(desk: Desk, taken: tuple[str, str, str]) -> None:
    entity_id, place, other = taken
    merged = "(IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null)"

    def found(condition: str, user: str) -> list[Any]:
        path = f"Promotions?$filter={condition} and ID eq {entity_id}&$select=ID".replace(" ", "%20")
        return [row["IsActiveEntity"] for row in desk.read(path, user=user)["value"]]

    assert found(f"{merged} and posGroups/any(p:p/posGroup_ID eq {other})", ANNA) == [False]
    assert found(f"{merged} and posGroups/any(p:p/posGroup_ID eq {place})", ANNA) == []
    assert found(f"{merged} and posGroups/any(p:p/posGroup_ID eq {place})", BEN) == [True]
    assert found("posGroups/any(p:p/posGroup_ID eq " + place + ")", ANNA) == [True]
    assert found("IsActiveEntity eq false and SiblingEntity/name eq 'Active'", ANNA) == [False]


def test_a_template_is_read_and_changed_three_levels_deep(desk: Desk, form: str) -> None:
    made = desk.make(
        "PromotionTemplates",
        name="Deep",
        conditions=[{"conditionType": "ARTICLE", "valueListItems": [{"value": "one"}, {"value": "two"}]}],
    )
    entity_id = made["ID"]
    assert desk.edit(entity_id, set_name="PromotionTemplates").status_code == 201
    root = draft(entity_id, "PromotionTemplates")
    levels = "?$expand=conditions($expand=valueListItems($orderby=value))"
    before = one(desk, form, "GET", f"{root}{levels}").body["conditions"][0]
    items = before["valueListItems"]
    assert [item["value"] for item in items] == ["one", "two"]
    assert all(not row["IsActiveEntity"] for row in (before, *items))
    item = draft(items[0]["ID"], "TemplateConditionValueListItems")
    assert one(desk, form, "PATCH", item, {"value": "first"}).status == 200
    assert one(desk, form, "DELETE", draft(items[1]["ID"], "TemplateConditionValueListItems")).status == 204
    added = one(desk, form, "POST", f"{draft(before['ID'], 'TemplateConditions')}/valueListItems", {"value": "third"})
    assert added.status == 201
    assert desk.activate(entity_id, set_name="PromotionTemplates").status_code == 200
    after = desk.read(f"{active(entity_id, 'PromotionTemplates')}{levels}")["conditions"][0]
    assert after["ID"] == before["ID"]
    assert [(one_["ID"], one_["value"]) for one_ in after["valueListItems"]] == [
        (items[0]["ID"], "first"),
        (added.body["ID"], "third"),
    ]
