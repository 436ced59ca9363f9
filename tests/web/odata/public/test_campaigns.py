"""Campaigns, field by field as specified."""

from __future__ import annotations

import pytest

from tests.web.odata.public.conftest import LOGGED, ODATA, Api, odata_fault, problem


def shop(api: Api) -> str:
    made = api.make("PosGroups", code=api.unique("p"), name="Berlin", currency="EUR")
    return str(made["ID"])


def test_a_campaign_has_its_defaults_and_returns_all_its_fields(api: Api) -> None:
    answer = api.post("Campaigns", {"code": (code := api.unique()), "name": "Spring"})
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert answer.headers["location"].endswith(f"/api/v1/Campaigns({made['ID']})")
    expected = {
        "code": code, "name": "Spring", "description": None, "startAt": None, "endAt": None, "status": "DRAFT",
        "notes": None, "mergePromotionPosGroups": False, "locked": False, "ownerStakeholder_ID": None,
        "primaryContact_ID": None, "tenantId": "acme", "minorVersion": 13, "createdBy": "integrator",
        "modifiedBy": "integrator",
    }  # fmt: skip
    assert {name: made[name] for name in expected} == expected
    assert set(made) - set(expected) == {"ID", "createdAt", "modifiedAt", "@context", "@etag"}
    assert api.read(f"Campaigns({made['ID']})") == made


@pytest.mark.parametrize("name", ["code", "name"])
def test_a_campaign_needs_a_code_and_a_name(api: Api, name: str) -> None:
    body = {"code": api.unique(), "name": "Spring"}
    del body[name]
    assert problem(api.post("Campaigns", body)) == (400, "REQUIRED", name)


@pytest.mark.parametrize(("name", "length"), [("code", 50), ("name", 255), ("description", 1000), ("notes", 2000)])
def test_texts_are_as_long_as_specified_and_no_longer(api: Api, name: str, length: int) -> None:
    fitting = api.unique().ljust(length, "x")
    assert api.campaign(**{name: fitting})[name] == fitting
    body = {"code": api.unique(), "name": "Spring", name: api.unique().ljust(length + 1, "x")}
    assert problem(api.post("Campaigns", body)) == (400, "TOO_LONG", name)


def test_a_second_campaign_of_the_same_code_is_a_conflict(api: Api) -> None:
    code = api.campaign()["code"]
    status, _, target = problem(api.post("Campaigns", {"code": code, "name": "Again"}))
    assert (status, target) == (409, "code")


def test_patch_answers_204_and_changes_only_the_named_fields(api: Api) -> None:
    made = api.campaign(notes="as it was")
    address = f"Campaigns({made['ID']})"
    answer = api.patch(address, {"name": "Autumn", "startAt": "2026-09-01T00:00:00+02:00"})
    assert (answer.status_code, answer.content) == (204, b"")
    now = api.read(address)
    assert (now["name"], now["notes"], now["startAt"]) == ("Autumn", "as it was", "2026-08-31T22:00:00Z")


def test_delete_answers_204_and_deletes_its_pos_group_links(api: Api) -> None:
    made = api.campaign(posGroups=[{"posGroup_ID": shop(api)}])
    (group,) = api.read(f"Campaigns({made['ID']})/posGroups")["value"]
    assert api.delete(f"Campaigns({made['ID']})").status_code == 204
    assert problem(api.get(f"Campaigns({made['ID']})"))[0] == 404
    assert problem(api.get(f"CampaignPosGroups({group['ID']})"))[0] == 404


def test_pos_groups_come_with_the_campaign_or_after_it(api: Api) -> None:
    first, second = shop(api), shop(api)
    made = api.campaign(posGroups=[{"posGroup_ID": first}])
    address = f"Campaigns({made['ID']})"
    added = api.post(f"{address}/posGroups", {"posGroup_ID": second})
    assert added.status_code == 201, added.text
    assert added.json()["campaign_ID"] == made["ID"]
    page = api.read(f"{address}/posGroups?$count=true")
    assert page["@count"] == 2
    assert page["minorVersion"] == 13
    assert {one["posGroup_ID"] for one in page["value"]} == {first, second}
    whole = api.read(f"{address}?$expand=posGroups($expand=posGroup($select=name))")
    assert [one["posGroup"]["name"] for one in whole["posGroups"]] == ["Berlin", "Berlin"]


