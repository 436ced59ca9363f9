"""Lists of any entity set: the query matches what is shown, and the URL keeps the query."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, Request, expect

from tests.ui.desk import Desk, choose, search_in

ARTICLES = 5_000
_TOP = re.compile(r"\$top=(\d+)")
_SKIP = re.compile(r"\$skip=(\d+)")


@dataclass
class Asked:
    """A page's reads of one admin collection, each a line of a batch."""

    collection: str
    lines: list[str] = field(default_factory=list)

    def hear(self, request: Request) -> None:
        """Record the reads of the collection in a batch."""
        if request.url.endswith("/$batch"):
            found = re.findall(rf"^GET ({self.collection}\?\S+)", request.post_data or "", re.M)
            self.lines += [unquote(line) for line in found]

    def last(self) -> str:
        return self.lines[-1]


def all_articles(desk: Desk) -> int:
    """Return the number of articles in an unfiltered list: the demo's and those of other tests."""
    shown = "IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null"
    with desk.shop.http() as http:
        return int(http.get(f"/admin/Articles?$count=true&$top=0&$filter={shown}").json()["@odata.count"])


def listening(page: Page, collection: str) -> Asked:
    asked = Asked(collection)
    page.on("request", asked.hear)
    return asked


def title(page: Page, text: str | re.Pattern[str]) -> None:
    page.get_by_role("heading", name=text, exact=isinstance(text, str)).wait_for()


def top(line: str) -> int:
    """Return how many rows a read requests; without a limit, all."""
    found = _TOP.search(line)
    return int(found[1]) if found else ARTICLES


def cell(page: Page, text: str) -> None:
    page.get_by_role("gridcell", name=text).first.wait_for()


@pytest.mark.smoke
def test_a_long_list_is_fetched_as_it_is_seen(desk: Desk) -> None:
    page = desk.sit()
    asked = listening(page, "Articles")
    page.goto(f"{desk.shop.url}/#/list/Articles")
    title(page, f"Articles ({all_articles(desk):,})")
    cell(page, "100001")
    assert asked.lines
    assert all(top(line) <= 200 for line in asked.lines)
    assert all("$select=" in line and "$count=true" in line for line in asked.lines)


def test_scrolling_to_the_end_skips_what_lies_between(desk: Desk) -> None:
    page = desk.sit()
    asked = listening(page, "Articles")
    page.goto(f"{desk.shop.url}/#/list/Articles")
    cell(page, "100001")
    page.locator(".sapUiTableVSb").evaluate("bar => { bar.scrollTop = bar.scrollHeight; }")
    with desk.shop.http() as http:
        [last] = http.get("/admin/Articles?$orderby=articleNumber desc&$top=1").json()["value"]
    cell(page, last["articleNumber"])
    assert sum(map(top, asked.lines)) < ARTICLES / 4
    assert any(int(found[1]) > 4_500 for line in asked.lines if (found := _SKIP.search(line)))


@pytest.mark.smoke
def test_a_search_is_sent_once_the_typing_pauses(desk: Desk) -> None:
    page = desk.sit(address="/list/Articles")
    cell(page, "100001")
    asked = listening(page, "Articles")
    desk.settle(page)
    field = page.get_by_role("searchbox")
    field.focus()
    page.clock.install()
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)  # a busy machine would add delays of its own
    for letter in "100002":
        field.press(letter)
        page.clock.run_for(300)
    page.clock.resume()
    title(page, "Articles (1)")
    assert len([line for line in asked.lines if "$search" in line]) == 1
    assert '$search="100002"' in asked.last()


@pytest.mark.parametrize("typed", ["shampoo purus", "  PURUS   sham ", '"mild" purus'])
def test_a_search_finds_what_has_all_of_its_words_in_any_order(desk: Desk, typed: str) -> None:
    number = f"WORDS-{len(typed)}"
    with desk.shop.http() as http:
        for article, name in ((number, "Purus mild Shampoo"), (f"{number}-2", "Purus soap")):
            row = {"IsActiveEntity": True, "articleNumber": article, "name": name}
            assert http.post("/admin/Articles", json=row).status_code == 201
    page = desk.sit(address="/list/Articles")
    cell(page, "100001")
    page.get_by_role("searchbox").fill(f"{typed} {number}")
    title(page, "Articles (1)")
    cell(page, number)


