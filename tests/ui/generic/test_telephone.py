"""Lists on a telephone: rows are cards, and filters are behind a button that counts those in use."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.ui.desk import Desk, choose
from tests.ui.measuring import require_room

TELEPHONE = {"width": 390, "height": 844}


@pytest.mark.parametrize("set_name", ["Articles", "Campaigns", "Clients", "AuditLogs"])
def test_a_row_is_a_card_that_shows_what_matters_without_scrolling_sideways(desk: Desk, set_name: str) -> None:
    page = desk.sit(address=f"/list/{set_name}", language="de", viewport=TELEPHONE)
    desk.settle(page)
    expect(page.locator(".sapUiTableContentRow:visible").first.locator(".promMuted:visible").first).to_be_visible()
    expect(page.get_by_role("columnheader")).to_have_count(1)
    require_room(desk, page)


def test_filters_are_behind_a_button_that_counts_those_in_use(desk: Desk) -> None:
    page = desk.sit(address="/list/Articles", viewport=TELEPHONE)
    page.get_by_role("heading", name=re.compile(r"^Articles \(")).wait_for()
    active = page.get_by_role("combobox", name="Active")
    expect(active).to_be_hidden()
    page.get_by_role("button", name="Filters", exact=True).press("Enter")
    choose(active, "Yes")
    page.get_by_role("button", name="Filters (1)", exact=True).press("Enter")
    expect(active).to_be_hidden()
    page.get_by_role("gridcell").filter(has_text="100001").first.wait_for()
    page.set_viewport_size({"width": 1400, "height": 900})
    expect(active).to_be_visible()
    expect(page.get_by_role("button", name="Filters (1)", exact=True)).to_be_hidden()


def test_the_filters_of_promotions_are_behind_the_same_button(desk: Desk) -> None:
    page = desk.sit("planner", address="promotions?types=ARTICLE&validity=", viewport=TELEPHONE)
    page.get_by_role("heading", name=re.compile(r"^Promotions \(")).wait_for()
    exclusivity = page.locator("#promenade---promotions--exclusivity")
    expect(exclusivity).to_be_hidden()
    expect(page.locator("#promenade---promotions--search")).to_be_visible()
    page.get_by_role("button", name="Filters (1)", exact=True).click()
    expect(exclusivity).to_be_visible()
