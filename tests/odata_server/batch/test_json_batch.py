"""Batches in JSON: identifiers, groups, dependencies, conditions, bodies of any type."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from odata_server.http import Response
from tests.odata_server.batch.shelf import Shelf, parts_of

JSON = {"content-type": "application/json"}


def get(name: str, url: str = "Books", **more: Any) -> dict[str, Any]:
    return {"id": name, "method": "get", "url": url, **more}


def post(name: str, book: str, *, url: str = "Books", bad: bool = False, **more: Any) -> dict[str, Any]:
    body = {"ID": book} | ({"bad": True} if bad else {})
    return {"id": name, "method": "POST", "url": url, "headers": JSON, "body": body, **more}


async def send(shelf: Shelf, *requests: dict[str, Any], **headers: str) -> dict[str, dict[str, Any]]:
    """Return the response objects by their ids; each id occurs once."""
    response = await shelf.batch(json.dumps({"requests": requests}), "application/json", **headers)
    assert response.status == 200, response.body
    assert response.headers["Content-Type"] == "application/json"
    responses = json.loads(response.body)["responses"]
    found = {one["id"]: one for one in responses}
    assert len(found) == len(responses)
    return found


def statuses(answers: dict[str, dict[str, Any]]) -> dict[str, int]:
    return {name: one["status"] for name, one in answers.items()}


async def test_every_request_is_answered_under_its_id_and_errors_do_not_end_the_batch() -> None:
    shelf = Shelf()
    answers = await send(
        shelf,
        post("a", "1"),
        post("b", "2", bad=True),
        get("c", "/api/v1/Books('1')"),
        get("d"),
        {"id": "e", "method": "delete", "url": "Books('1')", "body": None},
    )
    assert statuses(answers) == {"a": 201, "b": 400, "c": 200, "d": 200, "e": 204}
    assert answers["a"]["headers"]["location"] == "/api/v1/Books('1')"
    assert answers["a"]["body"] == {"ID": "1"}
    assert answers["b"]["body"]["error"]["code"] == "BAD"
    assert answers["d"]["body"] == "1"
    assert "body" not in answers["e"]


async def test_the_client_may_ask_to_end_at_the_first_error() -> None:
    answers = await send(Shelf(), post("a", "1", bad=True), get("b"), prefer="continue-on-error=false")
    assert statuses(answers) == {"a": 400}


async def test_a_group_succeeds_or_fails_as_a_whole() -> None:
    shelf = Shelf()
    answers = await send(
        shelf,
        post("1", "1", atomicityGroup="g"),
        post("2", "2", atomicityGroup="g", bad=True),
        post("3", "3", atomicityGroup="g"),
        post("4", "4", atomicityGroup="h"),
        get("5", "Books('4')", atomicityGroup="h"),
        get("6", dependsOn=["g"]),
        get("7", dependsOn=["h"]),
        get("8", dependsOn=["1"]),
    )
    assert statuses(answers) == {"1": 424, "2": 400, "3": 424, "4": 201, "5": 200, "6": 424, "7": 200, "8": 424}
    assert [answers[name].get("atomicityGroup") for name in "1245"] == ["g", "g", "h", "h"]
    assert answers["1"]["body"]["error"]["code"] == "FAILED_DEPENDENCY"
    assert shelf.books.keys() == {"4"}


async def test_requests_that_depend_on_a_failed_request_fail_transitively() -> None:
    shelf = Shelf()
    answers = await send(
        shelf,
        post("a", "1", bad=True),
        post("b", "2", dependsOn=["a"]),
        post("c", "3", dependsOn=["b"]),
        post("d", "4"),
        post("e", "5", dependsOn=["d"], atomicityGroup="g"),
        post("f", "6", dependsOn=["a"], atomicityGroup="g"),
    )
    assert statuses(answers) == {"a": 400, "b": 424, "c": 424, "d": 201, "e": 424, "f": 424}
    assert shelf.books.keys() == {"4"}


async def test_references_resolve_to_entities_created_by_earlier_requests() -> None:
    shelf = Shelf()
    answers = await send(
        shelf,
        post("n", "1"),
        {"id": "p", "method": "patch", "url": "$n", "headers": {"If-Match": "$n"}, "body": {"x@odata.bind": ["$n"]}}
        | {"dependsOn": ["n"]},
        get("q", "$p"),
    )
    assert statuses(answers) == {"n": 201, "p": 204, "q": 200}
    assert answers["q"]["body"] == {"ID": "1", "x@odata.bind": ["/api/v1/Books('1')"]}


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("$a/$succeeded", 200),
        ("not $a/$succeeded", 424),
        ("$b/$succeeded eq false and $a/price gt 3.5", 200),
        ("$a/ID eq '1'", 200),
        ("$a/ID in ('7','8') or $a/none ne null", 424),
        ("$a/text eq 'it''s $b'", 200),
        ("$a/none", 424),
        ("$z/$succeeded", 400),
        ("$a/ID eq", 400),
        ("length($a/ID) eq 1", 424),
        ("$a/price", 400),
    ],
)
async def test_a_condition_decides_whether_a_request_is_executed(condition: str, status: int) -> None:
    shelf = Shelf()
    first = post("a", "1")
    first["body"] |= {"price": 3.75, "text": "it's $b"}
    answers = await send(shelf, first, post("b", "2", bad=True), get("c", dependsOn=["a", "b"], **{"if": condition}))
    assert answers["c"]["status"] == status


async def test_bodies_are_json_text_or_base64() -> None:
    shelf = Shelf()
    binary = bytes(range(256))
    await send(
        shelf,
        {
            "id": "a",
            "method": "PUT",
            "url": "x",
            "headers": {"content-type": "text/plain;charset=utf-8"},
            "body": "ä\n",
        },
        {"id": "b", "method": "PUT", "url": "x", "headers": {"Content-Type": "image/png"}}
        | {"body": base64.urlsafe_b64encode(binary).decode().rstrip("=")},
        {"id": "c", "method": "PUT", "url": "x", "headers": {"content-type": "application/json;IEEE754Compatible=true"}}
        | {"body": "not 'null'"},
        {"id": "d", "method": "POST", "url": "x", "body": {"n": 1.50}},
    )
    assert [request.body for request in shelf.requests[:3]] == ["ä\n".encode(), binary, b"\"not 'null'\""]
    assert shelf.requests[3].headers["content-type"] == "application/json"


async def test_numbers_reach_the_service_without_loss() -> None:
    shelf = Shelf()
    body = '{"requests":[{"id":"1","method":"post","url":"Books","body":{"ID":"1","n":12345678901234567.8900}}]}'
    assert (await shelf.batch(body, "application/json")).status == 200
    assert shelf.requests[0].body == b'{"ID":"1","n":12345678901234567.8900}'


async def test_bytes_that_are_neither_json_nor_text_are_answered_in_base64() -> None:
    class Pictures(Shelf):
        def _answer(self, request: Any) -> Response:
            return Response(200, {"Content-Type": "image/png"}, b"\xff\xfe")

    answers = await send(Pictures(), get("1"))
    assert answers["1"]["body"] == "__4"


@pytest.mark.parametrize(
    "requests",
    [
        [get("1"), get("1")],
        [get("1", atomicityGroup="1")],
        [get("1", atomicityGroup="a"), get("2"), get("3", atomicityGroup="a")],
        [get("1", dependsOn=["2"]), get("2")],
        [get("1", dependsOn=["1"])],
        [get("1", dependsOn=["9"])],
        [get("1", dependsOn=["g"], atomicityGroup="g")],
        [get("")],
        [get("a b")],
        [get("a\r\nb")],
        [get("1", body={})],
        [get("1", headers={"a": "1", "A": "2"})],
        [{"id": "1", "url": "Books"}],
        [{"id": 1, "method": "get", "url": "Books"}],
        [{"id": "1", "method": "brew", "url": "Books"}],
        [{"id": "1", "method": "put", "url": "x", "headers": {"content-type": "image/png"}, "body": "%"}],
        [{"id": "1", "method": "put", "url": "x", "headers": {"content-type": "text/plain"}, "body": 1}],
        "none",
    ],
)
async def test_a_malformed_json_batch_executes_no_request(requests: Any) -> None:
    shelf = Shelf()
    response = await shelf.batch(json.dumps({"requests": requests}), "application/json")
    assert (response.status, json.loads(response.body)["error"]["code"]) == (400, "MALFORMED_BATCH")
    assert shelf.requests == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"requests":[{"id":"1","method":"post","url":"x","body":' + b"[" * 100_000,
        b'{"requests":[{"id":"\xff","method":"get","url":"x"}]}',
        b'{"requests":[{"id":"1","method":"post","url":"x","headers":{"content-type":"text/plain"},"body":"\\ud800"}]}',
    ],
)
async def test_a_body_that_is_not_a_json_batch_is_refused(body: bytes) -> None:
    shelf = Shelf()
    assert (await shelf.batch(body, "application/json")).status == 400
    assert shelf.requests == []


async def test_a_batch_has_at_most_a_hundred_requests() -> None:
    shelf = Shelf()
    assert len(await send(shelf, *(get(str(number)) for number in range(100)))) == 100
    response = await shelf.batch(
        json.dumps({"requests": [get(str(number)) for number in range(101)]}), content_type="application/json"
    )
    assert (response.status, json.loads(response.body)["error"]["code"]) == (400, "BATCH_TOO_LARGE")


async def test_a_client_may_have_the_answers_as_multipart() -> None:
    shelf = Shelf()
    requests = [post("a", "1"), post("b", "2", atomicityGroup="g"), post("c", "3", atomicityGroup="g", bad=True)]
    response = await shelf.batch(json.dumps({"requests": requests}), "application/json", accept="multipart/mixed")
    assert [(one[0]["content-id"], one[1]) for one in parts_of(response)] == [("a", 201), ("c", 400)]
