"""A budget that is asked for in the guide: it is queued on the first page, and the planner reads the answer."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.ui.desk import Desk, Shop
from tests.ui.promotions.test_guide import HERE, begin, linked, press_to, require_whole
from tests.ui.promotions.test_page import id_of
from tests.ui.test_everywhere import judge, require_headings

QUEUE = ".promCard-asked"
ASK = "Ask for a budget"


def ask(page: Page, amount: str, reason: str) -> Locator:
    """Ask for a budget in the steps that are shown; return what is said about it."""
    page.get_by_role("button", name=ASK).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Amount").fill(amount)
    dialog.get_by_label("Reason").fill(reason)
    dialog.get_by_role("button", name="Ask", exact=True).click()
    expect(dialog).to_have_count(0)
    return page.locator(f"{HERE}linksContent")


def rename(page: Page, name: str) -> None:
    """Name the draft that is shown, and wait until it is stored."""
    field = page.locator(f"{HERE}whatContent").get_by_label("Name", exact=True)
    field.fill(name)
    with page.expect_response(re.compile(r"/admin/\$batch")):
        field.press("Tab")


def requested(shop: Shop, name: str) -> dict[str, Any]:
    """Return the planner's request for a budget for a promotion that runs nowhere yet."""
    with shop.http("planner") as http:
        made = http.post("/admin/Promotions", json={"name": name, "IsActiveEntity": True}).raise_for_status().json()
        asked = {"amount": 250, "currency": "EUR", "reason": "For the leaflet."}
        address = f"/admin/Promotions(ID={made['ID']},IsActiveEntity=true)/askForBudget"
        request: dict[str, Any] = http.post(address, json=asked).raise_for_status().json()
    return request


def test_a_budget_asked_for_in_the_guide_is_granted_and_charged_once_the_promotion_is_saved(desk: Desk) -> None:
    planner = begin(desk, "Points", "planner")
    rename(planner, "Wants money")
    said = ask(planner, "10000", "The December leaflet.")
    expect(said).to_contain_text("€10,000.00 asked for by")
    expect(said).to_contain_text("waiting for an answer")
    expect(planner.get_by_role("button", name=ASK)).to_have_count(0)

    boss = desk.sit("administrator")
    entry = boss.locator(f"{QUEUE} li", has_text="Wants money")
    expect(entry).to_contain_text("€10,000.00")
    entry.click()
    boss.wait_for_url("**/object/BudgetRequests/*")
    expect(boss.get_by_text("The December leaflet.")).to_be_visible()
    expect(boss.get_by_role("button", name="Open the promotion")).to_have_count(0)  # nobody else sees a draft
    boss.get_by_role("button", name="Grant a new budget").click()
    boss.get_by_role("alertdialog").get_by_role("button", name="Grant a new budget").click()
    expect(boss.get_by_text("Granted", exact=True).first).to_be_visible()
    expect(boss.get_by_role("button", name="Decline")).to_have_count(0)
    boss.locator("#promenade---shell--navigation").get_by_text("Overview").click()
    expect(boss.locator(QUEUE)).to_be_visible()
    expect(entry).to_have_count(0)

    planner.reload()
    said = planner.locator(f"{HERE}linksContent")
    expect(said).to_contain_text('The budget "Wants money" was granted by')
    expect(said).to_contain_text("as soon as you save it")
    planner.locator(f"{HERE}whatRules").get_by_role("textbox").first.fill("10")
    planner.locator(f"{HERE}save").click()
    planner.locator(f"{HERE}edit").wait_for()
    (budget,) = linked(desk.shop, "BudgetPromotions", "budget", id_of(planner))
    assert (budget["name"], budget["totalAmount"], budget["status"]) == ("Wants money", 10000, "ACTIVE")
    expect(planner.locator(f"{HERE}linksContent")).not_to_contain_text("as soon as you save it")


def test_a_controller_grants_from_a_budget_that_there_is(desk: Desk, shop: Shop) -> None:
    request = requested(shop, "Wants a share")
    page = desk.sit("controller")
    page.locator(f"{QUEUE} li", has_text="Wants a share").click()
    page.get_by_role("button", name="Grant from a budget").click()
    expect(page.get_by_role("button", name="Grant a new budget")).to_have_count(0)
    dialog = page.get_by_role("dialog")
    with shop.http() as http:
        row = {"code": "SHARED-1", "name": "Shared money", "totalAmount": 900, "currency": "EUR", "status": "ACTIVE"}
        there = http.post("/admin/Budgets", json={**row, "IsActiveEntity": True}).raise_for_status().json()
    field = dialog.get_by_label("Budget", exact=True)
    field.press_sequentially(there["code"])
    field.press("Tab")
    dialog.get_by_role("button", name="Grant", exact=True).click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("main")).to_contain_text("Shared money")
    expect(page.get_by_role("button", name="Open the budget")).to_be_visible()
    assert [one["ID"] for one in linked(shop, "BudgetPromotions", "budget", request["promotion_ID"])] == [there["ID"]]
    page.get_by_role("button", name="Open the promotion").click()
    page.wait_for_url(f"**/promotion/{request['promotion_ID']}")
    expect(page.locator("#promenade---promotion--linkedContent")).to_contain_text("was granted by")


