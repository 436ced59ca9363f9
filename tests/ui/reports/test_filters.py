"""Filters of reports: what is typed names something, or is an error."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.ui.desk import Desk
from tests.ui.reports.pages import Reports, opened

NOTHING = "Nothing matches. Choose one of the list."
SEVERAL = "Several match. Choose one of the list."


@pytest.mark.parametrize("field", ["Promotion", "POS group"])
def test_what_names_nothing_is_an_error_of_its_field(desk: Desk, reports: Reports, field: str) -> None:
    page = desk.sit(address="reports/performance")
    opened(page, "ranking")
    address = page.url
    box = page.get_by_role("textbox", name=field, exact=True)
    box.fill("no-such-thing")
    box.press("Enter")
    expect(box).to_have_accessible_error_message(NOTHING)
    expect(box).to_have_value("no-such-thing")
    box.fill("e")
    box.press("Tab")
    expect(box).to_have_accessible_error_message(SEVERAL)
    assert page.url == address
    box.fill("")
    box.press("Tab")
    expect(box).not_to_have_attribute("aria-invalid", "true")


def test_a_whole_name_is_understood_without_the_list(desk: Desk, reports: Reports) -> None:
    [group] = reports.rows("PosGroups", "admin", filter="code eq 'DE-HAM' and IsActiveEntity eq true")
    page = desk.sit(address="reports/performance")
    opened(page, "ranking")
    box = page.get_by_role("textbox", name="POS group", exact=True)
    box.fill(group["name"].upper())
    box.press("Tab")
    page.wait_for_url(f"**posGroup={group['ID']}**")
    opened(page, "posGroups")
    expect(page.get_by_role("textbox", name="POS group", exact=True)).to_have_value(group["name"])


def test_a_report_hears_of_what_another_tab_has_changed(desk: Desk, reports: Reports) -> None:
    page = desk.sit(address="reports/performance?currency=EUR")
    opened(page, "ranking")
    promotion = reports.rows("PromotionPerformanceByCurrency", filter="currency eq 'EUR'", top="1")[0]
    box = page.get_by_role("textbox", name="Promotion", exact=True)
    box.fill("half typed")
    with page.expect_request("**/reporting/$batch"):
        page.evaluate(
            """id => {
              const other = new BroadcastChannel("promenade.news");
              other.postMessage([{set: "Promotions", id}]);
              other.close();
            }""",
            promotion["promotionId"],
        )
    opened(page, "ranking")
    expect(box).to_have_value("half typed")
