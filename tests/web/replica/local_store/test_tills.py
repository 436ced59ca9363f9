"""Tills of a store: the API key opens all of `/pos` and nothing else, and the reported store status is true."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.web.replica.local_store.conftest import Store

BASKET = {"posGroupCode": "SHOP", "items": [{"articleNumber": "A-1", "quantity": 2, "unitPrice": 5}]}
POS = (
    ("POST", "/pos/v2/evaluate"),
    ("POST", "/pos/simulate"),
    ("POST", "/pos/PosService.confirm"),
    ("GET", "/pos/v2/evaluate"),
    ("GET", "/pos/v2/transactions/T-1/1/side-effects"),
    ("POST", "/pos/coupons/validate"),
    ("POST", "/pos/articles/import"),
    ("GET", "/pos/heartbeat"),
    ("GET", "/pos"),
    ("GET", "/pos/$metadata"),
    ("GET", "/pos/openapi.json"),
    ("GET", "/pos/docs"),
    ("GET", "/pos/nothing/here"),
    ("HEAD", "/pos/heartbeat"),
)


@pytest.fixture(scope="module")
def shop(store: Store) -> Store:
    """Return the store with one POS group and 10 % off everything."""
    browser = store.browser()
    browser.make("PosGroups", code="SHOP", name="The shop", currency="EUR", IsActiveEntity=True)
    add_promotion(store, validFrom="2020-01-01T00:00:00Z")
    return store


def add_promotion(store: Store, **values: str) -> None:
    browser = store.browser()
    promotion = browser.make("Promotions", name="Ten percent", IsActiveEntity=True, **values)["ID"]
    browser.make(
        "DiscountActions", promotion_ID=promotion, actionType="RECEIPT", discountType="PERCENTAGE", discountValue=10
    )
    browser.make(f"Promotions(ID={promotion},IsActiveEntity=true)/activate")


def test_every_request_of_a_till_needs_the_api_key(store: Store) -> None:
    key = store.browser().api_key()
    wrong: tuple[dict[str, str], ...] = (
        {},
        {"x-api-key": ""},
        {"x-api-key": "0" * 64},
        {"x-api-key": key[:-1]},
        {"x-api-key": f"{key}0"},
        {"x-api-key": key.upper() + "A"},
        {"authorization": f"Bearer {key}"},
    )
    with store.client() as http:
        for method, path in POS:
            for headers in wrong if path.endswith(("evaluate", "here")) else wrong[:3]:
                answer = http.request(method, path, headers=headers)
                assert answer.status_code == 401, (method, path, headers)
                assert answer.headers["www-authenticate"].startswith("ApiKey ")
                if method != "HEAD":
                    assert answer.json() == {
                        "error": {"code": "UNAUTHORIZED", "message": answer.json()["error"]["message"]}
                    }
                    assert "API key is invalid or missing" in answer.json()["error"]["message"]
        assert http.get(f"/pos/heartbeat?x-api-key={key}").status_code == 401
    with store.till(key) as till:
        for method, path in POS:
            assert till.request(method, path).status_code != 401, (method, path)
        assert till.get("/pos/nothing/here").status_code == 404


def test_a_key_is_64_hexadecimal_digits(store: Store) -> None:
    key = store.browser().api_key()
    assert len(key) == 64
    assert set(key) <= set("0123456789abcdef")


def test_a_till_prices_and_sells(shop: Store) -> None:
    before = datetime.now(UTC)
    with shop.till() as till:
        priced = till.post("/pos/v2/evaluate", json={"request": BASKET}).json()
        assert priced["totals"]["grandTotal"] == {"value": 9.00, "currency": "EUR"}
        header = priced["meta"]["header"]
        confirm: dict[str, Any] = {
            "header": header,
            "transactionId": header["transactionId"],
            "appliedPromotions": [
                {"promotionId": one["promotionId"], "discountAmount": one["totalDiscount"]}
                for one in priced["totals"]["savingsSummary"]["promotionBreakdown"]
            ],
        }
        sold = till.post("/pos/v2/confirm", json={"request": confirm}).json()
        assert (sold["confirmed"], sold["transactionId"]) == (True, header["transactionId"])
        meta = priced["meta"]
        assert (meta["source"], meta["tenantId"], meta["isSimulation"]) == ("local-store", "local", False)
        changed = datetime.fromisoformat(meta["dataAge"])
        assert changed <= before, "nothing was synced, so it is when the promotion was last changed"
        again = till.post("/pos/v2/simulate", json={"request": BASKET}).json()["meta"]
        assert (again["instanceId"], again["isSimulation"]) == (meta["instanceId"], True)
    with closing(sqlite3.connect(shop.database)) as database:
        ((source, instance),) = database.execute("SELECT source, instance_id FROM calculation_logs").fetchall()
        assert (source, instance) == ("local-store", meta["instanceId"])


def test_the_heartbeat_reports_a_store_without_a_link(shop: Store) -> None:
    with shop.till() as till:
        till.post("/pos/v2/simulate", json={"request": BASKET})
        add_promotion(shop, validFrom="2090-01-01T00:00:00Z")
        beat = till.get("/pos/heartbeat").json()
    assert beat | {"version": "", "uptime": 0, "pendingTransactions": 0} == {
        "status": "UP",
        "version": "",
        "mode": "local-store",
        "btpConnectivity": "NOT_CONFIGURED",
        "lastSync": None,
        "pendingTransactions": 0,
        "promotionsLoaded": 2,
        "uptime": 0,
    }


def test_endpoints_of_the_cloud_do_not_exist_in_a_store(store: Store) -> None:
    with store.till() as till:
        for method, path in (
            ("GET", "/api/v1/Promotions"),
            ("GET", "/api/v1/$metadata"),
            ("GET", "/api/v1/openapi.json"),
            ("POST", "/api/v1/Articles:bulk-import"),
            ("POST", "/api/v1/master-data/soap"),
            ("POST", "/sync/register"),
            ("GET", "/sync/promotions"),
            ("POST", "/oauth/token"),
            ("GET", "/oauth/jwks.json"),
            ("GET", "/.well-known/jwks.json"),
            ("GET", "/.well-known/openid-configuration"),
        ):
            assert till.request(method, path).status_code == 404, path


def test_the_api_key_opens_neither_administration_nor_its_own_page(store: Store) -> None:
    with store.till() as till:
        for method, path in (
            ("GET", "/admin/Promotions"),
            ("POST", "/admin/$batch"),
            ("POST", "/local-admin/getApiKey"),
        ):
            answer = till.request(method, path)
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "UNAUTHORIZED"), path
        requeue = till.post("/pos/v2/transactions/T-1/1/side-effects/requeue")
        assert (requeue.status_code, requeue.json()["error"]["code"]) == (403, "MISSING_SCOPE")


def test_health_and_metrics_need_no_key(store: Store) -> None:
    assert store.service.get("/health")[1]["status"] == "UP"
    status, text = store.service.get("/metrics")
    assert status == 200
    assert "http_requests_total" in text


def test_a_key_set_by_another_process_is_picked_up(store: Store) -> None:
    old = store.browser().api_key()
    new = "f" * 64
    with closing(sqlite3.connect(store.database)) as database, database:
        database.execute("UPDATE local_store SET api_key = ?", (new,))
    with store.till(new) as till, store.till(old) as former:
        while till.get("/pos/heartbeat").status_code != 200:  # the test's own timeout is the bound
            pass
        assert former.get("/pos/heartbeat").status_code == 401
