"""Reports in use: verdicts in words, filters in the URL, files, keyboard, roles, languages, colours."""

from __future__ import annotations

import csv
import io
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, choose, wait_until
from tests.ui.reports.conftest import JUICE
from tests.ui.reports.pages import Reports, figure, last_days, number, numbers, opened, twin
from tests.ui.test_everywhere import judge

REPORTS = ["performance", "budgets", "coupons", "abTests", "hours", "advice", "sales"]


def sit(desk: Desk, address: str, card: str, role: str = "administrator", **how: str) -> Page:
    page = desk.sit(role, address=f"reports/{address}", **how)
    opened(page, card)
    return page


# ---- A/B tests ----------------------------------------------------------------------------------------------------


def written(p_value: Decimal) -> str:
    """Return a p-value as the verdict writes it."""
    return "p < 0.001" if p_value < Decimal("0.001") else f"p = {p_value.quantize(Decimal('0.001'), ROUND_HALF_UP)}"


def often(p_value: Decimal, of_all: str, fewer: str) -> str:
    """Return how often chance alone brings it about; ``of_all`` has a place for the number."""
    times = int(p_value * 100 + Decimal("0.5"))
    return of_all.format(times) if times else fewer


@pytest.mark.smoke
def test_an_experiment_explains_its_uplift_in_words(desk: Desk, juice: dict[str, Any]) -> None:
    page = sit(desk, f"abTests?promotion={juice['promotionId']}", "verdict")
    assert number(figure(page, "Uplift of the average basket")) == juice["revenueUplift"]
    assert number(figure(page, "Uplift of the conversion rate")) == juice["uplift"]
    words = page.locator(".promCard-verdict").inner_text()
    for p_value, is_significant in (
        (juice["revenuePValue"], juice["revenueIsSignificant"]),
        (juice["pValue"], juice["isSignificant"]),
    ):
        assert written(p_value) in words
        assert often(p_value, "about {} of 100 such trials", "fewer than 1 of 100 such trials") in words
        assert ("significant." if is_significant else "not significant.") in words
    assert "95 % confidence interval" in words
    assert "even if the promotion had no effect" in words


def test_an_experiment_explains_its_uplift_in_german(desk: Desk, juice: dict[str, Any]) -> None:
    page = sit(desk, f"abTests?promotion={juice['promotionId']}", "verdict", language="de")
    words = page.locator(".promCard-verdict").inner_text()
    assert written(juice["revenuePValue"]).replace(".", ",") in words
    for p_value in (juice["revenuePValue"], juice["pValue"]):
        assert often(p_value, "in etwa {} von 100 solchen Versuchen", "in weniger als 1 von 100 solchen") in words


def test_both_arms_are_shown_side_by_side(desk: Desk, juice: dict[str, Any]) -> None:
    page = sit(desk, f"abTests?promotion={juice['promotionId']}", "averageBasket")
    assert [row[0] for row in twin(page, "averageBasket")] == ["Control arm", "With the promotion"]
    assert numbers(page, "averageBasket") == [juice["controlAvgBasket"], juice["experimentAvgBasket"]]
    assert numbers(page, "conversionRate") == [juice["controlConversionRate"], juice["experimentConversionRate"]]
    assert numbers(page, "averageBasket", 2) == [juice["controlTransactions"], juice["experimentTransactions"]]


SAID: list[tuple[tuple[float | None, ...], list[str]]] = [
    ((24.3, 0.028, 100, 100), ["higher", "p = 0.028", "about 3 of 100", "significant."]),
    ((-3.0, 0.0004, 500, 500), ["lower", "p < 0.001", "fewer than 1 of 100", "significant."]),
    ((5.0, 0.049_96, 90, 90), ["p = 0.0500", "about 5 of 100", "significant."]),
    ((5.0, 0.050_04, 90, 90), ["p = 0.0500", "not significant."]),
    ((0, 1, 90, 90), ["did not differ", "100 of 100", "not significant."]),
    ((9.0, 0.03, 12, 90), ["With fewer than 30 baskets"]),
    ((None, None, 1, 90), ["Too few baskets yet: 1 with the promotion, 90"]),
    ((None, None, 40, 40), ["cannot be tested"]),
]


