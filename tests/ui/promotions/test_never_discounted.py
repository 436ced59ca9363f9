"""Goods that are never discounted in a browser: what counts for conditions is chosen and said; a receipt tells why."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

from promenade.model.access.tenants import SETTINGS_ID
from tests.ui.desk import Desk, choose
from tests.ui.promotions.test_guide import HERE as GUIDE
from tests.ui.promotions.test_guide import begin
from tests.ui.promotions.test_page import promotion
from tests.ui.rules.page import RulesPage, stored
from tests.ui.simulator.test_page import PREFIX, choose_store, put

BARRED, EXCLUDED = "Never discounted goods count", "Excluded goods count"
FROM_50: dict[str, Any] = {
    "Conditions": [{"conditionType": "RECEIPT_AMOUNT", "operator": "GTE", "value": "50"}],
    "DiscountActions": [{"actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 5}],
}


def test_what_counts_for_its_conditions_is_chosen_on_the_page_of_a_promotion(desk: Desk) -> None:
    entity_id = stored(desk.shop, **FROM_50)
    rules = RulesPage.editing(desk, entity_id)
    field = rules.page.get_by_role("combobox", name=BARRED, exact=True)
    expect(field).to_have_text("As set for the tenant")
    choose(field, "No")
    choose(rules.page.get_by_role("combobox", name=EXCLUDED, exact=True), "Yes")
    rules.save()
    found = promotion(desk.shop, entity_id)
    assert (found["countsTowardsThreshold"], found["excludedCountsTowardsThreshold"]) == (False, True)
    rules.edit()
    expect(field).to_have_text("No")
    choose(field, "As set for the tenant")
    rules.save()
    assert promotion(desk.shop, entity_id)["countsTowardsThreshold"] is None


def test_what_does_not_count_is_said_in_words(desk: Desk) -> None:
    page = begin(desk, "Amount off from a basket value")
    summary = page.get_by_role("complementary").filter(has_text="In words")
    expect(summary).not_to_contain_text("do not count")
    page.locator(f"{GUIDE}advanced").get_by_role("button").first.click()
    for name, words in (
        (BARRED, "Goods that are never discounted do not count for that."),
        (EXCLUDED, "Goods that it excludes do not count for that."),
    ):
        choose(page.locator(GUIDE + "expertContent").get_by_role("combobox", name=name, exact=True), "No")
        expect(summary).to_contain_text(words)


def test_the_tenant_says_what_counts_where_promotions_do_not(desk: Desk) -> None:
    page = desk.sit(address=f"/object/TenantSettings/{SETTINGS_ID}")
    page.get_by_role("button", name="Edit", exact=True).click()
    field = page.get_by_role("combobox", name=BARRED, exact=True)
    expect(field).to_have_text("Yes, as usual")
    choose(field, "No")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Edit", exact=True).wait_for()
    with desk.shop.http() as http:
        address = f"/admin/TenantSettings({SETTINGS_ID})"
        assert http.get(address).json()["countsTowardsThreshold"] is False
        assert http.patch(address, json={"countsTowardsThreshold": None}).status_code == 200


def test_a_receipt_says_why_a_line_is_never_discounted(desk: Desk) -> None:
    with desk.shop.http() as http:
        article = {"articleNumber": "NEVER-1", "name": "A novel", "basePrice": 20, "currency": "EUR"}
        made = http.post("/admin/Articles", json=article | {"neverDiscounted": "FIXED_PRICE", "IsActiveEntity": True})
        assert made.status_code == 201, made.text
    page = desk.sit("planner", address="simulator")
    choose_store(page, "DE-HAM")
    put(page, "NEVER-1")
    expect(page.locator(f"{PREFIX}priced")).to_contain_text("never discounted: fixed price")
