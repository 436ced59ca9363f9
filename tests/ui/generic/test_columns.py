"""The columns of lists on screens of common widths."""

from __future__ import annotations

from tests.ui.desk import Desk, wait_until

IS_WHOLE = """text => [...document.querySelectorAll("tr.sapUiTableContentRow .sapMText")]
  .some((one) => one.textContent === text && one.clientWidth && one.scrollWidth <= one.clientWidth)"""


def test_every_digit_of_an_ean_is_visible_in_the_list_of_articles(desk: Desk) -> None:
    page = desk.sit(address="/list/Articles", viewport={"width": 1280, "height": 800})
    page.get_by_role("gridcell", name="4000000000013").wait_for()
    wait_until(page, IS_WHOLE, arg="4000000000013")
