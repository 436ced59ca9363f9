"""The frame around every page: the signed-in user, areas by role, languages and colours."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.ui.desk import Desk, wait_until
from tests.ui.test_everywhere import judge


def titled(name: str) -> str:
    """Return the window title for a page."""
    return f"{name} \N{EN DASH} Promenade"


@pytest.mark.smoke
def test_the_back_office_opens_with_the_areas_of_the_role(desk: Desk) -> None:
    page = desk.sit("administrator")
    expect(page.locator("#promenade---shell--navigation")).to_contain_text("Simulator")
    expect(page.locator("#promenade---shell--person")).to_have_text("demo-administrator", use_inner_text=True)


def test_users_who_may_not_price_see_no_simulator(desk: Desk) -> None:
    page = desk.sit("controller")
    entries = page.locator("#promenade---shell--navigation")
    expect(entries).to_contain_text("Budgets")
    expect(entries).not_to_contain_text("Simulator")


@pytest.mark.smoke
def test_german_is_a_press_away_and_stays(desk: Desk) -> None:
    page = desk.sit()
    with page.expect_navigation():
        page.get_by_text("Deutsch", exact=True).click()
    page.get_by_role("treeitem", name="Überblick").wait_for()
    page.reload()
    page.get_by_role("treeitem", name="Überblick").wait_for()


def test_each_page_names_the_window_and_takes_the_focus_that_was_left_behind(desk: Desk) -> None:
    page = desk.sit()
    expect(page).to_have_title(titled("Overview"))
    page.get_by_role("treeitem", name="Budgets").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_title(titled("Budgets"))
    expect(page.get_by_role("main", name="Budgets")).to_be_focused()
    desk.settle(page)  # with loaded rows
    code, named = page.get_by_role("gridcell").first, page.get_by_role("gridcell").nth(1)
    expect(named).not_to_have_text("")
    name = named.inner_text()
    code.press("Enter")
    expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
    expect(page).to_have_title(titled(name))
    expect(page.get_by_role("main", name=name)).to_be_focused()
    page.go_back()
    expect(page).to_have_title(titled("Budgets"))
    page.goto(f"{desk.shop.url}/#imports")
    page.get_by_role("button", name="Import a File").press("Enter")
    expect(page.get_by_role("main", name="Import a file")).to_be_focused()
    page.goto(f"{desk.shop.url}/#nothing/of/the/kind")
    expect(page).to_have_title(titled("There is nothing here"))


def test_a_focus_that_has_a_place_stays_when_another_page_opens_and_its_name_is_read_out(desk: Desk) -> None:
    page = desk.sit()
    expect(page).to_have_title(titled("Overview"))
    colours = page.get_by_role("button", name="Dark colours")
    colours.focus()
    page.evaluate("() => { window.location.hash = 'reports' }")
    expect(page.get_by_role("status").filter(has_text="Reports")).to_have_count(1)
    expect(colours).to_be_focused()


def test_a_skip_link_leads_keyboard_users_to_the_page(desk: Desk) -> None:
    page = desk.sit()
    expect(page).to_have_title(titled("Overview"))
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="New promotion")).to_be_focused()


def test_a_narrow_page_hides_the_names_in_the_navigation(desk: Desk) -> None:
    page = desk.sit(viewport={"width": 640, "height": 450})
    expect(page).to_have_title(titled("Overview"))
    wait_until(page, "() => document.querySelector('main, [role=main]').clientWidth > 550")
    desk.settle(page)
    assert not judge(page)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_text("Webhooks", exact=True).wait_for()
    assert not judge(page)
