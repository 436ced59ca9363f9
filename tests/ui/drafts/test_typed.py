"""Input in a field that still has the focus: saved to the draft, or asked about, before its page closes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Dialog, Locator, Page, expect

from tests.ui.desk import Desk
from tests.ui.drafts.test_unsent_changes import OF_THE_TEST, active_of, draft_of, refusing
from tests.ui.generic.test_objects import active_pos_group, heading
from tests.ui.rules.page import RulesPage, stored

expect.set_options(timeout=20_000)
HERE = "#promenade---promotion--"
RECEIPT = {"actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 5, "sequence": 10}
NOT_TAKEN = "The service has not taken your last changes"


def typed(field: Locator, text: str) -> None:
    """Type and leave the focus in the field."""
    field.fill("")
    field.press_sequentially(text)
    expect(field).to_be_focused()


def name_of_promotion(page: Page) -> Locator:
    return page.locator(f"{HERE}generalContent").get_by_label("Name", exact=True)


def promotion(desk: Desk) -> tuple[Page, Locator, Callable[[], str]]:
    """Return a promotion's draft: its page, its name field, and a reader of the stored name."""
    entity_id = stored(desk.shop)
    page = RulesPage.editing(desk, entity_id).page
    return page, name_of_promotion(page), lambda: str(draft_of(desk.shop, entity_id)["name"])


def pos_group(desk: Desk, code: str) -> tuple[Page, Locator, Callable[[], str]]:
    """Return the same for a POS group, opened from its list."""
    entity_id = active_pos_group(desk, code)
    page = desk.sit(address="/list/PosGroups")
    page.get_by_role("button", name="Create").wait_for()
    page.goto(f"{desk.shop.url}/#/object/PosGroups/{entity_id}")
    page.get_by_role("button", name="Edit", exact=True).click()
    field = page.get_by_role("textbox", name="Name", exact=True)
    return page, field, lambda: str(draft_of(desk.shop, entity_id, "PosGroups")["name"])


def opened(desk: Desk, kind: str, code: str) -> tuple[Page, Locator, Callable[[], str]]:
    return promotion(desk) if kind == "Promotions" else pos_group(desk, code)


def asked(page: Page, leave: Callable[[], object]) -> None:
    """Do what would close the page: the browser asks, and the user stays."""
    questions: list[str] = []

    def stay(dialog: Dialog) -> None:
        questions.append(dialog.type)
        dialog.dismiss()

    with page.expect_event("dialog"):
        page.once("dialog", stay)
        leave()
    assert questions == ["beforeunload"]


KINDS = pytest.mark.parametrize("kind", ["Promotions", "PosGroups"])


@KINDS
def test_input_is_saved_when_the_browser_goes_back(desk: Desk, kind: str) -> None:
    page, field, kept = opened(desk, kind, "TYPED-BACK")
    typed(field, "Typed and left")
    with page.expect_response(lambda one: "PATCH" in (one.request.post_data or "") and one.ok):
        page.evaluate("history.back()")
    page.wait_for_url(lambda url: not url.endswith(",draft"))
    assert kept() == "Typed and left"
    expect(page.get_by_role("alertdialog")).to_have_count(0)


@KINDS
def test_the_user_is_asked_about_input_that_cannot_be_saved(desk: Desk, kind: str) -> None:
    page, field, _kept = opened(desk, kind, "TYPED-REFUSED")
    typed(field, "Nearly lost")
    with refusing(page, "503"):
        page.evaluate("history.back()")
        dialog = page.get_by_role("alertdialog")
        expect(dialog).to_contain_text(NOT_TAKEN)
        dialog.get_by_role("button", name="Cancel").click()
        page.wait_for_url("**,draft")
        expect(field).to_have_value("Nearly lost")
    desk.forgive(*OF_THE_TEST)


@KINDS
def test_a_reload_with_unsaved_input_needs_a_confirmation(desk: Desk, kind: str) -> None:
    page, field, kept = opened(desk, kind, "TYPED-RELOAD")
    typed(field, "Typed and stayed")
    with page.expect_response(lambda one: "PATCH" in (one.request.post_data or "") and one.ok):
        asked(page, lambda: page.evaluate("setTimeout(() => location.reload())"))
    assert kept() == "Typed and stayed"
    expect(field).to_have_value("Typed and stayed")
    expect(field).to_be_focused()


def test_closing_a_window_with_unsaved_input_needs_a_confirmation(desk: Desk) -> None:
    page, field, kept = promotion(desk)
    typed(field, "Typed at the end")
    with page.expect_response(lambda one: "PATCH" in (one.request.post_data or "") and one.ok):
        asked(page, lambda: page.close(run_before_unload=True))
    assert kept() == "Typed at the end"


