"""A shop that is open: a served database with one POS group, one promotion and clients of every kind."""

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

from promenade.store.catalogue import record_change
from promenade.store.rows import insert_rows
from promenade.store.session import open_database
from promenade.store.unit import Session
from tests.kit.databases import Databases
from tests.kit.service import Service, promenade

TENANT = "acme"
SHOP_ID = "0a000000-0000-4000-8000-000000000001"
PROMOTION_ID = "0b000000-0000-4000-8000-000000000001"
OPENED = datetime(2026, 1, 1, tzinfo=UTC)


def item(**changes: Any) -> dict[str, Any]:
    """A line of a basket: two of A-1 at 5.00, 10 % off."""
    return {"articleNumber": "A-1", "quantity": 2, "unitPrice": 5.00, **changes}


def basket(**changes: Any) -> dict[str, Any]:
    """An EvaluateRequest in its envelope."""
    return {"request": {"posGroupCode": "BERLIN", "items": [item()], **changes}}


@dataclass
class Shop:
    """The served shop, its database and its clients: `call` talks to it as a till does."""

    service: Service
    database_url: str
    clients: dict[str, tuple[str, str]]
    http: httpx2.Client
    _tokens: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.service.url

    def copied_database(self, directory: Path) -> str:
        """The URL of a copy of the database, for a second service: one process serves a file."""
        self.token()  # so that the copy holds the key that signs the shop's tokens
        path = directory / "copy.sqlite3"
        with contextlib.closing(sqlite3.connect(make_url(self.database_url).database or "")) as original:
            original.execute("VACUUM INTO ?", (str(path),))
        return f"sqlite:///{path}"

    def token(self, client: str = "till") -> str:
        """A token of a client, asked for once."""
        if client not in self._tokens:
            client_id, secret = self.clients[client]
            form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
            answer = self.http.post("/oauth/token", data=form)
            assert answer.status_code == 200, answer.text
            self._tokens[client] = answer.json()["access_token"]
        return self._tokens[client]

    def call(self, path: str, body: Any = None, *, client: str = "till", **headers: str) -> httpx2.Response:
        """POST ``body`` (bytes as they are, else as JSON); GET without a body."""
        sent = {"authorization": f"Bearer {self.token(client)}", "content-type": "application/json"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        if body is None:
            return self.http.get(path, headers=sent)
        content = body if isinstance(body, bytes | str) else json.dumps(body)
        return self.http.post(path, content=content, headers=sent)


def run(coroutine: Any) -> Any:
    """Run to the end, in a thread of its own: a fixture may be made while an event loop runs."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


async def furnish(database_url: str, tenant: str = TENANT) -> None:
    """A POS group and a promotion for a tenant."""
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


def make_client(database_url: str, tenant: str, *scopes: str) -> tuple[str, str]:
    """A client by the command line, as an operator makes one."""
    named = [part for scope in scopes for part in ("--scope", scope)]
    made = json.loads(
        promenade("client", "create", "--tenant", tenant, *named, "--json", "--database-url", database_url)
    )
    return made["clientId"], made["clientSecret"]


@pytest.fixture(scope="package")
def shop(databases: Databases, logs: Path) -> Iterator[Shop]:
    """The shop, served once for all tests of this package; tests use transactions of their own."""
    database_url = databases.create("sqlite")
    promenade("tenant", "create", TENANT, "--database-url", database_url)
    run(furnish(database_url))
    clients = {
        "till": make_client(database_url, TENANT, "svc.POSReader"),
        "administrator": make_client(database_url, TENANT, "svc.Admin"),
        "planner": make_client(database_url, TENANT, "svc.PromotionManager", "PublicApi.Read"),
    }
    service = Service(logs / "shop.log", "--database-url", database_url).start()
    with httpx2.Client(base_url=service.url, timeout=30) as http:
        yield Shop(service, database_url, clients, http)
    service.kill()
    databases.drop(database_url)


def fault(answer: httpx2.Response) -> tuple[int, str, str | None]:
    """Status, code and target of a refusal."""
    error = answer.json()["error"]
    return answer.status_code, error["code"], error.get("target")


def faults(answer: httpx2.Response) -> set[tuple[str, str]]:
    """Code and target of each detail of a refusal."""
    return {(detail["code"], detail["target"]) for detail in answer.json()["error"].get("details", ())}
