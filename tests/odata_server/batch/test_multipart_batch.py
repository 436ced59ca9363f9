"""Multipart batches as real clients send them, and the responses."""

from __future__ import annotations

import json

import pytest

from odata_server.batch.run import run_batch
from odata_server.http import Request
from tests.odata_server.batch.shelf import ROOT, Shelf, multipart, parts_of

HTTP = "Content-Type: application/http\nContent-Transfer-Encoding: binary\n"


def get(url: str, content_id: str = "") -> str:
    named = f"Content-ID: {content_id}\n" if content_id else ""
    return f"{HTTP}{named}\nGET {url} HTTP/1.1\nAccept: application/json\n\n"


def post(book: str, content_id: str = "", url: str = "Books", **more: object) -> str:
    named = f"Content-ID: {content_id}\n" if content_id else ""
    body = json.dumps({"ID": book, **more})
    return f"{HTTP}{named}\nPOST {url} HTTP/1.1\nContent-Type: application/json\n\n{body}"


def change_set(*parts: str) -> str:
    return f"Content-Type: multipart/mixed; boundary=cs\n\n{multipart('cs', *parts)}"


def code(body: bytes) -> str:
    return str(json.loads(body)["error"]["code"])


async def test_requests_are_answered_in_order_each_as_it_would_be_alone() -> None:
    shelf = Shelf()
    made, read, gone = await shelf.send(
        post("1"), get("Books('1')"), f"{HTTP}\nDELETE Books('1') HTTP/1.1\nIf-Match: *\n\n"
    )
    assert made[1:] == (201, b'{"ID": "1"}')
    assert made[0]["location"] == "/api/v1/Books('1')"
    assert read[1:] == (200, b'{"ID": "1"}')
    assert gone[1:] == (204, b"")
    assert shelf.books == {}
    assert shelf.requests[-1].body == b""
    assert shelf.requests[-1].headers["if-match"] == "*"


@pytest.mark.parametrize(
    "body",
    [
        "--b\nContent-Type:application/http\n\nGET Books HTTP/1.1\n\n\n--b--",
        "--b\r\nContent-Type:application/http\r\n\r\nGET Books HTTP/1.1\r\n\r\n\r\n--b--\r\n",
        "a preamble\n--b \ncontent-type: application/http;msgtype=request\n\nGET Books\n\n--b-- \n--b\nan epilogue",
        "--b\nContent-Type: application/http\nX-Folded: one\n two\n\n\nget  Books HTTP/1.1\n--b--",
        "--b\nContent-Type: application/http\n\nGET https://elsewhere:1/api/v1/Books HTTP/1.1\nHost: x\n\n--b--",
        "--b\nContent-Type: application/http\n\nGET /api/v1/Books HTTP/1.1\nHost: x\n\n--b--",
    ],
    ids=["lf-no-space", "crlf", "preamble-epilogue", "folded-lower", "absolute", "absolute-path"],
)
async def test_the_multipart_variants_of_real_clients_are_accepted(body: str) -> None:
    shelf = Shelf()
    response = await shelf.batch(body, 'Multipart/Mixed;charset=utf-8; Boundary="b"')
    assert response.status == 200, response.body
    assert [(request.method, request.path) for request in shelf.requests] == [("GET", "Books")]


