"""Lists on a telephone: rows are cards, and filters are behind a button that counts those in use."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.ui.desk import Desk, choose
from tests.ui.measuring import require_room

TELEPHONE = {"width": 390, "height": 844}


CARDS = ["list/Articles", "list/Campaigns", "list/Clients", "list/AuditLogs", "promotions?status=RUNNING"]


@pytest.mark.parametrize("address", CARDS)
def test_a_row_is_a_card_that_shows_what_matters_without_scrolling_sideways(desk: Desk, address: str) -> None:
    page = desk.sit(address=f"/{address}", language="de", viewport=TELEPHONE)
    expect(page.locator(".sapUiTableContentRow:visible .promMuted:visible").first).to_be_visible()
    expect(page.get_by_role("columnheader")).to_have_count(1)
    require_room(desk, page)


def test_of_a_long_entry_in_the_audit_trail_a_card_shows_some_lines(desk: Desk) -> None:
    with desk.shop.http() as http:
        row = {"IsActiveEntity": True, "code": "LONG", "name": "Much " * 40}
        made = http.post("/admin/Promotions", json=row).json()
        assert http.delete(f"/admin/Promotions(ID={made['ID']},IsActiveEntity=true)").status_code == 204
    page = desk.sit(address="/list/AuditLogs", language="de", viewport=TELEPHONE)
    expect(page.get_by_text("Much Much").first).to_be_visible()
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


def test_promotions_are_opened_and_chosen_by_their_cards(desk: Desk) -> None:
    page = desk.sit("planner", address="promotions?status=RUNNING", viewport=TELEPHONE)
    page.get_by_role("heading", name=re.compile(r"^Promotions \(")).wait_for()
    rows = page.locator(".sapUiTableContentRow:visible")
    for said in ("Running", "Validity:"):
        expect(rows.get_by_text(said, exact=True).first).to_be_visible()
    expect(page.get_by_text("Exclusivity:")).to_have_count(0)
    link = rows.first.get_by_role("link")
    name = link.inner_text()
    page.locator(".sapUiTableRowSelectionCell:visible").first.click()
    actions = page.get_by_role("toolbar", name="Promotions Header actions")
    actions.get_by_role("button", name="Additional Options").click()
    expect(page.get_by_role("button", name="Copy", exact=True)).to_be_enabled()
    page.keyboard.press("Escape")
    link.click()
    page.get_by_role("heading", name=name).first.wait_for()
