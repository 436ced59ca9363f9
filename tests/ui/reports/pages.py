"""Reports as tests read them: the service's responses, and the table beside a chart."""

from __future__ import annotations

import datetime as dt
import re
import time
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import httpx2
from playwright.sync_api import Page, expect

from tests.ui.desk import Shop

__all__ = ["Reports", "figure", "last_days", "number", "numbers", "opened", "twin", "wait_until_counted"]

_PARTS = {"usage", "advice", "uplift", "hoursOfDay", "arms.compared", "budget rates"}
_COUNTING_SECONDS_MAX = 300


class Reports:
    """Responses of `/reporting` and `/admin`, without the browser."""

    def __init__(self, http: httpx2.Client) -> None:
        self._http = http

    def rows(self, entity_set: str, service: str = "reporting", **options: str) -> list[dict[str, Any]]:
        """Return the rows for query options, whose names are given without `$`."""
        answer = self._http.get(f"/{service}/{entity_set}", params={f"${name}": text for name, text in options.items()})
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json(parse_float=Decimal)["value"]
        return found

    def row(self, entity_set: str, **options: str) -> dict[str, Any]:
        """Return the only row."""
        [found] = self.rows(entity_set, **options)
        return found


def wait_until_counted(shop: Shop) -> None:
    """Wait until the worker has aggregated the demo's sales, after which figures do not change."""
    end = time.monotonic() + _COUNTING_SECONDS_MAX
    with shop.http() as http:
        while time.monotonic() < end:
            runs = http.get("/reporting/AggregatorRuns?$select=name&$filter=status eq 'COMPLETED'").json()["value"]
            codes = http.get("/reporting/CouponAnalytics?$select=countedAt").json()["value"]
            if {run["name"] for run in runs} >= _PARTS and all(one["countedAt"] for one in codes):
                return
    raise AssertionError("reports were not counted in time")


def opened(page: Page, card: str) -> None:
    """Wait until a card of the current report is there."""
    expect(page.locator(f".promCard-{card}:visible")).to_be_visible()
    expect(page.locator(".sapUiLocalBusyIndicator:visible")).to_have_count(0)


def twin(page: Page, card: str) -> list[list[str]]:
    """Return the rows of the table that belongs to a chart, whichever of the two is shown."""
    rows: list[list[str]] = page.locator(f".promCard-{card} .promChart table tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    return rows


def number(text: str) -> Decimal:
    """Return the number in an English text such as `€1,234.50`."""
    return Decimal(re.sub(r"[^\d.-]", "", text))


def numbers(page: Page, card: str, column: int = 1) -> list[Decimal]:
    """Return a column of the chart's table."""
    return [number(row[column]) for row in twin(page, card)]


def figure(page: Page, label: str) -> str:
    """Return the figure with this label."""
    box = page.locator(".promFigure:visible", has=page.get_by_text(label, exact=True))
    return box.locator(".promFigureValue").inner_text()


def last_days(count: int) -> tuple[dt.date, dt.date]:
    """Return a period of so many days that ends today, in the time zone of the test browsers."""
    today = dt.datetime.now(dt.UTC).astimezone(ZoneInfo("Europe/Berlin")).date()
    return today - dt.timedelta(days=count - 1), today
