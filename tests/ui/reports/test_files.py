"""Tables of reports as files for spreadsheets: whole, with all digits, in the signs of the region."""

from __future__ import annotations

import csv
import io
import re
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page

from tests.ui.desk import Desk
from tests.ui.reports.pages import Reports, last_days, opened
from tests.ui.reports.test_every_report import CHARTS

FIRST, LAST = last_days(28)
MARK = "\ufeff".encode()


def sit(desk: Desk, address: str, card: str, **how: str) -> Page:
    page = desk.sit(address=f"reports/{address}&from={FIRST}&to={LAST}", **how)
    opened(page, card)
    return page


def saved(page: Page, button: Locator, separator: str = ",") -> tuple[str, list[list[str]]]:
    """Return the name of the file that a button saves, and its rows."""
    with page.expect_download() as download:
        button.press("Enter")
    file = Path(download.value.path()).read_bytes()
    assert file.startswith(MARK)
    rows = list(csv.reader(io.StringIO(file.decode("utf-8-sig")), delimiter=separator))
    return download.value.suggested_filename, rows


@pytest.mark.parametrize("report", CHARTS)
def test_every_table_of_a_report_is_saved(desk: Desk, reports: Reports, report: str) -> None:
    page = sit(desk, f"{report}?currency=EUR", CHARTS[report][0])
    for card in [*CHARTS[report], *(["heatMap"] if report == "hours" else [])]:
        opened(page, card)
        box = page.locator(f".promCard-{card}:visible")
        _, rows = saved(page, box.get_by_role("button", name="Save the table as CSV"))
        assert len(rows) > 1, card
        assert {len(row) for row in rows} == {len(rows[0])}, card
        if card != "heatMap":
            heads = box.locator(".promChart table thead th").all_text_contents()
            assert [head for head in heads if not any(one.startswith(head) for one in rows[0])] == [], card


def test_a_ranking_is_saved_whole_with_all_its_digits(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "performance?currency=EUR", "ranking")
    period = f"day ge {FIRST} and day le {LAST} and currency eq 'EUR'"
    sums = "aggregate(totalDiscount with sum as given,applications with sum as times)"
    apply = f"filter({period})/groupby((promotionId,promotionName),{sums})"
    expected = reports.rows("PromotionUsageByDay", apply=apply, orderby="given desc")
    assert len(expected) > 10
    button = page.locator(".promCard-ranking").get_by_role("button", name="Save the table as CSV")
    name, rows = saved(page, button)
    assert name == "Promotions that gave most.csv"
    assert rows[0] == ["Promotion", "Discount (EUR)", "Applications"]
    assert [(Decimal(row[1]), int(row[2])) for row in rows[1:]] == [(row["given"], row["times"]) for row in expected]


def test_a_german_table_has_german_signs(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "performance?currency=EUR", "byDay", language="de")
    card = page.locator(".promCard-byDay")
    name, rows = saved(page, card.get_by_role("button", name="Tabelle als CSV speichern"), ";")
    assert name == "Rabatt je Tag.csv"
    assert rows[0][1] == "Rabatt (EUR)"
    given = sum(Decimal(row[1].replace(",", ".")) for row in rows[1:])
    apply = f"filter(day ge {FIRST} and day le {LAST} and currency eq 'EUR')/aggregate(totalDiscount with sum as given)"
    assert given == reports.row("PromotionUsageByDay", apply=apply)["given"]
    assert any("," in row[1] for row in rows)


def test_sales_are_saved_as_lists_are(desk: Desk, reports: Reports) -> None:
    page = sit(desk, "sales?currency=EUR", "sales")
    page.get_by_role("button", name=re.compile("^Export")).click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="CSV").click()
    file = Path(download.value.path()).read_bytes()
    rows = list(csv.DictReader(io.StringIO(file.decode("utf-8-sig"))))
    told = page.locator(".promCard-sales").inner_text()
    found = re.search(r"25 of ([\d,]+) sales", told)
    assert found
    assert len(rows) == int(found[1].replace(",", "")) > 25
    assert {row["Currency"] for row in rows} == {"EUR"}
