"""What was found for a promotion is marked once the promotion is another, until it is run again."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk
from tests.ui.rules.page import rules_of, stored
from tests.ui.test_everywhere import judge

HERE = "#promenade---promotion--"
MARK = "Outdated: the promotion was changed since."
ACTION = {"actionType": "RECEIPT", "discountType": "PERCENTAGE", "discountValue": 5}


def marks(page: Page, check: int, forecast: int) -> None:
    """Expect the marks of the check and of the forecast, or none."""
    expect(page.locator(f"{HERE}checkContent").get_by_text(MARK)).to_have_count(check)
    expect(page.locator(f"{HERE}forecastContent").get_by_text(MARK)).to_have_count(forecast)


@pytest.mark.smoke
def test_check_and_forecast_are_marked_outdated_after_an_edit_and_run_again(desk: Desk) -> None:
    entity_id = stored(desk.shop, DiscountActions=[ACTION])
    page = desk.sit("planner", address=f"promotion/{entity_id}")
    check, forecast = page.locator(f"{HERE}checkContent"), page.locator(f"{HERE}forecastContent")
    check.get_by_role("button", name="Check now").click()
    check.get_by_text("It does not run now", exact=True).wait_for()
    forecast.get_by_role("button", name="Forecast").click()
    forecast.get_by_text("Cost and sales by currency").wait_for()
    page.locator(f"{HERE}submit").click()
    expect(page.locator(f"{HERE}statusNow")).to_contain_text("Pending approval")
    desk.settle(page)
    marks(page, 0, 0)  # it was moved on, not changed

    page.locator(f"{HERE}edit").click()
    page.wait_for_url("**,draft")
    field = page.locator(f"{HERE}generalContent").get_by_label("Priority", exact=True)
    field.fill("7")
    field.press("Tab")
    page.locator(f"{HERE}save").click()
    page.locator(f"{HERE}edit").wait_for()
    marks(page, 1, 1)
    assert not judge(page)
    check.get_by_role("button", name="Run again").click()
    marks(page, 0, 1)
    forecast.get_by_role("button", name="Run again").click()
    marks(page, 0, 0)

    with desk.shop.http() as http:  # somebody else takes the rule away
        (rule,) = rules_of(desk.shop, entity_id, "DiscountActions")
        assert http.delete(f"/admin/DiscountActions({rule['ID']})").status_code == 204
    page.reload()
    forecast.get_by_text("Cost and sales by currency").wait_for()
    marks(page, 0, 1)
