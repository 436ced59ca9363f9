"""The columns of lists on screens of usual width."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.ui.desk import Desk

expect.set_options(timeout=20_000)
IS_WHOLE = "cell => cell.scrollWidth <= cell.clientWidth"


def test_every_digit_of_an_ean_is_seen_in_the_list_of_articles(desk: Desk) -> None:
    page = desk.sit(address="/list/Articles", viewport={"width": 1280, "height": 800})
    ean = page.locator("tr.sapUiTableContentRow .sapMText", has_text="4000000000013")
    expect(ean).to_be_visible()
    assert ean.evaluate(IS_WHOLE)
