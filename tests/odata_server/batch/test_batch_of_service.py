"""Batches against the bookshop: real units on real databases."""

from __future__ import annotations

import json
from typing import Any

import pytest

from odata_server.batch.run import run_batch
from odata_server.engines import EngineDatabase
from odata_server.hooks import Hooks
from odata_server.http import Request, Response
from odata_server.service import Service
from tests.odata_server.batch.shelf import multipart, parts_of
from tests.odata_server.bookshop import EDM, author, book, source

ROOT = "/odata/shop"
HTTP = "Content-Type: application/http\n"
DUNE = {"isbn": "9780441172719", "title": "Dune", "price": 10.5}


@pytest.fixture
def service(bookshop: EngineDatabase) -> Service:
    return Service(EDM, source(bookshop), Hooks(), root=ROOT)


async def send(service: Service, body: str, content_type: str, **headers: str) -> Response:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    request = Request("POST", "$batch", "", {"content-type": content_type, **given}, body.encode())
    return await run_batch(service, request, "Ada")


async def multi(service: Service, *parts: str, **headers: str) -> list[tuple[Any, int, bytes]]:
    response = await send(service, multipart("b", *parts), "multipart/mixed; boundary=b", **headers)
    assert response.status == 200
    return [*parts_of(response)]


def part(method: str, url: str, content_id: str = "", body: Any = None, head: str = "") -> str:
    named = f"Content-ID: {content_id}\n" if content_id else ""
    typed = "Content-Type: application/json\n" if body is not None else ""
    text = json.dumps(body) if body is not None else ""
    return f"{HTTP}{named}\n{method} {url} HTTP/1.1\n{typed}{head}\n{text}"


def change_set(*parts: str) -> str:
    return f"Content-Type: multipart/mixed; boundary=cs\n\n{multipart('cs', *parts)}"


async def titles(service: Service) -> list[str]:
    response = await service.handle(Request("GET", "Books", "$select=title&$orderby=title"), "Ada")
    return [one["title"] for one in json.loads(response.body)["value"]]


async def test_a_change_set_that_refers_to_its_own_results_is_committed_as_one(service: Service) -> None:
    writer, written, patched, chapter, read = await multi(
        service,
        change_set(
            part("POST", "Authors", "1", {"name": "Frank Herbert"}),
            part("POST", f"{ROOT}/Books", "2", {**DUNE, "author@odata.bind": "$1"}),
            part("PATCH", "$2", "3", {"stock": 4}, "If-Match: $2\n"),
            part("POST", "$2/chapters", "4", {"number": 1, "title": "Arrakis"}),
        ),
        part("GET", "$2?$expand=author,chapters"),
    )
    assert [one[1] for one in (writer, written, patched, chapter, read)] == [201, 201, 204, 201, 200]
    found = json.loads(read[2])
    assert (found["title"], found["stock"]) == ("Dune", 4)
    assert found["author"]["name"] == "Frank Herbert"
    assert [one["title"] for one in found["chapters"]] == ["Arrakis"]
    assert patched[0]["etag"] == 'W/"2"'
    assert all("$" not in one[0].get("location", "") for one in (writer, written, chapter))


async def test_a_failed_change_set_is_rolled_back_and_ends_the_batch(service: Service) -> None:
    before = await titles(service)
    answers = await multi(
        service,
        change_set(
            part("POST", "Books", "1", DUNE),
            part("DELETE", f"Chapters({book(99)})", "2"),
            part("POST", "Books", "3", {**DUNE, "isbn": "3"}),
        ),
        part("GET", "Books"),
    )
    assert [(one[0].get("content-id"), one[1]) for one in answers] == [("2", 404)]
    assert answers[0][0]["content-type"].startswith("application/json")
    assert json.loads(answers[0][2])["error"]["code"] == "NOT_FOUND"
    assert await titles(service) == before


async def test_an_unexpected_error_rolls_back_its_change_set_and_reveals_no_details(service: Service) -> None:
    answers = await multi(
        service,
        change_set(part("POST", "Books", "1", DUNE), part("POST", "crash", "2")),
        part("POST", "crash"),
        part("GET", "Books/$count", "4"),
        prefer="continue-on-error",
    )
    assert [one[1] for one in answers] == [500, 500, 200]
    assert b"on fire" not in answers[0][2] + answers[1][2]
    assert answers[2][2].endswith(b"8")


async def test_a_wrong_etag_fails_its_request_alone(service: Service) -> None:
    answers = await multi(
        service,
        part("PATCH", f"Books({book(1)})", "1", {"stock": 1}, 'If-Match: W/"1"\n'),
        part("PATCH", f"Books({book(1)})", "2", {"stock": 2}, 'If-Match: W/"7"\n'),
        part("GET", f"Books({book(1)})/stock/$value"),
        prefer="odata.continue-on-error=true",
    )
    assert [one[1] for one in answers] == [412, 204, 200]
    assert answers[2][2] == b"2"


async def test_a_client_of_4_0_gets_4_0_in_every_part(service: Service) -> None:
    response = await send(
        service,
        multipart("b", part("GET", "Books?$top=1"), change_set(part("POST", "Genres", "1", {"ID": 9, "name": "x"}))),
        "multipart/mixed; boundary=b",
        odata_maxversion="4.0",
    )
    assert response.headers["OData-Version"] == "4.0"
    for headers, _, body in parts_of(response):
        assert headers["odata-version"] == "4.0"
        assert "@odata.context" in json.loads(body)


async def test_json_batches_work_on_the_same_service(service: Service) -> None:
    requests = [
        {"id": "a", "method": "post", "url": "Authors", "body": {"name": "Frank Herbert"}},
        {"id": "b", "atomicityGroup": "g", "dependsOn": ["a"], "method": "post", "url": "$a/books", "body": DUNE},
        {"id": "c", "atomicityGroup": "g", "method": "patch", "url": "$b", "body": {"stock": 5}},
        {"id": "d", "dependsOn": ["g"], "method": "get", "url": "$b?$select=stock", "if": "$b/title eq 'Dune'"},
        {"id": "e", "method": "post", "url": "Books", "body": {}},
        {"id": "f", "dependsOn": ["e"], "method": "delete", "url": f"/odata/shop/Authors({author(5)})"},
        {"id": "g2", "method": "get", "url": "Books/$count"},
    ]
    response = await send(service, json.dumps({"requests": requests}), "application/json")
    answers = {one["id"]: one for one in json.loads(response.body)["responses"]}
    assert {name: one["status"] for name, one in answers.items()} == {
        "a": 201,
        "b": 201,
        "c": 204,
        "d": 200,
        "e": 400,
        "f": 424,
        "g2": 200,
    }
    assert answers["d"]["body"]["stock"] == 5
    assert {fault["target"] for fault in answers["e"]["body"]["error"]["details"]} == {"isbn", "title", "price"}
    assert answers["g2"]["body"] == "9"
    author_of = await service.handle(Request("GET", f"Authors({author(5)})"), "Ada")
    assert author_of.status == 200