async def test_a_boundary_may_be_quoted_and_begin_like_another() -> None:
    shelf = Shelf()
    inner = multipart("a b", post("1", "1"))
    body = multipart("a", f'Content-Type: multipart/mixed; boundary="a b"\n\n{inner}')
    response = await shelf.batch(body, "multipart/mixed; boundary=a")
    assert response.status == 200
    assert shelf.books.keys() == {"1"}


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("", "multipart/mixed; boundary=b"),
        ("--b--", "multipart/mixed"),
        ("--b\nContent-Type: application/http\n\nGET Books HTTP/1.1\n\n", "multipart/mixed; boundary=b"),
        (multipart("b", "Content-Type: text/plain\n\nGET Books HTTP/1.1\n"), "multipart/mixed; boundary=b"),
        (multipart("b", "\nGET Books HTTP/1.1\n"), "multipart/mixed; boundary=b"),
        (multipart("b", f"{HTTP}\nBooks\n"), "multipart/mixed; boundary=b"),
        (multipart("b", f"{HTTP}\n\n"), "multipart/mixed; boundary=b"),
        (multipart("b", f"{HTTP}\nGET Books HTTP/1.1\nno header\n\n"), "multipart/mixed; boundary=b"),
        (multipart("b", f"{HTTP}Content-ID: a b\n\nGET Books HTTP/1.1\n\n"), "multipart/mixed; boundary=b"),
        (multipart("b", post("1", "1"), post("2", "1")), "multipart/mixed; boundary=b"),
        (multipart("b", post("1", "7"), change_set(get("Books"))), "multipart/mixed; boundary=b"),
        (multipart("b", post("1"), change_set(change_set(post("2", "2")))), "multipart/mixed; boundary=b"),
        (multipart("b", HTTP.replace("binary", "base64") + "\nGET Books HTTP/1.1\n"), "multipart/mixed; boundary=b"),
    ],
    ids=[
        *("empty", "no-boundary", "cut-off", "text", "no-type", "no-method", "nothing", "no-header", "bad-id"),
        *("id-twice", "get-in-set", "set-in-set", "base64"),
    ],
)
async def test_a_malformed_multipart_batch_executes_no_request(body: str, content_type: str) -> None:
    shelf = Shelf()
    response = await shelf.batch(body, content_type)
    assert (response.status, code(response.body)) == (400, "MALFORMED_BATCH")
    assert shelf.requests == []


@pytest.mark.parametrize("sets", [True, False])
async def test_a_batch_has_at_most_a_hundred_requests(sets: bool) -> None:
    posts = [post(str(number), f"r{number}") for number in range(101)]
    for wanted, parts in ((200, posts[:100]), (400, posts)):
        shelf = Shelf()
        body = multipart("b", parts[0], change_set(*parts[1:])) if sets else multipart("b", *parts)
        response = await shelf.batch(body, "multipart/mixed; boundary=b")
        assert response.status == wanted
        if wanted == 400:
            assert code(response.body) == "BATCH_TOO_LARGE"
            assert shelf.requests == []


async def test_a_change_set_is_one_unit_and_every_answer_names_its_request() -> None:
    shelf = Shelf()
    answers = await shelf.send(get("Books", "g.1"), change_set(post("1", "1"), post("2", "x~2")), get("Books"))
    assert [(one[0].get("content-id"), one[0].get("in-set"), one[1]) for one in answers] == [
        ("g.1", None, 200),
        ("1", "2", 201),
        ("x~2", "2", 201),
        (None, None, 200),
    ]
    assert answers[-1][2] == b"1,2"
    assert shelf.units == 3


async def test_a_content_id_among_the_request_headers_is_also_used() -> None:
    shelf = Shelf()
    in_head = post("1").replace("POST Books HTTP/1.1\n", "POST Books HTTP/1.1\nContent-ID: 9\n")
    answers = await shelf.send(change_set(in_head, post("2", "10", url="$9/chapters")))
    assert [one[0]["content-id"] for one in answers] == ["9", "10"]
    assert shelf.requests[1].path == "Books('1')/chapters"
    assert "content-id" not in shelf.requests[0].headers


async def test_a_failed_request_rolls_back_its_change_set_which_gets_one_answer() -> None:
    shelf = Shelf()
    answers = await shelf.send(change_set(post("1", "1"), post("2", "2", bad=True), post("3", "3")), get("Books"))
    assert [one[1] for one in answers] == [400]
    assert answers[0][0]["content-id"] == "2"
    assert "in-set" not in answers[0][0]
    assert code(answers[0][2]) == "BAD"
    assert shelf.books == {}


