"""The life of a draft, row by row of the protocol's draft table, as single requests and within batches."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.drafts.desk import ANNA, BEN, ZOE, Desk, Part, active, draft, fault, one

NOBODY = "99999999-9999-4999-8999-999999999999"
EDIT, ACTIVATE, PREPARE = ("AdminService.draftEdit", "AdminService.draftActivate", "AdminService.draftPrepare")


def refusal(part: Part) -> tuple[int, str]:
    """Return the status and code."""
    assert part.body, part
    return part.status, part.body["error"]["code"]


def targets(body: Any) -> set[str]:
    """Return every target that an error names."""
    error = body["error"]
    named = {error.get("target"), *(detail.get("target") for detail in error.get("details", ()))}
    return {target for target in named if target}


# ---- new ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", [{"IsActiveEntity": False}, {}])
def test_a_new_draft_may_be_empty(desk: Desk, form: str, flag: dict[str, bool]) -> None:
    made = one(desk, form, "POST", "Promotions", flag)
    assert made.status == 201
    assert (made.body["IsActiveEntity"], made.body["HasActiveEntity"], made.body["name"]) == (False, False, None)
    entity_id = made.body["ID"]
    assert desk.get(draft(entity_id)).status_code == 200
    assert desk.get(active(entity_id)).status_code == desk.get(f"Promotions({entity_id})").status_code == 404


def test_a_new_draft_may_be_deep(desk: Desk, form: str) -> None:
    place = desk.pos_group()
    body = {"name": "Deep", "posGroups": [{"posGroup_ID": place}], "calculationConfig": {}}
    made = one(desk, form, "POST", "Promotions", body)
    assert made.status == 201
    path = f"{draft(made.body['ID'])}?$expand=posGroups,calculationConfig"
    found = one(desk, form, "GET", path).body
    assert [(part["posGroup_ID"], part["IsActiveEntity"]) for part in found["posGroups"]] == [(place, False)]
    assert found["calculationConfig"]["IsActiveEntity"] is False


def test_what_is_made_active_is_checked_at_once(desk: Desk, form: str) -> None:
    code = desk.unique()
    made = one(desk, form, "POST", "Promotions", {"IsActiveEntity": True, "name": "At once", "code": code})
    assert (made.status, made.body["IsActiveEntity"], made.body["HasDraftEntity"]) == (201, True, False)
    refused = one(desk, form, "POST", "Promotions", {"IsActiveEntity": True, "code": desk.unique()})
    assert (refused.status, targets(refused.body)) == (400, {"name"})
    taken = one(desk, form, "POST", "Promotions", {"IsActiveEntity": True, "name": "Twice", "code": code})
    assert taken.status == 409


# ---- changed ------------------------------------------------------------------------------------------------------


def test_a_draft_and_its_parts_are_changed_in_private(desk: Desk, form: str) -> None:
    entity_id, place, other = desk.promotion(active=False), desk.pos_group(), desk.pos_group()
    changed = one(desk, form, "PATCH", draft(entity_id), {"name": "Changed", "priority": 5})
    assert (changed.status, changed.body["name"], changed.body["IsActiveEntity"]) == (200, "Changed", False)
    added = one(desk, form, "POST", f"{draft(entity_id)}/posGroups", {"posGroup_ID": place})
    assert (added.status, added.body["promotion_ID"], added.body["IsActiveEntity"]) == (201, entity_id, False)
    part = draft(added.body["ID"], "PromotionPosGroups")
    moved = one(desk, form, "PATCH", part, {"posGroup_ID": other})
    assert (moved.status, moved.body["posGroup_ID"]) == (200, other)
    assert one(desk, form, "DELETE", part).status == 204
    assert one(desk, form, "GET", part).status == 404
    assert one(desk, form, "GET", f"{draft(entity_id)}/posGroups").body["value"] == []


@pytest.mark.parametrize(
    "body", [{"priority": "high"}, {"code": "x" * 51}, {"validFrom": "yesterday"}, {"noSuchProperty": 1}]
)
def test_a_draft_takes_no_value_that_it_cannot_hold(desk: Desk, form: str, body: dict[str, Any]) -> None:
    entity_id = desk.promotion(active=False)
    refused = one(desk, form, "PATCH", draft(entity_id), {"name": "Not this one", **body})
    assert (refused.status, targets(refused.body)) == (400, set(body))
    assert desk.read(draft(entity_id))["name"] == "Ten off"


def test_a_draft_may_lack_what_is_mandatory_until_it_is_activated(desk: Desk, form: str) -> None:
    entity_id = desk.promotion(active=False)
    assert one(desk, form, "PATCH", draft(entity_id), {"name": None}).status == 200
    refused = one(desk, form, "POST", f"{draft(entity_id)}/{ACTIVATE}", {})
    assert (refused.status, targets(refused.body)) == (400, {"in/name"})
    assert desk.get(active(entity_id)).status_code == 404
    assert one(desk, form, "PATCH", draft(entity_id), {"name": "Now"}).status == 200
    assert one(desk, form, "POST", f"{draft(entity_id)}/{ACTIVATE}", {}).status == 201


# ---- looked over and activated --------------------------------------------------------------------------------------


def test_preparing_a_draft_stores_and_refuses_nothing(desk: Desk, form: str) -> None:
    entity_id = desk.promotion(active=False, name=None)
    before = desk.read(draft(entity_id))
    prepared = one(desk, form, "POST", f"{draft(entity_id)}/{PREPARE}", {"SideEffectsQualifier": ""})
    assert (prepared.status, prepared.body["IsActiveEntity"]) == (200, False)
    assert desk.read(draft(entity_id)) == before
    assert desk.get(active(entity_id)).status_code == 404


def test_activation_creates_a_new_row_or_replaces_the_existing_one(desk: Desk, form: str) -> None:
    place, other = desk.pos_group(), desk.pos_group()
    entity_id = desk.promotion(active=False, name="First", posGroups=[{"posGroup_ID": place}])
    part_id = desk.read(f"{draft(entity_id)}/posGroups")["value"][0]["ID"]
    made = one(desk, form, "POST", f"{draft(entity_id)}/{ACTIVATE}", {})
    assert (made.status, made.body["ID"], made.body["IsActiveEntity"]) == (201, entity_id, True)
    assert desk.get(draft(entity_id)).status_code == 404

    assert one(desk, form, "POST", f"{active(entity_id)}/{EDIT}", {"PreserveChanges": True}).status == 201
    assert one(desk, form, "PATCH", draft(entity_id), {"name": "Second"}).status == 200
    added = one(desk, form, "POST", f"{draft(entity_id)}/posGroups", {"posGroup_ID": other})
    assert desk.read(active(entity_id))["name"] == "First"
    replaced = one(desk, form, "POST", f"{draft(entity_id)}/{ACTIVATE}", {})
    assert (replaced.status, replaced.body["name"], replaced.body["IsActiveEntity"]) == (200, "Second", True)
    assert desk.get(draft(entity_id)).status_code == 404

    found = desk.read(f"{active(entity_id)}?$expand=posGroups", user=BEN)
    assert {part["ID"]: part["posGroup_ID"] for part in found["posGroups"]} == {
        part_id: place,
        added.body["ID"]: other,
    }
    assert found["HasDraftEntity"] is False


def test_parts_that_the_draft_dropped_are_gone_and_changed_ones_keep_their_ids(desk: Desk, form: str) -> None:
    places = [desk.pos_group() for _ in range(3)]
    entity_id = desk.promotion(posGroups=[{"posGroup_ID": place} for place in places[:2]])
    parts = desk.read(f"{active(entity_id)}/posGroups?$orderby=posGroup_ID")["value"]
    desk.edit(entity_id)
    assert one(desk, form, "DELETE", draft(parts[0]["ID"], "PromotionPosGroups")).status == 204
    kept = draft(parts[1]["ID"], "PromotionPosGroups")
    assert one(desk, form, "PATCH", kept, {"posGroup_ID": places[2]}).status == 200
    assert len(desk.read(f"{active(entity_id)}/posGroups")["value"]) == 2
    assert one(desk, form, "POST", f"{draft(entity_id)}/{ACTIVATE}", {}).status == 200
    left = desk.read(f"{active(entity_id)}/posGroups")["value"]
    assert [(part["ID"], part["posGroup_ID"]) for part in left] == [(parts[1]["ID"], places[2])]


def test_activation_names_every_fault_where_the_page_shows_it(desk: Desk, form: str) -> None:
    code = desk.unique()
    desk.promotion(code=code)
    entity_id = desk.promotion(active=False, name=None, priority=-1, campaign_ID=NOBODY, posGroups=[{}])
    refused = one(desk, form, "POST", f"{draft(entity_id)}/{ACTIVATE}", {})
    named = targets(refused.body)
    assert refused.status == 400
    assert {"in/name", "in/campaign_ID"} <= named
    assert any(target.startswith("in/posGroups") and target.endswith("/posGroup_ID") for target in named), named
    assert all(target.startswith("in/") for target in named)
    assert desk.get(draft(entity_id)).status_code == 200


def test_activation_without_a_draft_is_refused(desk: Desk, form: str) -> None:
    entity_id = desk.promotion()
    for path in (draft(entity_id), draft(NOBODY), active(entity_id)):
        for name in (ACTIVATE, PREPARE):
            assert one(desk, form, "POST", f"{path}/{name}", {}).status == 404, f"{path}/{name}"


# ---- taken up -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preserve", [True, False])
def test_editing_copies_the_row_with_all_its_parts(desk: Desk, form: str, preserve: bool) -> None:
    place = desk.pos_group()
    entity_id = desk.promotion(name="Whole", priority=3, posGroups=[{"posGroup_ID": place}], calculationConfig={})
    taken = one(desk, form, "POST", f"{active(entity_id)}/{EDIT}", {"PreserveChanges": preserve})
    assert (taken.status, taken.body["ID"], taken.body["IsActiveEntity"]) == (201, entity_id, False)
    assert (taken.body["HasActiveEntity"], taken.body["HasDraftEntity"]) == (True, False)
    expand = "?$expand=posGroups,calculationConfig"
    copy, original = desk.read(f"{draft(entity_id)}{expand}"), desk.read(f"{active(entity_id)}{expand}")
    assert (original["HasActiveEntity"], original["HasDraftEntity"]) == (False, True)
    for row in (copy, original):
        assert (row["name"], row["priority"], row["posGroups"][0]["posGroup_ID"]) == ("Whole", 3, place)
    assert copy["posGroups"][0]["ID"] == original["posGroups"][0]["ID"]
    assert copy["calculationConfig"]["ID"] == original["calculationConfig"]["ID"]


@pytest.mark.parametrize("preserve", [True, False])
def test_a_locked_row_cannot_get_a_second_draft(desk: Desk, form: str, preserve: bool) -> None:
    entity_id = desk.promotion()
    desk.edit(entity_id)
    desk.patch(draft(entity_id), {"name": "Mine"}, status=200)
    for user in (ANNA, BEN):
        again = one(desk, form, "POST", f"{active(entity_id)}/{EDIT}", {"PreserveChanges": preserve}, user=user)
        assert refusal(again) == (409, "DRAFT_ALREADY_EXISTS")
    assert desk.read(draft(entity_id))["name"] == "Mine"


def test_each_change_holds_the_lock_for_another_quarter_of_an_hour(desk: Desk) -> None:
    entity_id, place = desk.promotion(), desk.pos_group()
    desk.edit(entity_id)
    desk.later(minutes=14)
    desk.patch(draft(entity_id), {"priority": 8}, status=200)
    desk.later(minutes=14)
    assert fault(desk.edit(entity_id, preserve=False, user=BEN)) == (409, "DRAFT_ALREADY_EXISTS")
    desk.post(f"{draft(entity_id)}/posGroups", {"posGroup_ID": place}, status=201)
    desk.later(minutes=14)
    assert fault(desk.edit(entity_id, preserve=False, user=BEN)) == (409, "DRAFT_ALREADY_EXISTS")
    desk.later(minutes=2)
    assert desk.edit(entity_id, preserve=False, user=BEN).status_code == 201


def test_an_expired_draft_is_replaced_only_without_preserve_changes(desk: Desk, form: str) -> None:
    entity_id = desk.promotion(name="Active")
    desk.edit(entity_id)
    desk.patch(draft(entity_id), {"name": "Left"}, status=200)
    desk.later(minutes=16)
    kept = one(desk, form, "POST", f"{active(entity_id)}/{EDIT}", {"PreserveChanges": True}, user=BEN)
    assert refusal(kept) == (409, "DRAFT_ALREADY_EXISTS")
    assert desk.read(draft(entity_id))["name"] == "Left"
    taken = one(desk, form, "POST", f"{active(entity_id)}/{EDIT}", {"PreserveChanges": False}, user=BEN)
    assert (taken.status, taken.body["name"]) == (201, "Active")
    assert desk.get(draft(entity_id), user=ANNA).status_code == 404
    assert fault(desk.patch(draft(entity_id), {"name": "Late"}, user=ANNA)) == (403, "DRAFT_LOCKED_BY_ANOTHER_USER")


def test_a_draft_whose_lock_has_run_out_is_still_its_authors(desk: Desk, form: str) -> None:
    entity_id = desk.promotion()
    desk.edit(entity_id)
    desk.later(minutes=16)
    assert one(desk, form, "PATCH", draft(entity_id), {"name": "Back again"}).status == 200
    assert one(desk, form, "POST", f"{draft(entity_id)}/{ACTIVATE}", {}).status == 200
    assert desk.read(active(entity_id))["name"] == "Back again"


def test_a_missing_row_cannot_be_edited(desk: Desk, form: str) -> None:
    assert one(desk, form, "POST", f"{active(NOBODY)}/{EDIT}", {"PreserveChanges": True}).status == 404
    of_zoe = desk.promotion(user=ZOE)
    assert one(desk, form, "POST", f"{active(of_zoe)}/{EDIT}", {"PreserveChanges": True}).status == 404


# ---- given up ---------------------------------------------------------------------------------------------------


def test_a_discarded_draft_leaves_the_active_row_as_it_was(desk: Desk, form: str) -> None:
    entity_id, place = desk.promotion(name="As it was"), desk.pos_group()
    desk.edit(entity_id)
    desk.patch(draft(entity_id), {"name": "Otherwise"}, status=200)
    added = desk.post(f"{draft(entity_id)}/posGroups", {"posGroup_ID": place}, status=201).json()["ID"]
    assert one(desk, form, "DELETE", draft(entity_id)).status == 204
    assert one(desk, form, "GET", draft(entity_id)).status == 404
    assert one(desk, form, "GET", draft(added, "PromotionPosGroups")).status == 404
    found = desk.read(f"{active(entity_id)}?$expand=posGroups")
    assert (found["name"], found["HasDraftEntity"], found["posGroups"]) == ("As it was", False, [])
    assert one(desk, form, "DELETE", draft(entity_id)).status == 404
    assert desk.edit(entity_id, user=BEN).status_code == 201


def test_discarding_a_new_draft_leaves_nothing(desk: Desk, form: str) -> None:
    entity_id = desk.promotion(active=False)
    assert one(desk, form, "DELETE", draft(entity_id)).status == 204
    assert one(desk, form, "GET", draft(entity_id)).status == one(desk, form, "GET", active(entity_id)).status == 404


# ---- another user's -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_new", [True, False])
def test_another_users_draft_can_be_neither_seen_nor_touched(desk: Desk, form: str, is_new: bool) -> None:
    place = desk.pos_group()
    entity_id = desk.promotion(active=not is_new, posGroups=[{"posGroup_ID": place}])
    if not is_new:
        assert desk.edit(entity_id).status_code == 201
    part = draft(desk.read(f"{draft(entity_id)}/posGroups")["value"][0]["ID"], "PromotionPosGroups")
    before = desk.read(f"{draft(entity_id)}?$expand=posGroups,DraftAdministrativeData")
    for path in (
        draft(entity_id),
        part,
        f"{draft(entity_id)}/posGroups",
        f"{draft(entity_id)}/name",
        f"{part}/promotion",
    ):
        assert one(desk, form, "GET", path, user=BEN).status == 404, path
    writes: list[tuple[str, str, Any]] = [
        ("PATCH", draft(entity_id), {"name": "Not mine"}),
        ("PATCH", part, {"posGroup_ID": place}),
        ("POST", f"{draft(entity_id)}/posGroups", {"posGroup_ID": place}),
        ("POST", f"{draft(entity_id)}/{ACTIVATE}", {}),
        ("POST", f"{draft(entity_id)}/{PREPARE}", {}),
        ("DELETE", part, None),
        ("DELETE", draft(entity_id), None),
    ]
    for method, path, body in writes:
        refused = one(desk, form, method, path, body, user=BEN)
        assert refusal(refused) == (403, "DRAFT_LOCKED_BY_ANOTHER_USER"), f"{method} {path}"
        assert one(desk, form, method, path, body, user=ZOE).status == 404, f"{method} {path} of another tenant"
    assert desk.read(f"{draft(entity_id)}?$expand=posGroups,DraftAdministrativeData") == before


# ---- the active row meanwhile ---------------------------------------------------------------------------------------


def test_an_active_row_is_neither_changed_nor_removed_while_somebody_has_a_draft(desk: Desk, form: str) -> None:
    entity_id = desk.promotion(name="Held")
    desk.edit(entity_id)
    codes = {}
    for user in (ANNA, BEN):
        for path in (active(entity_id), f"Promotions({entity_id})"):
            assert one(desk, form, "PATCH", path, {"name": "Past it"}, user=user).status == 409, (user, path)
            removed = one(desk, form, "DELETE", path, user=user)
            assert removed.status == 403, (user, path)
            codes[user] = refusal(removed)[1]
    assert codes[BEN] == "DRAFT_LOCKED_BY_ANOTHER_USER"
    assert desk.read(active(entity_id))["name"] == "Held"
    desk.delete(draft(entity_id), status=204)
    assert one(desk, form, "PATCH", active(entity_id), {"name": "Free"}).status == 200
    assert one(desk, form, "DELETE", active(entity_id)).status == 204
    assert one(desk, form, "GET", active(entity_id)).status == 404


def test_a_key_of_only_the_id_addresses_the_active_row(desk: Desk, form: str) -> None:
    entity_id = desk.promotion(name="Active")
    path = f"Promotions({entity_id})"
    desk.edit(entity_id)
    desk.patch(draft(entity_id), {"name": "Draft"}, status=200)
    found = one(desk, form, "GET", path).body
    assert (found["name"], found["IsActiveEntity"], found["HasDraftEntity"]) == ("Active", True, True)
    desk.delete(draft(entity_id), status=204)
    assert one(desk, form, "PATCH", path, {"name": "Changed"}).body["name"] == "Changed"
    assert one(desk, form, "DELETE", path).status == 204
    only_a_draft = desk.promotion(active=False)
    for method, body in (("GET", None), ("PATCH", {"name": "x"}), ("DELETE", None)):
        assert one(desk, form, method, f"Promotions({only_a_draft})", body).status == 404
    assert desk.get(draft(only_a_draft)).status_code == 200
