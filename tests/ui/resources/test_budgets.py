"""Budgets: their utilization is shown and described, and money is paid in."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.ui.desk import Desk


def _used(desk: Desk) -> dict[str, str]:
    with desk.shop.http() as http:
        found = http.get("/admin/Budgets?$filter=consumedAmount gt 0&$orderby=code&$top=1").json()["value"]
    return dict(found[0])


@pytest.mark.smoke
def test_a_budget_shows_what_was_left_day_by_day_and_says_it(desk: Desk) -> None:
    budget = _used(desk)
    page = desk.sit("controller", address=f"/object/Budgets/{budget['ID']}")
    expect(page.get_by_role("progressbar").first).to_have_attribute("aria-valuetext", re.compile(r"^[\d.]+ ?%"))
    page.get_by_text(re.compile(r"^[\d.]+ ?% used, .* of .* left$")).wait_for()
    page.get_by_role("heading", name="What was left at the end of each day").wait_for()
    page.get_by_role("option", name="As a table: What was left at the end of each day").or_(
        page.get_by_role("radio", name=re.compile("table", re.IGNORECASE))
    ).first.click()
    expect(page.get_by_role("table", name="What was left at the end of each day")).to_contain_text("Spent that day")


def test_an_unspent_budget_shows_a_message(desk: Desk) -> None:
    body = {"code": "UI-FRESH", "name": "Fresh", "totalAmount": 10, "currency": "EUR", "IsActiveEntity": True}
    with desk.shop.http() as http:
        key = http.post("/admin/Budgets", json=body).json()["ID"]
    page = desk.sit(address=f"/object/Budgets/{key}", language="de", colours="dark")
    page.get_by_text("Zuletzt wurde nichts ausgegeben.").or_(page.get_by_text("Sobald Verkäufe")).first.wait_for()
    page.get_by_role("button", name="Aktivieren").wait_for()
