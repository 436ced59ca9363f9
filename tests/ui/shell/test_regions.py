"""Dates, numbers and money in the format of the browser's region, on pages of either language."""

from __future__ import annotations

import base64
import json

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk

RECEIPT = "#promenade---simulator--receipt"
BASKET = {"s": "DE-HAM", "t": "2026-11-20T17:30", "l": [["UNKNOWN", "1", "1234.5"]]}
ADDRESS = f"simulator?b=j{base64.urlsafe_b64encode(json.dumps(BASKET).encode()).decode().rstrip('=')}"


def _writes(page: Page, moment: str, price: str, word: str) -> None:
    for text in (moment, price, word):
        expect(page.locator(RECEIPT)).to_contain_text(text)


@pytest.mark.sampled(test=2, check=2)
@pytest.mark.parametrize(
    ("locale", "moment", "price", "word"),
    [
        ("en-GB", "20 Nov 2026, 17:30", "€1,234.50", "Subtotal"),
        ("en-US", "Nov 20, 2026, 5:30", "€1,234.50", "Subtotal"),
        ("en-GB-oxendict", "20 Nov 2026, 17:30", "€1,234.50", "Subtotal"),
        ("de-DE", "20.11.2026, 17:30", "1.234,50 €", "Zwischensumme"),
        ("de-CH", "20.11.2026, 17:30", "EUR 1'234.50", "Zwischensumme"),
        ("de-AT", "20.11.2026, 17:30", "€ 1 234,50", "Zwischensumme"),
        ("fr-FR", "Nov 20, 2026, 5:30", "€1,234.50", "Subtotal"),  # English without a known region
    ],
)
def test_values_are_shown_in_the_format_of_the_browsers_region(
    desk: Desk, locale: str, moment: str, price: str, word: str
) -> None:
    _writes(desk.sit("planner", address=ADDRESS, locale=locale), moment, price, word)


def test_pages_in_the_other_language_follow_what_the_person_reads_of_it(desk: Desk) -> None:
    page = desk.sit("planner", address=ADDRESS, language="de")
    page.evaluate("localStorage.setItem('promenade.language', 'en')")
    page.add_init_script("Object.defineProperty(navigator, 'languages', {value: ['de-DE', 'de', 'en-GB', 'en']})")
    page.reload()
    _writes(page, "20 Nov 2026, 17:30", "€1,234.50", "Subtotal")
