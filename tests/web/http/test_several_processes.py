"""Several server processes on one PostgreSQL are one service: each gives a till the same answers."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import update

from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import record_change
from tests.kit.databases import Databases
from tests.kit.in_process import InProcess
from tests.kit.service import Service
from tests.kit.tenants import make_clients
from tests.web.conftest import PROMOTION_ID, TENANT, basket, furnish, run

WORKERS = 3


@pytest.fixture(scope="module")
def chain(databases: Databases, logs: Path) -> Iterator[tuple[Service, str, dict[str, str]]]:
    """Return a service on its first start, its database, and a token request of its client.

    The first test here covers the moments after that start.
    """
    database_url = databases.create("postgresql")
    client_id, secret = make_clients(database_url, TENANT, {"till": ("svc.POSReader",)}, is_new=True)["till"]
    run(furnish(database_url))
    form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
    service = Service(logs / "chain.log", "--database-url", database_url, "--workers", str(WORKERS)).start()
    yield service, database_url, form
    service.kill()
    databases.drop(database_url)


def evaluate(service: Service, token: str) -> dict[str, Any]:
    """Price the basket over a new connection, which any of the processes may accept."""
    headers = {"authorization": f"Bearer {token}"}
    answer = httpx2.post(f"{service.url}/pos/v2/evaluate", json=basket(), headers=headers, timeout=30)
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


def test_any_process_takes_the_tokens_of_any_other_from_the_first_moment_and_logs_as_the_first_does(
    chain: tuple[Service, str, dict[str, str]], logs: Path
) -> None:
    service, _, form = chain

    def first_sale(_: int) -> str:
        answer = httpx2.post(f"{service.url}/oauth/token", data=form, timeout=30)
        assert answer.status_code == 200, answer.text
        priced = [evaluate(service, answer.json()["access_token"]) for _ in range(WORKERS)]
        return str(priced[0]["meta"]["instanceId"])

    answered: set[str] = set()
    with ThreadPoolExecutor(16) as tills:
        while len(answered) < WORKERS:  # some may still be starting; the test's own timeout is the bound
            answered.update(tills.map(first_sale, range(48)))
    started = 'event="Application startup complete."'
    while (logs / "chain.log").read_text().count(started) < WORKERS:
        assert httpx2.get(f"{service.url}/health", timeout=30).status_code == 200  # the test's own timeout is the bound


def test_the_next_evaluate_of_every_process_sees_a_change(chain: tuple[Service, str, dict[str, str]]) -> None:
    service, database_url, form = chain
    token = httpx2.post(f"{service.url}/oauth/token", data=form, timeout=60).json()["access_token"]
    seen: set[str] = set()
    while len(seen) < WORKERS:  # each has loaded the catalogue; the test's own timeout is the bound
        seen.add(evaluate(service, token)["meta"]["instanceId"])
    for percent in (20, 30, 40):
        run(_author(database_url, percent))
        for _ in range(4 * WORKERS):
            (discount,) = evaluate(service, token)["lineItems"][0]["discounts"]
            assert discount["discountValue"] == percent
    run(_author(database_url, None))
    assert [evaluate(service, token)["lineItems"][0]["discounts"] for _ in range(4 * WORKERS)] == [[]] * 4 * WORKERS


async def _author(database_url: str, percent: int | None) -> None:
    """Change the promotion's percentage, or deactivate it."""
    database = await open_database(database_url)
    promotions, actions = table("Promotions"), table("DiscountActions")

    async def work(session: Session) -> None:
        if percent is None:
            await session.rowcount(update(promotions).values(status="INACTIVE").where(promotions.c.id == PROMOTION_ID))
        else:
            changed = update(actions).values(discount_value=percent)
            await session.rowcount(changed.where(actions.c.promotion_id == PROMOTION_ID))
        await record_change(session, "Promotions", PROMOTION_ID, at=datetime.now(UTC))

    try:
        await database.write(work, tenant=TENANT)
    finally:
        await database.close()


def test_a_client_id_that_databases_cannot_store_is_refused(databases: Databases) -> None:
    database_url = databases.create("postgresql")
    _, secret = make_clients(database_url, TENANT, {"till": ("svc.POSReader",)}, is_new=True)["till"]
    form = {"grant_type": "client_credentials", "client_id": "a\0b", "client_secret": secret}
    with InProcess(database_url, has_worker=False) as service, service.client() as http:
        answer = http.post("/oauth/token", data=form)
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_client")
    databases.drop(database_url)
