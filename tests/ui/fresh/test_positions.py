"""A page that somebody opens starts at its top; one that somebody goes back to is where it was left."""

from __future__ import annotations

import json

from playwright.sync_api import Locator, Page, expect

from tests.ui.desk import Desk, wait_until

BAR = "() => [...document.querySelectorAll('.sapUiTableVSb')].filter((one) => one.offsetParent)[0]?.scrollTop"
SCROLL = "(bar) => { bar.scrollTop = 1500; }"
FIRST = """() => [...document.querySelectorAll("[id$='-rows-row0-col0']")].find((one) => one.offsetParent)"""
WHICH = "(one) => one.querySelector('a')?.href || one.textContent"
SCROLLED = """() => [...document.querySelectorAll('.sapUxAPObjectPageWrapper')]
  .filter((one) => one.offsetParent).map((one) => one.scrollTop)[0]"""


def first(page: Page) -> Locator:
    """Return the first row that a list shows."""
    return page.locator("[id$='-rows-row0-col0']:visible")


def shown(page: Page) -> str:
    """Return which row a list shows first, once it has been read: rows of one name differ in where they lead."""
    expect(first(page)).not_to_have_text("")
    return str(first(page).evaluate(WHICH))


def wait_for(page: Page, wanted: str) -> None:
    """Wait until a list shows that row first."""
    wait_until(page, f"() => {{ const one = ({FIRST})(); return one && ({WHICH})(one) === {json.dumps(wanted)}; }}")


def scroll(page: Page) -> str:
    """Scroll a list down and return which row it shows first then."""
    top = shown(page)
    page.locator(".sapUiTableVSb:visible").first.evaluate(SCROLL)
    wait_until(
        page,
        f"() => {{ const one = ({FIRST})(); return one?.textContent && ({WHICH})(one) !== {json.dumps(top)}; }}",
    )
    return shown(page)


def enter(page: Page, name: str) -> None:
    """Choose an area in the navigation."""
    page.locator("#promenade---shell--navigation").get_by_text(name, exact=True).click()


def test_a_list_is_where_it_was_left_and_opens_at_its_top(desk: Desk) -> None:
    page = desk.sit(address="list/Articles")
    top = shown(page)
    left = scroll(page)
    first(page).click()
    page.wait_for_url("**object/Articles/**")
    page.get_by_role("button", name="Edit", exact=True).wait_for()
    page.go_back()
    wait_for(page, left)
    enter(page, "Reports")
    page.wait_for_url("**reports")
    enter(page, "Articles")
    wait_for(page, top)

    with desk.shop.http() as http:
        assert http.post("/admin/Promotions", json={}).status_code == 201  # has no name: rows differ in their height
    page.goto(f"{desk.shop.url}/#/promotions?sort=name")
    first(page).wait_for()
    desk.settle(page)
    left = scroll(page)
    first(page).get_by_role("link").click()
    page.wait_for_url("**promotion/**")
    desk.settle(page)
    page.go_back()
    desk.settle(page)
    wait_for(page, left)
    enter(page, "Reports")
    page.wait_for_url("**reports")
    enter(page, "Promotions")
    page.wait_for_url("**promotions")
    wait_until(page, f"() => ({BAR})() === 0")


def test_the_next_page_of_a_kind_opens_at_its_top(desk: Desk) -> None:
    with desk.shop.http() as http:
        promotions = http.get("/admin/Promotions?$top=2&$filter=status eq 'ACTIVE'").json()["value"]
        budgets = http.get("/admin/Budgets?$top=2").json()["value"]
    kinds = [(f"promotion/{one['ID']}", f"promotion/{other['ID']}") for one, other in [promotions]]
    kinds += [(f"object/Budgets/{one['ID']}", f"object/Budgets/{other['ID']}") for one, other in [budgets]]
    page = desk.sit()
    for one, other in kinds:
        page.goto(f"{desk.shop.url}/#/{one}")
        desk.settle(page)
        page.locator(".sapUxAPObjectPageWrapper:visible").evaluate("(one) => { one.scrollTop = one.scrollHeight; }")
        wait_until(page, f"() => ({SCROLLED})() > 100")
        page.goto(f"{desk.shop.url}/#/{other}")
        desk.settle(page)
        wait_until(page, f"() => ({SCROLLED})() === 0")
