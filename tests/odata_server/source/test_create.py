"""Entities created in plain tables: keys, defaults, nested entities, and all faults of a body at once."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from odata_server.engines import EngineConnection, EngineDatabase
from tests.odata_server.bookshop import author, book
from tests.odata_server.bookshop_tables import SHOPS
from tests.odata_server.source.shop import ROOT, Shop

NEW = "00000000-0000-4000-8000-00000000000{}"
DUNE = {"isbn": "9780441172719", "title": "Dune", "price": 10.5}


def count_of(page: Any) -> int:
    return len(page["value"])


async def test_a_new_entity_has_a_key_defaults_and_an_address(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    response = await shop.send("POST", "Books", {**DUNE, "genre_ID": 5, "published": "1965-08-01T00:00:00.25Z"})
    assert response.status == 201
    assert response.headers["Location"] == f"{ROOT}/Books({NEW.format(1)})"
    made = await shop.get(f"Books({NEW.format(1)})")
    assert made["title"] == "Dune"
    assert (made["stock"], made["language"], made["format"], made["available"]) == (0, "en", "Paperback", True)
    assert made["tags"] == []
    assert made["price"] == 10.5
    assert made["published"] == "1965-08-01T00:00:00.250000Z"
    assert made["createdAt"] is not None
    assert response.headers["ETag"] == 'W/"1"'
    assert "purchasePrice" not in made


async def test_nested_entities_are_inserted_with_their_parent(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    chapters = [
        {"number": 1, "title": "Arrakis", "pages": 7, "sections": [{"heading": "Sand"}, {"heading": "Worm"}]},
        {"number": 2, "title": "Caladan"},
    ]
    body = {
        **DUNE,
        "chapters": chapters,
        "translations": [{"language": "de", "title": "Der Wüstenplanet"}],
        "blurb": {"text": "Fear is the mind-killer."},
        "author": {"name": "Frank Herbert", "country_code": "US"},
    }
    made = await shop.done("POST", "Books", body)
    address = f"Books({made['ID']})"
    found = await shop.get(f"{address}/chapters?$orderby=number")
    assert [(one["title"], one["pages"], one["book_ID"]) for one in found["value"]] == [
        ("Arrakis", 7, made["ID"]),
        ("Caladan", 0, made["ID"]),
    ]
    sections = await shop.get(f"Chapters({found['value'][0]['ID']})/sections?$orderby=heading")
    assert [one["heading"] for one in sections["value"]] == ["Sand", "Worm"]
    assert (await shop.get(f"{address}/blurb"))["text"] == "Fear is the mind-killer."
    assert (await shop.get(f"{address}/author"))["name"] == "Frank Herbert"
    german = await shop.get(f"Translations(book_ID={made['ID']},language='de')")
    assert german["title"] == "Der Wüstenplanet"


async def test_independent_entities_are_created_or_linked(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    books = [DUNE, {"@id": f"Books({book(8)})"}]
    made = await shop.done("POST", "Authors", {"name": "Frank Herbert", "books": books})
    found = await shop.get(f"Authors({made['ID']})/books?$orderby=title")
    assert [one["title"] for one in found["value"]] == ["Beowulf", "Dune"]
    bound = await shop.done("POST", "Books", {**DUNE, "isbn": "2", "author@odata.bind": f"Authors({author(3)})"})
    assert bound["author_ID"] == author(3)


async def test_complex_values_are_kept_in_columns_or_as_json(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    await shop.done("POST", "Shops", {"ID": 3, "name": "Port", "address": {"city": "Bari"}})

    async def columns(connection: EngineConnection) -> list[tuple[str | None, str]]:
        rows = await connection.execute(select(SHOPS.c.street, SHOPS.c.city).where(SHOPS.c.id == 3))
        return [(row.street, row.city) for row in rows]

    assert await bookshop.read(columns) == [(None, "Bari")]
    made = await shop.done("POST", "Orders", {"number": 7, "customer": "Eve", "shipTo": {"street": "A", "city": "B"}})
    assert (await shop.get(f"Orders({made['ID']})"))["shipTo"] == {"street": "A", "city": "B"}


async def test_flags_are_accepted_in_any_order_and_as_a_number(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    for number, (written, value) in enumerate(
        (("Tuesday,Monday", "Monday,Tuesday"), (12, "Weekend"), ("0", "None")), 3
    ):
        made = await shop.done("POST", "Shops", {"ID": number, "name": "x", "address": {"city": "y"}, "open": written})
        assert made["open"] == value
        assert [
            one["ID"] for one in (await shop.get(f"Shops?$filter=open%20eq%20'{value}'%20and%20ID%20gt%202"))["value"]
        ]
    assert await shop.refused("PATCH", "Shops(3)", {"open": "Friday"}) == (400, [("TYPE_MISMATCH", "open")])
    assert await shop.refused("PATCH", "Shops(3)", {"open": 99}) == (400, [("TYPE_MISMATCH", "open")])
    await shop.done("PATCH", f"Books({book(1)})", {"format": "1"})
    assert (await shop.get(f"Books({book(1)})"))["format"] == "Hardcover"
    # a bare number only for an enumeration that takes numbers
    assert await shop.refused("PATCH", f"Books({book(1)})", {"format": 1}) == (400, [("TYPE_MISMATCH", "format")])


async def test_all_missing_values_and_dangling_references_are_reported_at_once(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    body = {
        "title": "Dune",
        "genre_ID": 99,
        "author_ID": author(99),
        "chapters": [{"number": 1}, {"title": "x", "sections": [{}]}],
        "blurb": {},
    }
    status, faults = await shop.refused("POST", "Books", body)
    assert status == 400
    assert sorted(faults) == [
        ("REQUIRED", "blurb/text"),
        ("REQUIRED", "chapters/0/title"),
        ("REQUIRED", "chapters/1/number"),
        ("REQUIRED", "chapters/1/sections/0/heading"),
        ("REQUIRED", "isbn"),
        ("REQUIRED", "price"),
        ("UNKNOWN_REFERENCE", "author_ID"),
        ("UNKNOWN_REFERENCE", "genre_ID"),
    ]
    assert count_of(await shop.get("Books")) == 8
    assert await shop.refused("POST", "Genres", {"ID": 7}) == (400, [("REQUIRED", "name")])
    assert await shop.refused("POST", "Genres", {"name": "x"}) == (400, [("REQUIRED", "ID")])


async def test_an_existing_key_cannot_be_created_again(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    taken = {**DUNE, "isbn": "9780141439518"}
    assert await shop.refused("POST", "Books", taken) == (409, [("ALREADY_EXISTS", "isbn")])
    assert await shop.refused("POST", "Genres", {"ID": 1, "name": "x"}) == (409, [("ALREADY_EXISTS", "ID")])
    twice = {"number": 5, "customer": "x", "items": [{"position": 1, "book_ID": book(1)}] * 2}
    assert await shop.refused("POST", "Orders", twice) == (409, [("ALREADY_EXISTS", "items/1/position")])
    translation = {"book_ID": book(1), "language": "de", "title": "x"}
    assert await shop.refused("POST", "Translations", translation) == (409, [("ALREADY_EXISTS", "language")])
    assert await shop.refused("POST", "Genres", {"ID": 8, "name": "x", "parent_ID": 88}) == (
        400,
        [("UNKNOWN_REFERENCE", "parent_ID")],
    )
    assert (await shop.done("POST", "Genres", {"ID": 8, "name": "x", "parent_ID": 8}))["parent_ID"] == 8


async def test_a_body_may_be_long(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    chapters = [
        {"number": number, "title": f"Chapter {number}", "sections": [{"heading": "x"}]} for number in range(900)
    ]
    made = await shop.done("POST", "Books", {**DUNE, "chapters": chapters})
    page = await shop.get(f"Books({made['ID']})/chapters?$count=true&$top=1&$orderby=number desc")
    assert (page["@count"], page["value"][0]["number"]) == (900, 899)