def test_the_url_keeps_the_query_and_back_restores_the_previous_one(desk: Desk) -> None:
    page = desk.sit(address="/list/PosGroups")
    title(page, re.compile(r"POS groups \(\d\d\)"))
    page.get_by_role("searchbox").fill("Zurich")
    title(page, "POS groups (1)")
    other = desk.sit(address=page.url.split("#")[1])
    title(other, "POS groups (1)")
    expect(other.get_by_role("searchbox")).to_have_value("Zurich")
    page.go_back()
    title(page, re.compile(r"POS groups \(\d\d\)"))
    expect(page.get_by_role("searchbox")).to_have_value("")


@pytest.mark.smoke
def test_lists_can_be_filtered_by_codes_links_and_flags(desk: Desk) -> None:
    page = desk.sit(address="/list/Articles")
    cell(page, "100001")
    asked = listening(page, "Articles")
    choose(page.get_by_role("combobox", name="Active"), "No")
    page.get_by_text("Nothing found").wait_for()
    assert "isActive eq false" in asked.last()
    page.get_by_role("button", name="Reset filters").click()
    title(page, f"Articles ({all_articles(desk):,})")
    page.get_by_role("combobox", name="Source").press_sequentially("Imported")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.wait_for_url(re.compile("IMPORTED"))
    cell(page, "100001")
    assert "source eq 'IMPORTED'" in asked.last()


def test_a_link_is_filtered_by_rows_chosen_in_a_dialog(desk: Desk) -> None:
    page = desk.sit(address="/list/Articles")
    cell(page, "100001")
    asked = listening(page, "Articles")
    page.get_by_role("button", name="Show Value Help").click()
    dialog = page.get_by_role("dialog")
    search_in(dialog, "Bananas")
    dialog.get_by_role("row", name="Bananas").first.get_by_role("checkbox").click()
    dialog.get_by_role("button", name="Choose").click()
    page.wait_for_url(re.compile("articleGroup_ID"))
    cell(page, "Bananas")
    assert "articleGroup_ID eq " in asked.last()


def test_clicking_a_column_sorts_by_it_in_the_service(desk: Desk) -> None:
    page = desk.sit(address="/list/PosGroups")
    cell(page, "CH-ZRH")
    asked = listening(page, "PosGroups")
    page.get_by_role("columnheader", name="Name").click()
    page.get_by_text("Sort Descending").click()
    page.wait_for_url(re.compile("sort"))
    cell(page, "CH-ZRH")
    assert "$orderby=name desc" in asked.last()


def test_own_drafts_are_found_by_their_editing_status(desk: Desk) -> None:
    with desk.shop.http() as http:
        made = http.post("/admin/Stakeholders", json={"code": "OWN-DRAFT", "name": "Only a draft"})
        assert made.status_code == 201
    page = desk.sit(address="/list/Stakeholders")
    choose(page.get_by_role("combobox", name="Editing status"), "My drafts")
    cell(page, "OWN-DRAFT")
    page.get_by_role("heading", name=re.compile(r"Stakeholders \(\d\)")).wait_for()
    other = desk.sit("planner", address="/list/Stakeholders")
    other.get_by_role("heading", name=re.compile(r"Stakeholders \(\d\)")).wait_for()
    other.get_by_role("gridcell").first.wait_for()
    expect(other.get_by_role("gridcell", name="OWN-DRAFT")).to_have_count(0)


def test_a_row_opens_by_the_keyboard(desk: Desk) -> None:
    page = desk.sit(address="/list/PosGroups")
    cell(page, "CH-ZRH")
    page.get_by_role("gridcell", name="CH-ZRH").first.focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Zurich Bahnhofstrasse", level=1).wait_for()


def test_users_without_the_right_see_no_create_button(desk: Desk) -> None:
    page = desk.sit("controller", address="/list/Articles")
    cell(page, "100001")
    expect(page.get_by_role("button", name="Create")).to_have_count(0)
    administrator = desk.sit(address="/list/Articles")
    administrator.get_by_role("button", name="Create").wait_for()


@pytest.mark.smoke
def test_lists_are_shown_in_german(desk: Desk) -> None:
    page = desk.sit(address="/list/Articles", language="de")
    title(page, f"Artikel ({all_articles(desk):,})".replace(",", "."))
    page.get_by_role("columnheader", name="Artikelnummer").wait_for()
    page.get_by_role("gridcell", name="Importiert").first.wait_for()
