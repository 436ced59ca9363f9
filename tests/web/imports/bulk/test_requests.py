"""Bulk imports over HTTP: endpoints, permissions, headers, and every reason for refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.web.imports.bulk.conftest import FORMS, NOTHING, ODATA, OPERATOR, Bulk, accepted, articles, ask, problem

ENTITIES = (
    "Articles", "Promotions", "Budgets", "Stakeholders", "CouponTypes", "CouponCodeConfigurations", "CouponCodes",
    "Conditions", "ArticleGroups", "PosGroups", "PriorityGroups", "MutualExclusionGroups",
)  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_each_address_accepts_an_import(api: Bulk, form: str) -> None:
    job_id = accepted(api.send(articles(3), form=form))
    assert api.stored() == {"import_jobs": 1, "import_work": 1, "import_parts": 1, "import_keys": 0}
    job = api.read(f"ImportJobs({job_id})")
    assert (job["entity"], job["source"], job["status"], job["totalRows"]) == ("Articles", "BULK_IMPORT", "QUEUED", 3)
    assert job["continueOnError"] is False
    assert job["createdBy"] == api.usual
    assert job["tenantId"] == api.tenant


@pytest.mark.parametrize("entity", ENTITIES)
def test_each_of_the_twelve_is_imported(api: Bulk, entity: str) -> None:
    job_id = accepted(api.send([{"name": "x"}], entity=entity))
    assert api.read(f"ImportJobs({job_id})")["entity"] == entity


@pytest.mark.parametrize("entity", ["Campaigns", "DiscountActions", "AuditLogs", "PromotionStatuses", "ImportJobs"])
def test_other_entity_sets_cannot_be_imported(api: Bulk, entity: str) -> None:
    assert problem(api.send(entity=entity)) == (400, "NOT_IMPORTABLE", None)


@pytest.mark.parametrize("form", FORMS)
def test_an_unknown_collection_is_not_found(api: Bulk, form: str) -> None:
    for entity in ("Nothing", "articles", "x" * 500):
        assert problem(api.send(entity=entity, form=form))[0] == 404, entity


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE"])
def test_other_methods_are_refused_with_an_allow_header(api: Bulk, form: str, method: str) -> None:
    answer = api.call(method, form.format("Articles"), b"{}" if method in {"PUT", "PATCH"} else None)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("form", FORMS)
def test_a_token_with_the_scope_is_needed(api: Bulk, form: str) -> None:
    assert problem(api.send(form=form, role="reader")) == (403, "MISSING_SCOPE", None)
    accepted(api.send(form=form, role="writer"))
    answer = api.call("POST", form.format("Articles"), b"{}", client=None)
    assert problem(answer)[:2] == (401, "UNAUTHORIZED")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    answer = api.call("POST", form.format("Articles"), b"{}", client=None, authorization="Bearer nonsense")
    assert problem(answer)[:2] == (401, "UNAUTHORIZED")


@pytest.mark.parametrize("form", FORMS)
def test_odata_clients_are_answered_as_odata_has_it(api: Bulk, form: str) -> None:
    answer = api.send(form=form, **ODATA)
    accepted(answer)
    assert answer.headers["odata-version"] == "4.01"
    assert answer.json()["@context"].endswith("/api/v1/$metadata#PublicAPI.ImportAccepted")
    refused = api.send([], form=form, odata_maxversion="4.0")
    assert refused.headers["content-type"] == "application/json"
    assert refused.headers["odata-version"] == "4.0"
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["target"]) == (400, "EMPTY", "rows")


def test_every_answer_has_its_correlation_id_and_is_counted(api: Bulk) -> None:
    bodies: tuple[dict[str, Any], ...] = ({"rows": articles(1)}, {"rows": []})
    for body in bodies:
        answer = api.call("POST", "Articles:bulk-import", body, x_correlation_id="from-erp-7")
        assert answer.headers["x-correlation-id"] == "from-erp-7"
    metrics = api.http.get("/metrics").text
    for status in (202, 400):
        assert f'route="/api/v1/{{entity}}:bulk-import",status="{status}"' in metrics


def test_unsupported_media_types_and_overlong_urls_are_refused(api: Bulk) -> None:
    assert problem(api.send(accept="text/html"))[:2] == (406, "NOT_ACCEPTABLE")
    assert problem(api.send(content_type="text/xml"))[:2] == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert problem(api.send(content_encoding="gzip"))[:2] == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert problem(api.send(form="{}:bulk-import?$filter=true"))[:2] == (400, "OPTION_NOT_APPLICABLE")
    assert api.send(odata_maxversion="3.0").json()["error"]["code"] == "UNSUPPORTED_VERSION"
    assert problem(api.send(form="{}:bulk-import?x=" + "x" * 9000))[:2] == (400, "URL_TOO_LONG")
    assert api.stored() == NOTHING


def test_a_batch_does_not_accept_imports(api: Bulk) -> None:
    entries = [
        {"id": str(number), "method": "POST", "url": url, "body": {"rows": articles(1)},
         "headers": {"content-type": "application/json"}}
        for number, url in enumerate(("Articles/PublicAPI.bulkImport", "Articles/bulkImport", "Articles:bulk-import"))
    ]  # fmt: skip
    parts = api.post("$batch", {"requests": entries}).json()["responses"]
    assert [(part["status"], part["body"]["error"]["code"]) for part in parts[:2]] == [(501, "NOT_IMPLEMENTED")] * 2
    assert parts[2]["status"] in {400, 404}
    assert api.stored() == NOTHING


# ---- the header -----------------------------------------------------------------------------------------------------


def test_the_import_header_may_have_all_its_fields(api: Bulk) -> None:
    header = {"tenantId": api.tenant, "minorVersion": 13, "continueOnError": True, "idempotencyKey": "k",
              "callbackUrl": "https://erp.example/done"}  # fmt: skip
    job = api.read(f"ImportJobs({accepted(api.send(header=header))})")
    assert (job["continueOnError"], job["idempotencyKey"], job["tenantId"]) == (True, "k", api.tenant)
    assert job["callbackUrl"] == "https://erp.example/done"


@pytest.mark.parametrize(
    "header",
    [
        None, {}, {"tenantId": None, "minorVersion": None, "continueOnError": None, "idempotencyKey": None},
        {"minorVersion": 1}, {"continueOnError": False}, {"@odata.type": "#PublicAPI.BulkImportHeader"},
        {"callbackUrl": None},
    ],
)  # fmt: skip
def test_the_fields_of_the_import_header_are_optional(api: Bulk, header: Any) -> None:
    body = {"header": header, "rows": articles(1)}
    job = api.read(f"ImportJobs({accepted(api.raw(json.dumps(body).encode()))})")
    assert (job["continueOnError"], job["idempotencyKey"], job["callbackUrl"]) == (False, None, None)


@pytest.mark.parametrize(
    ("header", "code", "target"),
    [
        ([], "TYPE_MISMATCH", "header"),
        ("x", "TYPE_MISMATCH", "header"),
        (False, "TYPE_MISMATCH", "header"),
        ({"tenantId": 5}, "TYPE_MISMATCH", "header/tenantId"),
        ({"minorVersion": 14}, "UNSUPPORTED_MINOR_VERSION", "header/minorVersion"),
        ({"minorVersion": 0}, "UNSUPPORTED_MINOR_VERSION", "header/minorVersion"),
        ({"minorVersion": -1}, "UNSUPPORTED_MINOR_VERSION", "header/minorVersion"),
        ({"minorVersion": 10**30}, "UNSUPPORTED_MINOR_VERSION", "header/minorVersion"),
        ({"minorVersion": 1.5}, "TYPE_MISMATCH", "header/minorVersion"),
        ({"minorVersion": "13"}, "TYPE_MISMATCH", "header/minorVersion"),
        ({"minorVersion": True}, "TYPE_MISMATCH", "header/minorVersion"),
        ({"continueOnError": "true"}, "TYPE_MISMATCH", "header/continueOnError"),
        ({"continueOnError": 1}, "TYPE_MISMATCH", "header/continueOnError"),
        ({"idempotencyKey": 7}, "TYPE_MISMATCH", "header/idempotencyKey"),
        ({"idempotencyKey": ""}, "INVALID_KEY", "header/idempotencyKey"),
        ({"idempotencyKey": "x" * 256}, "INVALID_KEY", "header/idempotencyKey"),
        ({"idempotencyKey": "a\nb"}, "INVALID_KEY", "header/idempotencyKey"),
        ({"idempotencyKey": "\0"}, "INVALID_KEY", "header/idempotencyKey"),
        ({"callbackUrl": 7}, "TYPE_MISMATCH", "header/callbackUrl"),
        ({"callbackUrl": "erp.example"}, "INVALID_URL", "header/callbackUrl"),
        ({"callbackUrl": "http://erp.example"}, "HTTPS_REQUIRED", "header/callbackUrl"),
        ({"callbackUrl": "https://erp.example/" + "x" * 2000}, "TOO_LONG", "header/callbackUrl"),
        ({"continueOnErorr": True}, "UNKNOWN_PROPERTY", "header/continueOnErorr"),
        ({"x": 1, "minorVersion": 99}, "MULTIPLE_ERRORS", None),
    ],
)
def test_the_import_header_is_validated(api: Bulk, header: Any, code: str, target: str | None) -> None:
    assert problem(api.send(header=header)) == (400, code, target)
    assert api.stored() == NOTHING


@pytest.mark.parametrize("key", ["", "x" * 256, "caf\u00e9".encode("latin-1").decode("latin-1")])
def test_an_idempotency_key_header_is_validated(api: Bulk, key: str) -> None:
    answer = api.http.post(
        "/api/v1/Articles:bulk-import",
        content=b'{"rows":[{}]}',
        headers=[
            (b"authorization", f"Bearer {api.token(api.usual)}".encode()), (b"content-type", b"application/json"),
            (b"idempotency-key", key.encode("latin-1")),
        ],
    )  # fmt: skip
    assert problem(answer) == (400, "INVALID_KEY", "Idempotency-Key")


def test_the_keys_of_header_and_body_must_be_equal(api: Bulk) -> None:
    refused = api.send(header={"idempotencyKey": "a"}, idempotency_key="b")
    assert problem(refused) == (400, "KEYS_DIFFER", "Idempotency-Key")
    accepted(api.send(header={"idempotencyKey": "c"}, idempotency_key="c"))


# ---- another tenant -------------------------------------------------------------------------------------------------


def test_only_operators_may_import_for_other_tenants(api: Bulk) -> None:
    for role, tenant in (("erp", OPERATOR), ("chief", OPERATOR), ("erp", "nowhere"), ("chief", "nowhere"), ("erp", "")):
        answer = api.send(header={"tenantId": tenant}, role=role)
        assert problem(answer) == (403, "FOREIGN_TENANT", "header/tenantId"), (role, tenant)
    operator = api.of(OPERATOR)
    assert problem(operator.send(header={"tenantId": api.tenant}))[:2] == (403, "FOREIGN_TENANT")
    assert api.stored() == NOTHING


def test_an_administrator_of_an_operator_imports_for_others(api: Bulk) -> None:
    operator = api.of(OPERATOR)
    before = operator.stored()
    answer = operator.send(header={"tenantId": api.tenant}, role="chief", idempotency_key="for-another")
    job_id = accepted(answer)
    assert operator.stored() == before
    assert api.stored() == {"import_jobs": 1, "import_work": 1, "import_parts": 1, "import_keys": 1}
    assert api.read(f"ImportJobs({job_id})")["createdBy"] == f"chief@{OPERATOR}"
    status = operator.get(answer.json()["statusUrl"], client=f"chief@{OPERATOR}")
    assert (status.status_code, status.json()["jobId"]) == (200, job_id)
    assert operator.get(f"jobs/{job_id}").status_code == 404  # another user of the operator
    again = operator.send(header={"tenantId": api.tenant}, role="chief", idempotency_key="for-another")
    assert accepted(again, 200) == job_id
    own = operator.send(role="chief", idempotency_key="for-another")  # the key belongs to its own tenant
    assert accepted(own) != job_id
    for tenant in ("nowhere", "x" * 50, "a\0b", ""):
        answer = operator.send(header={"tenantId": tenant}, role="chief")
        assert problem(answer) == (404, "TENANT_NOT_FOUND", "header/tenantId"), tenant


# ---- repeats --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [("header", "header"), ("header", "body"), ("body", "header")])
def test_a_repeat_is_answered_with_the_job_it_has_made(api: Bulk, first: str, second: str) -> None:
    def send(where: str, rows: Any, entity: str = "Articles") -> Any:
        if where == "header":
            return api.send(rows, entity=entity, idempotency_key="k 1")
        return api.send(rows, entity=entity, header={"idempotencyKey": "k 1"})

    job_id = accepted(send(first, articles(2)))
    there = api.stored()
    assert accepted(send(second, articles(2)), 200) == job_id
    assert accepted(send(second, articles(5), "PosGroups"), 200) == job_id  # whatever the body holds
    assert api.stored() == there
    assert ask(api.database_url, f"SELECT total_rows FROM import_jobs WHERE id = '{job_id}'") == [(2,)]


def test_a_refused_request_leaves_its_key_free(api: Bulk) -> None:
    assert problem(api.send([], idempotency_key="k"))[0] == 400
    accepted(api.send(idempotency_key="k"))


def test_a_tenant_has_four_jobs_at_most(api: Bulk) -> None:
    jobs = [accepted(api.send(idempotency_key=f"k-{number}")) for number in range(4)]
    answer = api.send(idempotency_key="k-4")
    assert problem(answer) == (429, "TOO_MANY_JOBS", None)
    assert answer.headers["retry-after"] == "5"
    assert api.stored()["import_jobs"] == 4
    for number, job_id in enumerate(jobs):
        assert accepted(api.send(idempotency_key=f"k-{number}"), 200) == job_id
        assert accepted(api.send(header={"idempotencyKey": f"k-{number}"}), 200) == job_id


# ---- status ---------------------------------------------------------------------------------------------------------


def test_the_status_shows_the_progress_of_a_job(api: Bulk) -> None:
    url = api.send(articles(7)).json()["statusUrl"]
    answer = api.get(url)
    body = answer.json()
    assert body | {"createdAt": None} == {
        "jobId": url.rpartition("/")[2], "entity": "Articles", "status": "QUEUED", "totalRows": 7, "rowsSucceeded": 0,
        "rowsFailed": 0, "rowsSkipped": 0, "createdAt": None, "startedAt": None, "completedAt": None, "message": None,
        "minorVersion": 13,
    }  # fmt: skip
    assert body["createdAt"] == api.read(f"ImportJobs({body['jobId']})")["createdAt"]
    assert api.get(url.upper().replace("/API/V1/JOBS", "/api/v1/jobs")).json() == body
    head = api.call("HEAD", url)
    assert (head.status_code, head.content) == (200, b"")
    assert api.call("DELETE", url).status_code == 405


def test_only_readers_and_the_sender_may_read_the_status_of_a_job(api: Bulk, served: Bulk) -> None:
    url = api.send(role="writer").json()["statusUrl"]
    for role, status in (("erp", 200), ("reader", 200), ("writer", 200), ("chief", 200)):
        assert api.get(url, client=f"{role}@{api.tenant}").status_code == status, role
    other = api.send(role="erp").json()["statusUrl"]
    assert problem(api.get(other, client=f"writer@{api.tenant}")) == (403, "MISSING_SCOPE", None)
    assert problem(api.get(url, client=None))[0] == 401
    stranger = served.of(f"t{next(served.numbers)}")
    for role in ("erp", "chief"):
        assert problem(stranger.get(url, client=f"{role}@{stranger.tenant}"))[:2] == (404, "NOT_FOUND")
    for name in ("nothing", "0" * 36, "a%00b", "x" * 3000, "%27"):
        assert problem(api.get(f"jobs/{name}"))[0] == 404, name
    assert api.get(f"jobs/{url.rpartition('/')[2]}", **ODATA).headers["odata-version"] == "4.01"
