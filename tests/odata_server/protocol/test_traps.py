"""Problems that real clients have with other services: each with the bytes that a client sends and reads."""

from __future__ import annotations

import email
import json
import re
from email.message import Message

import httpx2
import pytest

from tests.odata_server.bookshop import book, chapter

DUNE = '{"isbn":"9780441172719","title":"Dune","price":10.5}'
BAD = '{"isbn":"9780441172720"}'
HTTP = "Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
SET = "Content-Type: multipart/mixed;boundary=cs\r\n\r\n"


def part(line: str, body: str = "", content_id: str = "", head: str = HTTP) -> str:
    named = f"Content-ID: {content_id}\r\n" if content_id else ""
    kind = "Content-Type: application/json\r\n" if body else ""
    return f"{head}{named}\r\n{line} HTTP/1.1\r\n{kind}\r\n{body}"


def joined(boundary: str, *parts: str) -> str:
    return "".join(f"--{boundary}\r\n{one}\r\n" for one in parts) + f"--{boundary}--\r\n"


async def batch(
    shop: httpx2.AsyncClient, body: str, content_type: str = "multipart/mixed;boundary=b", **headers: str
) -> httpx2.Response:
    given = {name.replace("_", "-"): value for name, value in headers.items()} | {"content-type": content_type}
    answer = await shop.post("/$batch", content=body.encode(), headers=given)
    assert answer.status_code == 200, answer.text
    return answer


def messages(answer: httpx2.Response) -> list[tuple[Message, int, str]]:
    """Return MIME headers, status and the rest of every part, in order, as a client's MIME parser sees them."""
    head = f"Content-Type: {answer.headers['content-type']}\r\n\r\n".encode()
    found = []
    for one in email.message_from_bytes(head + answer.content).walk():
        if one.get_content_type() == "application/http":
            text = str(one.get_payload()).replace("\r\n", "\n")
            found.append((one, int(text[9:12]), text))
    return found


async def test_a_4_0_client_gets_4_0_in_the_envelope_and_in_every_part(shop: httpx2.AsyncClient) -> None:
    changes = SET + joined("cs", part("POST Books", DUNE, "1"), part(f"PATCH Books({book(1)})", '{"stock":1}', "2"))
    body = joined("b", part("GET Books?$top=1&$count=true"), changes, part("GET Nothing"))
    for in_part, outer in (("", "4.0"), ("OData-MaxVersion: 4.01\r\n", "4.0")):
        sent = body.replace("HTTP/1.1\r\n", f"HTTP/1.1\r\n{in_part}", 1)
        answer = await batch(shop, sent.replace("719", "72" + str(len(in_part) % 10)), odata_maxversion=outer)
        assert answer.headers["odata-version"] == "4.0"
        parts = messages(answer)
        assert [status for _, status, _ in parts] == [200, 201, 204, 404]
        for _, status, text in parts[1:]:
            assert re.search(r"(?i)^odata-version: 4\.0$", text, re.MULTILINE), text
            assert '"@context"' not in text
            assert status != 201 or '"@odata.context"' in text
    read = messages(await batch(shop, body, odata_maxversion="4.0"))[0][2]
    assert '"@odata.count":' in read
    assert '"@odata.etag":' in read


async def test_lines_end_in_crlf_and_answers_of_a_set_carry_their_content_ids(shop: httpx2.AsyncClient) -> None:
    changes = SET + joined("cs", part("POST Books", DUNE, "first"), part(f"DELETE Chapters({chapter(1)})", "", "last"))
    answer = await batch(shop, joined("b", changes))
    assert b"\n" not in answer.content.replace(b"\r\n", b"")
    parts = messages(answer)
    assert [(one["Content-ID"], status) for one, status, _ in parts] == [("first", 201), ("last", 204)]
    assert all(one["Content-Transfer-Encoding"] == "binary" for one, _, _ in parts)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (joined("b c", part("GET Books/$count")), 'multipart/mixed; boundary="b c"'),
        (joined("b", part("GET Books/$count", head="Content-Type:application/http\r\n")), "multipart/mixed;boundary=b"),
        (joined("b", part("GET Books/$count")) + "\r\nThis is the epilogue.\r\n--b\r\n", "multipart/mixed;boundary=b"),
        ("A preamble.\r\n" + joined("b", part("GET Books/$count")), "Multipart/Mixed; Boundary=b"),
        (joined("b", part("GET /odata/shop/Books/$count")), "multipart/mixed;boundary=b"),
        (joined("b", part("GET https://shop.example/odata/shop/Books/$count")), "multipart/mixed;boundary=b"),
        (joined("b", part("GET Books/$count")).replace("\r\n", "\n"), "multipart/mixed;boundary=b"),
    ],
)
async def test_batches_as_real_clients_write_them_are_accepted(
    shop: httpx2.AsyncClient, body: str, content_type: str
) -> None:
    ((_, status, text),) = messages(await batch(shop, body, content_type))
    assert status == 200
    assert text.rstrip().endswith("8")


