"""Pages of campaigns, coupon types, articles and POS groups begin with a sentence of how these stand."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.ui.desk import Desk

SAID = [
    (
        "Campaigns",
        "de",
        r"^Sie (endet am .+; verbleibende Tage|beginnt am .+; Tage bis dahin): \d+\.$|: Sie endete am .+\.$",
    ),
    ("CouponTypes", "en", r"^(Each coupon has a code of its own|All customers present the same code)\."),
    ("Articles", "en", r"^It usually costs (€|CHF|¥|\$|£|zł)\s?[\d.,]+ per \w+\.$"),
    ("PosGroups", "de", r"^Ihre Kassen bekommen Preise in [A-Z]{3}, nach der Uhr von \w+/\w+\.$"),
]


@pytest.mark.parametrize(("set_name", "language", "said"), SAID)
def test_a_page_begins_with_a_sentence(desk: Desk, set_name: str, language: str, said: str) -> None:
    page = desk.sit(address=f"/list/{set_name}", language=language)
    page.locator(".sapUiTableContentRow:visible").first.wait_for()
    page.locator(".sapUiTableContentRow:visible").first.get_by_role("gridcell").nth(0).click()
    page.wait_for_url(re.compile(f"object/{set_name}"))
    expect(page.get_by_text(re.compile(said)).first).to_be_visible()