async def test_a_violation_found_at_the_end_of_a_change_set_is_its_answer() -> None:
    shelf = Shelf()
    shelf.refuses_commit = True
    answers = await shelf.send(change_set(post("1", "1"), post("2", "2")))
    assert [(one[1], code(one[2])) for one in answers] == [(400, "RULE_BROKEN")]
    assert shelf.books == {}


async def test_a_repeated_unit_is_answered_once() -> None:
    shelf = Shelf()
    shelf.runs = 2
    answers = await shelf.send(change_set(post("1", "1"), post("2", "2", url="Books")))
    assert [one[1] for one in answers] == [201, 201]


@pytest.mark.parametrize(
    ("prefer", "statuses", "applied"),
    [
        ("", [201, 400], None),
        ("odata.continue-on-error", [201, 400, 200], "continue-on-error=true"),
        ("return=minimal, continue-on-error=true", [201, 400, 200], "continue-on-error=true"),
        ("continue-on-error=false", [201, 400], "continue-on-error=false"),
    ],
)
async def test_the_first_error_ends_the_batch_unless_continue_on_error_is_set(
    prefer: str, statuses: list[int], applied: str | None
) -> None:
    shelf = Shelf()
    body = multipart("b", post("1"), post("2", bad=True), get("Books"))
    more = {"prefer": prefer} if prefer else {}
    response = await shelf.batch(body, "multipart/mixed; boundary=b", **more)
    assert [one[1] for one in parts_of(response)] == statuses
    assert response.headers.get("Preference-Applied") == applied


async def test_references_resolve_to_entities_created_by_earlier_requests() -> None:
    shelf = Shelf()
    link = {"author@odata.bind": "$1", "price": 12345678901234567.89, "parts": [{"next": {"@id": "$1/x"}}]}
    body = json.dumps(link).replace("1.2345678901234568e+16", "12345678901234567.8900")
    await shelf.send(
        change_set(
            post("1", "1"),
            f"{HTTP}Content-ID: 2\n\nPATCH $1 HTTP/1.1\nIf-Match: $1\n\n{body}",
            f"{HTTP}Content-ID: 3\n\nPATCH {ROOT}/$1 HTTP/1.1\n\n{{}}",
        ),
        get("%241?$select=ID"),
    )
    assert [request.path for request in shelf.requests] == ["Books", *["Books('1')"] * 3]
    patch = shelf.requests[1]
    assert patch.headers["if-match"] == 'W/"1"'
    assert b"12345678901234567.8900" in patch.body
    assert json.loads(patch.body) == {
        "author@odata.bind": "/api/v1/Books('1')",
        "price": 12345678901234567.89,
        "parts": [{"next": {"@id": "/api/v1/Books('1')/x"}}],
    }
    assert shelf.requests[3].query == "$select=ID"


@pytest.mark.parametrize(
    ("parts", "status", "wanted"),
    [
        ([post("1", "1", url="$7/chapters")], 400, "UNKNOWN_REFERENCE"),
        ([post("1", "1", bad=True), get("$1")], 424, "FAILED_DEPENDENCY"),
        ([change_set(post("1", "1"), post("2", "2", bad=True)), get("$1")], 424, "FAILED_DEPENDENCY"),
        ([post("1", "1", **{"x@odata.bind": "$7"}), get("$1")], 424, "FAILED_DEPENDENCY"),
        ([get("/elsewhere/Books")], 400, "URI_SYNTAX"),
        ([get("$batch")], 400, "MALFORMED_BATCH"),
    ],
)
async def test_a_reference_to_an_unknown_content_id_is_refused(parts: list[str], status: int, wanted: str) -> None:
    shelf = Shelf()
    if "x@odata.bind" in parts[0]:
        parts = [post("0", "0"), *parts]
    answers = await shelf.send(*parts, prefer="continue-on-error")
    assert (answers[-1][1], code(answers[-1][2])) == (status, wanted)
    assert "1" not in shelf.books


