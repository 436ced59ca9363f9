"""The home page: it appears in under two seconds, its figures are the service's, and it shows what the user may do."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, Shop, wait_until
from tests.ui.reports.pages import Reports, figure, last_days, number, numbers, opened, wait_until_counted

SECONDS_MAX = 2.0
OWN_WORK_SECONDS_MAX = 1.2
ATTEMPTS_MAX = 5
FIGURES = "() => [...document.querySelectorAll('.promFigureValue')].filter((one) => one.textContent).length === 5"
PROMOTIONS = "IsActiveEntity eq true and status eq "
NOW = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
RUNNING = (
    f"'ACTIVE' and (validFrom eq null or validFrom le {NOW}) and (validTo eq null or validTo gt {NOW})"
    f" and (campaign_ID eq null or campaign/endAt eq null or campaign/endAt gt {NOW})"
)


ZONE = ZoneInfo("Europe/Berlin")  # the browser's
DAY = timedelta(days=1)
YESTERDAY = datetime.now(ZONE).date() - DAY
HALF_A_HUNDREDTH = Decimal("0.005")  # As exact as the page shows a change in percent.
WEEKS = [(YESTERDAY - timedelta(days=back + 6), YESTERDAY - timedelta(days=back)) for back in (0, 7)]


def most_used(reports: Reports) -> str:
    """Return the currency of most applications within 28 days: the one that is shown first."""
    first, last = last_days(28)
    sums = f"filter(day ge {first} and day le {last})/groupby((currency),aggregate(applications with sum as times))"
    return str(reports.rows("PromotionUsageByDay", apply=sums, orderby="times desc")[0]["currency"])


def midnight(day: date) -> str:
    """Return the moment at which a day begins for the browser, in UTC."""
    begin = datetime(day.year, day.month, day.day, tzinfo=ZONE).astimezone(UTC)
    return begin.isoformat(timespec="seconds").replace("+00:00", "Z")


def note(page: Page, label: str) -> str:
    """Return the line below a figure."""
    return page.locator(".promFigure", has_text=label).locator(".promFigureNote").inner_text()


@pytest.fixture(scope="module")
def reports(shop: Shop) -> Iterator[Reports]:
    """Return the service's responses once it has aggregated the demo's sales."""
    wait_until_counted(shop)
    with shop.http() as http:
        yield Reports(http)


def filled(page: Page) -> Page:
    """Return the page with all of its figures loaded."""
    wait_until(page, FIGURES)
    return page


def seat(desk: Desk) -> Page:
    """Return a page in its own browser context, signed in as the administrator, that has requested nothing yet."""
    page = desk.blank()
    kept = json.dumps({"accessToken": desk.shop.token("administrator")})
    page.add_init_script(
        f"sessionStorage.setItem('promenade.session', JSON.stringify({{...{kept}, expiresAt: Date.now() + 3_600_000}}))"
    )
    return page


def time_to_figures(page: Page, url: str) -> tuple[float, float]:
    """Return the seconds from navigation until all figures are shown, and the page's own processing time."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    begin = time.monotonic()
    page.goto(url, wait_until="commit")
    wait_until(page, FIGURES, pause_ms=20)
    took = time.monotonic() - begin
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return took, metrics["ThreadTime"]


@pytest.mark.alone
def test_figures_are_there_in_two_seconds_in_a_browser_that_kept_nothing(
    desk: Desk, reports: Reports, capsys: pytest.CaptureFixture[str]
) -> None:
    """The best of a few, each in its own browser context: other load on the machine is not the page's fault."""
    filled(desk.sit())  # The server's first page, not the browser's: it fills the server's cache of compressed files.
    took, worked = [], []
    for _ in range(ATTEMPTS_MAX):
        page = seat(desk)
        seconds, own = time_to_figures(page, f"{desk.shop.url}/")
        again, _own = time_to_figures(page, f"{desk.shop.url}/")
        took.append((seconds, again))
        worked.append(own)
        page.context.close()
        if seconds < SECONDS_MAX:
            break
    with capsys.disabled():
        shown = ", ".join(f"{empty:.2f} and {kept:.2f}" for empty, kept in took)
        print(f"\nfirst page, seconds without and with a cache: {shown}; own work {min(worked):.2f}")
    assert min(empty for empty, _ in took) < SECONDS_MAX
    assert min(worked) < OWN_WORK_SECONDS_MAX


