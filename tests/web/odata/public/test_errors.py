"""Error responses: RFC 7807 for integrators, the OData format for OData clients."""

from __future__ import annotations

import pytest

from tests.web.odata.public.conftest import LOGGED, ODATA, Api, odata_fault, problem


def test_a_problem_says_what_is_wrong_where_and_how(api: Api) -> None:
    answer = api.post("Campaigns", {"code": "x" * 51, "name": 7})
    body = answer.json()
    assert {name: body[name] for name in ("type", "title", "status", "instance")} == {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "instance": "/api/v1/Campaigns",
    }
    assert body["detail"]
    assert body["code"]
    assert {(one["code"], one["target"]) for one in body["details"]} == {
        ("TOO_LONG", "code"),
        ("TYPE_MISMATCH", "name"),
    }
    assert all(one["message"] for one in body["details"])
    assert answer.headers["x-correlation-id"]


@pytest.mark.parametrize("sent", [ODATA, {"OData-MaxVersion": "4.0"}])
def test_an_odata_client_gets_errors_in_the_odata_format(api: Api, sent: dict[str, str]) -> None:
    answer = api.post("Campaigns", {"name": "Without a code"}, **sent)
    assert odata_fault(answer) == (400, "REQUIRED", "code")
    assert answer.headers["odata-version"] == ("4.0" if "OData-MaxVersion" in sent else "4.01")


def test_without_a_token_nothing_is_revealed(api: Api) -> None:
    for path in ("", "$metadata", "Campaigns", f"Campaigns({LOGGED.format(1)})"):
        answer = api.get(path, client=None)
        assert problem(answer)[:2] == (401, "UNAUTHORIZED"), path
        assert answer.headers["www-authenticate"] == 'Bearer realm="promenade"'
    answer = api.get("Campaigns", client=None, Authorization="Bearer nonsense")
    assert problem(answer)[:2] == (401, "UNAUTHORIZED")
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert odata_fault(api.get("Campaigns", client=None, **ODATA))[:2] == (401, "UNAUTHORIZED")


@pytest.mark.parametrize("client", ["administrator", "till"])
def test_other_scopes_are_refused_by_the_public_api(api: Api, client: str) -> None:
    for path in ("", "$metadata", "Campaigns"):
        assert problem(api.get(path, client=client))[:2] == (403, "MISSING_SCOPE"), path


def test_a_client_with_only_the_write_scope_can_write_but_not_read(api: Api) -> None:
    made = api.campaign(client="writer")
    assert api.patch(f"Campaigns({made['ID']})", {"name": "X"}, client="writer").status_code == 204
    assert problem(api.get(f"Campaigns({made['ID']})", client="writer"))[:2] == (403, "MISSING_SCOPE")
    for how in (
        {"prefer": "return=representation"},
        {"Prefer": 'odata.include-annotations="*", return=representation'},
    ):
        answer = api.patch(f"Campaigns({made['ID']})", {"name": "Y"}, client="writer", **how)
        assert problem(answer)[:2] == (403, "MISSING_SCOPE")
    body = {"code": api.unique(), "name": "X"}
    assert problem(api.post("Campaigns?$expand=promotions", body, client="writer"))[:2] == (403, "MISSING_SCOPE")
    assert api.post(f"Campaigns({made['ID']})/posGroups", {}, client="writer").status_code == 400
    assert api.delete(f"Campaigns({made['ID']})", client="writer").status_code == 204


FOREIGN = [
    ("POST", "Campaigns", {"code": "x", "name": "X", "tenantId": "globex"}),
    ("POST", "Campaigns", {"code": "x", "name": "X", "tenantId": 7}),
    ("POST", "Campaigns", {"code": "x", "name": "X", "tenant\u0049d": "ACME"}),
    ("POST", "Campaigns", {"code": "x", "name": "X", "posGroups": [{"tenantId": "globex"}]}),
    ("PATCH", f"Campaigns({LOGGED.format(1)})", {"tenantId": "globex"}),
    ("PUT", f"Campaigns({LOGGED.format(1)})", {"code": "x", "name": "X", "tenantId": "globex"}),
    ("POST", "TemplateConditions", {"tenantId": "globex"}),
    ("POST", f"Campaigns({LOGGED.format(1)})/addPromotions", {"promotionIds": [], "tenantId": "globex"}),
]


@pytest.mark.parametrize(("method", "path", "body"), FOREIGN)
def test_a_body_that_claims_another_tenant_is_refused(
    api: Api, method: str, path: str, body: dict[str, object]
) -> None:
    assert problem(api.call(method, path, body))[:2] == (403, "FOREIGN_TENANT")


def test_escaped_letters_do_not_hide_a_foreign_tenant_id(api: Api) -> None:
    hidden = b'{"code": "hidden", "name": "X", "tenant\\u0049d": "globex"}'
    assert problem(api.call("POST", "Campaigns", hidden))[:2] == (403, "FOREIGN_TENANT")


def test_the_own_tenant_may_be_named(api: Api) -> None:
    made = api.campaign(tenantId="acme")
    assert api.patch(f"Campaigns({made['ID']})", {"tenantId": "acme", "name": "X"}).status_code == 204
    assert api.read(f"Campaigns({made['ID']})")["tenantId"] == "acme"


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"7", b'{"code":', b"\xff\xfe", b"[" * 100_000, b'{"code": 1e999999999}', b"null"]
)
def test_a_body_that_is_not_an_entity_is_refused(api: Api, body: bytes) -> None:
    for method, path in (("POST", "Campaigns"), ("PATCH", f"Campaigns({LOGGED.format(1)})")):
        assert problem(api.call(method, path, body))[0] == 400, method


def test_a_body_in_another_form_is_refused(api: Api) -> None:
    assert problem(api.call("POST", "Campaigns", b"code=x", **{"content-type": "text/plain"}))[0] == 415


@pytest.mark.parametrize("path", ["Nothing", "campaigns", "jobs/1", "master-data/x", "docs/x", "Campaigns:nonsense"])
def test_unknown_paths_and_rows_are_not_found(api: Api, path: str) -> None:
    assert problem(api.get(path))[:2] == (404, "NOT_FOUND"), path


@pytest.mark.parametrize("path", ["Campaigns(1)", "Campaigns('x')", "Campaigns(", "Campaigns(ID=1,ID=2)"])
def test_an_invalid_key_is_refused(api: Api, path: str) -> None:
    assert problem(api.get(path))[0] in {400, 404}, path


@pytest.mark.parametrize(
    "path",
    ["/odata/v4/api/v1/Campaigns", "/odata/v4/admin/Promotions", "/pos-integration/Promotions", "/api/v2/Campaigns"],
)
def test_unknown_addresses_are_not_found(api: Api, path: str) -> None:
    assert api.get(path).status_code == 404


def test_several_faults_are_reported_at_once(api: Api) -> None:
    body = {"name": "", "status": "OPEN", "ownerStakeholder_ID": LOGGED.format(9)}
    answer = api.post("Campaigns", body)
    assert problem(answer)[0] == 400
    assert {one["target"] for one in answer.json()["details"]} >= {"code", "status", "ownerStakeholder_ID"}


def test_an_unknown_method_is_refused(api: Api) -> None:
    answer = api.call("PURGE", "Campaigns")
    assert answer.status_code in {405, 501}


def test_an_overlong_address_gets_an_error_in_the_callers_format(api: Api) -> None:
    path = "Campaigns?" + "x" * 8_192
    assert problem(api.get(path))[:2] == (400, "URL_TOO_LONG")
    assert odata_fault(api.get(path, **ODATA))[:2] == (400, "URL_TOO_LONG")
