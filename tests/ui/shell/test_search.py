"""The search of the whole back office: one field, results by kind, keys only as a whole, by keyboard."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.ui.desk import Desk, Held, Shop


def rows(shop: Shop, path: str) -> list[dict[str, Any]]:
    """Return rows of administration, as the service answers."""
    with shop.http() as http:
        found: list[dict[str, Any]] = http.get(f"/admin/{path}").raise_for_status().json()["value"]
        return found


def searched(page: Page, text: str) -> Locator:
    """Search by keyboard alone and return the dialog with what was found."""
    page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog", name="Search")
    field = dialog.get_by_role("searchbox")
    expect(field).to_be_focused()
    field.fill(text)
    page.keyboard.press("Enter")
    return dialog


def test_promotions_and_articles_are_found_by_a_part_of_their_texts_with_one_request(desk: Desk) -> None:
    page = desk.sit("planner")
    asked: list[str] = []
    page.get_by_role("button", name="New promotion").wait_for()
    page.on("request", lambda one: asked.append(one.post_data or "") if one.url.endswith("/admin/$batch") else None)
    dialog = searched(page, "coffee ground")  # words in any order, as in lists
    for heading in ("Promotions", "Articles"):
        dialog.get_by_role("listitem").filter(has_text=heading).first.wait_for()
    expect(dialog.get_by_text("10 % off ground coffee", exact=True).first).to_be_visible()
    expect(dialog.get_by_text("100078", exact=True)).to_be_visible()
    searches = [one for one in asked if "search" in one]
    assert len(searches) == 1
    assert [request["url"].partition("?")[0] for request in json.loads(searches[0])["requests"]] == [
        "Promotions", "Articles", "CouponCodes", "CalculationLogs",
    ]  # fmt: skip
    dialog.get_by_text("10 % off ground coffee", exact=True).first.click()
    page.wait_for_url("**/promotion/**")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_code_and_a_transaction_are_found_by_all_of_their_key_alone(desk: Desk) -> None:
    code = rows(desk.shop, "CouponCodes?$select=ID,code&$top=1&$orderby=ID")[0]
    sale = rows(desk.shop, "CalculationLogs?$select=ID,transactionId&$top=1&$orderby=ID")[0]
    for key, entity_id, entity_set in (
        (code["code"], code["ID"], "CouponCodes"),
        (sale["transactionId"], sale["ID"], "CalculationLogs"),
    ):
        page = desk.sit("controller")
        page.locator(".promCard-attention").wait_for()
        dialog = searched(page, key[:-1])
        expect(dialog).to_contain_text("Nothing was found")
        dialog.get_by_role("searchbox").fill(key)
        page.keyboard.press("Enter")
        dialog.get_by_role("listitem").filter(has_text=key).click()
        page.wait_for_url(f"**/object/{entity_set}/{entity_id}**")


def test_quotes_are_searched_for_and_change_no_query(desk: Desk) -> None:
    page = desk.sit("planner")
    page.get_by_role("button", name="New promotion").wait_for()
    dialog = searched(page, "x' or code ne '\"")
    expect(dialog).to_contain_text("Nothing was found")


def test_an_answer_to_a_text_that_is_gone_shows_nothing_and_holds_up_nothing(desk: Desk) -> None:
    page = desk.sit("planner")
    page.get_by_role("button", name="New promotion").wait_for()
    held = Held(page, "**/admin/$batch", "search")
    dialog = searched(page, "coffee")
    held.wait_for_one()
    busy = dialog.locator("[aria-busy='true']")
    expect(busy).to_have_count(1)
    dialog.get_by_role("searchbox").fill("")
    page.keyboard.press("Enter")
    expect(busy).to_have_count(0)
    with page.expect_response("**/admin/$batch"):
        held.routes[0].continue_()
    desk.settle(page)
    expect(dialog.get_by_role("listitem").filter(has_text="coffee")).to_have_count(0)
    expect(dialog).to_contain_text("are found by a part of their texts")


def test_the_search_is_there_in_german_and_on_a_narrow_screen(desk: Desk) -> None:
    page = desk.sit("planner", language="de", viewport={"width": 390, "height": 800})
    page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog", name="Suche")
    dialog.get_by_role("searchbox").fill("100078")
    dialog.get_by_role("searchbox").press("Enter")
    expect(dialog).to_contain_text("Artikel")
    dialog.get_by_role("button", name="Schließen").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
