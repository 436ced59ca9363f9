"""URLs in responses are absolute, because some clients accept no others."""

from __future__ import annotations

import httpx2

from tests.odata_server.bookshop import author, book
from tests.odata_server.protocol.conftest import ORIGIN, ROOT

HOME = f"{ORIGIN}{ROOT}"
DUNE = {"isbn": "9780441172719", "title": "Dune", "price": 10.5}


async def test_contexts_and_references_are_absolute_urls(reader: httpx2.AsyncClient) -> None:
    assert (await reader.get("/")).json()["@context"] == f"{HOME}/$metadata"
    assert (await reader.get("/Books?$top=0")).json()["@context"] == f"{HOME}/$metadata#Books"
    value = (await reader.get(f"/Books({book(1)})/title")).json()
    assert value["@context"] == f"{HOME}/$metadata#Books({book(1)})/title"
    assert (await reader.get(f"/Books({book(1)})/author/$ref")).json()["@id"] == f"{HOME}/Authors({author(1)})"
    found = (await reader.get(f"/Authors({author(1)})/books/$ref?$orderby=title")).json()["value"]
    assert [one["@id"] for one in found] == [f"{HOME}/Books({book(2)})", f"{HOME}/Books({book(1)})"]


async def test_the_next_link_needs_nothing_else_to_be_followed(reader: httpx2.AsyncClient) -> None:
    url, names, pages = f"{HOME}/Books?$select=title&$orderby=title&$filter=price lt 100", [], 0
    while url:
        page = (await reader.get(url, headers={"Prefer": "maxpagesize=3"})).json()
        names += [one["title"] for one in page["value"]]
        url = page.get("@nextLink", "")
        assert url == "" or url.startswith(f"{HOME}/Books?")
        pages += 1
    assert (pages, len(set(names)), names) == (3, 8, sorted(names))


async def test_urls_in_a_batch_are_the_same_as_outside(shop: httpx2.AsyncClient) -> None:
    json_type = {"content-type": "application/json"}
    requests = [
        {"id": "1", "method": "post", "url": "Books", "headers": json_type, "body": DUNE},
        {"id": "2", "atomicityGroup": "g", "method": "patch", "url": "$1", "headers": json_type, "body": {"stock": 1}},
        {"id": "3", "atomicityGroup": "g", "method": "post", "url": "Genres", "headers": json_type, "body": {
            "ID": 77, "name": "Arrakis"
        }},
        {"id": "4", "method": "get", "url": "Books?$top=1&$select=title"},
        {"id": "5", "method": "delete", "url": "$1"},
    ]  # fmt: skip
    answers = (await shop.post("/$batch", json={"requests": requests})).json()["responses"]
    made, patched, genre, read, deleted = answers
    assert [one["status"] for one in answers] == [201, 204, 201, 200, 204], deleted
    headers = {name.lower(): value for name, value in made["headers"].items()}
    assert headers["location"] == f"{HOME}/Books({made['body']['ID']})"
    assert {name.lower(): value for name, value in genre["headers"].items()}["location"] == f"{HOME}/Genres(77)"
    assert read["body"]["@context"] == f"{HOME}/$metadata#Books(title)"
    assert "etag" in {name.lower() for name in patched["headers"]}


async def test_the_vary_header_names_the_headers_that_an_answer_depends_on(reader: httpx2.AsyncClient) -> None:
    for path in ("/Books?$top=1", "/Books/$count", "/", f"/Books({book(1)})"):
        vary = (await reader.get(path)).headers["Vary"]
        assert {"Accept", "OData-MaxVersion", "Prefer"} <= set(vary.split(", ")), path
    assert "OData-MaxVersion" in (await reader.get("/$metadata")).headers["Vary"]
