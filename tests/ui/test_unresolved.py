"""What is typed into a field that names something else is found, or stays there as an error and keeps Save away."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.ui.desk import Desk
from tests.ui.generic.test_objects import active_pos_group, first
from tests.ui.rules.page import RulesPage, rules_of, stored

NOTHING = "Nothing matches. Choose one of the list."
NOT_LISTED = "Not on the list. Choose one of the list, or add it there."
UNKNOWN = "no-such-thing"


def test_a_typed_store_is_never_dropped(desk: Desk) -> None:
    entity_id = stored(desk.shop)
    rules = RulesPage.editing(desk, entity_id)
    page = rules.page
    field = page.get_by_label("POS groups").locator("visible=true").last
    field.fill(UNKNOWN)
    rules.press_save()  # at once, while it is looked up
    expect(field).to_have_accessible_error_message(NOTHING)
    expect(field).to_be_focused()
    expect(field).to_have_value(UNKNOWN)
    field.fill("CH-ZRH")
    rules.save()
    found = first(desk, f"PromotionPosGroups?$filter=promotion_ID eq {entity_id}&$expand=posGroup")
    assert found["posGroup"]["code"] == "CH-ZRH"


def test_a_typed_parent_is_found_or_an_error(desk: Desk) -> None:
    pos_group = active_pos_group(desk, "UNNAMED")
    page = desk.sit(address=f"/object/PosGroups/{pos_group}")
    page.get_by_role("button", name="Edit", exact=True).click()
    field = page.get_by_role("textbox", name="Parent")
    field.fill(UNKNOWN)
    page.get_by_role("button", name="Save").click()
    expect(field).to_have_accessible_error_message(NOTHING)
    expect(field).to_be_focused()
    field.fill("CH-ZRH")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Edit", exact=True).wait_for()
    parent = first(desk, "PosGroups?$filter=code eq 'CH-ZRH'")["ID"]
    assert first(desk, f"PosGroups?$filter=ID eq {pos_group}")["parent_ID"] == parent


def test_a_typed_article_of_a_rule_is_found_or_an_error(desk: Desk) -> None:
    entity_id = stored(desk.shop)
    rules = RulesPage.editing(desk, entity_id)
    card = rules.add("Conditions", "Article")
    rules.do(card, ("fill", "Article", UNKNOWN), ("fill", "From how many pieces", "2"))
    rules.press_save()
    expect(rules.page.locator("[aria-invalid=true]:visible")).to_have_accessible_error_message(NOTHING)
    assert rules_of(desk.shop, entity_id, "Conditions") == []
    ean = first(desk, "Articles?$filter=articleNumber eq '100003'")["ean"]
    rules.do(card, ("fill", "Article", ean))
    rules.save()
    assert rules_of(desk.shop, entity_id, "Conditions")[0]["articleNumber"] == "100003"


@pytest.mark.parametrize(("title", "listed", "collection"), [
    ("Customer group", "STAFF", "CustomerGroups"), ("Loyalty account", "GOLD", "LoyaltyTiers"),
])  # fmt: skip
def test_a_typed_group_or_tier_is_on_its_list_or_an_error(desk: Desk, title: str, listed: str, collection: str) -> None:
    entity_id = stored(desk.shop)
    rules = RulesPage.editing(desk, entity_id)
    page = rules.page
    card = rules.add("Conditions", title)
    rules.do(card, ("tokens", "Values", [listed, UNKNOWN]))
    rules.press_save()
    field = card.locator("[aria-invalid=true]:visible")
    expect(field).to_have_accessible_error_message(NOT_LISTED)
    assert rules_of(desk.shop, entity_id, "Conditions") == []

    field.press("Backspace")  # goes to the last token
    page.keyboard.press("Backspace")
    expect(card.locator(".sapMToken")).to_have_count(1)
    fresh = f"NEW-{collection}".upper()
    field = card.get_by_label("Values")
    field.press("F4")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("searchbox").fill(fresh)
    dialog.get_by_role("button", name="Add to the list").click()
    asked = page.get_by_role("dialog", name="Add to the list")
    expect(asked.get_by_role("textbox", name="Code")).to_have_value(fresh)
    asked.get_by_role("textbox", name="Name").fill("Those that are new")
    asked.get_by_role("button", name="Add to the list").click()
    card.locator(".sapMToken").filter(has_text=fresh).wait_for()
    rules.save()
    (condition,) = rules_of(desk.shop, entity_id, "Conditions")
    assert {one["value"] for one in condition["valueListItems"]} == {listed, fresh}
    assert first(desk, f"{collection}?$filter=code eq '{fresh}'")["name"] == "Those that are new"


def test_what_is_compared_as_part_of_a_text_needs_no_list(desk: Desk) -> None:
    entity_id = stored(desk.shop)
    rules = RulesPage.editing(desk, entity_id)
    card = rules.add("Conditions", "Customer group")
    rules.do(card, ("choose", "Comparison", "begins with"), ("tokens", "Values", ["ST"]))
    rules.save()
    (condition,) = rules_of(desk.shop, entity_id, "Conditions")
    assert (condition["operator"], condition["value"]) == ("STARTS_WITH", "ST")


def test_the_simulator_warns_of_a_group_that_is_on_no_list(desk: Desk) -> None:
    page = desk.sit(address="simulator")
    field = page.get_by_role("textbox", name="Customer group")
    field.fill(UNKNOWN)
    field.press("Tab")
    expect(page.get_by_text("Not on the list. It is priced all the same")).to_be_attached()
    field.fill("Famil")
    page.get_by_role("option", name="FAMILY").click()
    expect(field).to_have_value("FAMILY")