def test_a_refusal_shows_its_reason_to_the_planner_who_asks_again(desk: Desk, shop: Shop) -> None:
    request = requested(shop, "Wants too much")
    boss = desk.sit("controller", address=f"object/BudgetRequests/{request['ID']}")
    boss.get_by_role("button", name="Decline").click()
    dialog = boss.get_by_role("dialog")
    dialog.get_by_role("button", name="Decline").click()
    reason = dialog.get_by_role("textbox")
    expect(reason).to_have_attribute("aria-invalid", "true")
    reason.fill("The year is spent.")
    dialog.get_by_role("button", name="Decline").click()
    expect(boss.get_by_text("The year is spent.").first).to_be_visible()

    for route in ("promotion", "promotions/guide"):
        planner = desk.sit("planner", address=f"{route}/{request['promotion_ID']}")
        expect(planner.locator("#promenade---shell--pages")).to_contain_text("declined by")
        expect(planner.locator("#promenade---shell--pages")).to_contain_text("The year is spent.")
    said = ask(planner, "20", "Less.")
    expect(said).to_contain_text("€20.00 asked for by")
    planner.get_by_role("button", name="Withdraw the request").click()
    expect(planner.get_by_role("button", name=ASK)).to_be_focused()
    expect(said).not_to_contain_text("waiting")


def test_the_queue_hears_of_requests_in_another_tab(desk: Desk, shop: Shop) -> None:
    request = requested(shop, "Heard of")
    first = desk.sit("administrator")
    entry = first.locator(f"{QUEUE} li", has_text="Heard of")
    expect(entry).to_have_count(1)
    second = desk.tab(first, address=f"object/BudgetRequests/{request['ID']}")
    second.get_by_role("button", name="Grant a new budget").click()
    second.get_by_role("alertdialog").get_by_role("button", name="Grant a new budget").click()
    expect(second.get_by_text("Granted", exact=True).first).to_be_visible()
    first.bring_to_front()
    expect(entry).to_have_count(0)


def test_only_those_who_give_budgets_have_a_queue(desk: Desk, shop: Shop) -> None:
    request = requested(shop, "Not for planners")
    page = desk.sit("planner")
    expect(page.locator(".promCard-attention")).to_be_visible()
    expect(page.locator(QUEUE)).to_have_count(0)
    page = desk.sit("planner", address=f"object/BudgetRequests/{request['ID']}")
    expect(page.get_by_role("button", name="Withdraw")).to_be_visible()
    for name in ("Grant", "Grant a new budget", "Grant from a budget", "Decline"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)


def test_a_planner_asks_by_keyboard_alone(desk: Desk) -> None:
    page = begin(desk, "Points", "planner")
    page.get_by_role("button", name=ASK).scroll_into_view_if_needed()
    page.locator(f"{HERE}linksContent").get_by_role("button", name="New coupon").focus()
    press_to(page, page.get_by_role("button", name=ASK))
    expect(page.get_by_role("dialog").get_by_label("Amount")).to_be_focused()
    desk.settle(page)  # the dialog is open when it has stopped moving
    page.keyboard.type("75")
    press_to(page, page.get_by_role("dialog").get_by_role("button", name="Ask", exact=True))
    expect(page.locator(f"{HERE}linksContent")).to_contain_text("€75.00 asked for by")
    expect(page.get_by_role("button", name="Withdraw the request")).to_be_focused()


@pytest.mark.parametrize("language", ["en", "de"])
def test_everybody_can_read_a_request_on_narrow_screens_too(desk: Desk, shop: Shop, language: str) -> None:
    request = requested(shop, "Gelesen" if language == "de" else "Read")
    page = desk.sit("administrator", address=f"object/BudgetRequests/{request['ID']}", language=language)
    word = {"en": "Waiting", "de": "Offen"}[language]
    expect(page.get_by_text(word, exact=True).first).to_be_visible()
    assert not judge(page)
    require_headings(page)
    planner = desk.sit("planner", address=f"promotions/guide/{request['promotion_ID']}", language=language)
    desk.settle(planner)
    said = {"en": "waiting for an answer", "de": "Die Antwort steht noch aus"}[language]
    expect(planner.locator(f"{HERE}linksContent")).to_contain_text(said)
    assert not judge(planner)
    require_whole(planner)
    home = desk.sit("administrator", language=language)
    desk.settle(home)
    title = {"en": "Requested budgets", "de": "Erbetene Budgets"}[language]
    expect(home.locator(QUEUE)).to_contain_text(title)
    assert not judge(home)
    require_whole(home)
