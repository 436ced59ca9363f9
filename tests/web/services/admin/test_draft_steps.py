"""The life of a draft, step by step, for one user (the protocol's draft table)."""

from __future__ import annotations

import json

from tests.web.services.admin.conftest import NOBODY, Admin, active, draft, fault


def test_a_new_root_starts_as_a_draft_and_may_be_empty(admin: Admin) -> None:
    for body in ({}, {"IsActiveEntity": False}, {"name": "Ten off", "IsActiveEntity": False}):
        answer = admin.post("Promotions", body)
        assert answer.status_code == 201, answer.text
        made = answer.json()
        assert (made["IsActiveEntity"], made["HasActiveEntity"], made["HasDraftEntity"]) == (False, False, False)
        assert made["name"] == body.get("name")
        assert answer.headers["location"].endswith(f"/admin/{draft('Promotions', made)}")
        assert answer.headers["etag"]
        assert admin.get(active("Promotions", made)).status_code == 404
        assert admin.get(f"Promotions({made['ID']})").status_code == 404
        assert admin.read(draft("Promotions", made))["ID"] == made["ID"]


def test_a_root_created_as_active_is_stored_at_once_and_checked_completely(admin: Admin) -> None:
    assert fault(admin.post("Promotions", {"IsActiveEntity": True})) == (400, "REQUIRED", "name")
    answer = admin.post("Promotions", {"IsActiveEntity": True, "name": "Ten off"})
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert (made["IsActiveEntity"], made["HasActiveEntity"], made["HasDraftEntity"]) == (True, False, False)
    assert answer.headers["location"].endswith(f"/admin/{active('Promotions', made)}")
    assert admin.read(f"Promotions({made['ID']})")["IsActiveEntity"] is True


def test_a_deep_draft_is_made_with_its_parts(admin: Admin) -> None:
    shop = admin.pos_group()
    body = {"name": "Deep", "posGroups": [{"posGroup_ID": shop}], "calculationConfig": {}}
    answer = admin.post("Promotions", body)
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert [one["posGroup_ID"] for one in made["posGroups"]] == [shop]
    assert made["posGroups"][0]["IsActiveEntity"] is False
    assert made["calculationConfig"]["IsActiveEntity"] is False


def test_a_draft_is_changed_with_its_parts(admin: Admin) -> None:
    shop = admin.pos_group()
    made = admin.make("Promotions")
    answer = admin.patch(draft("Promotions", made), {"name": "Changed", "description": None})
    assert answer.status_code == 200, answer.text
    assert answer.json()["name"] == "Changed"
    added = admin.post(f"{draft('Promotions', made)}/posGroups", {"posGroup_ID": shop})
    assert added.status_code == 201, added.text
    part = added.json()
    assert part["promotion_ID"] == made["ID"]
    assert added.headers["location"].endswith(draft("PromotionPosGroups", part))
    beside = admin.post("PromotionPosGroups", {"promotion_ID": made["ID"], "IsActiveEntity": False})
    assert beside.status_code == 201, beside.text
    changed = admin.patch(draft("PromotionPosGroups", beside.json()), {"posGroup_ID": admin.pos_group()})
    assert changed.status_code == 200, changed.text
    assert admin.delete(draft("PromotionPosGroups", beside.json())).status_code == 204
    rows = admin.read(f"{draft('Promotions', made)}/posGroups")["value"]
    assert [row["ID"] for row in rows] == [part["ID"]]


def test_values_of_a_wrong_type_or_length_are_refused_at_once(admin: Admin) -> None:
    made = admin.make("Promotions")
    address = draft("Promotions", made)
    assert fault(admin.patch(address, {"name": 7})) == (400, "TYPE_MISMATCH", "name")
    assert fault(admin.patch(address, {"name": "x" * 256})) == (400, "TOO_LONG", "name")
    assert fault(admin.patch(address, {"nonsense": 1}))[::2] == (400, "nonsense")
    assert admin.read(address)["name"] is None


