"""Reports of a store: its administrator's session can read them, and a sale appears within a minute."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from promenade.model.declare import REPORTING
from promenade.model.edm import edm_for
from tests.web.replica.local_store.conftest import PASSWORD, Browser, Store, start_store

LIVE_SECONDS = 60
ORDER = {
    "reportType": "promotionPerformance",
    "dateFrom": "2020-01-01T00:00:00Z",
    "dateTo": "2100-01-01T00:00:00Z",
}


@pytest.fixture(scope="module")
def shop(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Return a store with one POS group and 10 % off everything."""
    store = start_store(tmp_path_factory.mktemp("reports"), logs)
    store.browser(logged_in=False).post("setup", {"password": PASSWORD, "confirmPassword": PASSWORD})
    browser = store.browser()
    browser.make("PosGroups", code="SHOP", name="The shop", currency="EUR", IsActiveEntity=True)
    promotion = browser.make("Promotions", name="=Ten percent", validFrom="2020-01-01T00:00:00Z", IsActiveEntity=True)
    browser.make(
        "DiscountActions",
        promotion_ID=promotion["ID"],
        actionType="RECEIPT",
        discountType="PERCENTAGE",
        discountValue=10,
    )
    browser.make(f"Promotions(ID={promotion['ID']},IsActiveEntity=true)/activate")
    yield store
    store.close()


def sell(shop: Store, transaction: str) -> None:
    """Sell two pieces at 5.00, of which the promotion takes 1.00 off."""
    till = shop.till()
    basket = {"posGroupCode": "SHOP", "items": [{"articleNumber": "A-1", "quantity": 2, "unitPrice": 5}]}
    priced = till.post("/pos/v2/evaluate", json={"request": {**basket, "header": {"transactionId": transaction}}})
    assert priced.status_code == 200, priced.text
    header = priced.json()["meta"]["header"]
    given = priced.json()["totals"]["savingsSummary"]["promotionBreakdown"]
    promotions = [{"promotionId": one["promotionId"], "discountAmount": one["totalDiscount"]} for one in given]
    assert len(promotions) == 1
    request = {"header": header, "transactionId": transaction, "appliedPromotions": promotions}
    confirmed = till.post("/pos/v2/confirm", json={"request": request})
    assert confirmed.status_code == 200, confirmed.text


def read(browser: Browser, path: str) -> list[dict[str, Any]]:
    answer = browser.http.get(f"/reporting/{path}")
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["value"]
    return found


def exported(browser: Browser, **headers: str) -> Any:
    return browser.http.post("/reporting/exportCsv", json=ORDER, headers=headers)


def test_the_administrators_session_can_read_every_report(shop: Store) -> None:
    browser = shop.browser()
    for name in edm_for(REPORTING).entity_sets:
        read(browser, f"{name}?$top=1")
    for path in ("/reporting/docs", "/reporting/openapi.json"):
        assert browser.http.get(path).status_code == 200


def test_strangers_and_tills_cannot_read_reports(shop: Store) -> None:
    stranger, till = shop.browser(logged_in=False).http, shop.till()
    for client in (stranger, till):
        for path in ("", "/PromotionPerformance", "/$metadata"):
            answer = client.get(f"/reporting{path}", headers={"authorization": "Bearer a.b.c"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "UNAUTHORIZED")
        assert client.post("/reporting/exportCsv", json=ORDER).status_code == 401


def test_a_post_from_a_page_needs_the_csrf_token(shop: Store) -> None:
    browser = shop.browser()
    answer = exported(browser)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "CSRF_TOKEN_REQUIRED")
    assert answer.headers["x-csrf-token"] == "Required"
    token = browser.http.head("/reporting/", headers={"x-csrf-token": "Fetch"}).headers["x-csrf-token"]
    assert exported(browser, **{"x-csrf-token": token}).status_code == 200
    batch = {"requests": [{"id": "1", "method": "get", "url": "AggregatorRuns"}]}
    assert browser.http.post("/reporting/$batch", json=batch).status_code == 403
    assert browser.http.post("/reporting/$batch", json=batch, headers={"x-csrf-token": token}).status_code == 200


@pytest.mark.alone
def test_a_sale_is_in_the_reports_within_a_minute(shop: Store) -> None:
    browser = shop.browser()
    before = read(browser, "PromotionPerformance")
    for transaction in ("T-1", "T-2"):
        sell(shop, transaction)
    count = sum(row["applicationsCount"] for row in before) + 2
    sold_at = time.monotonic()
    while [row["applicationsCount"] for row in read(browser, "PromotionPerformance")] != [count]:
        assert time.monotonic() - sold_at < LIVE_SECONDS, read(browser, "AggregatorRuns")
    (row,) = read(browser, "PromotionPerformance")
    assert (row["promotionName"], Decimal(str(row["totalDiscountGiven"]))) == ("=Ten percent", count)
    (log,) = read(browser, "CalculationLogs?$filter=transactionId eq 'T-2'&$expand=items,promotions")
    assert [one["promotion_ID"] for one in log["promotions"]] == [row["promotionId"]]
    assert [Decimal(str(one["lineNet"])) for one in log["items"]] == [9]
    token = browser.http.head("/reporting/", headers={"x-csrf-token": "Fetch"}).headers["x-csrf-token"]
    body = exported(browser, **{"x-csrf-token": token}).json()
    (line,) = csv.DictReader(io.StringIO(body["data"], newline=""), strict=True)
    assert body["filename"] == "promotion-performance.csv"
    assert (line["promotionId"], line["promotionName"]) == (row["promotionId"], "'=Ten percent")
    assert (line["applicationsCount"], Decimal(line["totalDiscountGiven"])) == (str(count), count)
