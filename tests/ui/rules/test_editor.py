"""Editing rules: nothing is saved partially, no one's rules are overwritten, and everything works by keyboard."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.ui.desk import Desk, Held, Shop
from tests.ui.rules.page import RulesPage, rules_of, stored

CUSTOMERS: list[dict[str, Any]] = [
    {"conditionType": "CUSTOMER", "value": name, "sequence": 10 * place} for place, name in enumerate("ABC", 1)
]
RECEIPT = {"actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 5, "sequence": 10}


def values(shop: Shop, entity_id: str) -> list[str]:
    return [row["value"] for row in rules_of(shop, entity_id, "Conditions")]


@pytest.mark.smoke
def test_rules_are_changed_duplicated_and_removed_and_a_removed_one_comes_back(desk: Desk, shop: Shop) -> None:
    editing = RulesPage.editing(desk, stored(shop, Conditions=CUSTOMERS, DiscountActions=[RECEIPT]))
    cards = editing.cards("Conditions")
    cards.nth(0).get_by_role("button", name="Delete").click()
    expect(cards).to_have_count(2)
    cards.nth(1).get_by_role("button", name="Delete").click()
    expect(cards).to_have_count(1)
    editing.editor.get_by_text("Undo", exact=True).first.click()
    expect(cards).to_have_count(2)
    cards.nth(0).get_by_role("button", name="Duplicate").click()
    expect(cards).to_have_count(3)
    editing.do(cards.nth(1), ("tokens", "Values", ["B2"]))
    action = editing.open(editing.cards("DiscountActions").first)
    editing.do(action, ("fill", "Discount or price", "7.5"))
    editing.save()
    found = rules_of(shop, editing.entity_id, "Conditions")
    assert [(row["value"], sorted(one["value"] for one in row["valueListItems"])) for row in found] == [
        ("B", []), (None, ["B", "B2"]), ("C", []),
    ]  # fmt: skip
    assert rules_of(shop, editing.entity_id, "DiscountActions")[0]["discountValue"] == 7.5


def test_rules_are_reordered_by_keyboard(desk: Desk, shop: Shop) -> None:
    editing = RulesPage.editing(desk, stored(shop, Conditions=CUSTOMERS))
    cards = editing.cards("Conditions")
    cards.nth(2).focus()
    editing.page.keyboard.press("Control+ArrowUp")
    expect(cards.nth(1)).to_contain_text("C")
    expect(cards.nth(1)).to_be_focused()
    editing.page.keyboard.press("Control+ArrowUp")
    expect(cards.nth(0)).to_contain_text("C")
    cards.nth(1).get_by_role("button", name="Move down").click()
    editing.save()
    assert values(shop, editing.entity_id) == ["C", "B", "A"]


def test_missing_values_are_reported_at_their_field_and_nothing_is_saved(desk: Desk, shop: Shop) -> None:
    editing = RulesPage.editing(desk, stored(shop))
    card = editing.add("DiscountActions", "Discount on the receipt")
    editing.do(card, ("fill", "Discount or price", "120"))
    editing.press_save()
    expect(card.locator("input[aria-invalid=true]")).to_be_focused()
    expect(editing.page.get_by_text("A percentage is at most 100.").first).to_be_attached()
    assert rules_of(shop, editing.entity_id, "DiscountActions") == []
    editing.do(card, ("fill", "Discount or price", "20"))
    expect(card.locator("input[aria-invalid=true]")).to_have_count(0)
    editing.save()
    assert rules_of(shop, editing.entity_id, "DiscountActions")[0]["discountValue"] == 20


def test_a_rule_that_the_service_refuses_saves_neither_promotion_nor_rules(desk: Desk, shop: Shop) -> None:
    """The second of two planners loses nothing: the first one's changes stay, and the page offers to load them."""
    entity_id = stored(shop, Conditions=CUSTOMERS[:1])
    editing = RulesPage.editing(desk, entity_id)
    editing.do(editing.open(editing.cards("Conditions").first), ("tokens", "Values", ["MINE"]))
    editing.do(editing.add("Conditions", "Channel"), ("tokens", "Values", ["ONLINE"]))
    (rule,) = rules_of(shop, entity_id, "Conditions")
    with shop.http("planner") as other:
        changed = other.patch(f"/admin/Conditions({rule['ID']})", json={"value": "THEIRS"})
        assert changed.status_code == 200, changed.text
    editing.press_save()
    dialog = editing.page.get_by_role("alertdialog")
    expect(dialog).to_contain_text("Somebody else has changed these rules")
    assert values(shop, entity_id) == ["THEIRS"]
    with shop.http() as http:
        draft = http.get(f"/admin/Promotions(ID={entity_id},IsActiveEntity=false)")
        assert draft.status_code == 200, draft.text
    dialog.get_by_role("button", name="Load anew").click()
    expect(editing.cards("Conditions")).to_have_count(1)
    expect(editing.cards("Conditions").first).to_contain_text("THEIRS")


def test_rules_are_read_only_until_somebody_edits(desk: Desk, shop: Shop) -> None:
    reading = RulesPage(desk, stored(shop, Conditions=CUSTOMERS[:1]))
    card = reading.cards("Conditions").first
    expect(card.get_by_role("button", name="Show details")).to_be_visible()
    expect(card.get_by_role("button", name="Delete")).to_have_count(0)
    expect(reading.editor.get_by_role("button", name="Add condition")).to_have_count(0)
    reading.open(card)
    expect(card.locator("input[readonly], [aria-readonly=true]").first).to_be_attached()


def test_rules_are_read_before_somebody_edits_them(desk: Desk, shop: Shop) -> None:
    reading = RulesPage(desk, stored(shop, Conditions=CUSTOMERS[:1]))
    page = reading.page
    delete = reading.cards("Conditions").first.get_by_role("button", name="Delete")
    expect(reading.cards("Conditions")).to_have_count(1)
    held = Held(page, "**/admin/Conditions?*")
    page.locator("[id$='--edit']").click()
    page.wait_for_url("**,draft")
    route = held.wait_for_one()
    expect(page.locator("[id$='--generalContent']").get_by_label("Name", exact=True)).to_be_editable()
    expect(delete).to_have_count(0)  # it would delete what is about to be replaced
    route.continue_()
    delete.click()
    expect(reading.cards("Conditions")).to_have_count(0)
    reading.save()
    assert values(shop, reading.entity_id) == []


def test_rules_are_edited_in_german(desk: Desk, shop: Shop) -> None:
    editing = RulesPage.editing(desk, stored(shop, DiscountActions=[RECEIPT]), language="de")
    card = editing.cards("DiscountActions").first
    expect(card).to_contain_text("5\u00a0% Rabatt auf den Bon")
    card.get_by_role("button", name="Einzelheiten zeigen").click()
    editing.do(card, ("fill", "Rabatt oder Preis", "12,5"))
    expect(card).to_contain_text("12,5\u00a0% Rabatt auf den Bon")
    editing.save()
    assert rules_of(shop, editing.entity_id, "DiscountActions")[0]["discountValue"] == 12.5
