"""What stands behind a bar: a press on it opens that, as its name in the table does; the way back keeps the filters."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.ui.desk import Desk, wait_until
from tests.ui.generic.test_objects import first
from tests.ui.reports.pages import Reports, last_days, numbers, opened, twin

FIRST, LAST = last_days(28)
FILTERS = f"currency=EUR&from={FIRST}&to={LAST}"


def press(page: Page, card: str, index: int = 0) -> None:
    """Click into the middle of a bar."""
    canvas = page.locator(f".promCard-{card}:visible canvas")
    canvas.scroll_into_view_if_needed()
    is_drawn = """canvas => new Promise((resolve) => sap.ui.require(["promenade/framework/chart"], (Chart) =>
      resolve(Boolean(Chart.getChart(canvas)))))"""
    wait_until(page, is_drawn, arg=canvas.element_handle())
    at: dict[str, Any] = canvas.evaluate(
        """(canvas, index) => new Promise((resolve) => sap.ui.require(["promenade/framework/chart"], (Chart) => {
          const {x, y} = Chart.getChart(canvas).getDatasetMeta(0).data[index].getCenterPoint(true);
          resolve({x, y});
        }))""",
        index,
    )
    canvas.click(position={"x": at["x"], "y": at["y"]})


def link(page: Page, card: str, index: int = 0) -> Locator:
    """Turn a chart into its table, and return the link of a row."""
    box = page.locator(f".promCard-{card}:visible")
    box.get_by_role("option", name="Show as a table").click()
    return box.locator("tbody th a").nth(index)


def test_the_bar_of_a_promotion_leads_to_its_report_and_back(desk: Desk, reports: Reports) -> None:
    page = desk.sit(address=f"reports/performance?{FILTERS}", reduced_motion="reduce")
    opened(page, "ranking")
    name = twin(page, "ranking")[1][0]
    press(page, "ranking", 1)
    page.wait_for_url("**promotion=**")
    opened(page, "articles")
    assert f"from={FIRST}" in page.url
    expect(page.get_by_role("textbox", name="Promotion", exact=True)).to_have_value(name)
    page.go_back()
    opened(page, "ranking")
    assert f"from={FIRST}" in page.url
    assert "promotion=" not in page.url


def test_the_bar_of_a_day_narrows_the_report_to_it(desk: Desk, reports: Reports) -> None:
    page = desk.sit(address=f"reports/performance?{FILTERS}", reduced_motion="reduce")
    opened(page, "byDay")
    sums = numbers(page, "byDay")
    busiest = sums.index(max(sums))  # few shop on a Sunday: a day may have nothing to report
    press(page, "byDay", busiest)
    expect(page.locator(".promCard-byDay .promChart tbody tr")).to_have_count(1)
    day = FIRST + dt.timedelta(days=busiest)
    assert f"from={day}" in page.url
    assert f"to={day}" in page.url


def test_a_row_leads_there_by_keyboard(desk: Desk, reports: Reports) -> None:
    page = desk.sit(address=f"reports/performance?{FILTERS}")
    opened(page, "posGroups")
    name = twin(page, "posGroups")[0][0]
    link(page, "posGroups").press("Enter")
    page.wait_for_url("**posGroup=**")
    group = page.get_by_role("textbox", name="POS group", exact=True)
    expect(group).to_have_value(name)
    page.go_back()
    expect(group).to_have_value("")
    desk.settle(page)  # the report is read again: until then its cards are those of before
    link(page, "byHour").press("Enter")
    page.wait_for_url("**reports/hours**")
    opened(page, "heatMap")
    assert f"from={FIRST}" in page.url


def test_who_pays_and_the_arms_of_a_trial_lead_further(desk: Desk, reports: Reports) -> None:
    page = desk.sit(address="reports/budgets", reduced_motion="reduce")
    opened(page, "stakeholders")
    name = twin(page, "stakeholders")[0][0]
    press(page, "stakeholders")
    page.wait_for_url("**object/Stakeholders/**")
    expect(page.get_by_role("heading", name=name).first).to_be_visible()
    page.goto(f"{desk.shop.url}/#reports/abTests?{FILTERS}")
    opened(page, "trialDays")
    link(page, "trialDays").press("Enter")
    page.wait_for_url("**reports/sales**")
    opened(page, "sales")
    assert "promotion=" in page.url


def test_codes_of_a_status_are_listed(desk: Desk, reports: Reports) -> None:
    kind = first(desk, "CouponTypes?$filter=code eq 'BIRTHDAY'")
    page = desk.sit(address=f"reports/coupons?couponType={kind['ID']}", reduced_motion="reduce")
    opened(page, "funnel")
    assert twin(page, "funnel")[3][0] == "Redeemed"
    count = int(twin(page, "funnel")[3][1])
    press(page, "funnel", 3)
    page.wait_for_url("**list/CouponCodes**")
    expect(page.locator(".sapMToken").filter(has_text=kind["name"])).to_be_visible()
    expect(page.get_by_role("heading", name=f"Coupon codes ({count})")).to_be_visible()
    page.go_back()
    desk.settle(page)  # the report is read again: until then its cards are those of before
    opened(page, "funnel")
    press(page, "funnel")  # in the pool
    page.wait_for_url(f"**object/CouponTypes/{kind['ID']}")


def test_a_kind_of_advice_is_told_by_promotion(desk: Desk, reports: Reports) -> None:
    page = desk.sit(address=f"reports/advice?{FILTERS}", reduced_motion="reduce")
    opened(page, "adviceRate")
    expect(page.locator(".promCard-advice-SavingsSummaryROI")).to_have_count(0)
    press(page, "adviceRate", 3)
    opened(page, "advice-SavingsSummaryROI")
    expect(page.locator(".promCard-advice-NearMissROI")).to_have_count(0)


def test_a_day_of_a_budget_lists_what_was_taken(desk: Desk, reports: Reports) -> None:
    page = desk.sit(address=f"reports/budgets?{FILTERS}", reduced_motion="reduce")
    opened(page, "burnDown")
    rows = twin(page, "burnDown")
    at = next(at for at, row in enumerate(rows) if re.search("[1-9]", row[-1]))
    link(page, "burnDown", at).press("Enter")
    page.wait_for_url("**list/BudgetConsumptions**")
    expect(page.get_by_role("grid").or_(page.get_by_role("table")).get_by_role("row")).not_to_have_count(1)


def test_an_article_of_a_promotion_is_listed(desk: Desk, reports: Reports) -> None:
    page = desk.sit(address=f"reports/performance?{FILTERS}", reduced_motion="reduce")
    opened(page, "ranking")
    press(page, "ranking", 1)
    page.wait_for_url("**promotion=**")
    opened(page, "articles")
    name = twin(page, "articles")[0][0]
    press(page, "articles")
    page.wait_for_url("**list/Articles**")
    expect(page.get_by_role("gridcell", name=name).first).to_be_visible()


def test_a_chart_that_leads_nowhere_stays(desk: Desk, reports: Reports) -> None:
    page = desk.sit(address=f"reports/hours?{FILTERS}", reduced_motion="reduce")
    opened(page, "busiest")
    address = page.url
    press(page, "busiest", 1)
    assert page.url == address
    assert page.locator(".promCard-busiest canvas").evaluate("canvas => canvas.style.cursor") == ""
