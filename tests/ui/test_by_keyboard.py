"""Tasks done without a mouse: fields are in the tab order, and dialogs return the focus."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.ui.desk import Desk, Shop
from tests.ui.rules.page import RulesPage, rules_of, stored

STOPS_MAX = 60


def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until the element has the focus."""
    for _ in range(STOPS_MAX):
        page.keyboard.press("Tab")
        if wanted.evaluate("one => one === document.activeElement"):
            return
    raise AssertionError(f"not within {STOPS_MAX} stops: {wanted}")


@pytest.mark.smoke
def test_a_rule_is_added_filled_in_and_saved(desk: Desk, shop: Shop) -> None:
    editing = RulesPage.editing(desk, stored(shop))
    page = editing.page
    add = editing.editor.get_by_role("button", name="Add action")
    desk.settle(page)
    tab_to(page, add)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Escape")
    expect(add).to_be_focused()
    page.keyboard.press("Enter")
    search = page.get_by_role("dialog").get_by_role("searchbox")
    expect(search).to_be_focused()
    page.keyboard.type("Discount on the receipt")
    tab_to(page, page.get_by_role("dialog").get_by_role("listitem").filter(has_text="Discount on the receipt"))
    page.keyboard.press("Enter")
    card = editing.cards("DiscountActions").first
    expect(card.get_by_role("combobox", name="Type")).to_be_focused()
    tab_to(page, card.get_by_role("textbox", name="Discount or price"))
    page.keyboard.type("20")
    tab_to(page, page.get_by_role("button", name="Save"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Edit")).to_be_visible()
    assert [row["discountValue"] for row in rules_of(shop, editing.entity_id, "DiscountActions")] == [20]


def test_the_tab_key_leads_from_a_rule_card_to_its_fields(desk: Desk, shop: Shop) -> None:
    action = {"actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 5, "sequence": 10}
    editing = RulesPage.editing(desk, stored(shop, DiscountActions=[action]))
    card = editing.open(editing.cards("DiscountActions").first)
    card.focus()
    editing.page.keyboard.press("Tab")
    expect(card.get_by_role("combobox", name="Type")).to_be_focused()


def test_lines_of_a_basket_are_in_the_tab_order(desk: Desk) -> None:
    page = desk.sit(address="simulator")
    page.get_by_role("button", name="Example basket").focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="off").first.wait_for()
    desk.settle(page)
    quantities = page.locator("[id$='--lines']").get_by_role("textbox", name="Quantity")
    tab_to(page, quantities.nth(1))
    tab_to(page, page.get_by_role("button", name="Remove the line").nth(1))
    before = quantities.count()
    with page.expect_response("**/pos/v2/simulate"):
        page.keyboard.press("Enter")
    expect(quantities).to_have_count(before - 1)
    desk.settle(page)  # the new price is in the tab order
    tab_to(page, page.get_by_role("region", name="Price").get_by_role("link").first)
