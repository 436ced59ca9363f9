"""Response formats of the admin service: versions, documents, contexts, URLs, messages, tokens."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

from tests.web.services.admin.conftest import NOBODY, Admin, active, draft, fault


def test_answers_are_in_the_forms_of_4_0_unless_4_01_is_asked_for(admin: Admin) -> None:
    made = admin.promotion()
    for headers, version, prefix in (
        ({}, "4.0", "@odata."),
        ({"odata_maxversion": "4.0"}, "4.0", "@odata."),
        ({"odata_version": "4.01"}, "4.0", "@odata."),
        ({"odata_maxversion": "4.01"}, "4.01", "@"),
    ):
        answer = admin.get(f"Promotions?$count=true&$filter=ID eq {made['ID']}", **headers)
        assert answer.headers["odata-version"] == version
        body = answer.json()
        assert set(body) == {f"{prefix}context", f"{prefix}count", "value"}
        assert f"{prefix}etag" in body["value"][0]
        assert "minorVersion" not in body["value"][0]


def test_errors_are_always_in_the_odata_format(admin: Admin) -> None:
    for accept in ("application/json", "application/xml", "application/problem+json", "text/html", "*/*"):
        for path in (f"Promotions({NOBODY})", "Nothing", "Promotions?$top=-1", "Promotions:bulk-import"):
            answer = admin.get(path, accept=accept)
            assert answer.headers["content-type"] == "application/json", (accept, path)
            assert answer.status_code in {400, 404, 406}
            fault(answer)
    answer = admin.get("Promotions", client=None)
    assert fault(answer)[:2] == (401, "UNAUTHORIZED")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert admin.get("/odata/v4/admin/Promotions").status_code == 404
    assert admin.get(f"Promotions?$filter={'x' * 9_000}").json()["error"]["code"] == "URL_TOO_LONG"
    assert fault(admin.post("Promotions", b"{"))[:2] == (400, "MALFORMED_BODY")
    assert fault(admin.call("TRACE", "Promotions"))[0] == 405


def test_several_faults_are_one_error_with_details(admin: Admin) -> None:
    answer = admin.post("Campaigns", {"IsActiveEntity": True})
    assert answer.status_code == 400
    details = answer.json()["error"]["details"]
    assert {(one["code"], one["target"]) for one in details} >= {("REQUIRED", "code"), ("REQUIRED", "name")}
    made = admin.make("Campaigns")
    error = admin.activate("Campaigns", made["ID"]).json()["error"]
    assert {one["target"] for one in error["details"]} >= {"in/code", "in/name"}


def test_the_service_describes_itself(admin: Admin) -> None:
    for path in ("/admin", "/admin/"):
        answer = admin.get(path)
        names = {one["name"] for one in answer.json()["value"]}
        assert {"Promotions", "Conditions", "CouponCodes", "PromotionStatuses"} <= names
        head = admin.call("HEAD", path)
        assert (head.status_code, head.content) == (200, b"")
    for form in ("application/xml", "application/json"):
        answer = admin.get("$metadata", accept=form)
        assert answer.headers["content-type"].startswith(form)
        again = admin.get("$metadata", accept=form, if_none_match=answer.headers["etag"])
        assert (again.status_code, again.content) == (304, b"")
    root = ET.fromstring(admin.get("$metadata").content)
    assert root.get("Version") == "4.0"
    keys = root.findall(".//{*}EntityType[@Name='Promotions']/{*}Key/{*}PropertyRef")
    assert [one.get("Name") for one in keys] == ["ID", "IsActiveEntity"]
    actions = {one.get("Name") for one in root.findall(".//{*}Action")}
    assert {"draftPrepare", "draftActivate", "draftEdit", "activate", "lock", "generateCodes"} <= actions


def test_addresses_name_both_parts_of_a_key(admin: Admin) -> None:
    made = admin.make("Promotions", name="One", posGroups=[{"posGroup_ID": admin.pos_group()}])
    address = f"{admin.service.url}/admin/{draft('Promotions', made)}"
    full = admin.get(draft("Promotions", made), accept="application/json;odata.metadata=full").json()
    assert full["@odata.id"] == full["@odata.editLink"] == f"/admin/{draft('Promotions', made)}"
    assert full["posGroups@odata.navigationLink"] == f"/admin/{draft('Promotions', made)}/posGroups"
    assert admin.read(f"{draft('Promotions', made)}/$ref")["@odata.id"] == address
    name = admin.read(f"{draft('Promotions', made)}/name")
    assert name["@odata.context"].endswith(f"$metadata#{draft('Promotions', made)}/name")
    assert admin.read(draft("Promotions", made))["@odata.context"].endswith("$metadata#Promotions/$entity")
    assert admin.read(f"$entity?$id={address}")["name"] == "One"
    part = draft("PromotionPosGroups", made["posGroups"][0])
    for within in ("posGroups", f"posGroups({made['posGroups'][0]['ID']})"):
        found = admin.read(f"{draft('Promotions', made)}/{within}")
        (row,) = found.get("value", [found])
        assert draft("PromotionPosGroups", row) == part
    quiet = admin.post("Promotions", {}, prefer="return=minimal")
    assert quiet.status_code == 204
    assert quiet.headers["odata-entityid"] == quiet.headers["location"]
    assert quiet.headers["location"].endswith(",IsActiveEntity=false)")


def test_selected_rows_always_have_their_full_key(admin: Admin) -> None:
    made = admin.promotion()
    row = admin.read(f"{active('Promotions', made)}?$select=name")
    assert {"ID", "IsActiveEntity", "name"} <= set(row)
    assert "status" not in row
    expand = "$expand=DraftAdministrativeData,SiblingEntity,posGroups($expand=posGroup),campaign,calculationConfig"
    row = admin.read(f"{active('Promotions', made)}?{expand}")
    assert (row["DraftAdministrativeData"], row["SiblingEntity"], row["posGroups"]) == (None, None, [])


def test_messages_are_ascii_and_bounded(admin: Admin) -> None:
    parts: list[object] = [{} for _ in range(120)]
    made = admin.make("Campaigns", name="Frühling ✿", posGroups=parts)
    answer = admin.post(f"{draft('Campaigns', made)}/AdminService.draftPrepare")
    assert answer.status_code == 200, answer.text
    header = answer.headers["sap-messages"]
    assert header.isascii()
    assert len(header) < 4_096
    messages = json.loads(header)
    assert (messages[-1]["code"], len(messages) < 120) == ("MORE_MESSAGES", True)
    assert all({"code", "message", "numericSeverity"} <= set(one) for one in messages)
    assert all(one["target"] for one in messages[:-1])
    done = admin.make("Promotions", name="x")
    assert json.loads(admin.activate("Promotions", done["ID"]).headers["sap-messages"])[0]["numericSeverity"] == 1


def test_a_bearer_gets_a_csrf_token_and_needs_none(admin: Admin) -> None:
    for method, path in (("HEAD", "/admin/"), ("GET", "/admin/"), ("GET", "$metadata"), ("GET", "Promotions?$top=1")):
        answer = admin.call(method, path, x_csrf_token="Fetch")
        assert (answer.status_code, bool(answer.headers["x-csrf-token"])) == (200, True), path
    assert "x-csrf-token" not in admin.get("Promotions?$top=1").headers
    assert admin.call("HEAD", "/admin/", client=None, x_csrf_token="Fetch").status_code == 401
    assert admin.post("Promotions", {}, x_csrf_token="whatever").status_code == 201


def test_lists_show_the_rows_of_each_editing_status(admin: Admin) -> None:
    code = admin.unique("list")
    plain, edited = (admin.promotion(name=code, priority=number) for number in (1, 2))
    admin.edit("Promotions", edited["ID"])
    new = admin.make("Promotions", name=code, priority=3)
    merged = "(IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null)"
    for condition, expected in (
        ("", [(plain, True), (edited, True)]),
        ("IsActiveEntity eq false", [(edited, False), (new, False)]),
        (merged, [(plain, True), (edited, False), (new, False)]),
        ("IsActiveEntity eq true and HasDraftEntity eq false", [(plain, True)]),
    ):
        both = f"name eq '{code}'" + (f" and {condition}" if condition else "")
        page = admin.read(f"Promotions?$filter={both}&$orderby=priority&$count=true&$expand=DraftAdministrativeData")
        assert [(row["ID"], row["IsActiveEntity"]) for row in page["value"]] == [
            (row["ID"], is_active) for row, is_active in expected
        ], condition
        assert page["@odata.count"] == len(expected)
        assert admin.get(f"Promotions/$count?$filter={both}").text == str(len(expected))


def test_a_request_is_counted_under_a_name_that_no_client_chooses(admin: Admin) -> None:
    made = admin.make("Promotions")
    admin.read(draft("Promotions", made))
    admin.get("Whatever/we/like")
    text = admin.get("/metrics", client=None).text
    assert 'route="/admin/Promotions"' in text
    assert 'route="/admin/{other}"' in text
    assert made["ID"] not in text
    assert "Whatever" not in text
