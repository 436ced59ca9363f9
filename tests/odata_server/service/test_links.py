"""Links between entities, written through ``$ref``."""

from __future__ import annotations

from tests.odata_server.bookshop import author, book, chapter, review
from tests.odata_server.service.shelves import Client

EMMA = f"Books({book(2)})"


async def test_a_link_to_one_entity_is_set_and_removed(shop: Client) -> None:
    address = {"@id": f"Authors({author(3)})"}
    assert (await shop("PUT", f"{EMMA}/author/$ref", address)).status == 204
    assert (await shop.get(EMMA))["author_ID"] == author(3)
    assert (await shop("PUT", f"{EMMA}/author/$ref", {"@odata.id": f"/shop/Authors({author(2)})"})).status == 204
    assert (await shop.get(EMMA))["author_ID"] == author(2)
    assert (await shop("DELETE", f"{EMMA}/author/$ref")).status == 204
    assert (await shop.get(EMMA))["author_ID"] is None


async def test_a_link_of_a_collection_is_stored_in_the_target_entity(shop: Client) -> None:
    books = f"Authors({author(5)})/books"
    assert (await shop("POST", f"{books}/$ref", {"@id": EMMA})).status == 204
    assert [row["title"] for row in (await shop.get(books))["value"]] == ["Emma"]
    assert (await shop("DELETE", f"{books}/$ref?$id=/shop/{EMMA}")).status == 204
    assert (await shop.get(books))["value"] == []
    assert (await shop("DELETE", f"{books}/$ref?$id={EMMA}")).status == 404
    assert (await shop("DELETE", f"Books({book(1)})/reviews({review(1)})/$ref")).status == 204
    assert (await shop("GET", f"Books({book(1)})/reviews/$count")).body == b"1"
    assert (await shop.get(EMMA))["title"] == "Emma"


async def test_invalid_links_are_refused(shop: Client) -> None:
    assert (await shop("PUT", f"{EMMA}/author/$ref", {"@id": EMMA})).code == "BAD_REFERENCE"
    assert (await shop("PUT", f"{EMMA}/author/$ref", {"id": "x"})).code == "MALFORMED_BODY"
    missing = {"@id": "Authors(99999999-0000-4000-8000-000000000000)"}
    assert (await shop("PUT", f"{EMMA}/author/$ref", missing)).status == 404
    assert (await shop("DELETE", f"Authors({author(1)})/books/$ref")).code == "REQUIRED"
    assert (await shop("DELETE", f"Chapters({chapter(1)})/book/$ref")).code == "NOT_NULLABLE"
    part = await shop("DELETE", f"Books({book(1)})/chapters({chapter(1)})/$ref")
    assert (part.code, part.json["error"]["target"]) == ("NOT_NULLABLE", "book_ID")
    assert part.json["error"]["message"].startswith("The link cannot be removed")
    assert (await shop("PUT", "Books(99999999-0000-4000-8000-000000000000)/author/$ref", missing)).status == 404
    assert (await shop("PUT", f"{EMMA}/author/$ref", {"@id": f"Authors({author(3)})"}, If_Match='W/"9"')).status == 412
    assert (await shop.get(EMMA))["author_ID"] == author(1)