def test_missing_values_are_reported_on_prepare_and_refused_on_activation(admin: Admin) -> None:
    made = admin.make("Promotions")
    prepared = admin.post(f"{draft('Promotions', made)}/AdminService.draftPrepare", {"SideEffectsQualifier": ""})
    assert prepared.status_code == 200, prepared.text
    assert prepared.json()["IsActiveEntity"] is False
    messages = json.loads(prepared.headers["sap-messages"])
    assert {"code": "REQUIRED", "target": "name", "numericSeverity": 3}.items() <= messages[0].items()
    assert fault(admin.activate("Promotions", made["ID"])) == (400, "REQUIRED", "in/name")
    admin.patch(draft("Promotions", made), {"name": "Ünïcode"})
    prepared = admin.post(f"{draft('Promotions', made)}/draftPrepare", {})
    assert "sap-messages" not in prepared.headers


def test_a_new_draft_becomes_active_with_its_keys(admin: Admin) -> None:
    made = admin.make("Promotions", name="New", posGroups=[{"posGroup_ID": admin.pos_group()}])
    answer = admin.activate("Promotions", made["ID"])
    assert answer.status_code == 201, answer.text
    found = answer.json()
    assert (found["ID"], found["IsActiveEntity"], found["status"]) == (made["ID"], True, "DRAFT")
    assert answer.headers["location"].endswith(active("Promotions", made))
    assert admin.get(draft("Promotions", made)).status_code == 404
    parts = admin.read(f"{active('Promotions', made)}/posGroups")["value"]
    assert [one["ID"] for one in parts] == [made["posGroups"][0]["ID"]]
    assert fault(admin.activate("Promotions", made["ID"]))[0] == 404


def test_an_active_entity_is_edited_and_replaced(admin: Admin) -> None:
    shop = admin.pos_group()
    made = admin.promotion(posGroups=[{"posGroup_ID": shop}])
    answer = admin.edit("Promotions", made["ID"])
    assert answer.status_code == 201, answer.text
    assert (answer.json()["IsActiveEntity"], answer.json()["HasActiveEntity"]) == (False, True)
    assert answer.headers["location"].endswith(draft("Promotions", made))
    assert admin.read(active("Promotions", made))["HasDraftEntity"] is True
    assert admin.patch(draft("Promotions", made), {"name": "Twenty off"}).status_code == 200
    assert admin.read(active("Promotions", made))["name"] == "Ten off"
    assert fault(admin.edit("Promotions", made["ID"])) == (409, "DRAFT_ALREADY_EXISTS", None)
    replaced = admin.activate("Promotions", made["ID"])
    assert replaced.status_code == 200, replaced.text
    assert (replaced.json()["name"], replaced.json()["HasDraftEntity"]) == ("Twenty off", False)
    parts = admin.read(f"{active('Promotions', made)}/posGroups")["value"]
    assert [one["ID"] for one in parts] == [made["posGroups"][0]["ID"]]


def test_a_draft_is_discarded(admin: Admin) -> None:
    made = admin.promotion()
    admin.edit("Promotions", made["ID"])
    admin.patch(draft("Promotions", made), {"name": "Never mind"})
    assert admin.delete(draft("Promotions", made)).status_code == 204
    assert admin.get(draft("Promotions", made)).status_code == 404
    assert admin.read(active("Promotions", made))["name"] == "Ten off"
    assert admin.delete(draft("Promotions", made)).status_code == 404


