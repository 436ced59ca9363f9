"""OData over HTTP as clients use it here: versions, headers, entity tags, pages, batches."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.web.odata.public.conftest import ODATA, Api, odata_fault, problem


@pytest.mark.parametrize("path", ["/api/v1", "/api/v1/"])
def test_the_service_document_names_the_collections(api: Api, path: str) -> None:
    answer = api.get(path)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert {"name": "Campaigns", "url": "Campaigns"}.items() <= next(
        one for one in body["value"] if one["name"] == "Campaigns"
    ).items()
    assert "minorVersion" not in body
    assert api.call("HEAD", path).status_code == 200


def test_metadata_is_served_in_xml_and_json_and_cached_by_etag(api: Api) -> None:
    answer = api.get("$metadata")
    assert answer.headers["content-type"].startswith("application/xml")
    assert b'Namespace="PublicAPI"' in answer.content
    assert api.get("$metadata?$format=json").json()["$Version"] == "4.01"
    assert api.get("$metadata", if_none_match=answer.headers["etag"]).status_code == 304
    assert b'Version="4.0"' in api.get("$metadata", **{"OData-MaxVersion": "4.0"}).content
    for client in ("reader", "writer"):
        assert api.get("$metadata", client=client).status_code == 200


def test_a_client_that_requests_4_0_gets_4_0(api: Api) -> None:
    answer = api.get("Campaigns?$count=true&$top=1", **{"OData-MaxVersion": "4.0"})
    assert answer.headers["odata-version"] == "4.0"
    assert {"@odata.context", "@odata.count", "value", "minorVersion"} <= set(answer.json())
    answer = api.get("Campaigns?$count=true&$top=1")
    assert answer.headers["odata-version"] == "4.01"
    assert {"@context", "@count"} <= set(answer.json())


def test_entity_tags_guard_a_write(api: Api) -> None:
    made = api.campaign()
    address = f"Campaigns({made['ID']})"
    tag = api.get(address).headers["etag"]
    assert api.get(address, if_none_match=tag).status_code == 304
    changed = api.patch(address, {"name": "Second"}, if_match=tag)
    assert changed.status_code == 204
    assert changed.headers["etag"] != tag
    assert problem(api.patch(address, {"name": "Third"}, if_match=tag))[:2] == (412, "PRECONDITION_FAILED")
    assert problem(api.delete(address, if_match=tag))[0] == 412
    assert api.patch(address, {"name": "Third"}, if_match="*").status_code == 204
    assert api.get(address, if_none_match=changed.headers["etag"]).status_code == 200
    assert api.delete(address, if_match=api.get(address).headers["etag"]).status_code == 204


def test_only_one_of_several_clients_with_the_same_etag_writes(api: Api) -> None:
    address = f"Campaigns({api.campaign()['ID']})"
    tag = api.get(address).headers["etag"]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: api.patch(address, {"name": f"n{n}"}, if_match=tag), range(8)))
    assert sorted(answer.status_code for answer in answers) == [204, *[412] * 7]


def test_prefer_decides_what_a_write_answers(api: Api) -> None:
    answer = api.post("Campaigns", {"code": api.unique(), "name": "X"}, prefer="return=minimal")
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["odata-entityid"] == answer.headers["location"]
    address = re.search(r"Campaigns\(.*\)", answer.headers["location"])
    assert address is not None
    told = api.patch(address[0], {"name": "Y"}, prefer="return=representation")
    assert (told.status_code, told.json()["name"], told.json()["minorVersion"]) == (200, "Y", 13)
    assert told.headers["preference-applied"] == "return=representation"


def test_put_resets_omitted_properties(api: Api) -> None:
    made = api.campaign(notes="gone soon", mergePromotionPosGroups=True)
    answer = api.call("PUT", f"Campaigns({made['ID']})", {"code": made["code"], "name": "Replaced"})
    assert answer.status_code == 204, answer.text
    now = api.read(f"Campaigns({made['ID']})")
    assert (now["name"], now["notes"], now["mergePromotionPosGroups"]) == ("Replaced", None, False)
    assert now["createdAt"] == made["createdAt"]


def test_a_client_may_choose_the_key_once(api: Api) -> None:
    key = "0fa00000-0000-4000-8000-00000000aaaa"
    assert api.make("Stakeholders", ID=key.upper(), code=api.unique(), name="Cola")["ID"] == key
    assert problem(api.post("Stakeholders", {"ID": key, "code": api.unique(), "name": "Cola"}))[0] == 409
    other = "0fa00000-0000-4000-8000-00000000bbbb"
    assert api.patch(f"Stakeholders({key})", {"ID": other, "name": "Fanta"}).status_code == 204
    assert api.read(f"Stakeholders({key})")["name"] == "Fanta"


def test_pages_are_followed_by_next_links(api: Api) -> None:
    prefix = api.unique("page")
    for number in range(5):
        api.make("Stakeholders", code=f"{prefix}-{number}", name="Paged")
    path = f"Stakeholders?$filter=startswith(code,'{prefix}-')&$orderby=code desc&$select=code"
    seen = []
    while True:
        page = api.read(path, prefer="maxpagesize=2")
        assert page["minorVersion"] == 13
        seen += [one["code"] for one in page["value"]]
        link = page.get("@nextLink")
        if link is None:
            break
        path = link.partition("/api/v1/")[2] or link
    assert seen == [f"{prefix}-{number}" for number in (4, 3, 2, 1, 0)]


def test_selected_properties_come_with_the_key_and_the_minor_version(api: Api) -> None:
    made = api.campaign()
    entity = api.read(f"Campaigns({made['ID']})?$select=name")
    assert set(entity) == {"@context", "@etag", "ID", "name", "minorVersion"}


def test_single_values_are_read_and_written(api: Api) -> None:
    address = f"Campaigns({api.campaign()['ID']})"
    assert api.read(f"{address}/name")["value"] == "Spring"
    assert api.read(f"{address}/name")["minorVersion"] == 13
    assert api.get(f"{address}/name/$value").text == "Spring"
    assert api.call("PUT", f"{address}/name", {"value": "Autumn"}).status_code == 204
    assert api.delete(f"{address}/notes").status_code == 204
    assert api.read(address)["name"] == "Autumn"


def test_numbers_are_exact_and_quoted_on_request(api: Api) -> None:
    made = api.make("Budgets", code=api.unique(), name="B", totalAmount="9007199254740.93", currency="EUR")
    assert b'"totalAmount":9007199254740.93' in api.get(f"Budgets({made['ID']})").content
    quoted = api.get(f"Budgets({made['ID']})", accept="application/json;IEEE754Compatible=true").json()
    assert (quoted["totalAmount"], quoted["remainingAmount"]) == ("9007199254740.93", "9007199254740.930")
    body = b'{"code": "many", "name": "B", "currency": "EUR", "totalAmount": 1.001}'
    assert problem(api.call("POST", "Budgets", body)) == (400, "TOO_MANY_DIGITS", "totalAmount")


def multipart(*parts: str) -> bytes:
    return "".join(f"--b\r\n{part}\r\n" for part in parts).encode() + b"--b--\r\n"


def request(line: str, body: str = "", *, content_id: str = "") -> str:
    """Return one request of a multipart batch."""
    head = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
    head += f"Content-ID: {content_id}\r\n" if content_id else ""
    inner = "Content-Type: application/json\r\n" if body else ""
    return f"{head}\r\n{line} HTTP/1.1\r\n{inner}\r\n{body}"


def test_a_batch_of_parts_is_answered_in_parts(api: Api) -> None:
    code = api.unique()
    changes = "Content-Type: multipart/mixed; boundary=c\r\n\r\n" + "".join(
        f"--c\r\n{part}\r\n"
        for part in (
            request("POST Campaigns", json.dumps({"code": code, "name": "Batch"}), content_id="1"),
            request("POST $1/addPromotions", json.dumps({"promotionIds": [api.promotion()["ID"]]}), content_id="2"),
        )
    )
    body = multipart(
        changes + "--c--\r\n", request(f"GET Campaigns?$filter=code eq '{code}'".replace(" eq ", "%20eq%20"))
    )
    answer = api.call("POST", "$batch", body, **{"content-type": "multipart/mixed;boundary=b"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("multipart/mixed")
    assert re.findall(r"HTTP/1\.1 (\d+)", answer.text) == ["201", "200", "200"]
    assert answer.text.count('"minorVersion":13') >= 3
    (campaign,) = api.read(f"Campaigns?$filter=code eq '{code}'")["value"]
    assert len(api.read(f"Campaigns({campaign['ID']})/promotions")["value"]) == 1


def test_every_part_of_a_batch_needs_its_own_scope_and_is_told_as_odata_has_it(api: Api) -> None:
    batch = {
        "requests": [
            {"id": "r", "method": "GET", "url": "Campaigns?$top=1"},
            {
                "id": "w",
                "method": "POST",
                "url": "Campaigns",
                "headers": {"content-type": "application/json"},
                "body": {"code": api.unique(), "name": "X"},
            },
            {
                "id": "o",
                "method": "POST",
                "url": "AuditLogs",
                "headers": {"content-type": "application/json"},
                "body": {},
            },
        ]
    }
    expected = {"reader": [200, 403, 403], "writer": [403, 201, 403], "integrator": [200, 201, 403]}
    for client, statuses in expected.items():
        batch["requests"][1]["body"]["code"] = api.unique()  # type: ignore[index]
        answers = api.post("$batch", batch, client=client).json()["responses"]
        assert [one["status"] for one in answers] == statuses, client
        refused = next(one for one in answers if one["id"] == "o")
        assert refused["body"]["error"]["code"] in {"READ_ONLY", "MISSING_SCOPE"}


def test_a_foreign_tenant_id_in_a_part_of_a_batch_is_refused(api: Api) -> None:
    campaign = api.campaign()
    batch = {
        "requests": [
            {
                "id": str(number), "method": "PATCH", "url": f"Campaigns({campaign['ID']})",
                "headers": {"content-type": "application/json"}, "body": body,
            }
            for number, body in enumerate([{"tenantId": "globex"}, {"locked": True}])
        ]
    }  # fmt: skip
    answers = api.post("$batch", batch).json()["responses"]
    assert [(one["status"], one["body"]["error"]["code"]) for one in answers] == [
        (403, "FOREIGN_TENANT"),
        (405, "LOCKED_IS_READ_ONLY"),
    ]


def test_excessive_requests_are_refused(api: Api) -> None:
    wide = " or ".join(["name eq 'x'"] * 120)
    assert problem(api.get(f"Campaigns?$filter={wide}"))[0] == 400
    many = {"requests": [{"id": str(n), "method": "GET", "url": "Campaigns?$top=1"} for n in range(101)]}
    assert problem(api.post("$batch", many))[0] == 400
    assert odata_fault(api.post("$batch", many, **ODATA))[0] == 400
    assert problem(api.call("POST", "Campaigns", b" " * (10 * 2**20 + 1)))[0] == 413
    assert api.get(f"Campaigns?$filter=name eq '{'x' * 9000}'").status_code == 400


def test_an_expand_that_would_write_rows_over_and_over_is_refused(api: Api) -> None:
    """Sixty promotions of one campaign, each with the campaign, which has them all, each with the campaign ..."""
    campaign = api.campaign()
    for number in range(60):
        api.promotion(name=f"n{number}", campaign_ID=campaign["ID"])
    address = f"Campaigns({campaign['ID']})"
    once = api.read(f"{address}?$expand=promotions($expand=campaign)")
    assert [one["campaign"]["ID"] for one in once["promotions"]] == [campaign["ID"]] * 60
    circle = "promotions($expand=campaign($expand=promotions($expand=campaign)))"
    assert api.get(f"{address}?$expand={circle}").status_code == 200
    answer = api.get(f"Promotions?$filter=campaign_ID eq {campaign['ID']}&$expand=campaign($expand={circle})")
    assert problem(answer)[0] == 400
    answer = api.get(
        f"Promotions?$filter=campaign_ID eq {campaign['ID']}&$expand=campaign($expand=promotions($expand=campaign("
        "$expand=promotions)))"
    )
    assert problem(answer) == (400, "EXPAND_TOO_LARGE", "$expand")


@pytest.mark.parametrize(
    "expression", ["tolower(description) eq name", "concat(name,description) gt code", "name lt 'M'"]
)
def test_texts_of_code_lists_compare_as_all_texts_do(api: Api, expression: str) -> None:
    names = [one["name"] for one in api.read(f"Currencies?$filter={expression}&$orderby=name")["value"]]
    assert names == sorted(names)
    assert (names == []) == ("tolower" in expression)


def test_unknown_options_are_refused_and_custom_ones_are_not(api: Api) -> None:
    assert problem(api.get("Campaigns?$nonsense=1"))[0] == 400
    assert api.get("Campaigns?$top=1&nonsense=1&sap-client=100").status_code == 200


def test_requests_are_counted_by_the_collections_that_there_are(api: Api) -> None:
    for path in ("Campaigns?$top=1", "Campaigns(1)/name", "Nothing/at/all", "$metadata", "x" * 300):
        api.get(path)
    text = api.http.get("/metrics").text
    labels = set(re.findall(r'route="(/api/v1[^"]*)"', text))
    assert {"/api/v1/Campaigns", "/api/v1/$metadata", "/api/v1/{other}"} <= labels
    assert not any("(" in label or "Nothing" in label or "xxx" in label for label in labels)


def test_letters_of_every_script_have_cases_and_patterns_are_known(api: Api) -> None:
    campaign = api.campaign(name="Käse und ÄPFEL")
    for options in (
        "$filter=tolower(name) eq 'käse und äpfel'",
        "$filter=toupper(name) eq 'KÄSE UND ÄPFEL'",
        "$filter=matchesPattern(name,'^K.se .* [Ä-Ö]PFEL$')",
        "$search=äpfel",
    ):
        assert campaign["ID"] in [one["ID"] for one in api.read(f"Campaigns?{options}")["value"]], options