@pytest.mark.smoke
def test_the_user_is_asked_about_unsaved_input_in_a_rule(desk: Desk) -> None:
    rules = RulesPage.editing(desk, stored(desk.shop, DiscountActions=[RECEIPT]))
    card = rules.open(rules.cards("DiscountActions").first)
    field = card.get_by_role("textbox", name="Discount or price", exact=True)
    typed(field, "25")
    asked(rules.page, lambda: rules.page.evaluate("setTimeout(() => location.reload())"))
    rules.page.evaluate("history.back()")
    dialog = rules.page.get_by_role("alertdialog")
    expect(dialog).to_contain_text("You have changed rules of this promotion")
    dialog.get_by_role("button", name="Cancel").click()
    rules.page.wait_for_url("**,draft")


def test_the_user_is_asked_about_unsaved_input_on_pages_without_drafts(desk: Desk) -> None:
    with desk.shop.http() as http:
        body = {"name": "In place", "callbackUrl": "http://127.0.0.1:1/", "eventTypes": ["COUPON_ISSUED"]}
        key = http.post("/admin/WebhookSubscriptions", json=body).json()["ID"]
    page = desk.sit(address="/list/WebhookSubscriptions")
    page.get_by_role("button", name="Subscribe").wait_for()
    page.goto(f"{desk.shop.url}/#/object/WebhookSubscriptions/{key}")
    heading(page, "In place")
    page.get_by_role("button", name="Edit", exact=True).click()
    field = page.get_by_role("textbox", name="Name", exact=True)
    typed(field, "Nearly lost")
    page.evaluate("history.back()")
    page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
    page.wait_for_url(f"**/{key}")
    expect(field).to_have_value("Nearly lost")
    asked(page, lambda: page.evaluate("setTimeout(() => location.reload())"))


def wrong_of_promotion(desk: Desk) -> tuple[Page, Locator, str]:
    page = RulesPage.editing(desk, stored(desk.shop)).page
    return page, page.locator(f"{HERE}generalContent").get_by_label("Priority", exact=True), "cheap"


def wrong_of_article(desk: Desk) -> tuple[Page, Locator, str]:
    with desk.shop.http() as http:
        row = {"articleNumber": "WRONG", "name": "Wrong", "basePrice": 1.99, "IsActiveEntity": True}
        key = http.post("/admin/Articles", json=row).json()["ID"]
    page = desk.sit(address="/list/Articles")
    page.get_by_role("button", name="Create").wait_for()
    page.goto(f"{desk.shop.url}/#/object/Articles/{key}")
    page.get_by_role("button", name="Edit", exact=True).click()
    page.wait_for_url("**,draft")
    return page, page.get_by_role("textbox", name="Base price", exact=True), "cheap"


def wrong_of_subscription(desk: Desk) -> tuple[Page, Locator, str]:
    with desk.shop.http() as http:
        body = {"name": "Wrong", "callbackUrl": "http://127.0.0.1:1/", "eventTypes": ["COUPON_ISSUED"]}
        key = http.post("/admin/WebhookSubscriptions", json=body).json()["ID"]
    page = desk.sit(address="/list/WebhookSubscriptions")
    page.get_by_role("button", name="Subscribe").wait_for()
    page.goto(f"{desk.shop.url}/#/object/WebhookSubscriptions/{key}")
    page.get_by_role("button", name="Edit", exact=True).click()
    return page, page.get_by_role("textbox", name="Callback URL", exact=True), ""


@pytest.mark.parametrize("made", [wrong_of_promotion, wrong_of_article, wrong_of_subscription])
def test_leaving_a_field_with_invalid_input_needs_a_confirmation(
    desk: Desk, made: Callable[[Desk], tuple[Page, Locator, str]]
) -> None:
    page, field, wrong = made(desk)
    expect(field).not_to_have_value("")
    address, before = page.url, field.input_value()
    field.fill(wrong)
    field.press("Tab")
    expect(field).to_have_attribute("aria-invalid", "true")
    asked(page, lambda: page.evaluate("setTimeout(() => location.reload())"))
    page.evaluate("history.back()")
    dialog = page.get_by_role("alertdialog")
    dialog.get_by_role("button", name="Cancel").click()
    page.wait_for_url(address)
    expect(field).to_have_value(wrong)
    expect(field).to_have_attribute("aria-invalid", "true")
    page.locator("#promenade---shell--navigation").get_by_text("Overview").click()
    dialog.get_by_role("button", name="Leave").click()
    page.wait_for_url(lambda url: url.endswith(("/#/", "/#")))
    page.goto(address)
    if not address.endswith(",draft"):
        page.get_by_role("button", name="Edit", exact=True).click()
    expect(field).to_have_value(before)
    expect(field).not_to_have_attribute("aria-invalid", "true")


def test_a_promotion_with_invalid_input_in_a_field_is_not_saved(desk: Desk) -> None:
    page, field, wrong = wrong_of_promotion(desk)
    expect(field).not_to_have_value("")
    typed(field, wrong)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-invalid", "true")
    assert page.url.endswith(",draft")
    typed(field, "7")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(lambda url: not url.endswith(",draft"))
    entity_id = page.url.rpartition("/")[2]
    assert active_of(desk.shop, entity_id)["priority"] == 7
