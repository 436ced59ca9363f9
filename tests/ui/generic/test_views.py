"""Views of lists that a person has named: kept, found again, opened by default, deleted."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, escape
from tests.ui.test_everywhere import judge


def views(page: Page, name: str = "Views") -> None:
    page.get_by_role("button", name=name, exact=True).click()
    page.get_by_role("dialog").get_by_role("textbox").wait_for()


def keep(page: Page, name: str) -> None:
    """Name what the list shows, by keyboard."""
    views(page)
    field = page.get_by_role("dialog").get_by_role("textbox")
    expect(field).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name=name, exact=True).wait_for()
    escape(page)


def test_a_view_is_named_found_again_opened_by_default_and_deleted(desk: Desk) -> None:
    page = desk.sit(address="/list/PosGroups")
    page.get_by_role("heading", name=re.compile(r"POS groups \(\d\d\)")).wait_for()
    page.get_by_role("searchbox").fill("Zurich")
    few = page.get_by_role("heading", name="POS groups (1)", exact=True)
    few.wait_for()
    page.get_by_role("columnheader", name="Name").click()
    page.get_by_text("Sort Descending").click()
    page.wait_for_url(re.compile("sort"))
    keep(page, "Swiss {0} & <b>")
    page.goto(f"{desk.shop.url}/#/list/Budgets")
    page.get_by_role("heading", name=re.compile("^Budgets")).wait_for()
    page.goto(f"{desk.shop.url}/#/list/PosGroups")
    page.get_by_role("heading", name=re.compile(r"POS groups \(\d\d\)")).wait_for()
    views(page)
    page.get_by_role("dialog").get_by_role("button", name="Swiss {0} & <b>", exact=True).press("Enter")
    few.wait_for()
    expect(page.get_by_role("searchbox")).to_have_value("Zurich")
    assert "sort" in page.url
    views(page)
    page.get_by_role("button", name="Open the list with “Swiss {0} & <b>”").press("Space")
    expect(page.get_by_role("button", name="Open the list with “Swiss {0} & <b>”")).to_have_attribute(
        "aria-pressed", "true"
    )
    assert not judge(page)
    escape(page)
    page.goto(f"{desk.shop.url}/#/list/Budgets")
    page.get_by_role("heading", name=re.compile("^Budgets")).wait_for()
    page.goto(f"{desk.shop.url}/#/list/PosGroups")
    few.wait_for()
    views(page)
    page.get_by_role("button", name="Delete “Swiss {0} & <b>”").press("Enter")
    page.get_by_text("No views yet.").wait_for()
    escape(page)
    page.reload()
    page.get_by_role("heading", name=re.compile(r"POS groups \(\d\d\)")).wait_for()


def test_a_view_is_of_the_person_who_named_it(desk: Desk) -> None:
    page = desk.sit(address="/list/PosGroups", language="de")
    page.get_by_role("heading", name=re.compile(r"\(\d\d\)")).wait_for()
    views(page, "Ansichten")
    page.get_by_role("dialog").get_by_role("textbox").fill("Meine")
    page.get_by_role("dialog").get_by_role("button", name="Speichern").click()
    page.get_by_role("dialog").get_by_role("button", name="Meine", exact=True).wait_for()
    other = desk.tab(page, "planner", address="/list/PosGroups")
    other.get_by_role("heading", name=re.compile(r"\(\d\d\)")).wait_for()
    views(other, "Ansichten")
    other.get_by_text("Noch keine Ansichten.").wait_for()


def test_promotions_open_with_the_view_of_the_person_until_something_else_is_asked_for(desk: Desk) -> None:
    page = desk.sit("planner", address="promotions?status=ENDED&sort=name")
    page.get_by_role("heading", name=re.compile(r"Promotions \(\d\d\)")).wait_for()
    keep(page, "Ended")
    views(page)
    page.get_by_role("button", name="Open the list with “Ended”").click()
    escape(page)
    page.goto(f"{desk.shop.url}/#/list/Budgets")
    page.get_by_role("heading", name=re.compile("^Budgets")).wait_for()
    page.goto(f"{desk.shop.url}/#promotions")
    ended = page.get_by_role("tab", name=re.compile("^Ended"))
    expect(ended).to_have_attribute("aria-selected", "true")
    page.get_by_role("button", name="Clear filters").click()
    expect(page.get_by_role("tab", name=re.compile("^All"))).to_have_attribute("aria-selected", "true")