def test_the_active_row_is_not_written_while_it_has_a_draft(admin: Admin) -> None:
    made = admin.promotion()
    assert admin.patch(active("Promotions", made), {"name": "Direct"}).json()["name"] == "Direct"
    admin.edit("Promotions", made["ID"])
    for address in (active("Promotions", made), f"Promotions({made['ID']})"):
        assert fault(admin.patch(address, {"name": "No"}))[:2] == (409, "DRAFT_ALREADY_EXISTS")
        assert fault(admin.delete(address))[0] == 403
    admin.delete(draft("Promotions", made))
    assert admin.delete(f"Promotions({made['ID']})").status_code == 204
    assert admin.get(active("Promotions", made)).status_code == 404


def test_parts_of_an_active_entity_are_written_through_its_draft_alone(admin: Admin) -> None:
    made = admin.promotion(posGroups=[{"posGroup_ID": admin.pos_group()}])
    part = made["posGroups"][0]
    for answer in (
        admin.post(f"{active('Promotions', made)}/posGroups", {"posGroup_ID": admin.pos_group()}),
        admin.post("PromotionPosGroups", {"promotion_ID": made["ID"], "IsActiveEntity": True}),
        admin.patch(active("PromotionPosGroups", part), {"posGroup_ID": admin.pos_group()}),
        admin.delete(active("PromotionPosGroups", part)),
    ):
        assert fault(answer)[:2] == (403, "ONLY_THROUGH_DRAFT")


def test_a_draft_that_does_not_exist_is_not_found(admin: Admin) -> None:
    made = admin.promotion()
    for entity_id in (made["ID"], NOBODY):
        address = draft("Promotions", entity_id)
        assert admin.get(address).status_code == 404
        assert fault(admin.patch(address, {"name": "x"}))[0] == 404
        assert fault(admin.delete(address))[0] == 404
        for action in ("draftActivate", "draftPrepare", "activate"):
            assert fault(admin.post(f"{address}/AdminService.{action}"))[0] == 404
    assert fault(admin.post(f"{active('Promotions', made)}/AdminService.draftActivate"))[0] == 404
    assert fault(admin.edit("Promotions", NOBODY))[0] == 404


def test_a_change_of_a_draft_with_an_outdated_etag_is_refused(admin: Admin) -> None:
    answer = admin.post("Promotions", {"name": "One"})
    address, before = draft("Promotions", answer.json()), answer.headers["etag"]
    assert answer.json()["@odata.etag"] == before
    after = admin.patch(address, {"name": "Two"}, if_match=before)
    assert after.status_code == 200
    assert after.headers["etag"] != before
    assert fault(admin.patch(address, {"name": "Three"}, if_match=before))[0] == 412
    assert fault(admin.delete(address, if_match=before))[0] == 412
    assert fault(admin.post(f"{address}/AdminService.draftActivate", if_match=before))[0] == 412
    assert admin.get(address, if_none_match=after.headers["etag"]).status_code == 304
    quiet = admin.patch(address, {"name": "Four"}, prefer="return=minimal")
    assert (quiet.status_code, quiet.content) == (204, b"")
    assert quiet.headers["etag"] != after.headers["etag"]


def test_a_draft_is_replaced_as_a_whole_and_value_by_value(admin: Admin) -> None:
    made = admin.make("Promotions", name="One", description="Long")
    address = draft("Promotions", made)
    put = admin.call("PUT", address, {"name": "Two"})
    assert (put.status_code, put.json()["name"], put.json()["description"]) == (200, "Two", None)
    assert admin.call("PUT", f"{address}/name", {"value": "Three"}).status_code == 204
    assert admin.read(f"{address}/name")["value"] == "Three"
    assert admin.call("PUT", f"{address}/name/$value", b"Four", content_type="text/plain").status_code == 204
    assert admin.get(f"{address}/name/$value").text == "Four"
    assert admin.call("DELETE", f"{address}/name").status_code == 204
    assert admin.get(f"{address}/name").status_code == 204


