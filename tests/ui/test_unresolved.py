"""What is typed into a field that names something else is found, or stays there as an error and keeps Save away."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.ui.desk import Desk
from tests.ui.generic.test_objects import active_pos_group, first
from tests.ui.rules.page import RulesPage, rules_of, stored

NOTHING = "Nothing matches. Choose one of the list."
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