def test_a_deep_update_replaces_the_pos_groups(api: Api) -> None:
    first, second = shop(api), shop(api)
    made = api.campaign(posGroups=[{"posGroup_ID": first}])
    answer = api.patch(f"Campaigns({made['ID']})", {"posGroups": [{"posGroup_ID": second}]})
    assert answer.status_code == 204, answer.text
    (only,) = api.read(f"Campaigns({made['ID']})/posGroups")["value"]
    assert only["posGroup_ID"] == second


def test_a_fault_inside_a_deep_insert_is_named_by_its_path_and_nothing_is_stored(api: Api) -> None:
    code = api.unique()
    body = {"code": code, "name": "Spring", "posGroups": [{"posGroup_ID": LOGGED.format(9)}]}
    assert problem(api.post("Campaigns", body))[::2] == (400, "posGroups/0/posGroup_ID")
    assert api.read(f"Campaigns?$filter=code eq '{code}'")["value"] == []


def test_owner_and_contact_are_stakeholders(api: Api) -> None:
    stakeholder = api.make("Stakeholders", code=api.unique(), name="Cola")["ID"]
    by_key = api.campaign(ownerStakeholder_ID=stakeholder)
    bound = api.campaign(**{"primaryContact@odata.bind": f"Stakeholders({stakeholder})"})
    assert api.read(f"Campaigns({by_key['ID']})/ownerStakeholder")["name"] == "Cola"
    assert api.read(f"Campaigns({bound['ID']})/primaryContact?$select=name")["name"] == "Cola"


def test_promotions_are_seen_from_the_campaign_and_not_written_through_it(api: Api) -> None:
    made = api.campaign()
    promotion = api.promotion(campaign_ID=made["ID"])
    (seen,) = api.read(f"Campaigns({made['ID']})/promotions")["value"]
    assert seen["ID"] == promotion["ID"]
    answer = api.post("Campaigns", {"code": api.unique(), "name": "Deep", "promotions": [{"name": "X"}]})
    assert problem(answer)[::2] == (400, "promotions")
    assert 400 <= api.post(f"Campaigns({made['ID']})/promotions", {"name": "X"}).status_code < 500


def test_a_status_is_one_of_its_list_and_leads_to_its_text(api: Api) -> None:
    assert problem(api.post("Campaigns", {"code": api.unique(), "name": "X", "status": "OPEN"}))[::2] == (400, "status")
    made = api.campaign()
    text = api.read(f"Campaigns({made['ID']})/statusText")
    assert (text["code"], text["name"]) == ("DRAFT", "Draft")
    found = api.read(f"Campaigns?$filter=statusText/name eq 'Draft' and ID eq {made['ID']}&$expand=statusText")
    assert [one["statusText"]["code"] for one in found["value"]] == ["DRAFT"]


@pytest.mark.parametrize("value", [True, False, None, "yes"])
def test_the_locked_flag_is_read_only(api: Api, value: object) -> None:
    """405 whatever the value, for every client, and nothing else in the request takes effect."""
    made = api.campaign()
    address = f"Campaigns({made['ID']})"
    assert problem(api.patch(address, {"locked": value, "name": "Other"})) == (405, "LOCKED_IS_READ_ONLY", "locked")
    assert odata_fault(api.patch(address, {"locked": value}, **ODATA))[0] == 405
    assert problem(api.call("PUT", f"{address}/locked", {"value": value}))[0] == 405
    assert api.read(address)["name"] == "Spring"


def test_of_a_new_campaign_locked_is_ignored(api: Api) -> None:
    assert api.campaign(locked=True)["locked"] is False


def test_a_locked_campaign_and_its_promotions_are_frozen(api: Api) -> None:
    key = LOGGED.format(1)
    for path in (f"Campaigns({key})", f"Promotions({key})"):
        assert problem(api.patch(path, {"name": "Changed"}))[:2] == (409, "LOCKED"), path
        assert problem(api.delete(path))[:2] == (409, "LOCKED"), path
    condition = {"promotion_ID": key, "conditionType": "ARTICLE", "articleNumber": "A-1"}
    assert problem(api.post("Conditions", condition))[:2] == (409, "LOCKED")
    assert problem(api.post(f"Campaigns({key})/posGroups", {"posGroup_ID": shop(api)}))[:2] == (409, "LOCKED")
    assert api.read(f"Campaigns({key})")["name"] == "Locked"