def test_words_of_significance_claim_no_more_than_the_test_does(desk: Desk) -> None:
    page = desk.sit(address="reports")
    page.locator(".promDoor").first.wait_for()
    for given, said in SAID:
        words = page.evaluate(
            """async ([uplift, pValue, treated, control]) => {
              const load = (names) => new Promise((resolve) => sap.ui.require(names, (...all) => resolve(all)));
              const [Verdict, Component] = await load(["promenade/reports/Verdict", "sap/ui/core/Component"]);
              const bundle = await Component.getComponentById("promenade").getModel("i18n").getResourceBundle();
              const t = (key, ...values) => bundle.getText(`reports.${key}`, values);
              return Verdict.ofBaskets(t, {uplift, pValue, level: 0.05, treated, control});
            }""",
            list(given),
        )
        assert [one for one in said if one not in words] == [], f"of {given}: {words}"
        is_refuted = any("not significant" in one for one in said)
        assert ("not significant" in words) == is_refuted, f"of {given}: {words}"


# ---- filters and files --------------------------------------------------------------------------------------------


def test_the_gallery_leads_to_every_report(desk: Desk) -> None:
    page = desk.sit(address="reports")
    doors = page.locator(".promDoor")
    doors.first.wait_for()
    assert doors.evaluate_all("all => all.map(one => one.getAttribute('href'))") == [
        f"#reports/{one}" for one in REPORTS
    ]
    page.get_by_role("heading", name="A/B tests").click()
    opened(page, "verdict")


def test_a_promotion_is_found_by_its_name_and_stays_in_the_address(
    desk: Desk, reports: Reports, juice: dict[str, Any]
) -> None:
    page = sit(desk, "performance", "ranking")
    page.get_by_role("textbox", name="Promotion", exact=True).press_sequentially("off JUICE")
    page.get_by_role("option", name=JUICE).click()
    page.wait_for_url(f"**promotion={juice['promotionId']}**")
    opened(page, "articles")
    page.reload()
    opened(page, "articles")
    expect(page.get_by_role("textbox", name="Promotion", exact=True)).to_have_value(JUICE)
    page.go_back()
    opened(page, "ranking")


def test_a_period_is_kept_in_the_address(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "performance?currency=EUR", "byDay")
    choose(page.get_by_role("combobox", name="Period", exact=True), "Last 7 days")
    first, last = last_days(7)
    page.wait_for_url(f"**from={first}&to={last}**")
    expect(page.locator(".promCard-byDay .promChart tbody tr")).to_have_count(7)
    apply = f"filter(day ge {first} and day le {last} and currency eq 'EUR')/aggregate(totalDiscount with sum as given)"
    assert number(figure(page, "Discount given")) == reports.row("PromotionUsageByDay", apply=apply)["given"]


def test_a_currency_is_never_mixed_with_another(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "performance?currency=JPY", "byDay")
    first, last = last_days(28)
    apply = f"filter(day ge {first} and day le {last} and currency eq 'JPY')/aggregate(totalDiscount with sum as given)"
    assert "¥" in figure(page, "Discount given")
    assert number(figure(page, "Discount given")) == reports.row("PromotionUsageByDay", apply=apply)["given"]


@pytest.mark.parametrize(
    ("report", "name", "first_column", "entity_set"),
    [
        ("performance", "promotion-performance.csv", "promotionId", "PromotionPerformanceByCurrency"),
        ("budgets", "budget-utilization.csv", "budgetId", "BudgetUtilization"),
        ("coupons", "coupon-analytics.csv", "couponTypeId", "CouponAnalytics"),
        ("abTests", "ab-test-results.csv", "promotionId", "ABTestResultsByCurrency"),
    ],
)
def test_a_report_is_downloaded_as_a_spreadsheet(
    desk: Desk, reports: Reports, report: str, name: str, first_column: str, entity_set: str
) -> None:
    page = desk.sit(address=f"reports/{report}")
    with page.expect_download() as started:
        page.get_by_role("button", name="Download CSV").click()
    assert started.value.suggested_filename == name
    rows = list(csv.reader(io.StringIO(Path(started.value.path()).read_text("utf-8"))))
    assert rows[0][0] == first_column
    expected = reports.rows(entity_set)
    if report == "performance":  # of 28 days, and the demo has sold for longer
        first, last = last_days(28)
        groups = "groupby((promotionId,currency),aggregate(applications with sum as times))"
        expected = reports.rows("PromotionUsageByDay", apply=f"filter(day ge {first} and day le {last})/{groups}")
    assert {row[0] for row in rows[1:]} == {row[first_column] for row in expected}
    assert len(rows) - 1 == len(expected)


def test_a_download_holds_the_chosen_promotion_alone(desk: Desk, juice: dict[str, Any]) -> None:
    page = sit(desk, f"abTests?promotion={juice['promotionId']}", "verdict")
    with page.expect_download() as started:
        page.get_by_role("button", name="Download CSV").click()
    rows = list(csv.reader(io.StringIO(Path(started.value.path()).read_text("utf-8"))))
    assert [row[1] for row in rows[1:]] == [JUICE]