def test_a_draft_can_refer_to_active_entities(admin: Admin) -> None:
    campaign = admin.campaign()
    for reference in (active("Campaigns", campaign), f"Campaigns({campaign['ID']})"):
        made = admin.make("Promotions", **{"name": "Bound", "campaign@odata.bind": reference})
        assert made["campaign_ID"] == campaign["ID"]
        found = admin.read(f"{draft('Promotions', made)}/campaign")
        assert (found["ID"], found["IsActiveEntity"]) == (campaign["ID"], True)
    made = admin.make("Promotions", name="Linked")
    link = f"{draft('Promotions', made)}/campaign/$ref"
    body = {"@odata.id": active("Campaigns", campaign)}
    assert admin.call("PUT", link, body).status_code == 204
    assert admin.read(link)["@odata.id"].endswith(f"/admin/{active('Campaigns', campaign)}")
    assert admin.call("DELETE", link).status_code == 204
    assert admin.read(draft("Promotions", made))["campaign_ID"] is None
    part = {"promotion@odata.bind": draft("Promotions", made), "posGroup_ID": admin.pos_group()}
    answer = admin.post("PromotionPosGroups", part)
    assert (answer.status_code, answer.json()["promotion_ID"]) == (201, made["ID"])


def test_an_action_of_the_active_entity_is_refused_to_its_draft(admin: Admin) -> None:
    made = admin.make("Promotions", name="Not yet")
    assert fault(admin.post(f"{draft('Promotions', made)}/AdminService.activate"))[:2] == (409, "IS_A_DRAFT")
    assert fault(admin.post(f"{draft('Promotions', made)}/AdminService.draftEdit"))[0] == 409


def test_a_part_cannot_move_to_another_parent(admin: Admin) -> None:
    one = admin.make("Promotions", posGroups=[{"posGroup_ID": admin.pos_group()}])
    other = admin.make("Promotions")
    part = draft("PromotionPosGroups", one["posGroups"][0])
    link = {"@odata.id": draft("Promotions", other)}
    assert fault(admin.call("PUT", f"{part}/promotion/$ref", link))[0] == 400
    assert fault(admin.call("DELETE", f"{part}/promotion/$ref"))[0] == 400
    assert fault(admin.patch(part, {"promotion_ID": other["ID"]}))[0] == 400
    assert admin.read(part)["promotion_ID"] == one["ID"]


def test_parts_are_changed_through_their_root(admin: Admin) -> None:
    groups = [{"posGroup_ID": admin.pos_group()} for _ in range(2)]
    made = admin.make("Promotions", posGroups=groups)
    address, (first, second) = draft("Promotions", made), made["posGroups"]
    kept = {"ID": first["ID"], "IsActiveEntity": False, "posGroup_ID": admin.pos_group()}
    found = admin.patch(address, {"posGroups": [kept, {"posGroup_ID": admin.pos_group()}]}).json()
    assert [row["posGroup_ID"] for row in found["posGroups"] if row["ID"] == first["ID"]] == [kept["posGroup_ID"]]
    assert len(found["posGroups"]) == 2
    assert second["ID"] not in {row["ID"] for row in found["posGroups"]}
    removed = {"@removed": {"reason": "deleted"}, "@id": draft("PromotionPosGroups", first)}
    answer = admin.patch(address, {"posGroups@delta": [removed]}, odata_maxversion="4.01")
    assert answer.status_code == 200, answer.text
    rows = admin.read(f"{address}/posGroups")["value"]
    assert len(rows) == 1
    assert rows[0]["ID"] != first["ID"]


def test_an_active_entity_cannot_take_the_place_of_a_draft(admin: Admin) -> None:
    made = admin.make("Promotions", name="Mine")
    answer = admin.post("Promotions", {"ID": made["ID"], "name": "x", "IsActiveEntity": True})
    assert fault(answer)[:2] == (409, "DRAFT_ALREADY_EXISTS")
    assert fault(admin.post("Promotions", {"ID": made["ID"]}))[:2] == (409, "ALREADY_EXISTS")
    assert admin.activate("Promotions", made["ID"]).status_code == 201
