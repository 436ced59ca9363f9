"""A report of a period beside that of an earlier one: both figures, and the difference in percent."""

from __future__ import annotations

import datetime as dt
from decimal import ROUND_HALF_UP, Decimal

import pytest
from playwright.sync_api import Page, expect

from tests.ui.desk import Desk, choose
from tests.ui.reports.pages import Reports, last_days, number, numbers, opened, twin

FIRST, LAST = last_days(7)
BEFORE = FIRST - dt.timedelta(days=7), FIRST - dt.timedelta(days=1)
GIVEN = "aggregate(totalDiscount with sum as given)"


def period(first: dt.date, last: dt.date) -> str:
    return f"filter(day ge {first} and day le {last} and currency eq 'EUR')"


def sit(desk: Desk, report: str, card: str, compare: str, **how: str) -> Page:
    page = desk.sit(address=f"reports/{report}?currency=EUR&from={FIRST}&to={LAST}&compare={compare}", **how)
    opened(page, card)
    return page


def note(page: Page, label: str) -> str:
    box = page.locator(".promFigure:visible", has=page.get_by_text(label, exact=True))
    return box.locator(".promFigureNote").inner_text()


def change(now: Decimal, then: Decimal) -> str:
    """Return a difference as pages write it."""
    if not then:
        return "new" if now else "0%"
    found = ((now - then) / then * 100).quantize(Decimal("0.1"), ROUND_HALF_UP)
    return f"{'+' if found > 0 else ''}{f'{found:,f}'.removesuffix('.0')}%"


def given(reports: Reports, apply: str) -> Decimal:
    return Decimal(reports.row("PromotionUsageByDay", apply=f"{apply}/{GIVEN}")["given"] or 0)


def test_figures_are_shown_with_those_of_the_period_before(desk: Desk, reports: Reports) -> None:
    page = desk.sit(address=f"reports/performance?currency=EUR&from={FIRST}&to={LAST}")
    opened(page, "ranking")
    choose(page.get_by_role("combobox", name="Compared with"), "The period before")
    page.wait_for_url("**compare=before**")
    expect(page.locator(".promFigureNote:visible", has_text=" from ")).to_have_count(4)
    now, then = (given(reports, period(*days)) for days in ((FIRST, LAST), BEFORE))
    assert then
    told = note(page, "Discount given").replace("\u2212", "-")
    assert number(told.partition(" from ")[0]) == then
    assert told.endswith(f": {change(now, then)}")
    by_day = [row["given"] for row in reports.rows(
        "PromotionUsageByDay", apply=f"{period(*BEFORE)}/groupby((day),{GIVEN})", orderby="day"
    )]  # fmt: skip
    assert len(twin(page, "byDay")) == 7
    # A day without promotions has no row, and one whose promotions gave only points has 0.
    assert [value for value in numbers(page, "byDay", 2) if value] == [value for value in by_day if value]


def test_each_promotion_is_compared_with_itself(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "performance", "ranking", "before")
    by_name = "groupby((promotionId,promotionName),aggregate(totalDiscount with sum as given))"
    then = {
        row["promotionName"]: row["given"]
        for row in reports.rows("PromotionUsageByDay", apply=f"{period(*BEFORE)}/{by_name}")
    }
    rows = twin(page, "ranking")
    assert rows
    for name, now, before, changed, *_ in rows:
        assert number(before) == then.get(name, 0)
        assert changed.replace("\u2212", "-") == change(number(now), then.get(name, Decimal(0)))


@pytest.mark.parametrize(
    ("report", "card"),
    [("performance", "byDay"), ("sales", "salesByDay"), ("hours", "busiest"), ("advice", "adviceMoney")],
)
def test_what_a_year_ago_had_nothing_is_new(desk: Desk, reports: Reports, report: str, card: str) -> None:
    page = sit(desk, report, card, "year")
    told = "\n".join(" ".join(row) for row in twin(page, card))
    assert "new" in told
    assert "Infinity" not in page.locator("body").inner_text()
    assert "NaN" not in page.locator("body").inner_text()
    heads = page.locator(f".promCard-{card} thead th").all_text_contents()
    assert any(str(LAST.year - 1) in head for head in heads)


def test_sales_are_compared_in_german(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "sales", "salesByDay", "before", language="de")
    assert " vom " in note(page, "Umsatz")
    assert "reports." not in page.locator("body").inner_text()
