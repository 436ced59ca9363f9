"""Regions unknown to the framework: dates in the format of the closest known region."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.ui.desk import Desk
from tests.ui.shell.test_regions import ADDRESS, _writes

expect.set_options(timeout=20_000)


@pytest.mark.sampled(test=2, check=2)
@pytest.mark.parametrize(
    ("locale", "moment"),
    [
        ("en-NG", "20 Nov 2026, 17:30"),
        ("en-DE", "20 Nov 2026, 17:30"),
        ("en-MY", "20 Nov 2026, 5:30"),
        ("en-NZ", "20 Nov 2026, 5:30"),  # known to the framework
        ("en-CA", "Nov 20, 2026, 5:30"),
        ("en-PH", "Nov 20, 2026, 5:30"),
    ],
)
def test_an_unknown_region_of_english_uses_the_closest_known_one(desk: Desk, locale: str, moment: str) -> None:
    _writes(desk.sit("planner", address=ADDRESS, locale=locale), moment, "€1,234.50", "Subtotal")