@pytest.mark.smoke
def test_figures_are_those_of_the_service(desk: Desk, reports: Reports) -> None:
    page = filled(desk.sit())
    found: dict[int, tuple[Decimal, Decimal]] = {}
    first, last = last_days(28)
    main = most_used(reports)
    for place in (0, 1):
        period = f"day ge {WEEKS[place][0]} and day le {WEEKS[place][1]} and currency eq '{main}'"
        given = f"filter({period})/aggregate(totalDiscount with sum as given)"
        sold = f"confirmedAt ge {midnight(WEEKS[place][0])} and confirmedAt lt {midnight(WEEKS[place][1] + DAY)}"
        sold += f" and currency eq '{main}' and promotions/any(p:p/pilotArm ne 'CONTROL')"
        revenue = f"filter({sold})/aggregate(grandTotal with sum as revenue)"
        found[place] = (
            reports.row("PromotionUsageByDay", apply=given)["given"],
            reports.row("CalculationLogs", apply=revenue)["revenue"],
        )
    for label, now, before in zip(("Discount given", "Revenue with promotions"), *found.values(), strict=True):
        assert number(figure(page, label)) == now
        change = re.search(r"([\d.,]+)%", note(page, label))
        assert change is not None
        assert abs(number(change[1]) - abs(now - before) / before * 100) <= HALF_A_HUNDREDTH
    for label, status in (("Running promotions", RUNNING), ("Waiting for approval", "'PENDING_APPROVAL'")):
        rows = reports.rows("Promotions", "admin", filter=f"{PROMOTIONS}{status}", select="ID", top="1000")
        assert number(figure(page, label)) == len(rows)
    full = reports.rows("BudgetUtilization", filter="utilizationPct gt 80 and status ne 'EXPIRED'")
    assert number(figure(page, "Budgets near their end")) == len(full)
    opened(page, "last28")
    days = (
        f"filter(day ge {first} and day le {last} and currency eq '{main}')/aggregate(totalDiscount with sum as given)"
    )
    assert sum(numbers(page, "last28")) == reports.row("PromotionUsageByDay", apply=days)["given"]


def test_one_currency_at_a_time_is_shown_and_kept(desk: Desk, reports: Reports) -> None:
    page = filled(desk.sit())
    bar = page.get_by_role("listbox", name="Currency")
    expect(bar.get_by_role("option", name=most_used(reports), exact=True)).to_have_attribute("aria-selected", "true")
    bar.get_by_role("option", name="JPY", exact=True).click()
    expect(page.locator(".promFigure", has_text="Discount given")).to_contain_text("¥")
    expect(page.locator(".promFigure", has_text="Revenue with promotions")).to_contain_text("¥")
    week = f"day ge {WEEKS[0][0]} and day le {WEEKS[0][1]} and currency eq 'JPY'"
    sums = "groupby((promotionId,promotionName),aggregate(totalDiscount with sum as given))"
    [best, *_] = reports.rows("PromotionUsageByDay", apply=f"filter({week})/{sums}", orderby="given desc,promotionId")
    first = page.locator(".promCard-top li").first
    expect(first).to_contain_text(best["promotionName"])
    expect(first).to_contain_text("¥")
    expect(page.get_by_role("heading", name="Discount of the last 28 days in JPY")).to_be_visible()
    page.reload()
    expect(page.locator(".promFigure", has_text="Discount given")).to_contain_text("¥")
    desk.settle(page)  # the list is filled once more when its currency is known
    expect(first).to_contain_text(best["promotionName"])
    first.click()
    page.wait_for_url(f"**/reports/performance?promotion={best['promotionId']}&currency=JPY**")


def test_what_begins_and_ends_within_a_week_is_listed_by_its_moment(desk: Desk, reports: Reports) -> None:
    page = filled(desk.sit("planner"))
    now = datetime.now(UTC)
    begin, end = (one.isoformat(timespec="seconds").replace("+00:00", "Z") for one in (now, now + timedelta(days=7)))
    counts = []
    for word, property_ in (("Starts", "validFrom"), ("Ends", "validTo")):
        due = f"{PROMOTIONS}'ACTIVE' and {property_} ge {begin} and {property_} lt {end}"
        rows = reports.rows("Promotions", "admin", filter=due, orderby=f"{property_},ID", select="ID,name")
        counts.append(len(rows))
        expect(page.locator(".promCard-week li", has_text=rows[0]["name"]).filter(has_text=word).first).to_be_visible()
    more = sum(counts) - sum(min(count, 5) for count in counts)
    expect(page.locator(".promCard-week")).to_contain_text(f"And {more} more")
    page.locator(".promCard-week").get_by_role("button", name="Calendar").click()
    page.wait_for_url("**/calendar**")


