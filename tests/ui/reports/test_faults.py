"""Failed requests of reports are shown in place and can be retried; everything else stays."""

from __future__ import annotations

import json
import re
from itertools import cycle
from urllib.parse import unquote

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.ui.desk import Desk, Shop, wait_until
from tests.ui.reports.pages import wait_until_counted

# Reports, the part of the query that fails, the card that says so, and one that is unaffected.
PARTS = [
    ("performance", ["PromotionUsageByDay?", "(day)"], "byDay", "ranking"),
    ("performance", ["PromotionUsageByDay?", "promotionName"], "ranking", "byDay"),
    ("performance", ["PromotionUsageByDayAndHour"], "byWeekday", "ranking"),
    ("budgets", ["BudgetConsumptions"], "burnDown", "utilization"),
    ("coupons", ["codeType eq 'GENERIC'"], "sharedTypes", "couponTypes"),
    ("abTests", ["PromotionAbComparison"], "verdict", "trials"),
    ("advice", ["ThresholdGapROI", "promotionName"], "advice-ThresholdGapROI", "adviceMoney"),
    ("sales", ["CalculationLogs?", "receiptId"], "sales", "salesByDay"),
]
UNANSWERED = re.compile("does not answer just now")
DASH = "\N{EN DASH}"
FOCUSED_ANEW = """(first) => {
  const {activeElement} = document;
  const isFirst = [first, `sap-ui-destroyed-${first}`].includes(activeElement.id);
  return activeElement.matches(".promFailed button") && !isFirst;
}"""
FOCUSED_BOX = "() => document.activeElement.matches('.promCard:not(.promFailed), .promFigures, .promHeadline')"
BUSY = "The database is busy."


@pytest.fixture(scope="module", autouse=True)
def counted(shop: Shop) -> None:
    """Make sure that no figures change during the tests."""
    wait_until_counted(shop)


class Fault:
    """Answers requests for figures in the service's place while active, if their queries contain all the words."""

    def __init__(self, page: Page, words: list[str], status: int) -> None:
        self._words = words
        self._status = status
        self.is_over = False
        page.route("**/$batch", self._answer)

    def _answer(self, route: Route) -> None:
        queries = json.loads(route.request.post_data or "{}").get("requests", [])
        if self.is_over or not any(all(word in unquote(one["url"]) for word in self._words) for one in queries):
            route.continue_()
        elif self._status == 503:  # as a proxy answers
            route.fulfill(status=503, body="<h1>Service Unavailable</h1>", content_type="text/html")
        else:
            error = {"error": {"code": "BUSY", "message": BUSY}}
            answers = [{"id": one["id"], "status": 200, "body": {"value": []}} for one in queries[1:]]
            failed = {"id": queries[0]["id"], "status": self._status, "body": error}
            route.fulfill(json={"responses": [failed, *answers]})


def card(page: Page, name: str) -> Locator:
    """Return a card of the current report."""
    return page.locator(f".promCard-{name}:visible")


@pytest.mark.sampled(test=2, check=2)
@pytest.mark.parametrize(
    ("report", "words", "name", "other", "status"),
    [(*one, status) for one, status in zip(PARTS, cycle([500, 503]), strict=False)],
    ids=[f"{one[0]}-{one[2]}" for one in PARTS],
)
def test_a_failed_box_shows_an_error_and_can_be_retried(
    desk: Desk, report: str, words: list[str], name: str, other: str, status: int
) -> None:
    page = desk.sit(address="reports")
    fault = Fault(page, words, status)
    page.evaluate(f"location.hash = 'reports/{report}'")
    failed = card(page, name)
    expect(failed).to_contain_text(f"This could not be read. {BUSY if status == 500 else ''}")
    expect(card(page, other)).to_be_visible()
    expect(page.locator(".promFailed:visible")).to_have_count(1)
    order = page.locator(".promCard:visible").evaluate_all("all => all.map((one) => one.className)")
    again = failed.get_by_role("button", name="Try again")
    first_button = again.get_attribute("id")
    again.press("Enter")
    # It has failed again: the focus is on the new button.
    wait_until(page, FOCUSED_ANEW, arg=first_button)
    expect(again).to_have_count(1)
    fault.is_over = True
    again.press("Enter")
    expect(page.locator(".promFailed:visible")).to_have_count(0)
    expect(card(page, name)).to_be_visible()
    wait_until(page, FOCUSED_BOX)
    expect(page.get_by_role("dialog")).to_have_count(0)
    first = page.locator(".promCard:visible").evaluate_all("all => all.map((one) => one.className)")[0]
    assert first == order[0] or name in order[0]
    desk.forgive("503 POST")


@pytest.mark.smoke
def test_a_report_that_fails_completely_shows_an_error(desk: Desk) -> None:
    page = desk.sit(address="reports")
    fault = Fault(page, ["PromotionUsageByDay"], 503)
    page.evaluate("location.hash = 'reports/performance'")
    expect(card(page, "report")).to_contain_text("The report could not be read")
    expect(card(page, "report")).to_contain_text(UNANSWERED)
    fault.is_over = True
    card(page, "report").get_by_role("button", name="Try again").click()
    expect(card(page, "ranking")).to_be_visible()
    expect(page.locator(".promFailed:visible")).to_have_count(0)
    desk.forgive("503 POST")


def test_a_report_without_sales_shows_a_message_in_each_box(desk: Desk) -> None:
    page = desk.sit(address="reports/performance?from=2001-01-01&to=2001-01-02")
    for name in ("byDay", "ranking", "posGroups"):
        expect(card(page, name)).to_contain_text("There are no figures for this choice yet")
    page.evaluate("location.hash = 'reports/sales?from=2001-01-01&to=2001-01-02'")
    expect(card(page, "sales")).to_contain_text("There are no figures for this choice yet")


def test_the_first_page_shows_what_can_be_read_and_tries_the_rest_again(desk: Desk) -> None:
    page = desk.blank()
    kept = {"accessToken": desk.shop.token("administrator")}
    page.add_init_script(
        f"sessionStorage.setItem('promenade.session', JSON.stringify({{...{json.dumps(kept)}, "
        "expiresAt: Date.now() + 3_600_000}))"
    )
    fault = Fault(page, ["BudgetUtilization"], 503)
    page.goto(desk.shop.url)
    home = page.locator("#promenade---home")
    expect(home.locator("[id$='--unread']")).to_contain_text(UNANSWERED)
    values = home.locator(".promFigureValue")
    expect(values).to_have_count(5)
    expect(home.locator("[id$='--discount'] .promFigureValue")).to_have_text(DASH)
    expect(home.locator("[id$='--running'] .promFigureValue")).to_have_text(re.compile(r"\d"))
    expect(page.get_by_role("dialog")).to_have_count(0)
    fault.is_over = True
    home.get_by_role("button", name="Try again").click()
    expect(home.locator("[id$='--discount'] .promFigureValue")).to_contain_text("€")
    expect(home.locator("[id$='--unread']")).to_have_count(0)
    desk.forgive("503 POST")
