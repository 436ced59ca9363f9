"""What is around every page: who is signed in, areas by role, languages and colours."""

from __future__ import annotations

from tests.ui.desk import Desk


def test_the_back_office_opens_with_the_areas_of_the_role(desk: Desk) -> None:
    page = desk.sit("administrator")
    entries = page.locator("#promenade---shell--navigation")
    assert "Simulator" in entries.inner_text()
    assert page.locator("#promenade---shell--person").inner_text() == "demo-administrator"


def test_who_may_not_price_sees_no_simulator(desk: Desk) -> None:
    page = desk.sit("controller")
    assert "Simulator" not in page.locator("#promenade---shell--navigation").inner_text()


def test_german_is_a_press_away_and_stays(desk: Desk) -> None:
    page = desk.sit()
    with page.expect_navigation():
        page.get_by_text("Deutsch", exact=True).click()
    page.get_by_role("treeitem", name="Überblick").wait_for()
    page.reload()
    page.get_by_role("treeitem", name="Überblick").wait_for()
