"""An open shop: a served database with one POS group, one promotion and clients of every kind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy.engine import make_url

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import record_change
from tests.kit.databases import Databases
from tests.kit.service import Running, Service
from tests.kit.tenants import make_clients

TENANT = "acme"
SHOP_ID = "0a000000-0000-4000-8000-000000000001"
PROMOTION_ID = "0b000000-0000-4000-8000-000000000001"
OPENED = datetime(2026, 1, 1, tzinfo=UTC)


def item(**changes: Any) -> dict[str, Any]:
    """Return a line of a basket: two of A-1 at 5.00, 10 % off."""
    return {"articleNumber": "A-1", "quantity": 2, "unitPrice": 5.00, **changes}


def basket(**changes: Any) -> dict[str, Any]:
    """Return an EvaluateRequest in its envelope."""
    return {"request": {"posGroupCode": "BERLIN", "items": [item()], **changes}}


@dataclass
class Shop:
    """The shop, its database and its clients: `call` sends requests as a till does."""

    service: Running
    database_url: str
    clients: dict[str, tuple[str, str]]
    http: httpx2.Client
    _tokens: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.service.url

    def copied_database(self, directory: Path) -> str:
        """Return the URL of a copy of the database for a second service, because only one process may serve a file."""
        self.token()  # so that the copy holds the key that signs the shop's tokens
        path = directory / "copy.sqlite3"
        with contextlib.closing(sqlite3.connect(make_url(self.database_url).database or "")) as original:
            original.execute("VACUUM INTO ?", (str(path),))
        return f"sqlite:///{path}"

    def token(self, client: str = "till") -> str:
        """Return a client's token, requested once."""
        if client not in self._tokens:
            client_id, secret = self.clients[client]
            form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
            answer = self.http.post("/oauth/token", data=form)
            assert answer.status_code == 200, answer.text
            self._tokens[client] = answer.json()["access_token"]
        return self._tokens[client]

    def call(self, path: str, body: Any = None, *, client: str = "till", **headers: str) -> httpx2.Response:
        """POST ``body`` (bytes unchanged, anything else as JSON); without a body, GET."""
        sent = {"authorization": f"Bearer {self.token(client)}", "content-type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        if body is None:
            return self.http.get(path, headers=sent)
        content = body if isinstance(body, bytes | str) else json.dumps(body)
        return self.http.post(path, content=content, headers=sent)


@dataclass
class ServedShop(Shop):
    """A shop served in a separate process."""

    service: Service


def run(coroutine: Any) -> Any:
    """Run a coroutine to the end in a separate thread, because a fixture may be created while an event loop runs."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


async def furnish(database_url: str, tenant: str = TENANT) -> None:
    """Create a POS group and a promotion for a tenant."""
    database = await open_database(database_url)

    async def work(session: Session) -> None:
        for set_name, row in (
            ("PosGroups", {"ID": SHOP_ID, "code": "BERLIN", "name": "Berlin", "currency": "EUR"}),
            ("Promotions", {"ID": PROMOTION_ID, "name": "Ten off A-1", "status": "ACTIVE", "type": "ARTICLE"}),
            (
                "Conditions",
                {
                    "ID": "0c000000-0000-4000-8000-000000000001",
                    "promotion_ID": PROMOTION_ID,
                    "sequence": 1,
                    "conditionType": "ARTICLE",
                    "articleNumber": "A-1",
                },
            ),
            (
                "DiscountActions",
                {
                    "ID": "0d000000-0000-4000-8000-000000000001",
                    "promotion_ID": PROMOTION_ID,
                    "actionType": "ARTICLE",
                    "discountType": "PERCENTAGE",
                    "discountValue": 10,
                },
            ),
        ):
            await insert_rows(session, set_name, [row], at=OPENED, by="tests")
        await record_change(session, "Promotions", at=OPENED)

    try:
        await database.write(work, tenant=tenant)
    finally:
        await database.close()


@pytest.fixture(scope="package")
def shop(databases: Databases, logs: Path) -> Iterator[ServedShop]:
    """Serve the shop once for all tests of this package; tests use their own transactions."""
    database_url = databases.create("sqlite")
    scopes = {
        "till": ("svc.POSReader",),
        "administrator": ("svc.Admin",),
        "planner": ("svc.PromotionManager", "PublicApi.Read"),
    }
    clients = make_clients(database_url, TENANT, scopes, is_new=True)
    run(furnish(database_url))
    service = Service(logs / "shop.log", "--database-url", database_url).start()
    with httpx2.Client(base_url=service.url, timeout=30) as http:
        yield ServedShop(service, database_url, clients, http)
    service.kill()
    databases.drop(database_url)


def fault(answer: httpx2.Response) -> tuple[int, str, str | None]:
    """Return the status, code and target of an error response."""
    error = answer.json()["error"]
    return answer.status_code, error["code"], error.get("target")


def faults(answer: httpx2.Response) -> set[tuple[str, str]]:
    """Return the code and target of each detail of an error response."""
    return {(detail["code"], detail["target"]) for detail in answer.json()["error"].get("details", ())}
