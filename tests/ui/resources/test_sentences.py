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


ACTIVE = {"PosGroups": "isActive eq true and IsActiveEntity eq true"}


@pytest.mark.parametrize(("set_name", "language", "said"), SAID, ids=[one[0] for one in SAID])
def test_a_page_begins_with_a_sentence(desk: Desk, set_name: str, language: str, said: str) -> None:
    with desk.shop.http() as http:
        rows = http.get(
            f"/admin/{set_name}?$filter={ACTIVE.get(set_name, 'IsActiveEntity eq true')}&$orderby=createdAt"
        )
    page = desk.sit(address=f"object/{set_name}/{rows.json()['value'][0]['ID']}", language=language)
    expect(page.get_by_text(re.compile(said)).first).to_be_visible()