@pytest.mark.parametrize("end", ["\r\n", "\r\n\r\n", ""])
async def test_deletes_without_a_body_and_changes_outside_of_sets(shop: httpx2.AsyncClient, end: str) -> None:
    head = f"{HTTP}Content-ID: 1\r\n\r\nDELETE Chapters({chapter(1)}) HTTP/1.1\r\n{end}"
    alone = part("POST Genres", '{"ID":70,"name":"x"}')
    changes = SET + joined("cs", part(f"DELETE Chapters({chapter(2)})", "", "2"))
    parts = messages(await batch(shop, joined("b", head, alone, changes)))
    assert [status for _, status, _ in parts] == [204, 201, 204]


async def test_a_change_is_answered_with_the_new_tag(shop: httpx2.AsyncClient) -> None:
    address = f"/Books({book(1)})"
    before = (await shop.get(address)).headers["etag"]
    answer = await shop.patch(address, json={"stock": 9})
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["etag"] != before
    assert (await shop.get(address)).headers["etag"] == answer.headers["etag"]
    assert (await shop.patch(address, json={"stock": 8}, headers={"if-match": before})).status_code == 412


@pytest.mark.parametrize("query", ["$select=title", "$select=price,author_ID", "$select=title&$expand=translations"])
async def test_answers_have_every_key_field(reader: httpx2.AsyncClient, query: str) -> None:
    for row in (await reader.get(f"/Books?{query}")).json()["value"]:
        assert {"ID", "@etag"} <= set(row)
        assert all({"book_ID", "language"} <= set(one) for one in row.get("translations", []))
    (item, *_) = (await reader.get("/OrderItems?$select=quantity")).json()["value"]
    assert set(item) == {"order_ID", "position", "quantity"}


@pytest.mark.parametrize(
    ("prefer", "statuses"),
    [
        ("", [200, 400]),
        ("odata.continue-on-error", [200, 400, 200]),
        ("continue-on-error=true", [200, 400, 200]),
        ("continue-on-error=false", [200, 400]),
    ],
)
async def test_multipart_ends_at_the_first_error_unless_asked(
    shop: httpx2.AsyncClient, prefer: str, statuses: list[int]
) -> None:
    body = joined("b", part("GET Books/$count"), SET + joined("cs", part("POST Books", BAD, "1")), part("GET Genres"))
    answer = await batch(shop, body, **({"prefer": prefer} if prefer else {}))
    assert [status for _, status, _ in messages(answer)] == statuses


async def test_json_goes_on_after_an_error_unless_asked(shop: httpx2.AsyncClient) -> None:
    requests = {"requests": [{"id": str(n), "method": "get", "url": url} for n, url in enumerate(("Nix", "Genres"))]}
    assert len((await shop.post("/$batch", json=requests)).json()["responses"]) == 2
    stopping = await shop.post("/$batch", json=requests, headers={"prefer": "continue-on-error=false"})
    assert len(stopping.json()["responses"]) == 1


async def test_a_rolled_back_create_is_not_reported_as_created(shop: httpx2.AsyncClient) -> None:
    changes = SET + joined("cs", part("POST Books", DUNE, "1"), part("POST Books", BAD, "2"))
    answer = await batch(shop, joined("b", changes))
    ((mime, status, text),) = messages(answer)
    assert (status, mime["Content-ID"]) == (400, "2")
    assert b" 201 " not in answer.content
    assert json.loads(text.rpartition("\n\n")[2])["error"]["code"]
    members = [
        {"id": "1", "atomicityGroup": "g", "method": "post", "url": "Books", "body": json.loads(DUNE)},
        {"id": "2", "atomicityGroup": "g", "method": "post", "url": "Books", "body": json.loads(BAD)},
    ]
    answers = (await shop.post("/$batch", json={"requests": members})).json()["responses"]
    assert [one["status"] for one in answers] == [424, 400]
    assert (await shop.get("/Books/$count")).text == "8"
