"""A promotion's page: created, checked, activated and priced; approved; from a template; never saved partially."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, Held, Shop, escape, let_through
from tests.ui.rules.page import RulesPage, rules_of, stored

LIST, HERE = "#promenade---promotions--", "#promenade---promotion--"
GUIDE = "#promenade---guide--"
PARTS = {
    "Conditions": "valueListItems,articleListItems",
    "DiscountActions": "scaledTiers,quantityTiers,bundleComponents,articleListItems,exclusions",
    "LoyaltyActions": "articleListItems",
}
OF_A_ROW = {"ID", "code", "createdAt", "createdBy", "modifiedAt", "modifiedBy", "promotion_ID", "action_ID",
            "condition_ID", "exclusion_ID", "loyaltyAction_ID"}  # fmt: skip


def promotion(shop: Shop, entity_id: str) -> dict[str, Any]:
    with shop.http() as http:
        answer = http.get(f"/admin/Promotions(ID={entity_id},IsActiveEntity=true)?$expand=posGroups,calculationConfig")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def id_of(page: Page) -> str:
    """Return the ID of the promotion that a page shows, as a whole or in steps."""
    found = re.search(r"#/promotions?/(?:guide/)?([0-9a-f-]{36})", page.url)
    assert found, page.url
    return found[1]


def fill(page: Page, label: str, value: str) -> None:
    field = page.locator(f"{HERE}generalContent").get_by_label(label, exact=True)
    field.fill(value)
    field.press("Tab")


@pytest.mark.smoke
def test_a_promotion_is_created_checked_activated_and_prices_a_basket(either_desk: Desk) -> None:
    desk = either_desk
    with desk.shop.http() as http:
        article = http.get("/admin/Articles?$filter=isActive eq true and currency eq 'EUR'&$top=1").json()["value"][0]
    page = desk.sit("administrator", address="promotions")
    page.locator(f"{LIST}create").click()
    page.get_by_role("listitem").filter(has_text="From scratch").click()
    page.locator(f"{HERE}save").wait_for()
    fill(page, "Name", "Must hold")
    fill(page, "Priority", "1")
    rules = RulesPage.__new__(RulesPage)
    rules.desk, rules.page, rules.entity_id = desk, page, id_of(page)
    rules.editor = page.locator(".promenadeRules")
    card = rules.add("DiscountActions", "Discount on an article")
    rules.do(card, ("fill", "Discount or price", "50"), ("fill", "On which article", article["articleNumber"]))
    rules.save()
    check = page.locator(f"{HERE}checkContent")
    check.get_by_role("button", name="Check now").click()
    check.get_by_text("It does not run now", exact=True).wait_for()
    page.locator(f"{HERE}activate").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=re.compile("^Activate")).click()
    expect(page.locator(f"{HERE}statusNow")).to_contain_text("Active")
    page.get_by_role("button", name="Deactivate").wait_for()
    expect(page.locator(".sapUiLocalBusyIndicator:visible")).to_have_count(0)  # the page accepts no input before
    page.locator(f"{HERE}simulate").click()
    scan = page.locator("#promenade---simulator--scan-inner")
    scan.fill(article["articleNumber"])
    scan.press("Enter")
    page.locator("#promenade---simulator--applied").get_by_text("Must hold").first.wait_for()


def test_a_refused_rule_saves_nothing_and_names_the_fault(desk: Desk) -> None:
    entity_id = stored(desk.shop, DiscountActions=[{"actionType": "RECEIPT", "discountType": "PERCENTAGE",
                                                     "discountValue": 5}])  # fmt: skip
    rules = RulesPage.editing(desk, entity_id)
    fill(rules.page, "Name", "Half of it")
    card = rules.open(rules.cards("DiscountActions").first)
    field = card.get_by_role("textbox", name="Discount or price", exact=True).first
    field.fill("7")
    field.press("Tab")
    (action,) = rules_of(desk.shop, entity_id, "DiscountActions")
    with desk.shop.http() as http:  # another user deletes what is being changed
        assert http.delete(f"/admin/DiscountActions({action['ID']})").status_code == 204
    rules.press_save()
    rules.page.get_by_role("alertdialog").or_(rules.page.get_by_role("dialog")).first.wait_for()
    assert promotion(desk.shop, entity_id)["name"] == "Rules"
    assert rules.page.url.endswith(",draft")
    with desk.shop.http() as http:
        draft = http.get(f"/admin/Promotions(ID={entity_id},IsActiveEntity=false)").json()
    assert draft["name"] == "Half of it"
    desk.forgive("404 ", "412 ")


def test_missing_values_are_reported_at_their_fields(desk: Desk) -> None:
    page = desk.sit("planner", address="promotion/new")
    page.locator(f"{HERE}save").click()
    page.get_by_role("alertdialog").or_(page.get_by_role("dialog")).first.wait_for()
    escape(page)
    name = page.locator(f"{HERE}generalContent").get_by_label("Name", exact=True)
    expect(name).to_have_attribute("aria-invalid", "true")


def test_leaving_unsaved_rules_needs_a_confirmation(desk: Desk) -> None:
    rules = RulesPage.editing(desk, stored(desk.shop))
    rules.add("Conditions", "Time of day and weekdays")
    page = rules.page
    page.locator("#promenade---shell--navigation").get_by_text("Overview").click()
    page.get_by_text("You have changed rules of this promotion").wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.wait_for_url("**,draft")
    expect(rules.cards("Conditions")).to_have_count(1)
    page.locator("#promenade---shell--navigation").get_by_text("Overview").click()
    page.get_by_role("button", name="Leave without them").click()
    page.wait_for_url(lambda url: "promotion" not in url)


@pytest.mark.smoke
def test_a_planner_submits_and_an_administrator_approves(desk: Desk) -> None:
    entity_id = stored(desk.shop)
    planner = desk.sit("planner", address=f"promotion/{entity_id}")
    expect(planner.locator(f"{HERE}approve")).to_have_count(0)
    planner.locator(f"{HERE}submit").click()
    expect(planner.locator(f"{HERE}statusNow")).to_contain_text("Pending approval")
    boss = desk.sit("administrator", address=f"promotion/{entity_id}")
    boss.locator(f"{HERE}approve").click()
    expect(boss.locator(f"{HERE}statusNow")).to_contain_text("Approved")
    reader = desk.sit("controller", address=f"promotion/{entity_id}")
    expect(reader.locator(f"{HERE}statusNow")).to_contain_text("Approved")
    for button in ("edit", "activate", "deactivate", "delete"):
        expect(reader.locator(f"{HERE}{button}")).to_have_count(0)


def copied(shop: Shop, entity_id: str) -> dict[str, Any]:
    """Return a promotion and its rules without the properties generated for each row."""

    def bare(value: Any) -> Any:
        if isinstance(value, list):
            return sorted((bare(one) for one in value), key=str)
        if isinstance(value, dict):
            return {key: bare(one) for key, one in value.items() if key not in OF_A_ROW and "@" not in key}
        return value

    with shop.http() as http:
        groups = http.get(f"/admin/PriorityGroupPromotions?$filter=promotion_ID eq {entity_id}").json()["value"]
        parts = {
            part: http.get(f"/admin/{part}?$filter=promotion_ID eq {entity_id}&$expand={expand}").json()["value"]
            for part, expand in PARTS.items()
        }
    found: dict[str, Any] = bare({"root": promotion(shop, entity_id), "groups": groups, **parts})
    return found


@pytest.mark.alone
def test_a_promotion_from_a_template_equals_the_one_that_the_service_creates(desk: Desk) -> None:
    page = desk.sit("administrator", address="promotions")
    begun = time.monotonic()
    for name in ("Buy more, save more", "Extra points", "3 for 2"):
        page.locator(f"{LIST}fromTemplate").click()
        page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=name, exact=True)).click()
        page.locator(f"{GUIDE}save").click()
        page.locator(f"{GUIDE}edit").wait_for()
        with desk.shop.http("erp") as http:
            found = http.get(f"/api/v1/PromotionTemplates?$filter=name eq '{name}'").json()["value"][0]
            made = http.post("/api/v1/createPromotionFromTemplate", json={"templateId": found["ID"]})
            assert made.status_code < 300, made.text
        answer = made.json()
        other = answer.get("ID") or answer.get("value") or answer.get("promotionId")
        assert copied(desk.shop, id_of(page)) == copied(desk.shop, str(other))
        page.locator("#promenade---shell--navigation").get_by_text("Promotions").click()
    assert time.monotonic() - begun < 3 * 60


def test_save_that_is_pressed_while_rules_are_read_waits_for_them(desk: Desk) -> None:
    page = desk.sit("administrator", address="promotions")
    rules = "**/admin/DiscountActions?*"
    held = Held(page, rules)
    page.locator(f"{LIST}fromTemplate").click()
    page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="3 for 2", exact=True)).click()
    reading = held.wait_for_one()
    page.locator(f"{GUIDE}save").click()
    reading.continue_()
    let_through(page, rules)
    page.locator(f"{GUIDE}edit").wait_for()
    assert [one["actionType"] for one in rules_of(desk.shop, id_of(page), "DiscountActions")] == ["BUNDLE"]


def test_a_template_is_changed_while_a_promotion_is_made_of_it(desk: Desk) -> None:
    page = desk.sit("planner", language="de")
    page.locator("#promenade---home--fromTemplate").click()
    page.get_by_role("listitem").filter(has_text="Money off big baskets").first.click()
    page.locator(f"{GUIDE}save").wait_for()
    desk.settle(page)
    name = page.locator(f"{GUIDE}whatContent").get_by_label("Bezeichnung", exact=True)
    name.fill("Sieben ab siebzig")
    name.press("Tab")
    rules = page.locator(f"{GUIDE}whatRules")
    rules.get_by_label("Rabatt oder Preis").fill("7,50")
    rules.get_by_label("Wert", exact=True).fill("70")
    page.locator(f"{GUIDE}save").click()
    page.locator(f"{GUIDE}edit").wait_for()
    expect(page.locator(f"{GUIDE}name")).to_have_text("Sieben ab siebzig")
    assert rules_of(desk.shop, id_of(page), "DiscountActions")[0]["discountValue"] == 7.5
    assert rules_of(desk.shop, id_of(page), "Conditions")[0]["value"] == "70"


def test_a_forecast_is_asked_for_and_shown(desk: Desk) -> None:
    entity_id = stored(desk.shop, DiscountActions=[{"actionType": "RECEIPT", "discountType": "PERCENTAGE",
                                                     "discountValue": 5}])  # fmt: skip
    page = desk.sit("planner", address=f"promotion/{entity_id}")
    part = page.locator(f"{HERE}forecastContent")
    part.get_by_role("button", name="Forecast").click()
    part.get_by_text("Cost and sales by currency").wait_for()
    part.get_by_text("Promotions that it displaces").or_(part.get_by_text("Sales with the promotion")).first.wait_for()


def test_a_check_explains_its_findings_and_links_to_them(desk: Desk) -> None:
    page = desk.sit("controller", address=f"promotion/{stored(desk.shop)}")
    part = page.locator(f"{HERE}checkContent")
    part.get_by_role("button", name="Check now").click()
    part.get_by_text("It gives nothing", exact=True).wait_for()
    part.get_by_text('Add what it gives under "Rules".').wait_for()
    part.get_by_role("link", name="Show").first.click()
    expect(page.locator(".promenadeRules").get_by_text("What it gives").first).to_be_in_viewport()
