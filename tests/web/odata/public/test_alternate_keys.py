"""Rows addressed by their natural keys: read, changed, created if they are not there, deleted."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from promenade import model
from promenade.model.declare import NONE, RW
from tests.web.odata.public.conftest import Api, odata_fault, problem

KEYS = {
    one.set_name: one.field(one.natural_key[0]).wire
    for one in model.entities()
    if one.public is RW and one.natural_key and one.natural_key[0] in {field.name for field in one.fields}
}
MORE: dict[str, dict[str, Any]] = {
    "Budgets": {"totalAmount": 100, "currency": "EUR"},
    "PosGroups": {"currency": "EUR"},
}


def _at(set_name: str, key: str, name: str = "") -> str:
    return f"{set_name}({name or KEYS[set_name]}='{quote(key, safe='')}')"


def test_every_collection_with_a_natural_key_that_is_shown_declares_it(api: Api) -> None:
    metadata = api.read("$metadata?$format=json")["PublicAPI"]
    declared = {
        name: [[one["Name"] for one in key["Key"]] for key in found["@Core.AlternateKeys"]]
        for name, found in metadata.items()
        if isinstance(found, dict) and "@Core.AlternateKeys" in found
    }
    others = {"LocalDeployments": "storeCode", "PromotionPilotConfigs": "promotion_ID"}
    assert declared == {name: [[key]] for name, key in (KEYS | others).items()}
    assert {"ArticleGroups", "Articles", "Budgets", "Campaigns", "PosGroups", "Promotions"} <= KEYS.keys()
    natural = {one.set_name for one in model.entities() if one.natural_key and one.public is not NONE}
    assert natural - declared.keys() == {"CouponCodes"}  # whose code is a secret


@pytest.mark.parametrize("set_name", sorted(KEYS))
def test_a_row_is_created_changed_read_and_deleted_by_its_natural_key(api: Api, set_name: str) -> None:
    key = api.unique("K/ü'")[:20]
    at = _at(set_name, key.replace("'", "''"))
    made = api.patch(at, {"name": "First", **MORE.get(set_name, {})})
    assert made.status_code == 201, made.text
    row = made.json()
    assert (row[KEYS[set_name]], row["name"]) == (key, "First")
    assert made.headers["location"].endswith(f"/api/v1/{set_name}({row['ID']})")
    changed = api.patch(at, {"name": "Second"})
    assert (changed.status_code, changed.content) == (204, b"")
    found = api.read(at)
    assert (found["ID"], found["name"]) == (row["ID"], "Second")
    assert api.read(f"{at}/name")["value"] == "Second"
    assert changed.headers["etag"] == found["@etag"]
    assert api.delete(at).status_code == 204
    assert problem(api.get(at))[:2] == (404, "NOT_FOUND")
    assert problem(api.delete(at))[:2] == (404, "NOT_FOUND")


def test_preconditions_say_whether_to_create_or_to_change(api: Api) -> None:
    at = _at("Articles", api.unique())
    body = {"name": "One"}
    assert problem(api.patch(at, body, if_match="*")) == (412, "PRECONDITION_FAILED", "If-Match")
    assert api.get(at).status_code == 404
    made = api.patch(at, body, if_none_match="*")
    assert made.status_code == 201
    assert problem(api.patch(at, body, if_none_match="*")) == (412, "PRECONDITION_FAILED", "If-None-Match")
    assert api.patch(at, {"name": "Two"}, if_match="*").status_code == 204
    assert problem(api.patch(at, body, if_match=made.headers["etag"]))[:2] == (412, "PRECONDITION_FAILED")
    assert problem(api.delete(at, if_match=made.headers["etag"]))[:2] == (412, "PRECONDITION_FAILED")
    assert api.read(at)["name"] == "Two"


def test_the_answer_is_what_the_client_prefers(api: Api) -> None:
    at = _at("Articles", api.unique())
    made = api.patch(at, {"name": "One"}, prefer="return=minimal")
    assert (made.status_code, made.content) == (204, b"")
    assert made.headers["odata-entityid"] == made.headers["location"]
    changed = api.patch(at, {"name": "Two"}, prefer="return=representation")
    assert (changed.status_code, changed.json()["name"]) == (200, "Two")


def test_put_replaces_or_creates(api: Api) -> None:
    at = _at("Articles", api.unique())
    assert api.call("PUT", at, {"name": "One", "category": "Fruit"}).status_code == 201
    assert api.call("PUT", at, {"name": "Two"}).status_code == 204
    assert (api.read(at)["name"], api.read(at)["category"]) == ("Two", None)


def test_another_key_in_the_body_renames_what_is_there_and_creates_nothing(api: Api) -> None:
    old, new = api.unique(), api.unique()
    assert problem(api.patch(_at("Articles", old), {"name": "One", "articleNumber": new})) == (
        400, "KEY_MISMATCH", "articleNumber",
    )  # fmt: skip
    made = api.patch(_at("Articles", old), {"name": "One"}).json()
    assert api.patch(_at("Articles", old), {"articleNumber": new}).status_code == 204
    assert api.read(_at("Articles", new))["ID"] == made["ID"]
    assert api.get(_at("Articles", old)).status_code == 404


def test_a_create_is_held_to_all_rules_of_a_create(api: Api) -> None:
    key = api.unique()
    assert problem(api.patch(_at("Campaigns", key), {})) == (400, "REQUIRED", "name")
    assert problem(api.patch(_at("Articles", "x" * 300), {"name": "One"}))[:2] == (400, "TOO_LONG")
    assert problem(api.patch(_at("Articles", key), {"nothing": 1}))[:2] == (400, "UNKNOWN_PROPERTY")
    foreign = api.patch(_at("Articles", key), {"name": "One", "tenantId": "globex"})
    assert problem(foreign)[:2] == (403, "FOREIGN_TENANT")
    assert api.get(_at("Articles", key)).status_code == 404
    assert problem(api.patch(_at("Articles", key), {"name": "One"}, client="reader"))[:2] == (403, "MISSING_SCOPE")
    assert problem(api.get(_at("Articles", key), client="writer"))[:2] == (403, "MISSING_SCOPE")


def test_a_promotion_is_created_with_its_parts(api: Api) -> None:
    group = api.make("PosGroups", code=api.unique("P")[:20], name="Berlin", currency="EUR")
    at = _at("Promotions", api.unique())
    made = api.patch(at, {"name": "Ten off", "posGroups": [{"posGroup_ID": group["ID"]}]})
    assert made.status_code == 201, made.text
    assert api.read(f"{at}/posGroups")["value"][0]["posGroup_ID"] == group["ID"]
    assert api.patch(at, {"posGroups": []}).status_code == 204
    assert api.read(f"{at}/posGroups")["value"] == []


def test_what_is_not_created_is_not_there(api: Api) -> None:
    at = _at("LocalDeployments", "S-1", "storeCode")
    assert problem(api.get(at))[:2] == (404, "NOT_FOUND")
    assert problem(api.patch(at, {"name": "x"}))[:2] == (405, "READ_ONLY")
    nobody = "99999999-9999-4999-8999-999999999999"
    assert problem(api.patch(f"Articles({nobody})", {"name": "x"}))[:2] == (404, "NOT_FOUND")
    group = api.make("ArticleGroups", groupId=api.unique(), name="Fruit")
    below = f"ArticleGroups({group['ID']})/{_at('Articles', api.unique()).replace('Articles', 'articles')}"
    assert api.patch(below, {"name": "x"}).status_code == 404


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        ("Articles(articleNumber=4711)", "TYPE_MISMATCH"),
        ("Articles(articleNumber=null)", "TYPE_MISMATCH"),
        ("Articles(name='x')", "URI_SYNTAX"),
        ("Articles('4711')", "TYPE_MISMATCH"),
        ("Articles(articleNumber='a',articleNumber='b')", "URI_SYNTAX"),
        ("Articles(articleNumber='a',name='b')", "URI_SYNTAX"),
    ],
)
def test_what_is_no_key_is_refused(api: Api, address: str, fault: str) -> None:
    assert problem(api.get(address))[:2] == (400, fault)
    assert problem(api.patch(address, {"name": "x"}))[:2] == (400, fault)


def test_a_key_is_an_alias_of_the_query_too(api: Api) -> None:
    number = api.unique()
    api.make("Articles", articleNumber=number, name="One")
    assert api.read(f"Articles(articleNumber=@n)?@n='{number}'")["name"] == "One"


def test_a_reference_may_name_the_natural_key(api: Api) -> None:
    campaign = api.campaign()
    body = {"name": "Ten off", "campaign@odata.bind": _at("Campaigns", campaign["code"])}
    made = api.post("Promotions", body)
    assert made.status_code == 201, made.text
    assert made.json()["campaign_ID"] == campaign["ID"]
    unknown = {**body, "campaign@odata.bind": _at("Campaigns", api.unique())}
    assert problem(api.post("Promotions", unknown))[:2] == (400, "UNKNOWN_REFERENCE")
    assert api.patch(
        f"Promotions({made.json()['ID']})", {"campaign": {"@id": _at("Campaigns", campaign["code"])}}
    ).is_success


def test_rows_of_two_tenants_with_one_key_never_meet(api: Api) -> None:
    at = _at("Articles", api.unique())
    for client in ("integrator", "stranger"):
        assert api.patch(at, {"name": client}, client=client).status_code == 201
    for client in ("integrator", "stranger"):
        assert api.read(at, client=client)["name"] == client
    assert api.delete(at).status_code == 204
    assert api.read(at, client="stranger")["name"] == "stranger"


def test_an_operation_is_called_on_a_row_by_its_natural_key(api: Api) -> None:
    campaign, promotion = api.campaign(), api.promotion()
    at = f"{_at('Campaigns', campaign['code'])}/PublicAPI.addPromotions"
    assert api.post(at, {"promotionIds": [promotion["ID"]]}).status_code == 200
    assert api.read(f"Promotions({promotion['ID']})")["campaign_ID"] == campaign["ID"]


def test_a_change_set_creates_and_changes_by_natural_keys_or_does_nothing(api: Api) -> None:
    number = api.unique()

    def asked(name: object) -> dict[str, Any]:
        one = {"method": "PATCH", "headers": {"content-type": "application/json"}, "atomicityGroup": "g"}
        return {"requests": [
            {**one, "id": "1", "url": _at("Articles", number), "body": {"name": "One"}},
            {**one, "id": "2", "url": _at("Articles", number), "body": {"name": name}},
        ]}  # fmt: skip

    refused = api.post("$batch", asked(5)).json()["responses"]
    assert {part["status"] for part in refused} == {400, 424}
    assert api.get(_at("Articles", number)).status_code == 404
    done = api.post("$batch", asked("Two")).json()["responses"]
    assert [part["status"] for part in done] == [201, 204]
    assert api.read(_at("Articles", number))["name"] == "Two"


def test_of_writers_at_the_same_time_one_creates_and_the_others_change(api: Api) -> None:
    writers, rounds = 4, 5
    api.token("integrator")
    with ThreadPoolExecutor(writers) as pool:
        for _ in range(rounds):
            at, together = _at("Articles", api.unique()), Barrier(writers)

            def write(name: str, at: str = at, together: Barrier = together) -> httpx2.Response:
                together.wait()
                return api.patch(at, {"name": name})

            answers = list(pool.map(write, [f"Writer {one}" for one in range(writers)]))
            assert sorted(one.status_code for one in answers) == [201, *([204] * (writers - 1))], [
                one.text for one in answers
            ]
            assert api.read(at)["name"].startswith("Writer ")


def test_an_odata_client_is_told_in_its_form(api: Api) -> None:
    answer = api.patch(_at("Articles", api.unique()), {"name": "One"}, if_match="*", odata_version="4.01")
    assert odata_fault(answer) == (412, "PRECONDITION_FAILED", "If-Match")
