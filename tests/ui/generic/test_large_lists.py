"""Lists of 10 000 promotions and 1 000 000 articles are scrolled and filtered without being loaded entirely."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from tests.kit.service import Service
from tests.ui.desk import Desk, Shop

ARTICLES, PROMOTIONS = 1_000_000, 10_000
_MADE = 1_780_000_000_000_000  # microseconds since 1970
_COUNT_TO = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
_MORE_ARTICLES = """
INSERT INTO articles (tenant_id, id, article_number, name, ean, manufacturer, base_price, currency, unit, source,
    is_active, created_at, modified_at, version)
SELECT 'demo', printf('00000000-0000-4000-8000-%012x', i), printf('9%07d', i), 'Spare part ' || i,
    printf('7%012d', i), 'Works ' || (i % 97), 1 + (i % 9000), 'EUR', 'PCE', 'MANUAL', 1, {0}, {0}, 1 FROM n
"""
_MORE_PROMOTIONS = """
INSERT INTO promotions (tenant_id, id, code, name, type, status, priority, exclusivity_level, return_policy,
    applications_count, is_experiment, created_at, modified_at, version)
SELECT 'demo', printf('00000000-0000-4000-9000-%012x', i), printf('B%05d', i), 'Bulk offer ' || i, 'ARTICLE',
    CASE i % 5 WHEN 0 THEN 'INACTIVE' ELSE 'DRAFT' END, 100, 'NONE', 'KEEP_SHARES', 0, 0, {0}, {0}, 1 FROM n
"""


@pytest.fixture(scope="module")
def large_shop(seeded: Path, logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Serve the demo with very many more articles and promotions, which are in no sale."""
    data = tmp_path_factory.mktemp("large") / "data"
    shutil.copytree(seeded / "data", data)
    with closing(sqlite3.connect(data / "promenade.db")) as database, database:
        database.execute(_COUNT_TO.format(ARTICLES) + _MORE_ARTICLES.format(_MADE))
        database.execute(_COUNT_TO.format(PROMOTIONS) + _MORE_PROMOTIONS.format(_MADE))
    service = Service(logs / "back-office-large.log", "--data-dir", str(data)).start()
    known = json.loads((seeded / "known.json").read_text())
    try:
        yield Shop(service.url, known["clients"], data, known["people"])
    finally:
        service.stop()
        shutil.rmtree(data)


@pytest.fixture
def large_desk(large_shop: Shop, browser: Browser) -> Iterator[Desk]:
    """Return a desk at that shop."""
    opened = Desk(large_shop, browser)
    try:
        yield opened
        opened.require_quiet()
    finally:
        opened.close()


class Rows:
    """Counts the rows sent to a page."""

    def __init__(self, page: Page) -> None:
        self.count = 0
        page.on("response", self._hear)

    def _hear(self, response: Response) -> None:
        if "/admin/" in response.url and response.request.method != "HEAD" and response.ok:
            self.count += len(re.findall(r'"@odata\.(?:etag|id)"|"ID":', response.text()))


@pytest.mark.parametrize(
    ("address", "total", "wanted"),
    [("list/Articles", "1,005,000", "Spare part 777777"), ("promotions", "10,3", "Bulk offer 7777")],
)
def test_a_long_list_is_scrolled_and_searched_without_loading_it(
    large_desk: Desk, address: str, total: str, wanted: str
) -> None:
    page = large_desk.sit(address="imports")
    rows = Rows(page)
    page.evaluate("address => { location.hash = address; }", address)
    table = page.locator("[role=grid]:visible, [role=treegrid]:visible, table:visible").first
    table.locator("[role=gridcell]:visible").first.wait_for()
    page.get_by_text(re.compile(re.escape(total))).first.wait_for()
    first = table.locator("[role=gridcell]:visible").first.inner_text()
    table.locator("[role=gridcell]:visible").first.focus()
    for _ in range(20):
        page.keyboard.press("PageDown")
    expect(table.locator("[role=gridcell]:visible").first).not_to_have_text(first)
    large_desk.settle(page)
    page.get_by_role("searchbox").first.fill(wanted)
    page.get_by_role("searchbox").first.press("Enter")
    table.get_by_text(wanted, exact=True).first.wait_for()
    assert rows.count < 5_000
