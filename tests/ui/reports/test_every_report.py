"""Every report: it opens, shows charts, and the table beside each matches the service's response."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from itertools import accumulate
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, choose, escape, wait_until
from tests.ui.reports.pages import Reports, figure, last_days, number, numbers, opened, twin

NOTHING = "\u2013"
FIRST, LAST = last_days(28)
PERIOD = f"day ge {FIRST} and day le {LAST} and currency eq 'EUR'"
CHARTS = {
    "performance": ["byDay", "ranking", "posGroups", "byWeekday", "byHour", "distribution"],
    "budgets": ["utilization", "burnDown", "shares", "stakeholders"],
    "coupons": ["funnel", "couponTypes", "sharedTypes"],
    "abTests": ["averageBasket", "conversionRate", "trialDays", "trials"],
    "hours": ["busiest"],
    "advice": ["adviceMoney", "adviceRate", "advice-NearMissROI", "advice-ThresholdGapROI"],
    "sales": ["salesByDay"],
}


def sit(desk: Desk, address: str, card: str, **how: str) -> Page:
    """Open a report for the period queried here: the page's default changes at midnight."""
    joint = "&" if "?" in address else "?"
    page = desk.sit(address=f"reports/{address}{joint}from={FIRST}&to={LAST}", **how)
    opened(page, card)
    return page


@pytest.mark.parametrize("report", CHARTS)
def test_every_chart_of_a_report_is_drawn_and_has_a_gist_and_a_table(desk: Desk, reports: Reports, report: str) -> None:
    page = sit(desk, f"{report}?currency=EUR", CHARTS[report][0])
    for card in CHARTS[report]:
        opened(page, card)
        picture = page.locator(f".promCard-{card} .promChartPicture")
        box = picture.locator("canvas").bounding_box()
        assert box is not None
        assert box["width"] > 200, card
        assert box["height"] > 80, card
        is_drawn = (
            "canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean)"
        )
        wait_until(page, is_drawn, arg=picture.locator("canvas").element_handle())
        assert picture.get_attribute("role") == "img"
        assert "Highest" in (picture.get_attribute("aria-label") or ""), card
        assert twin(page, card), card
    assert "reports." not in page.locator("body").inner_text()


@pytest.mark.smoke
def test_performance_by_day_shows_the_sums_of_the_service(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "performance?currency=EUR", "byDay")
    apply = f"filter({PERIOD})/groupby((day),aggregate(totalDiscount with sum as given,applications with sum as times))"
    rows = reports.rows("PromotionUsageByDay", apply=apply, orderby="day")
    assert len(rows) > 3
    # A day may have no row, or one of nothing: few shop on a Sunday.
    for column, name in ((1, "given"), (2, "times")):
        shown = [value for value in numbers(page, "byDay", column) if value]
        assert shown == [row[name] for row in rows if row[name]]
    assert len(twin(page, "byDay")) == 28
    assert number(figure(page, "Discount given")) == sum(row["given"] for row in rows)


def test_performance_ranks_promotions_and_shows_more_of_them(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "performance?currency=EUR", "ranking")
    apply = f"filter({PERIOD})/groupby((promotionId,promotionName),aggregate(totalDiscount with sum as given))"
    rows = reports.rows("PromotionUsageByDay", apply=apply, orderby="given desc", top="20")
    assert [row[0] for row in twin(page, "ranking")] == [row["promotionName"] for row in rows[:10]]
    page.locator(".promCard-ranking").get_by_role("button", name="Show 10 more").click()
    page.locator(".promCard-ranking tbody tr").nth(19).wait_for(state="attached")
    assert numbers(page, "ranking") == [row["given"] for row in rows]


def test_revenue_with_promotions_is_that_of_the_sales_they_applied_to(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "performance?currency=EUR", "posGroups")
    sold = f"confirmedAt ge {FIRST}T00:00:00Z and currency eq 'EUR' and promotions/any(p:p/pilotArm ne 'CONTROL')"
    row = reports.row("CalculationLogs", apply=f"filter({sold})/aggregate(grandTotal with sum as revenue)")
    assert number(figure(page, "Revenue with promotions")) == row["revenue"]
    assert sum(numbers(page, "posGroups")) == row["revenue"]


def test_the_report_of_one_promotion_shows_its_results(desk: Desk, reports: Reports) -> None:
    best = reports.rows("PromotionPerformance", orderby="applicationsCount desc", filter="currency eq 'EUR'", top="1")[
        0
    ]
    page = sit(desk, f"performance?promotion={best['promotionId']}", "articles")
    assert number(figure(page, "Applications altogether")) == best["applicationsCount"]
    average = best["avgDiscountPerTx"].quantize(Decimal("0.01"), ROUND_HALF_UP)
    assert number(figure(page, "Average discount per sale")) == average
    rows = reports.rows(
        "PromotionTopArticles", filter=f"promotionId eq {best['promotionId']} and currency eq 'EUR'", orderby="rank"
    )
    assert numbers(page, "articles") == [row["totalDiscount"] for row in rows]
    opened(page, "uplift")


