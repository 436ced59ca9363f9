"""OpenUI5's OData V4 model, the base of Fiori user interfaces, in a real browser: lists, drafts, messages."""

from __future__ import annotations

from typing import Any

from tests.clients.front import Front
from tests.web.drafts.desk import ANNA, BEN, Desk


def do(page: Front, desk: Desk, name: str, *, user: str = ANNA, **arguments: Any) -> Any:
    """Run a command with a user's token."""
    return page.do(name, token=desk.token(user), **arguments)


def test_the_model_understands_the_metadata(desk: Desk, page: Front) -> None:
    found = do(page, desk, "metadata", set="Promotions")
    assert found["key"] == ["ID", "IsActiveEntity"]
    assert found["root"]["ActivationAction"] == "AdminService.draftActivate"
    assert found["type"] == "sap.ui.model.odata.type.DateTimeOffset"


def test_a_field_offers_its_values(desk: Desk, page: Front) -> None:
    found = do(page, desk, "valueHelp", set="PromotionStatuses", start="a")
    assert found["all"] == sorted(found["all"])
    assert "PENDING_APPROVAL" in found["all"]
    assert set(found["found"]) == {"ACTIVE", "APPROVED", "ARCHIVED"}


def test_a_draft_is_begun_changed_in_one_request_looked_over_and_activated(desk: Desk, page: Front) -> None:
    place = desk.pos_group()
    done = do(page, desk, "life", posGroup=place)
    assert done["begun"]["name"] == "From a page"
    assert done["begun"]["DraftAdministrativeData"]["DraftIsCreatedByMe"] is True
    assert (done["changed"]["name"], done["changed"]["priority"]) == ("Grouped", 7)
    assert [one["posGroup_ID"] for one in done["changed"]["posGroups"]] == [place]
    assert done["activePath"] == f"/Promotions(ID={done['id']},IsActiveEntity=true)"
    assert (done["active"]["name"], done["active"]["IsActiveEntity"]) == ("Grouped", True)
    stored = desk.read(f"Promotions({done['id']})?$expand=posGroups", user=BEN)
    assert (stored["name"], stored["priority"]) == ("Grouped", 7)
    assert [one["ID"] for one in stored["posGroups"]] == [done["child"]]
    changes = [one for one in page.asked if '"priority":7' in one.body]
    assert len(changes) == 1
    assert '"name":"Grouped"' in changes[0].body


def test_an_active_entity_is_taken_up_given_back_taken_up_and_replaced(desk: Desk, page: Front) -> None:
    place = desk.pos_group()
    entity_id = desk.promotion(name="Before", posGroups=[{"posGroup_ID": place}])
    done = do(page, desk, "edit", id=entity_id)
    assert done["taken"]["path"] == f"/Promotions(ID={entity_id},IsActiveEntity=false)"
    assert done["taken"]["row"]["name"] == "Before"
    assert (done["afterDiscard"]["name"], done["afterDiscard"]["HasDraftEntity"]) == ("Before", False)
    assert (done["active"]["name"], done["active"]["posGroups"][0]["posGroup_ID"]) == ("Kept", place)
    assert desk.read(f"Promotions({entity_id})")["name"] == "Kept"


def test_who_comes_second_is_told_so_and_may_take_over_once_the_lock_has_run_out(desk: Desk, page: Front) -> None:
    entity_id = desk.promotion()
    assert desk.edit(entity_id, user=BEN).status_code == 201
    for preserve in (True, False):
        refused = do(page, desk, "takeUp", id=entity_id, preserve=preserve)
        assert (refused["status"], refused["code"]) == (409, "DRAFT_ALREADY_EXISTS")
        assert refused["messages"][0]["type"] == "Error"
    desk.later(minutes=16)
    taken = do(page, desk, "takeUp", id=entity_id, preserve=False)
    assert taken == {"path": f"/Promotions(ID={entity_id},IsActiveEntity=false)"}


def test_every_editing_status_lists_what_it_says(desk: Desk, page: Front) -> None:
    mark = desk.unique("L")
    untouched = desk.promotion(name=f"{mark} a")
    taken = desk.promotion(name=f"{mark} b")
    own_draft = desk.promotion(name=f"{mark} c", active=False)
    left = desk.promotion(name=f"{mark} d")
    assert desk.edit(left, user=BEN).status_code == 201
    desk.later(minutes=16)
    locked = desk.promotion(name=f"{mark} e")
    assert desk.edit(locked, user=BEN).status_code == 201
    assert desk.edit(taken).status_code == 201

    def listed(status: str) -> list[tuple[str, bool]]:
        mine = {"path": "name", "operator": "StartsWith", "value1": mark}
        found = do(page, desk, "list", set="Promotions", status=status, mine=mine, sort="name", select="name")
        rows = [(row["ID"], row["IsActiveEntity"]) for row in found["rows"]]
        assert found["count"] == len(rows)
        return rows

    assert listed("all") == [(untouched, True), (taken, False), (own_draft, False), (left, True), (locked, True)]
    assert listed("unchanged") == [(untouched, True)]
    assert listed("ownDraft") == [(taken, False), (own_draft, False)]
    assert listed("lockedByAnother") == [(locked, True)]
    assert listed("unsavedByAnother") == [(left, True)]
    assert listed("allHidingDrafts") == [(untouched, True), (taken, True), (left, True), (locked, True)]


def test_a_missing_value_is_a_message_at_its_field(desk: Desk, page: Front) -> None:
    done = do(page, desk, "refused", row={"code": desk.unique()})
    assert done["status"] == 400
    at_name = f"{done['path']}/name"
    assert at_name in {target for one in done["messages"] for target in one["targets"]}
    assert all(one["type"] == "Error" for one in done["messages"])
    prepared = [one for one in done["prepared"] if at_name in one["targets"]]
    assert [one["type"] for one in prepared] == ["Warning"]


def test_a_value_that_does_not_fit_is_a_message_at_its_field(desk: Desk, page: Front) -> None:
    entity_id = desk.promotion(active=False)
    done = do(page, desk, "wrong", id=entity_id, property="code", value="x" * 51)
    assert done["status"] == 400
    assert [one["targets"] for one in done["messages"]] == [[f"{done['path']}/code"]]
    assert desk.read(f"Promotions(ID={entity_id},IsActiveEntity=false)")["code"] is None
