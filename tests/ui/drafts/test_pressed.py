"""The buttons of a promotion's header while one of them is working: disabled, then enabled again."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, Held
from tests.ui.rules.page import RulesPage, stored

HERE = "#promenade---promotion--"
RECEIPT = {"actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 5, "sequence": 10}


def shown(desk: Desk) -> Page:
    """Return the page of a promotion that can be activated."""
    return RulesPage(desk, stored(desk.shop, DiscountActions=[RECEIPT])).page


@pytest.mark.smoke
def test_buttons_are_disabled_while_a_promotion_is_activated(desk: Desk) -> None:
    page = shown(desk)
    copy = page.locator(f"{HERE}copyThis")
    held = Held(page, re.compile("/activate$"))
    page.locator(f"{HERE}activate").click()
    page.get_by_role("dialog").get_by_role("button", name="Activate").click()
    expect(copy).to_be_disabled()
    expect(page.locator(f"{HERE}edit")).to_be_disabled()
    held.wait_for_one().continue_()
    copy.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.locator(f"{HERE}deactivate")).to_be_enabled()


def test_cancelling_a_confirmation_returns_the_focus_to_its_button(desk: Desk) -> None:
    page = shown(desk)
    archive = page.locator(f"{HERE}archive")
    archive.click()
    expect(page.locator(f"{HERE}edit")).to_be_disabled()
    page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
    expect(archive).to_be_enabled()
    expect(archive).to_be_focused()
