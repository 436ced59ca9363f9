"""Editing within change sets: a group succeeds or fails as a whole, and may refer to entities it has just created."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.drafts.desk import ANNA, BEN, Desk, active, draft, fault

EDIT, ACTIVATE = "AdminService.draftEdit", "AdminService.draftActivate"


def group(desk: Desk, *requests: tuple[str, str, Any], user: str = ANNA) -> list[Any]:
    """Return the responses to one atomicity group in JSON; requests may refer to the n-th by `$n`."""
    parts = [
        {
            "id": str(number),
            "atomicityGroup": "g",
            "method": method,
            "url": url,
            "headers": {"content-type": "application/json"},
            "body": body,
        }
        for number, (method, url, body) in enumerate(requests, 1)
    ]
    answer = desk.post("$batch", {"requests": parts}, user=user, status=200)
    found: list[Any] = sorted(answer.json()["responses"], key=lambda one: int(one["id"]))
    return found


def change_set(desk: Desk, *requests: tuple[str, str, str]) -> str:
    """Return the response to a multipart change set as text; the parts have the Content-IDs 1, 2, ..."""
    lines = ["--outer", "Content-Type: multipart/mixed; boundary=inner", ""]
    for number, (method, url, body) in enumerate(requests, 1):
        lines += ["--inner", "Content-Type: application/http", f"Content-ID: {number}", ""]
        lines += [f"{method} {url} HTTP/1.1", "Content-Type: application/json", "", body]
    text = "\r\n".join([*lines, "--inner--", "--outer--", ""])
    answer = desk.post("$batch", text, status=200, content_type="multipart/mixed; boundary=outer")
    return answer.text


def test_a_draft_and_its_parts_are_begun_in_one_change_set(desk: Desk) -> None:
    place, name = desk.pos_group(), desk.unique("B")
    parts = group(
        desk,
        ("POST", "Promotions", {"name": name, "IsActiveEntity": False}),
        ("POST", "$1/posGroups", {"posGroup_ID": place}),
        ("POST", f"$1/{ACTIVATE}", {}),
    )
    assert [part["status"] for part in parts] == [201, 201, 201]
    found = desk.read(f"{active(parts[0]['body']['ID'])}?$expand=posGroups")
    assert (found["name"], [part["posGroup_ID"] for part in found["posGroups"]]) == (name, [place])
    body = f'{{"name":"{name}","IsActiveEntity":false}}'
    text = change_set(
        desk, ("POST", "Promotions", body), ("POST", "$1/posGroups", f'{{"posGroup_ID":"{place}"}}'),
        ("POST", f"$1/{ACTIVATE}", "{}"),
    )  # fmt: skip
    assert text.count("HTTP/1.1 201") == 3, text


def test_a_change_set_that_cannot_be_activated_changes_nothing(desk: Desk) -> None:
    entity_id = desk.promotion(name="Before")
    parts = group(
        desk,
        ("POST", f"{active(entity_id)}/{EDIT}", {"PreserveChanges": True}),
        ("PATCH", draft(entity_id), {"name": None}),
        ("POST", f"{draft(entity_id)}/{ACTIVATE}", {}),
    )
    (refused,) = [part for part in parts if part["status"] == 400]
    assert refused["body"]["error"]["target"] == "in/name"
    assert not [part for part in parts if part["status"] in {200, 201}]
    assert desk.get(draft(entity_id)).status_code == 404
    row = desk.read(active(entity_id))
    assert (row["name"], row["HasDraftEntity"]) == ("Before", False)


def test_editing_and_activating_in_one_change_set_is_one_step(desk: Desk) -> None:
    entity_id = desk.promotion(name="Before")
    text = change_set(
        desk,
        ("POST", f"{active(entity_id)}/{EDIT}", '{"PreserveChanges":true}'),
        ("PATCH", draft(entity_id), '{"name":"After"}'),
        ("POST", f"{draft(entity_id)}/{ACTIVATE}", "{}"),
    )
    assert [line[9:12] for line in text.split("\r\n") if line.startswith("HTTP/1.1")] == ["201", "200", "200"], text
    row = desk.read(active(entity_id), user=BEN)
    assert (row["name"], row["HasDraftEntity"]) == ("After", False)


def test_a_child_that_is_refused_takes_the_whole_change_set_along(desk: Desk) -> None:
    entity_id = desk.promotion(name="Draft", active=False)
    parts = group(
        desk,
        ("PATCH", draft(entity_id), {"name": "Changed"}),
        ("POST", f"{draft(entity_id)}/posGroups", {"posGroup_ID": "not an ID"}),
    )
    assert 400 in [part["status"] for part in parts]
    assert 200 not in [part["status"] for part in parts]
    assert desk.read(draft(entity_id))["name"] == "Draft"


def test_the_etag_of_a_draft_prevents_lost_updates(desk: Desk) -> None:
    entity_id = desk.promotion(active=False)
    read = desk.get(draft(entity_id))
    etag = read.headers["etag"]
    assert desk.get(draft(entity_id), if_none_match=etag).status_code == 304
    changed = desk.patch(draft(entity_id), {"name": "Once"}, status=200, if_match=etag)
    assert changed.headers["etag"] != etag
    stale = desk.patch(draft(entity_id), {"name": "Twice"}, if_match=etag)
    assert stale.status_code == 412
    assert desk.delete(draft(entity_id), if_match=etag).status_code == 412
    assert desk.read(draft(entity_id))["name"] == "Once"
    desk.delete(draft(entity_id), status=204, if_match=changed.headers["etag"])


@pytest.mark.parametrize("prefer", ["return=minimal", "return=representation"])
def test_the_answer_to_a_change_follows_the_prefer_header(desk: Desk, prefer: str) -> None:
    entity_id = desk.promotion(active=False)
    answer = desk.patch(draft(entity_id), {"name": "Asked"}, prefer=prefer)
    assert answer.status_code == (204 if prefer == "return=minimal" else 200)
    assert answer.headers["preference-applied"] == prefer
    assert answer.headers["etag"]


def test_parts_are_changed_through_their_draft_alone(desk: Desk) -> None:
    place = desk.pos_group()
    entity_id = desk.promotion(posGroups=[{"posGroup_ID": place}])
    (part,) = desk.read(f"{active(entity_id)}/posGroups")["value"]
    path = active(part["ID"], "PromotionPosGroups")
    refused = [
        desk.patch(path, {"posGroup_ID": place}),
        desk.delete(path),
        desk.post(f"{active(entity_id)}/posGroups", {"posGroup_ID": desk.pos_group()}),
    ]
    assert {fault(answer) for answer in refused} == {(403, "ONLY_THROUGH_DRAFT")}
    assert len(desk.read(f"{active(entity_id)}/posGroups")["value"]) == 1


def test_navigations_to_a_root_lead_to_its_active_entity(desk: Desk) -> None:
    """A campaign shows its active promotions, whatever drafts exist of them or of the campaign itself."""
    campaign = desk.make("Campaigns", code=desk.unique(), name="Spring")["ID"]
    promotion = desk.promotion(name="In it", campaign_ID=campaign)
    desk.promotion(name="A draft in it", campaign_ID=campaign, active=False)
    assert desk.edit(promotion).status_code == 201
    desk.patch(draft(promotion), {"name": "Out of it", "campaign_ID": None}, status=200)
    assert desk.edit(campaign, set_name="Campaigns").status_code == 201
    for path in (active(campaign, "Campaigns"), draft(campaign, "Campaigns")):
        names = [row["name"] for row in desk.read(f"{path}/promotions")["value"]]
        assert names == ["In it"]
        assert desk.get(f"{path}/promotions/$count").text == "1"
    assert desk.read(f"{draft(promotion)}?$expand=campaign")["campaign"] is None
    assert desk.read(f"{active(promotion)}?$expand=campaign")["campaign"]["IsActiveEntity"] is True
