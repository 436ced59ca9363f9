"""Draft changes that the service refuses: listed on the page, still in their fields, sent again by Save."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, Route, expect

from tests.ui.desk import Desk, Shop, let_through
from tests.ui.generic.test_objects import active_pos_group, fill
from tests.ui.rules.page import RulesPage, rules_of, stored

HERE = "#promenade---promotion--"
How = Literal["503", "gone"]
OF_THE_TEST = ("503 ", "$batch failed")


@contextmanager
def refusing(page: Page, how: How, times: int | None = None) -> Iterator[list[str]]:
    """Make all changes, or the first ``times``, fail within the block; yield the refused ones."""
    refused: list[str] = []

    def answer(route: Route) -> None:
        body = route.request.post_data or ""
        is_change = "PATCH" in (route.request.method, *body.split())
        if not is_change or (times is not None and len(refused) >= times):
            route.fallback()
        else:
            refused.append(body)
            if how == "gone":
                route.abort("internetdisconnected")
            else:
                route.fulfill(status=503, body="")

    page.route("**/admin/**", answer)
    yield refused
    let_through(page, "**/admin/**")


def draft_of(shop: Shop, entity_id: str, entity_set: str = "Promotions") -> dict[str, Any]:
    with shop.http() as http:
        answer = http.get(f"/admin/{entity_set}(ID={entity_id},IsActiveEntity=false)")
    found: dict[str, Any] = answer.json() if answer.status_code == 200 else {}
    return found


def active_of(shop: Shop, entity_id: str, entity_set: str = "Promotions") -> dict[str, Any]:
    with shop.http() as http:
        found: dict[str, Any] = http.get(f"/admin/{entity_set}(ID={entity_id},IsActiveEntity=true)").json()
    return found


def renamed(page: Page, name: str) -> None:
    field = page.locator(f"{HERE}generalContent").get_by_label("Name", exact=True)
    field.fill(name)
    field.press("Tab")


def ten_percent(rules: RulesPage) -> None:
    card = rules.add("DiscountActions", "Discount on the receipt")
    rules.do(card, ("fill", "Discount or price", "10"))


@pytest.mark.parametrize("how", ["503", "gone"])
def test_a_change_that_failed_once_is_named_and_sent_again_by_save(desk: Desk, how: How) -> None:
    entity_id = stored(desk.shop)
    rules = RulesPage.editing(desk, entity_id)
    page = rules.page
    with refusing(page, how, times=1) as refused:
        renamed(page, "Typed once")
        expect(page.locator(f"{HERE}unsent")).to_contain_text("Not in your draft yet: Name")
        assert len(refused) == 1
        assert draft_of(desk.shop, entity_id)["name"] == "Rules"
        ten_percent(rules)
        rules.save()
    assert active_of(desk.shop, entity_id)["name"] == "Typed once"
    assert len(rules_of(desk.shop, entity_id, "DiscountActions")) == 1
    expect(page.locator(f"{HERE}unsent")).to_have_count(0)
    desk.forgive(*OF_THE_TEST)


@pytest.mark.parametrize("how", ["503", "gone"])
def test_a_promotion_is_not_saved_partially_while_a_change_fails(desk: Desk, how: How) -> None:
    entity_id = stored(desk.shop)
    rules = RulesPage.editing(desk, entity_id)
    page = rules.page
    with refusing(page, how):
        renamed(page, "Typed long")
        ten_percent(rules)
        rules.press_save()
        dialog = page.get_by_role("alertdialog")
        expect(dialog).to_contain_text("nothing was saved. They are still in the fields")
        dialog.get_by_role("button", name="Close").click()
        assert active_of(desk.shop, entity_id)["name"] == "Rules"
        assert rules_of(desk.shop, entity_id, "DiscountActions") == []
        name = page.locator(f"{HERE}generalContent").get_by_label("Name", exact=True)
        expect(name).to_have_value("Typed long")
        expect(page.locator(f"{HERE}unsent")).to_contain_text("Name")
    rules.save()
    assert active_of(desk.shop, entity_id)["name"] == "Typed long"
    assert len(rules_of(desk.shop, entity_id, "DiscountActions")) == 1
    desk.forgive(*OF_THE_TEST)


@pytest.mark.smoke
def test_a_refused_part_is_named_and_sent_again_by_save(desk: Desk) -> None:
    entity_id = stored(desk.shop)
    rules = RulesPage.editing(desk, entity_id)
    page = rules.page
    with refusing(page, "503"):
        for choice in ("What earlier promotions leave", "The original price"):
            rules.do(page.locator(f"{HERE}placesContent"), ("choose", "Percentages are taken of", choice))
            dialog = page.get_by_role("alertdialog")
            dialog.get_by_role("button", name="Close").click()
            expect(dialog).to_be_hidden()
        expect(page.locator(f"{HERE}unsent")).to_contain_text("Calculation")
    rules.save()
    with desk.shop.http() as http:
        found = http.get(f"/admin/Promotions(ID={entity_id},IsActiveEntity=true)?$expand=calculationConfig").json()
    assert found["calculationConfig"]["mode"] == "ADDITIVE"
    desk.forgive(*OF_THE_TEST)


def test_leaving_a_page_with_unsent_changes_needs_a_confirmation(desk: Desk) -> None:
    entity_id = stored(desk.shop)
    page = RulesPage.editing(desk, entity_id).page
    with refusing(page, "503"):
        renamed(page, "Nearly lost")
        expect(page.locator(f"{HERE}unsent")).to_contain_text("Name")
        page.locator("#promenade---shell--navigation").get_by_text("Overview").click()
        page.get_by_text("The service has not taken your last changes").wait_for()
        page.get_by_role("button", name="Cancel").click()
        page.wait_for_url("**,draft")
    name = page.locator(f"{HERE}generalContent").get_by_label("Name", exact=True)
    expect(name).to_have_value("Nearly lost")
    page.locator("#promenade---shell--navigation").get_by_text("Overview").click()
    page.get_by_role("button", name="Leave without them").click()
    page.wait_for_url(lambda url: "promotion" not in url)
    page.goto(f"{desk.shop.url}/#/promotion/{entity_id},draft")
    expect(page.locator(f"{HERE}name")).to_have_text("Rules")
    desk.forgive(*OF_THE_TEST)


@pytest.mark.parametrize("how", ["503", "gone"])
def test_any_draft_names_keeps_and_resends_a_failed_change(desk: Desk, how: How) -> None:
    pos_group = active_pos_group(desk, f"UNSENT-{how}")
    page = desk.sit(address=f"/object/PosGroups/{pos_group}")
    page.get_by_role("button", name="Edit", exact=True).click()
    with refusing(page, how):
        fill(page, "Name", "Typed long")
        page.get_by_text("Not in your draft yet: Name. Save sends it again.").wait_for()
        page.get_by_role("button", name="Save").click()
        dialog = page.get_by_role("alertdialog")
        expect(dialog).to_contain_text("Nothing of what you typed is lost")
        dialog.get_by_role("button", name="Close").click()
        page.locator("#promenade---shell--navigation").get_by_text("Overview").click()
        page.get_by_text("The service has not taken your last changes").wait_for()
        page.get_by_role("button", name="Cancel").click()
        page.wait_for_url("**,draft")
        expect(page.get_by_role("textbox", name="Name", exact=True)).to_have_value("Typed long")
        assert active_of(desk.shop, pos_group, "PosGroups")["name"] == f"Unsent-{how.title()}"
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Edit", exact=True).wait_for()
    assert active_of(desk.shop, pos_group, "PosGroups")["name"] == "Typed long"
    desk.forgive(*OF_THE_TEST)


def test_a_page_edited_in_place_is_left_by_the_navigation_once_that_is_confirmed(desk: Desk) -> None:
    with desk.shop.http() as http:
        body = {"name": "Guarded", "callbackUrl": "http://127.0.0.1:1/", "eventTypes": ["COUPON_ISSUED"]}
        key = http.post("/admin/WebhookSubscriptions", json=body).json()["ID"]
    page = desk.sit(address=f"/object/WebhookSubscriptions/{key}")
    page.get_by_role("button", name="Edit", exact=True).click()
    fill(page, "Name", "Changed")
    overview = page.locator("#promenade---shell--navigation").get_by_text("Overview")
    overview.click()
    page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("textbox", name="Name", exact=True)).to_have_value("Changed")
    page.wait_for_url(f"**/{key}")
    overview.click()
    page.get_by_role("alertdialog").get_by_role("button", name="Leave without saving").click()
    page.wait_for_url(lambda url: url.endswith(("#/", "#")))