def test_sales_of_a_control_arm_are_not_sales_with_the_promotion(desk: Desk, reports: Reports) -> None:
    trial = reports.rows("ABTestResults", filter="promotionName eq 'Experiment: 11 % off juice'")[0]["promotionId"]
    page = sit(desk, f"performance?promotion={trial}", "byDay")
    days = f"filter(promotionId eq {trial} and day ge {FIRST})/aggregate(applications with sum as times)"
    applications = reports.row("PromotionUsageByDay", apply=days)["times"]
    assert number(figure(page, "Sales with this promotion")) == applications
    assert number(figure(page, "Applications")) == applications


def test_a_pos_group_narrows_performance_to_its_sales(desk: Desk, reports: Reports) -> None:
    [group] = reports.rows("PosGroups", "admin", filter="code eq 'DE-HAM' and IsActiveEntity eq true")
    page = sit(desk, f"performance?currency=EUR&posGroup={group['ID']}", "ranking")
    where = f"log/currency eq 'EUR' and log/posGroup_ID eq {group['ID']} and pilotArm ne 'CONTROL'"
    sold = f"log/confirmedAt ge {FIRST}T00:00:00Z and {where}"
    row = reports.row("CalculationLogPromotions", apply=f"filter({sold})/aggregate(totalDiscount with sum as given)")
    assert number(figure(page, "Discount given")) == row["given"]
    assert [one[0] for one in twin(page, "posGroups")] == [group["name"]]


@pytest.mark.smoke
def test_budgets_show_their_utilization_and_expected_end(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "budgets", "burnDown")
    rows = reports.rows("BudgetUtilization", orderby="utilizationPct desc", top="10")  # other tests add budgets
    assert numbers(page, "utilization") == [row["utilizationPct"] for row in rows]
    assert numbers(page, "utilization", 3) == [row["remainingAmount"] for row in rows]
    fullest = rows[0]
    assert number(figure(page, "Left")) == fullest["remainingAmount"]
    words = page.locator(".promCard-burnDown").inner_text()
    assert ("nothing will be left on" in words) != ("it will not be used up" in words)  # as fast as it was spent by now
    left = [row for row in twin(page, "burnDown") if row[1] != NOTHING]
    assert number(left[-1][1]) == fullest["remainingAmount"]
    # As it is spent day by day, the remainder falls to its current value from what the days before have left.
    at_first = number(left[0][1]) + number(left[0][-1])
    assert at_first <= fullest["totalAmount"]
    spent = list(accumulate(number(row[-1]) for row in left))
    assert [at_first - one for one in spent] == [number(row[1]) for row in left]


def test_who_pays_for_budgets_is_shown(desk: Desk, reports: Reports) -> None:
    budget = reports.rows("BudgetUtilization", filter="budgetName eq 'Leaflet budget'")[0]["budgetId"]
    page = sit(desk, f"budgets?budget={budget}", "shares")
    rows = reports.rows("StakeholderCostBreakdown", filter=f"budgetId eq {budget}", orderby="stakeholderCost desc")
    assert len(rows) > 1
    assert numbers(page, "shares") == [row["stakeholderCost"] for row in rows]
    apply = "filter(currency eq 'EUR')/groupby((stakeholderName),aggregate(stakeholderCost with sum as cost))"
    rows = reports.rows("StakeholderCostBreakdown", apply=apply, orderby="cost desc")
    assert numbers(page, "stakeholders") == [row["cost"] for row in rows]


def test_the_coupon_funnel_shows_pooled_issued_and_redeemed_codes(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "coupons", "funnel")
    sums = "totalPooled with sum as pooled,totalIssued with sum as issued,totalRedeemed with sum as redeemed"
    row = reports.row("CouponAnalytics", apply=f"filter(codeType eq 'INDIVIDUAL')/aggregate({sums})")
    funnel = {one[0]: number(one[1]) for one in twin(page, "funnel")}
    assert (funnel["In the pool"], funnel["Issued"], funnel["Redeemed"]) == (
        row["pooled"],
        row["issued"],
        row["redeemed"],
    )
    shared = reports.rows("CouponAnalytics", filter="codeType eq 'GENERIC'", orderby="totalRedeemed desc")
    assert numbers(page, "sharedTypes") == [one["totalRedeemed"] for one in shared]


def hours_of(reports: Reports, period: str) -> dict[tuple[int, int], dict[str, Any]]:
    sums = "aggregate(transactions with sum as n,totalDiscount with sum as given)"
    rows = reports.rows("PromotionUsageByDayAndHour", apply=f"filter({period})/groupby((weekday,hour),{sums})")
    return {(row["weekday"], row["hour"]): row for row in rows}


