"""Contents of request and response bodies that clients rely on."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tests.odata_server.bookshop import author

DUNE: dict[str, Any] = {"isbn": "9780441172719", "title": "Dune", "price": 10.5}


async def test_the_answer_to_a_deep_create_has_all_created_entities(shop: httpx2.AsyncClient) -> None:
    """As deep as it was sent, including what is not part of the entity (Protocol 4.01, 11.4.2.2)."""
    body = {**DUNE, "author": {"name": "Frank Herbert"}, "chapters": [{"number": 1, "title": "Arrakis"}]}
    made = await shop.post("/Books", json=body)
    assert made.status_code == 201, made.text
    assert made.json()["author"]["name"] == "Frank Herbert"
    assert [one["title"] for one in made.json()["chapters"]] == ["Arrakis"]
    linked = (await shop.post("/Books", json={**DUNE, "isbn": "2", "author": {"@id": f"Authors({author(1)})"}})).json()
    assert "author" not in linked
    assert linked["author_ID"] == author(1)


@pytest.mark.parametrize(
    ("more", "code", "target"),
    [
        ({"autor@odata.bind": f"Authors({author(1)})"}, "UNKNOWN_PROPERTY", "autor@odata.bind"),
        ({"autor@bind": f"Authors({author(1)})"}, "UNKNOWN_PROPERTY", "autor@bind"),
        ({"title@odata.bind": f"Authors({author(1)})"}, "UNKNOWN_PROPERTY", "title@odata.bind"),
        ({"@odata.type": "#Bookshop.Author"}, "TYPE_MISMATCH", "@odata.type"),
        ({"@type": 5}, "TYPE_MISMATCH", "@type"),
    ],
)
async def test_properties_and_annotations_with_errors_are_refused(
    shop: httpx2.AsyncClient, more: dict[str, Any], code: str, target: str
) -> None:
    answer = await shop.post("/Books", json={**DUNE, **more})
    assert answer.status_code == 400, answer.text
    assert (answer.json()["error"]["code"], answer.json()["error"]["target"]) == (code, target)
    assert (await shop.get("/Books/$count?$filter=title eq 'Dune'")).text == "0"


@pytest.mark.parametrize("name", ["#Bookshop.Book", "Bookshop.Book", "https://shop.example/odata/shop/#Bookshop.Book"])
async def test_correct_or_irrelevant_annotations_are_accepted(shop: httpx2.AsyncClient, name: str) -> None:
    body = {
        **DUNE,
        "@odata.type": name,
        "@context": "x",
        "@my.note": 1,
        "title@my.note": 2,
        "stock@odata.type": "Int32",
    }
    assert (await shop.post("/Books", json=body)).status_code == 201


async def test_large_numbers_travel_as_text_both_ways(shop: httpx2.AsyncClient) -> None:
    quoted = "application/json;IEEE754Compatible=true"
    body = b'{"isbn":"1","title":"x","price":"1.25","sold":"9007199254740993"}'
    made = await shop.post("/Books", content=body, headers={"content-type": quoted, "accept": quoted})
    assert made.status_code == 201, made.text
    assert "IEEE754Compatible=true" in made.headers["content-type"]
    assert (made.json()["price"], made.json()["sold"]) == ("1.25", "9007199254740993")
    plain = await shop.post("/Books", content=b'{"isbn":"2","title":"x","price":1.25,"sold":9007199254740993}')
    assert plain.status_code == 201, plain.text
    assert b'"sold":9007199254740993' in plain.content
    assert b'"price":1.25' in plain.content
