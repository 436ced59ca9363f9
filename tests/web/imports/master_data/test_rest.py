"""Messages in JSON: the same pipeline, with responses that name the job."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.web.http.test_bounds import mebibytes
from tests.web.imports.bulk.conftest import accepted, problem
from tests.web.imports.master_data.conftest import REST, Ingest
from tests.web.imports.master_data.conftest import accepted as taken
from tests.web.imports.master_data.messages import ITEM, REQUEST, item, message, product
from tests.web.imports.master_data.test_hostile import seconds


def test_an_accepted_message_is_a_job_of_its_rows_and_is_kept_as_it_came(ingest: Ingest) -> None:
    body = message(
        [product("A-1", Description="Milk"), product("A-2", "03"), product("A-3", GTIN=4006381333931)], "m-7"
    )
    job_id = accepted(ingest.rest(body))
    (job,) = ingest.jobs()
    assert (job["id"], job["entity"], job["source"]) == (job_id, "Articles", "MASTER_DATA_REST")
    assert (job["status"], job["total_rows"], job["rows_skipped"], job["rows_failed"]) == ("QUEUED", 3, 1, 0)
    assert (job["idempotency_key"], job["created_by"]) == ("m-7", ingest.name)
    assert ingest.payloads() == [("m-7", body, "application/json", job_id)]
    assert ingest.rows() == {
        1: {"articleNumber": "A-1", "name": "Milk"},
        3: {"articleNumber": "A-3", "ean": "4006381333931"},
    }


def test_the_key_is_the_header_or_else_the_identifier(ingest: Ingest) -> None:
    first = accepted(ingest.send_json([product()], "m-1", idempotency_key="k-1"))
    assert accepted(ingest.send_json([product()], "m-1", idempotency_key="k-1"), 200) == first
    second = accepted(ingest.send_json([product()], "m-1"))
    assert second != first
    assert accepted(ingest.send_json([product()], "m-1"), 200) == second
    assert problem(ingest.send_json([product("A-2")], "m-1"))[:2] == (409, "KEY_REUSED")
    assert problem(ingest.send_json([product("A-2")], "m-1", idempotency_key="k-1"))[:2] == (409, "KEY_REUSED")
    accepted(ingest.send_json([product()], None, idempotency_key="k-2"))
    assert [job["idempotency_key"] for job in ingest.jobs()] == ["k-1", "m-1", "k-2"]
    assert [payload[0] for payload in ingest.payloads()] == ["m-1", "m-1", "k-2"]


def test_a_message_has_one_identifier_however_it_comes(ingest: Ingest) -> None:
    taken(ingest.send(item(), "m-1"))
    assert problem(ingest.send_json([product()], "m-1"))[:2] == (409, "KEY_REUSED")


def test_thirty_two_at_once_are_one_job(ingest: Ingest) -> None:
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda _: ingest.send_json([product()], idempotency_key="k"), range(32)))
    assert sorted(answer.status_code for answer in answers) == [200] * 31 + [202]
    assert len({answer.json()["jobId"] for answer in answers}) == 1
    assert len(ingest.jobs()) == len(ingest.payloads()) == len(ingest.rows()) == 1


@pytest.mark.parametrize(
    ("body", "row"),
    [
        (product(), {"articleNumber": "A-1"}),
        ([product(None, InternalID=" A-1 ", Name="", Brand=None)], {"articleNumber": "A-1"}),
        ([{"Product": {"actionCode": "04", "ProductID": 4711}}], {"articleNumber": "4711"}),
        ([{"Product": {"ActionCode": "04"}}], {}),
        ([product(Unknown={"a": [1, {"b": None}]}, Name="Käse")], {"articleNumber": "A-1", "name": "Käse"}),
    ],
)
def test_a_product_in_json_becomes_a_row(ingest: Ingest, body: Any, row: dict[str, str]) -> None:
    accepted(ingest.send_json(body))
    assert ingest.rows() == {1: row}


def test_a_message_may_be_wrapped_in_its_name(ingest: Ingest) -> None:
    accepted(ingest.rest(json.dumps({REQUEST: json.loads(message([product()], "m-1"))}).encode()))
    assert ingest.rows() == {1: {"articleNumber": "A-1"}}


@pytest.mark.parametrize(
    "written",
    [
        product(code="01"),
        product(code="06"),
        {"Product": {"ActionCode": "03", "actionCode": "03", "ProductID": "A"}},
    ],
)
def test_items_other_than_upserts_are_counted_and_skipped(ingest: Ingest, written: Any) -> None:
    accepted(ingest.send_json([written]))
    assert [(job["total_rows"], job["rows_skipped"]) for job in ingest.jobs()] == [(1, 1)]
    assert ingest.rows() == {}


@pytest.mark.parametrize(
    ("written", "row"),
    [
        (product(code="4"), {"ActionCode": "4", "articleNumber": "A-1"}),
        (product(code=None), {"ActionCode": "", "articleNumber": "A-1"}),
        (
            {"Product": {"ActionCode": "04", "actionCode": "03", "ProductID": "A"}},
            {"ActionCode": "03, 04", "articleNumber": "A"},
        ),
        ({"MessageHeader": {}}, {"ActionCode": ""}),
        ({}, {"ActionCode": ""}),
    ],
)
def test_items_without_a_known_action_code_are_rows_to_refuse(ingest: Ingest, written: Any, row: Any) -> None:
    accepted(ingest.send_json([written]))
    assert [(job["total_rows"], job["rows_skipped"]) for job in ingest.jobs()] == [(1, 0)]
    assert ingest.rows() == {1: row}


GOOD = message([product()], "m-1")


@pytest.mark.alone
@pytest.mark.parametrize(
    ("body", "code", "target"),
    [
        (b"", "MALFORMED_BODY", None),
        (GOOD[:-1], "MALFORMED_BODY", None),
        (GOOD + b"x", "MALFORMED_BODY", None),
        (b"[" * 19 * 2**20, "VALIDATION_FAILED", None),
        (b'{"x":' + b"[" * 19 * 2**20, "MALFORMED_BODY", None),
        (GOOD.replace(b'"A-1"', b'"\xff"'), "MALFORMED_BODY", None),
        (GOOD.replace(b'"A-1"', rb'"\ud800"'), "MALFORMED_BODY", None),
        (b'{"%s":[%s{}]}' % (ITEM.encode(), b"{}," * 300_000), "TOO_MANY_VALUES", None),
        (b'{"%s":[%s1]}' % (ITEM.encode(), b"1," * 9_000_000), "VALIDATION_FAILED", f"{ITEM}/0"),
        (b"[]", "VALIDATION_FAILED", None),
        (message([], "m-1"), "VALIDATION_FAILED", ITEM),
        (b'{"MessageHeader": {"ID": "m-1"}}', "VALIDATION_FAILED", ITEM),
        (message([product()]), "VALIDATION_FAILED", "MessageHeader"),
        (message([product()], "x" * 256), "VALIDATION_FAILED", "MessageHeader"),
        (message([product()], "a\nb"), "VALIDATION_FAILED", "MessageHeader"),
        (b'{"MessageHeader": {"ID": {}}}', "VALIDATION_FAILED", "MessageHeader/ID"),
        (message([product(), product(GTIN=True)], "m-1"), "VALIDATION_FAILED", f"{ITEM}/1/Product/GTIN"),
        (message([product(GTIN=[1])], "m-1"), "VALIDATION_FAILED", f"{ITEM}/0/Product/GTIN"),
        (message([product(10**4000)], "m-1"), "VALIDATION_FAILED", f"{ITEM}/0/Product/ProductID"),
        (message([{"Product": None}], "m-1"), "VALIDATION_FAILED", f"{ITEM}/0/Product"),
        (message([1], "m-1"), "VALIDATION_FAILED", f"{ITEM}/0"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_an_invalid_message_is_refused_cheaply(ingest: Ingest, body: bytes, code: str, target: str | None) -> None:
    ingest.rest(b"{}")
    pid = ingest.service.pid
    Path(f"/proc/{pid}/clear_refs").write_text("5")
    used, held = seconds(pid), mebibytes(pid, "VmRSS")
    assert problem(ingest.rest(body)) == (400, code, target)
    assert seconds(pid) - used < 0.5
    assert mebibytes(pid, "VmHWM") - held < 64
    assert not ingest.jobs()


@pytest.mark.parametrize("key", ["", "x" * 256, "a\tb"])
def test_a_key_is_short_and_can_be_read(ingest: Ingest, key: str) -> None:
    answer = ingest.send_json([product()], idempotency_key=key)
    assert problem(answer) == (400, "VALIDATION_FAILED", "Idempotency-Key")


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [("", 401, "UNAUTHORIZED"), ("stranger", 403, "NOT_TRUSTED"), ("unreachable", 503, "DATABASE_UNAVAILABLE")],
)
def test_an_unknown_sender_gets_an_error(ingest: Ingest, name: str, status: int, code: str) -> None:
    answer = ingest.rest(GOOD, name=name)
    assert problem(answer)[:2] == (status, code)
    assert "Bearer" not in answer.headers.get("www-authenticate", "")


def test_other_requests_are_refused(ingest: Ingest) -> None:
    assert problem(ingest.rest(GOOD, content_type="text/plain"))[:2] == (400, "UNSUPPORTED_MEDIA_TYPE")
    assert problem(ingest.rest(GOOD, content_encoding="gzip"))[:2] == (400, "UNSUPPORTED_MEDIA_TYPE")
    assert problem(ingest.rest(b" " * (20 * 2**20 + 1)))[:2] == (413, "BODY_TOO_LARGE")
    answer = ingest.http.get(REST)
    assert problem(answer)[:2] == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"] == "POST"