def test_nothing_but_alerts_is_listed_as_needing_attention(desk: Desk) -> None:
    page = filled(desk.sit())
    expect(page.locator(".promCard-week li").first).to_be_visible()
    for text in ("Waits for approval", "Starts", "Ends"):
        expect(page.locator(".promCard-attention")).not_to_contain_text(text)


@pytest.fixture
def nearly_empty(shop: Shop, reports: Reports) -> Iterator[str]:
    """Return the name of a budget that is nearly used up for the duration of the test."""
    row = reports.rows("BudgetUtilization", filter="consumedAmount gt 0", orderby="utilizationPct desc")[0]
    address = f"/admin/Budgets(ID={row['budgetId']},IsActiveEntity="

    def set_total(amount: Decimal) -> None:
        with shop.http() as http:
            http.post(f"{address}true)/draftEdit", json={"PreserveChanges": True}).raise_for_status()
            http.patch(f"{address}false)", json={"totalAmount": float(amount)}).raise_for_status()
            http.post(f"{address}false)/draftActivate", json={}).raise_for_status()

    set_total(round(row["consumedAmount"] * Decimal("1.04"), 2))
    yield row["budgetName"]
    set_total(row["totalAmount"])


def test_items_that_need_attention_link_to_the_page_that_fixes_them(desk: Desk, nearly_empty: str) -> None:
    page = filled(desk.sit())
    assert number(figure(page, "Budgets near their end")) > 0
    entry = page.locator(".promCard-attention li", has_text=nearly_empty)
    expect(entry).to_contain_text("% used up")
    entry.click()
    opened(page, "burnDown")
    expect(page.locator(".promCard-burnDown")).to_contain_text(f"Burn-down: {nearly_empty}")


def test_a_promotion_that_waits_for_approval_is_a_press_away(desk: Desk, reports: Reports) -> None:
    [waiting, *_] = reports.rows(
        "Promotions", "admin", filter=f"{PROMOTIONS}'PENDING_APPROVAL'", orderby="modifiedAt desc"
    )
    page = filled(desk.sit())
    page.locator(".promCard-waiting").get_by_text(waiting["name"], exact=True).click()
    page.wait_for_url(f"**/promotion/{waiting['ID']}")


def test_open_drafts_of_the_user_are_listed_and_can_be_continued(desk: Desk) -> None:
    with desk.shop.http("planner") as http:
        made = http.post("/admin/Promotions", json={"name": "Half a thought"}).json()
    try:
        page = filled(desk.sit("planner"))
        page.locator(".promCard-drafts").get_by_text("Half a thought", exact=True).click()
        page.wait_for_url(f"**/promotion/{made['ID']},draft")
    finally:
        with desk.shop.http("planner") as http:
            http.delete(f"/admin/Promotions(ID={made['ID']},IsActiveEntity=false)")


def test_the_home_page_offers_only_what_the_role_allows(desk: Desk) -> None:
    page = filled(desk.sit("controller"))
    expect(page.get_by_role("button", name="New promotion")).to_have_count(0)
    expect(page.get_by_role("button", name="Simulate a basket")).to_have_count(0)
    expect(page.locator(".promCard-drafts")).to_have_count(0)
    page = filled(desk.sit("administrator"))
    page.get_by_role("button", name="New promotion").wait_for()
    page.get_by_role("button", name="Simulate a basket").click()
    page.wait_for_url("**/simulator")


@pytest.mark.smoke
def test_the_home_page_sends_four_requests(desk: Desk) -> None:
    page = seat(desk)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    page.goto(f"{desk.shop.url}/")
    filled(page)
    page.locator(".promCard-top li").first.wait_for()
    assert sorted(url.partition(desk.shop.url)[2] for url in asked) == [
        "/admin/$batch", "/reporting/$batch", "/reporting/$batch", "/reporting/$batch",
    ]  # fmt: skip


def test_the_home_page_is_shown_in_german(desk: Desk, reports: Reports) -> None:
    page = filled(desk.sit(language="de", colours="dark"))
    assert figure(page, "Gewährter Rabatt").endswith("€")
    opened(page, "last28")
    assert "home." not in page.locator("body").inner_text()
