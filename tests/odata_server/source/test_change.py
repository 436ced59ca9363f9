"""Entities changed and deleted in plain tables, with all their children."""

from __future__ import annotations

import asyncio
from typing import Any

from odata_server.engines import EngineDatabase
from tests.odata_server.bookshop import author, book, chapter, order, review
from tests.odata_server.source.shop import Shop

PRIDE = f"Books({book(1)})"


async def names(shop: Shop, path: str, of: str) -> list[Any]:
    return [one[of] for one in (await shop.get(f"{path}?$orderby={of}"))["value"]]


async def test_a_patch_changes_only_its_properties_and_the_etag(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    before = await shop.get(PRIDE)
    body = {"stock": 3, "tags": ["new"], "rating": None, "isbn": "ignored", "ID": "ignored", "createdAt": "ignored"}
    response = await shop.send("PATCH", PRIDE, body)
    assert (response.status, response.headers["ETag"]) == (204, 'W/"8"')
    after = await shop.get(PRIDE)
    assert after["modifiedAt"] is not None
    changed = {"@etag": 'W/"8"', "stock": 3, "tags": ["new"], "rating": None, "modifiedAt": after["modifiedAt"]}
    assert after == {**before, **changed}


async def test_a_put_resets_omitted_properties(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    await shop.done("PUT", PRIDE, {"title": "P&P", "price": 1, "available": False})
    after = await shop.get(PRIDE)
    assert (after["title"], after["price"], after["available"]) == ("P&P", 1, False)
    assert (after["description"], after["rating"], after["author_ID"], after["tags"]) == (None, None, None, [])
    assert (after["stock"], after["language"]) == (0, "en")
    assert after["isbn"] == "9780141439518"
    assert await shop.refused("PUT", PRIDE, {"stock": 1}) == (400, [("REQUIRED", "title"), ("REQUIRED", "price")])
    await shop.done("PUT", f"Chapters({chapter(1)})", {"number": 9, "title": "x"})
    assert (await shop.get(f"Chapters({chapter(1)})"))["book_ID"] == book(1)


async def test_a_full_set_of_children_replaces_the_old_one(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    chapters = [
        {"ID": chapter(2), "title": "The dance"},
        {"number": 4, "title": "Pemberley", "sections": [{"heading": "A portrait"}]},
    ]
    await shop.done("PATCH", PRIDE, {"chapters": chapters})
    found = await shop.get(f"{PRIDE}/chapters?$orderby=number")
    assert [(one["number"], one["title"], one["pages"]) for one in found["value"]] == [
        (2, "The dance", 20),
        (4, "Pemberley", 0),
    ]
    assert await names(shop, "Sections", "heading") == ["A portrait"]
    await shop.done("PATCH", PRIDE, {"chapters": []})
    assert await names(shop, f"{PRIDE}/chapters", "title") == []
    assert len(await names(shop, "Chapters", "title")) == 1


async def test_a_delta_changes_only_the_entities_it_names(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    delta = [
        {"@removed": {"reason": "deleted"}, "ID": chapter(1)},
        {"ID": chapter(2), "pages": 21},
        {"number": 4, "title": "Pemberley"},
    ]
    await shop.done("PATCH", PRIDE, {"chapters@delta": delta})
    assert await names(shop, f"{PRIDE}/chapters", "title") == ["A letter", "Pemberley", "The ball"]
    assert (await shop.get(f"Chapters({chapter(2)})"))["pages"] == 21
    assert await names(shop, "Sections", "heading") == []


async def test_children_with_keys_of_several_parts_are_matched(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    translations = [{"language": "fr", "title": "Orgueil"}, {"language": "it", "title": "Orgoglio e pregiudizio"}]
    await shop.done("PATCH", PRIDE, {"translations": translations})
    assert await names(shop, f"{PRIDE}/translations", "title") == ["Orgoglio e pregiudizio", "Orgueil"]
    items = [{"position": 2, "quantity": 5}, {"position": 3, "book_ID": book(2)}]
    await shop.done("PATCH", f"Orders({order(1)})", {"items": items})
    found = await shop.get(f"Orders({order(1)})/items?$orderby=position")
    assert [(one["position"], one["quantity"], one["book_ID"]) for one in found["value"]] == [
        (2, 5, book(4)),
        (3, 1, book(2)),
    ]


async def test_a_single_child_is_changed_replaced_and_removed(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    old = (await shop.get(f"{PRIDE}/blurb"))["ID"]
    await shop.done("PATCH", PRIDE, {"blurb": {"text": "New."}})
    assert await shop.get(f"{PRIDE}/blurb?$select=ID,text") == {
        "@context": "/odata/shop/$metadata#Blurbs(ID,text)/$entity",
        "ID": old,
        "text": "New.",
    }
    await shop.done("PATCH", PRIDE, {"blurb": {"ID": author(9), "text": "Other."}})
    assert await names(shop, "Blurbs", "text") == ["Other."]
    await shop.done("PATCH", PRIDE, {"blurb": None})
    assert await names(shop, "Blurbs", "text") == []


async def test_independent_entities_are_unlinked_instead_of_deleted(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    reviews = [{"ID": review(1), "stars": 4}, {"stars": 2, "reviewer": "Dan"}]
    await shop.done("PATCH", PRIDE, {"reviews": reviews})
    assert await names(shop, f"{PRIDE}/reviews", "reviewer") == ["Ann", "Dan"]
    assert (await shop.get(f"Reviews({review(2)})"))["book_ID"] is None
    assert (await shop.get(f"Reviews({review(1)})"))["stars"] == 4
    await shop.done("PATCH", PRIDE, {"reviews@odata.bind": [f"Reviews({review(4)})"]})
    assert await names(shop, f"{PRIDE}/reviews", "reviewer") == ["Ann", "Cid", "Dan"]
    missing = {"reviews@odata.bind": [f"Reviews({review(9)})"]}
    assert await shop.refused("PATCH", PRIDE, missing) == (400, [("UNKNOWN_REFERENCE", "reviews")])


async def test_links_are_made_and_removed(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    await shop.done("PATCH", PRIDE, {"author@odata.bind": f"Authors({author(2)})", "genre": None})
    assert (await shop.get(f"{PRIDE}/author"))["name"] == "Charlotte Brontë"
    assert (await shop.get(PRIDE))["genre_ID"] is None
    await shop.done("POST", f"Authors({author(5)})/books/$ref", {"@id": PRIDE})
    assert await names(shop, f"Authors({author(5)})/books", "title") == ["Pride and Prejudice"]
    await shop.done("DELETE", f"{PRIDE}/author/$ref")
    assert (await shop.get(PRIDE))["author_ID"] is None
    await shop.done("PATCH", PRIDE, {"author": {"name": "A lady"}})
    assert (await shop.get(f"{PRIDE}/author"))["name"] == "A lady"


async def test_changes_are_checked_as_creations_are(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    body = {"genre_ID": 77, "chapters": [{"ID": chapter(1), "title": "x"}, {"number": 2}]}
    status, faults = await shop.refused("PATCH", PRIDE, body)
    assert (status, sorted(faults)) == (400, [("REQUIRED", "chapters/1/title"), ("UNKNOWN_REFERENCE", "genre_ID")])
    assert len(await names(shop, f"{PRIDE}/chapters", "title")) == 3
    second = {"number": 1001}
    assert await shop.refused("PATCH", f"Orders({order(2)})", second) == (409, [("ALREADY_EXISTS", "number")])
    await shop.done("PATCH", f"Orders({order(1)})", {"number": 1001})
    # A child of another parent is not taken from it.
    stolen = {"chapters": [{"ID": chapter(4), "number": 1, "title": "x"}]}
    assert await shop.refused("PATCH", PRIDE, stolen) == (409, [("ALREADY_EXISTS", "chapters/0/ID")])
    assert (await shop.refused("PATCH", f"Books({book(99)})", {}))[0] == 404


async def test_a_unique_value_freed_by_one_row_can_be_taken_by_another(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    items = [{"position": 1, "book_ID": book(2)}, {"position": 2, "quantity": 3}]
    await shop.done("PATCH", f"Orders({order(1)})", {"items": items})
    blurb = (await shop.get(f"{PRIDE}/blurb"))["ID"]
    await shop.done("PATCH", PRIDE, {"blurb": {"ID": author(9), "text": "Other."}})
    second = {"ID": blurb, "text": "Old ID, new book."}
    await shop.done("PATCH", f"Books({book(2)})", {"blurb": second})
    assert await names(shop, "Blurbs", "text") == ["Old ID, new book.", "Other."]
    taken = {"book_ID": book(1), "text": "x"}
    assert await shop.refused("POST", "Blurbs", taken) == (409, [("ALREADY_EXISTS", "book_ID")])


async def test_a_deletion_includes_the_entitys_children(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    await shop.done("DELETE", f"Orders({order(1)})")
    await shop.done("DELETE", f"Orders({order(2)})")
    assert await names(shop, "OrderItems", "position") == []
    for number in (1, 2):
        await shop.done("DELETE", f"Reviews({review(number)})")
    await shop.done("DELETE", PRIDE)
    assert await names(shop, "Chapters", "title") == ["Gateshead"]
    assert await names(shop, "Sections", "heading") == []
    assert await names(shop, "Translations", "title") == ["Neverending"]
    assert (await shop.refused("GET", PRIDE))[0] == 404


async def test_an_entity_in_use_cannot_be_deleted(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    assert await shop.refused("DELETE", PRIDE) == (409, [("IN_USE", None)])
    assert await shop.refused("DELETE", f"Authors({author(1)})") == (409, [("IN_USE", None)])
    assert await shop.refused("DELETE", "Genres(3)") == (409, [("IN_USE", None)])
    assert len(await names(shop, f"{PRIDE}/chapters", "title")) == 3
    await shop.done("DELETE", "Genres(6)")
    await shop.done("DELETE", f"Authors({author(5)})")


async def test_only_one_of_two_clients_with_the_same_etag_can_change_the_entity(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    answers = await asyncio.gather(
        *(shop.send("PATCH", PRIDE, {"stock": number}, if_match='W/"7"') for number in range(4))
    )
    assert sorted(answer.status for answer in answers) == [204, 412, 412, 412]


async def test_operations_are_executed_by_their_handlers(bookshop: EngineDatabase) -> None:
    shop = Shop(bookshop)
    made = await shop.done("POST", f"{PRIDE}/Bookshop.order", {"quantity": 2})
    assert (made["number"], made["customer"]) == (9_000_000_001, "Ada")
    assert (await shop.get(PRIDE))["stock"] == 10
    assert await shop.refused("POST", f"{PRIDE}/Bookshop.order", {"quantity": 50}) == (
        400,
        [("OUT_OF_STOCK", "quantity")],
    )
    assert (await shop.get(f"{PRIDE}/Bookshop.priceIn(currency='USD',rate=2)"))["value"] == 19.98
    assert (await shop.get("Books/Bookshop.cheapest()"))["title"] == "Beowulf"
    assert (await shop.get(f"{PRIDE}/Bookshop.priceIn(discount=0.1)"))["value"] == 8.99
    assert (await shop.get("greet(name='Ada')"))["value"] == "Good morning, Ada!"
    assert (await shop.get("greet(name='Ada',title='Ms')"))["value"] == "Good morning, Ms Ada!"
    assert [one["stock"] for one in (await shop.get("stockReport()"))["value"]] == [333, 42, 100]
    assert (await shop.done("POST", "closeShop", {"reason": "rain"}))["value"] == "closed: rain"
    assert (await shop.done("POST", "Books/Bookshop.reprice", {"percent": 10}))["value"] == 8
    assert (await shop.get(PRIDE))["price"] == 10.99
