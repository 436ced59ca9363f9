"""The columns of lists on screens of common widths, and rows that are as high as their texts."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, wait_until

IS_WHOLE = """text => [...document.querySelectorAll("tr.sapUiTableContentRow .sapMText")]
  .some((one) => one.textContent === text && one.clientWidth && one.scrollWidth <= one.clientWidth)"""
# Whether all of a text lies within what of the rows is seen.
IS_IN_SIGHT = """text => [...document.querySelectorAll("tr.sapUiTableContentRow .sapMText")]
  .filter((one) => one.textContent.endsWith(text))
  .some((one) => {
    const [row, rows] = [one.getBoundingClientRect(), one.closest(".sapUiTableCCnt").getBoundingClientRect()];
    return row.height > 0 && row.top >= rows.top && row.bottom <= rows.bottom + 1;
  })"""


def test_every_digit_of_an_ean_is_visible_in_the_list_of_articles(desk: Desk) -> None:
    page = desk.sit(address="/list/Articles", viewport={"width": 1280, "height": 800})
    page.get_by_role("gridcell", name="4000000000013").wait_for()
    wait_until(page, IS_WHOLE, arg="4000000000013")


def _long_names(desk: Desk, word: str, count: int) -> None:
    with desk.shop.http() as http:
        for at in range(count):
            name = " ".join([word, *["with a name of many words"] * 6, f"no. {at:02}"])
            row = {"IsActiveEntity": True, "articleNumber": f"{word}-{at:02}", "name": name}
            assert http.post("/admin/Articles", json=row).status_code == 201


def _opened(desk: Desk, word: str, count: int) -> Page:
    page = desk.sit(address="/list/Articles", viewport={"width": 1024, "height": 768})
    page.get_by_role("searchbox").fill(word)
    page.get_by_role("heading", name=f"Articles ({count})", exact=True).wait_for()
    return page


def test_a_few_rows_with_long_texts_are_all_seen_at_once(desk: Desk) -> None:
    _long_names(desk, "TALLFEW", 3)
    page = _opened(desk, "TALLFEW", 3)
    for at in range(3):
        wait_until(page, IS_IN_SIGHT, arg=f"no. {at:02}")


def test_many_rows_with_long_texts_are_scrolled_to_the_end_of_the_last(desk: Desk) -> None:
    _long_names(desk, "TALLMANY", 30)
    page = _opened(desk, "TALLMANY", 30)
    wait_until(page, IS_IN_SIGHT, arg="no. 00")
    page.locator(".sapUiTableVSb").evaluate("bar => { bar.scrollTop = bar.scrollHeight; }")
    wait_until(page, IS_IN_SIGHT, arg="no. 29")
    expect(page.get_by_role("gridcell", name="TALLMANY-29")).to_be_visible()
