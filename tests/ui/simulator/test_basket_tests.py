"""Baskets kept as tests: saved in the simulator, run in their list, shown again, and a warning before activation."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.ui.desk import Desk
from tests.ui.simulator.test_page import COFFEE, PREFIX, choose_store, put
from tests.ui.test_everywhere import judge, require_headings


def save(desk: Desk, name: str, *, language: str = "en") -> Page:
    """Price two packs of coffee in Hamburg and keep the basket as a test."""
    words = {"en": ("Save as test", "Name"), "de": ("Als Test speichern", "Bezeichnung")}[language]
    page = desk.sit("planner", address="simulator", language=language)
    choose_store(page, "DE-HAM")
    put(page, COFFEE, COFFEE)
    expect(page.locator(f"{PREFIX}lines input").first).to_have_value("2")
    page.get_by_role("button", name=words[0]).click()
    dialog = page.get_by_role("dialog", name=words[0])
    dialog.get_by_role("textbox", name=words[1], exact=True).fill(name)
    dialog.get_by_role("button", name=words[0]).click()
    expect(dialog).to_have_count(0)
    return page


def stored(desk: Desk, name: str) -> dict[str, Any]:
    with desk.shop.http() as http:
        (found,) = http.get("/admin/BasketTests", params={"$filter": f"name eq '{name}'"}).json()["value"]
    return dict(found)


def drop(desk: Desk, name: str) -> None:
    """Delete a test: those that belong to no promotion are run by checks of others."""
    with desk.shop.http() as http:
        assert http.delete(f"/admin/BasketTests({stored(desk, name)['ID']})").status_code == 204


def row_of(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has_text=name)


@pytest.mark.smoke
def test_a_basket_is_saved_as_a_test_run_and_opened_again(desk: Desk) -> None:
    name = f"Coffee {uuid4().hex[:6]}"
    page = save(desk, name)
    total = page.locator(f"{PREFIX}grandTotal").inner_text()
    made = stored(desk, name)
    assert re.sub(r"[^\d.]", "", total) == f"{float(made['expectedTotal']):.2f}"
    assert made["expectedPromotions"]
    assert made["pricedAt"] is not None  # the time that the receipt shows, whenever it is run
    page.goto(f"{desk.shop.url}/#list/BasketTests")
    row = row_of(page, name)
    expect(row).to_contain_text("Never run")
    desk.settle(page)
    row.get_by_role("button", name="Run").click()
    expect(row).to_contain_text("Passed")
    desk.settle(page)
    with desk.shop.http() as http:
        request = json.loads(made["request"])
        request["items"][0]["regularUnitPrice"] = "9.99"
        changed = {"expectedTotal": "1.00", "request": json.dumps(request)}
        assert http.patch(f"/admin/BasketTests({made['ID']})", json=changed).status_code == 200
    row.get_by_role("button", name="Run").click()
    told = page.get_by_role("alertdialog").filter(has_text=f"Failed: {name}")
    expect(told).to_contain_text("Expected total 1.00 EUR, got")
    told.get_by_role("button", name="OK").click()
    expect(row).to_contain_text("Failed")
    desk.settle(page)
    row.get_by_role("button", name="Open in Simulator").click()
    expect(page.locator(f"{PREFIX}grandTotal")).to_have_text(total)
    expect(page.locator(f"{PREFIX}store-inner")).to_have_value(re.compile("Hamburg"))
    expect(page.locator(f"{PREFIX}lines input").first).to_have_value("2")
    expect(page.locator(f"{PREFIX}lines")).to_contain_text("Regular price: 9.99")
    drop(desk, name)


def test_all_tests_are_run_and_each_has_a_page(desk: Desk) -> None:
    name = f"Kaffee {uuid4().hex[:6]}"
    page = save(desk, name, language="de")
    page.goto(f"{desk.shop.url}/#list/BasketTests")
    expect(row_of(page, name)).to_contain_text("Noch nie gelaufen")
    desk.settle(page)
    page.get_by_role("button", name="Alle ausführen").click()
    told = page.locator("[role=dialog], [role=alertdialog]").filter(has_text="Alle ausführen")
    expect(told).to_contain_text(re.compile(r"Bestanden: \d+\. Fehlgeschlagen: \d+\."))
    told.get_by_role("button", name="OK").click()
    row = row_of(page, name)
    expect(row).to_contain_text("Bestanden")
    desk.settle(page)
    assert not judge(page)
    row.get_by_text(name).click()
    page.get_by_role("button", name="Im Simulator öffnen").wait_for()
    desk.settle(page)
    assert not judge(page)
    require_headings(page)
    drop(desk, name)


def test_who_does_not_author_promotions_reads_tests_only(desk: Desk) -> None:
    name = f"Coffee {uuid4().hex[:6]}"
    save(desk, name)
    page = desk.sit("controller", address="list/BasketTests")
    expect(row_of(page, name)).to_contain_text("Never run")
    for button in ("Run", "Run All", "New Test in the Simulator", "Create"):
        expect(page.get_by_role("button", name=button, exact=True)).to_have_count(0)
    drop(desk, name)


def test_activating_a_promotion_warns_of_a_test_that_it_breaks(desk: Desk) -> None:
    name = f"Coffee {uuid4().hex[:6]}"
    save(desk, name)
    with desk.shop.http() as http:
        body = {"name": "Coffee for less", "priority": 1, "status": "DRAFT", "IsActiveEntity": True}
        promotion = http.post("/admin/Promotions", json=body).json()["ID"]
        action = {"actionType": "ARTICLE", "discountType": "PERCENTAGE", "discountValue": 50}
        http.post("/admin/DiscountActions", json={**action, "promotion_ID": promotion, "targetArticleNumber": COFFEE})
    page = desk.sit(address=f"promotion/{promotion}")
    page.get_by_role("button", name="Activate", exact=True).click()
    dialog = page.get_by_role("dialog")
    finding = dialog.get_by_role("listitem").filter(has_text=name)
    expect(finding).to_contain_text("A test of prices would fail")
    expect(finding).to_contain_text("Expected total")
    expect(finding.get_by_role("link", name="The test")).to_have_attribute(
        "href", f"#/object/BasketTests/{stored(desk, name)['ID']}"
    )
    dialog.get_by_role("button", name="Cancel").click()
    drop(desk, name)
