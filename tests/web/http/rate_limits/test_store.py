"""A rate limit in a store: its tills share a key and are one client; its administrator is another."""

from __future__ import annotations

from pathlib import Path

from tests.web.conftest import basket
from tests.web.replica.local_store.conftest import PASSWORD, start_store

OF_CLIENT = 2  # one more fits after thirty seconds at the earliest


def test_the_tills_of_a_store_are_limited_and_its_administrator_goes_on(logs: Path, tmp_path: Path) -> None:
    store = start_store(tmp_path / "store", logs, "--rate-limit-client", str(OF_CLIENT), "--rate-limit-tenant", "0")
    try:
        browser = store.browser(logged_in=False)
        browser.post("setup", {"password": PASSWORD, "confirmPassword": PASSWORD})
        till = store.till()
        for _ in range(2 * OF_CLIENT):
            assert till.post("/pos/v2/simulate", json=basket(), headers={"x-api-key": "wrong"}).status_code == 401
        allowed = [till.get("/pos/heartbeat").status_code for _ in range(OF_CLIENT)]
        assert allowed == [200] * OF_CLIENT
        refused = till.post("/pos/v2/simulate", json=basket())
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "RATE_LIMITED")
        assert 1 <= int(refused.headers["retry-after"]) <= 30
        assert browser.log_in().status_code == 200
        assert browser.http.get("/admin/Promotions").status_code == 200
    finally:
        store.close()