# ---- for everybody ------------------------------------------------------------------------------------------------


def test_a_chart_becomes_its_table_by_keyboard(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "performance?currency=EUR", "ranking")
    card = page.locator(".promCard-ranking")
    card.get_by_role("option", name="Show as a chart").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    card.get_by_role("region", name="Promotions that gave most").last.wait_for()
    expect(card.locator("canvas")).not_to_be_in_viewport()
    link = card.locator("table a").first
    name = link.inner_text()
    link.press("Enter")
    opened(page, "articles")
    expect(page.get_by_role("textbox", name="Promotion", exact=True)).to_have_value(name)


def test_arrow_keys_move_through_the_hours_of_the_week(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "hours", "heatMap")
    page.locator(".promHeat td[tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused.startswith("Tuesday, 02:00: ")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.title").startswith("Tuesday, 23:00: ")


def test_charts_are_destroyed_with_their_page(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "performance", "ranking")
    are_alive = """([least, most]) => new Promise((resolve) =>
      sap.ui.require(["promenade/framework/chart"], (Chart) => {
      const [alive, seen] = [Object.values(Chart.instances).length, document.querySelectorAll("canvas").length];
      resolve(alive === seen && least <= seen && seen <= most);
    }))"""
    wait_until(page, are_alive, arg=[2, 99])
    page.evaluate("location.hash = 'reports/hours'")
    opened(page, "heatMap")
    wait_until(page, are_alive, arg=[1, 1])


def test_charts_are_not_animated_for_users_who_prefer_reduced_motion(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "hours", "busiest", reduced_motion="reduce")
    animation = """() => new Promise((resolve) => sap.ui.require(["promenade/framework/chart"], (Chart) =>
      resolve(Object.values(Chart.instances)[0].options.animation)))"""
    assert page.evaluate(animation) is False


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_colours_of_charts_stand_out_from_their_ground(desk: Desk, reports: Reports, colours: str) -> None:
    page = sit(desk, "hours", "busiest", colours=colours)
    ratios = page.evaluate(
        """() => new Promise((resolve) => sap.ui.require(["promenade/reports/Colours"], (Colours) => {
          const light = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
            .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
            .reduce((sum, one, index) => sum + one * [0.2126, 0.7152, 0.0722][index], 0);
          const long = (hex) => hex.length === 4 ? "#" + [...hex.slice(1)].map((one) => one + one).join("") : hex;
          const ratio = (one, other) => {
            const [high, low] = [light(long(one)), light(long(other))].sort((a, b) => b - a);
            return (high + 0.05) / (low + 0.05);
          };
          const ground = Colours.background();
          resolve({graphics: [0, 1, 2, 3, 4, 5].map((one) => ratio(Colours.line(one), ground)),
            texts: [Colours.text(), Colours.muted()].map((one) => ratio(one, ground))});
        }))"""
    )
    assert min(ratios["graphics"]) >= 3, ratios
    assert min(ratios["texts"]) >= 4.5, ratios


@pytest.mark.sampled(test=2, check=2)
@pytest.mark.parametrize("look", [("light", "en"), ("dark", "de")], ids=["light", "dark"])
@pytest.mark.parametrize("report", REPORTS)
def test_reports_can_be_used_by_everybody(desk: Desk, reports: Reports, report: str, look: tuple[str, str]) -> None:
    colours, language = look
    page = desk.sit(address=f"reports/{report}", colours=colours, language=language)
    page.locator(".promCard canvas").first.wait_for()
    opened(page, {"hours": "heatMap", "performance": "distribution"}.get(report, "") or report_card(report))
    assert not judge(page)


def report_card(report: str) -> str:
    return {"budgets": "burnDown", "coupons": "funnel", "abTests": "verdict", "advice": "adviceMoney"}.get(
        report, "sales"
    )


@pytest.mark.parametrize("role", ["planner", "controller"])
def test_planners_and_controllers_read_reports(desk: Desk, reports: Reports, role: str) -> None:
    page = sit(desk, "budgets", "burnDown", role=role)
    assert numbers(page, "utilization")
    page.evaluate("location.hash = 'reports/performance'")
    opened(page, "ranking")
    assert numbers(page, "ranking")


@pytest.mark.smoke
def test_german_reports_have_german_numbers_and_days(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "performance?currency=EUR", "byWeekday", language="de")
    assert "Montag" in [row[0] for row in twin(page, "byWeekday")]
    assert all(row[1].endswith("€") for row in twin(page, "byWeekday"))
    assert "reports." not in page.locator("body").inner_text()