async def test_a_part_inherits_the_headers_of_the_batch_that_do_not_describe_the_batch() -> None:
    shelf = Shelf()
    await shelf.send(
        f"{HTTP}\nGET Books HTTP/1.1\nAccept-Language: fr\nPrefer: maxpagesize=5\nAuthorization: Basic x\n\n",
        get("Books"),
        f"{HTTP}\nGET Books HTTP/1.1\n\n",
        prefer="return=minimal, include-annotations=*, odata.maxpagesize=1",
        odata_maxversion="4.0",
        accept_language="de",
        accept="multipart/mixed, application/json;IEEE754Compatible=true",
        if_match="*",
        authorization="Bearer y",
        content_length="999",
    )
    first, second, third = (dict(request.headers) for request in shelf.requests)
    assert first["accept-language"] == "fr"
    assert first["prefer"] == "maxpagesize=5, include-annotations=*"
    assert first["odata-maxversion"] == "4.0"
    assert second["accept"] == "application/json"
    assert (second["accept-language"], second["prefer"]) == ("de", "include-annotations=*")
    assert third["accept"] == "application/json;IEEE754Compatible=true, */*;q=0.1"
    for headers in (first, second, third):
        assert headers.keys().isdisjoint({"if-match", "authorization", "content-length", "content-type"})


@pytest.mark.parametrize(
    ("accept", "query", "kind"),
    [
        ("", "", "multipart/mixed"),
        ("*/*", "", "multipart/mixed"),
        ("application/json, text/plain, */*", "", "multipart/mixed"),
        ("application/json", "", "multipart/mixed"),  # means the parts, as in 4.0
        ("multipart/mixed", "$format=json", "application/json"),
        ("application/json", "$format=multipart/mixed", "multipart/mixed"),
        ("text/html", "", None),
        ("", "$format=xml", None),
    ],
)
async def test_the_answer_has_the_format_that_is_asked_for(accept: str, query: str, kind: str | None) -> None:
    headers = {"content-type": "multipart/mixed; boundary=b"} | ({"accept": accept} if accept else {})
    shelf = Shelf()
    body = multipart("b", change_set(post("1", "1"), post("2", "2")), get("Books", "3")).encode()
    response = await run_batch(shelf, Request("POST", "$batch", query, headers, body), "me")
    if kind is None:
        assert response.status == 406
        assert shelf.requests == []
        return
    assert response.headers["Content-Type"].startswith(kind)
    if kind == "application/json":
        members = json.loads(response.body)["responses"]
        assert [(one["id"], "atomicityGroup" in one) for one in members] == [("1", True), ("2", True), ("3", False)]


async def test_a_4_01_client_can_request_the_answers_as_json() -> None:
    body = multipart("b", get("Books", "1"))
    kinds = []
    for asked in ("4.0", "4.01"):
        response = await Shelf().batch(
            body, "multipart/mixed; boundary=b", odata_maxversion=asked, accept="application/json"
        )
        kinds.append(response.headers["Content-Type"].partition(";")[0])
    assert kinds == ["multipart/mixed", "application/json"]


@pytest.mark.parametrize(("asked", "answered"), [("4.0", "4.0"), ("4.01", "4.01")])
async def test_the_envelope_has_the_clients_version(asked: str, answered: str) -> None:
    response = await Shelf().batch(multipart("b", get("Books")), "multipart/mixed; boundary=b", odata_maxversion=asked)
    assert response.headers["OData-Version"] == answered


async def test_another_media_type_is_not_accepted_as_a_batch() -> None:
    assert (await Shelf().batch("<a/>", "application/xml")).status == 415
    assert (await Shelf().batch(multipart("b"), "multipart/mixed;boundary=b", isolation="snapshot")).status == 412