def test_the_heat_map_has_every_hour_of_the_week(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "hours?currency=EUR", "heatMap")
    expected = hours_of(reports, PERIOD)
    cells = page.locator(".promHeat td[data-hour]").evaluate_all(
        "all => all.map(one => [Number(one.dataset.weekday), Number(one.dataset.hour), one.textContent, one.ariaLabel])"
    )
    assert len(cells) == 168
    shown = {(weekday, hour): int(text) for weekday, hour, text, _ in cells if text}
    assert shown == {key: row["n"] for key, row in expected.items()}
    page.get_by_role("option", name="Discount").click()
    page.wait_for_url("**measure=discount**")
    page.locator(".promHeat[aria-label^='Discount']").wait_for()
    labels = page.locator(".promHeat td[data-hour]").evaluate_all(
        "all => all.map(one => [Number(one.dataset.weekday), Number(one.dataset.hour), one.ariaLabel])"
    )
    for weekday, hour, label in labels:
        given = expected[weekday, hour]["given"] if (weekday, hour) in expected else 0
        assert number(label.rpartition(": ")[2]) == given, label


def test_hours_are_those_of_the_period(desk: Desk, reports: Reports) -> None:
    first, last = last_days(7)
    expected = hours_of(reports, f"day ge {first} and day le {last} and currency eq 'EUR'")
    assert expected != hours_of(reports, PERIOD)
    page = desk.sit(address="reports/hours?currency=EUR")
    opened(page, "heatMap")
    choose(page.get_by_role("combobox", name="Period", exact=True), "Last 7 days")
    page.wait_for_url(f"**from={first}&to={last}**")
    total = (
        "[...document.querySelectorAll('.promHeat td[data-hour]')].reduce((n, one) => n + Number(one.textContent), 0)"
    )
    wait_until(page, f"expected => {total} === expected", arg=sum(row["n"] for row in expected.values()))
    assert sum(numbers(page, "busiest")) <= sum(row["n"] for row in expected.values())
    page.evaluate("location.hash = location.hash.replace('hours', 'performance')")
    opened(page, "byHour")
    apply = f"filter(day ge {first} and day le {last} and currency eq 'EUR')"
    rows = reports.rows(
        "PromotionUsageByDayAndHour",
        apply=f"{apply}/groupby((hour),aggregate(totalDiscount with sum as given))",
        orderby="hour",
    )
    assert numbers(page, "byHour") == [row["given"] for row in rows]


def test_the_advice_report_compares_extra_revenue_with_discounts(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "advice?currency=EUR", "adviceMoney")
    names = {"extraRevenue": "extra", "totalDiscount": "given", "netGain": "gain", "shown": "shown"}
    sums = ",".join(f"{path} with sum as {name}" for path, name in names.items())
    kinds = ["NearMissROI", "ThresholdGapROI", "ProgressiveNudgesROI", "SavingsSummaryROI"]
    rows = [reports.row(one, apply=f"filter({PERIOD})/aggregate({sums})") for one in kinds]
    assert numbers(page, "adviceMoney", 1)[:4] == [row["extra"] for row in rows]
    assert numbers(page, "adviceMoney", 2)[:4] == [row["given"] for row in rows]
    assert [number(one[3]) for one in twin(page, "adviceMoney")[:4]] == [row["gain"] for row in rows]
    assert numbers(page, "adviceRate", 2)[:4] == [Decimal(row["shown"]) for row in rows]


def test_a_sale_can_be_followed_down_to_its_lines(desk: Desk, reports: Reports) -> None:
    most = {"filter": "currency eq 'EUR'", "orderby": "applicationsCount desc", "top": "1"}
    busiest = reports.rows("PromotionPerformance", **most)[0]["promotionId"]
    page = sit(desk, f"sales?promotion={busiest}", "sales")
    is_in = f"promotions/any(p:p/promotion_ID eq {busiest} and p/pilotArm ne 'CONTROL')"
    filter_ = f"{is_in} and confirmedAt ge {FIRST}T00:00:00Z"
    sales = reports.rows("CalculationLogs", filter=filter_, orderby="confirmedAt desc,ID", expand="items,promotions")
    receipts = page.locator(".promCard-sales a").all_inner_texts()
    assert receipts == [sale["receiptId"] for sale in sales[:25]]
    page.get_by_text(receipts[0], exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.wait_for()
    for row in sales[0]["promotions"]:
        expect(dialog).to_contain_text(row["promotionName"])
    for row in sales[0]["items"]:
        expect(dialog).to_contain_text(row["articleNumber"])
    escape(page)
    dialog.wait_for(state="hidden")
    page.get_by_role("button", name="Show 25 more").click()
    page.locator(".promCard-sales a").nth(25).wait_for()
    assert page.locator(".promCard-sales a").all_inner_texts() == [sale["receiptId"] for sale in sales[:50]]
