"""URLs of unknown sets show the "not found" page in the user's language."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.ui.desk import Desk

expect.set_options(timeout=20_000)
SOMETHING = "00000000-0000-4000-8000-000000000000"
NOWHERE = (
    "list/Nothings",
    "list/constructor",
    "list/Promotions%2FposGroups",
    "list/AdminService",
    f"object/Nothings/{SOMETHING}",
    f"object/Promotions%2FposGroups/{SOMETHING}",
)


@pytest.mark.parametrize(("language", "words"), [("en", "There is nothing here"), ("de", "Hier ist nichts")])
def test_an_unknown_set_shows_the_not_found_page_and_a_way_back(desk: Desk, language: str, words: str) -> None:
    page = desk.sit(language=language)
    nowhere, somewhere = page.get_by_role("heading", name=words, level=1), page.get_by_role("heading", level=1)
    for address in NOWHERE:
        page.goto(f"{desk.shop.url}/#/{address}")
        expect(nowhere, address).to_be_visible()
        expect(page.get_by_role("alertdialog"), address).to_have_count(0)
        page.goto(f"{desk.shop.url}/#/list/PosGroups")
        expect(somewhere, address).to_contain_text("POS groups" if language == "en" else "Kassengruppen")
