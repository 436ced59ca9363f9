"""Whoever comes to a page, or has done something there, sees what is stored now: lists, counts, parts, prices."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk

SIMULATOR = "#promenade---simulator--"


def made(desk: Desk, set_name: str, **values: Any) -> str:
    """Create something without the browser; return its ID."""
    with desk.shop.http() as http:
        answer = http.post(f"/admin/{set_name}", json={"IsActiveEntity": True, **values})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["ID"])


def elsewhere_and_back(page: Page) -> None:
    """Go to the gallery of reports, which reads nothing, and leave the rest to the test and the browser's Back."""
    page.locator("#promenade---shell--navigation").get_by_text("Reports", exact=True).click()
    page.get_by_role("heading", level=1, name="Reports").wait_for()


@pytest.mark.smoke
def test_lists_parts_and_prices_are_read_again_when_somebody_comes_back(desk: Desk) -> None:
    mark = uuid4().hex[:8]
    campaign = made(desk, "Campaigns", code=f"C-{mark}", name=f"Campaign {mark}")
    page = desk.sit(address="list/Campaigns")
    listed = page.get_by_role("heading", level=1, name=re.compile(r"Campaigns \(\d+\)"))
    count = int(re.findall(r"\d+", listed.inner_text())[0])
    page.get_by_role("button", name="Reset filters").click()  # the address says so already
    elsewhere_and_back(page)
    made(desk, "Campaigns", code=f"D-{mark}", name=f"Another {mark}")
    page.go_back()
    expect(listed).to_have_text(f"Campaigns ({count + 1})")

    page.goto(f"{desk.shop.url}/#/object/Campaigns/{campaign}")
    page.get_by_text("No promotion belongs to this campaign yet.").wait_for()
    elsewhere_and_back(page)
    made(desk, "Promotions", name=f"Promotion {mark}", campaign_ID=campaign)
    page.go_back()
    page.get_by_role("link", name=f"Promotion {mark}").wait_for()

    page.goto(f"{desk.shop.url}/#/promotions?search={mark}")
    page.get_by_text("Draft (1)").wait_for()
    elsewhere_and_back(page)
    made(desk, "Promotions", name=f"Second {mark}")
    page.go_back()
    page.get_by_text("Draft (2)").wait_for()
    page.get_by_role("link", name=f"Second {mark}").wait_for()


def test_a_basket_is_priced_again_when_somebody_comes_back_to_it(desk: Desk) -> None:
    page = desk.sit(address="simulator")
    scan = page.locator(f"{SIMULATOR}scan-inner")
    scan.fill("100078")
    scan.press("Enter")
    total = page.locator(f"{SIMULATOR}grandTotal")
    expect(total).to_contain_text(re.compile(r"\d"))
    page.wait_for_url("**simulator?b=**")
    before = total.inner_text()
    elsewhere_and_back(page)
    key = made(desk, "Promotions", name="Price of today", priority=1)
    rule = {"promotion_ID": key, "actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 50}
    with desk.shop.http() as http:
        assert http.post("/admin/DiscountActions", json=rule).status_code == 201
        assert http.post(f"/admin/Promotions(ID={key},IsActiveEntity=true)/activate", json={}).status_code == 200
    page.go_back()
    expect(total).not_to_have_text(before)
    with desk.shop.http() as http:
        assert http.post(f"/admin/Promotions(ID={key},IsActiveEntity=true)/deactivate", json={}).status_code == 200


def test_what_an_action_or_a_part_changes_is_read_again(desk: Desk) -> None:
    mark = uuid4().hex[:8]
    budget = made(desk, "Budgets", code=mark, name=f"Budget {mark}", totalAmount=100, currency="EUR")
    page = desk.sit(address=f"object/Budgets/{budget}")
    used = page.get_by_text(re.compile(r"used, .* left")).first
    expect(used).to_contain_text("of €100.00")
    page.get_by_role("region", name=re.compile("contributions", re.I)).get_by_role("button", name="Add").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name=re.compile("^Amount")).fill("50")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Expand Header").click()
    expect(used).to_contain_text("of €150.00")
