"""A small two-machine deployment: two services of two processes each and two workers, on one PostgreSQL and one
Valkey.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
from sqlalchemy import Row, select

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import record_change
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.kit.api_client import SECRET
from tests.kit.logged import rows_from
from tests.kit.processes import free_port
from tests.kit.service import Service
from tests.kit.valkey import ValkeyServer
from tests.web.conftest import TENANT, furnish

__all__ = ["ACTION_ID", "House", "Process", "opened_house"]

PROCESSES = 2  # of each service
ACTION_ID = "0d000000-0000-4000-8000-000000000001"
CLIENTS = {
    "till": ("svc.POSReader",),
    "guesser": ("svc.POSReader",),
    "desk": ("PublicApi.Read", "PublicApi.Write"),
}
_BASKET = {"posGroupCode": "BERLIN", "items": [{"articleNumber": "A-1", "quantity": 2, "unitPrice": 5.00}]}


@dataclass
class Process:
    """One server process, identified by a kept connection."""

    service: Service
    http: httpx2.AsyncClient
    instance_id: str
    tokens: dict[str, str]

    async def close(self) -> None:
        """Close the connection."""
        await self.http.aclose()

    async def post(self, path: str, body: Any, client: str = "till") -> httpx2.Response:
        return await self.send("POST", path, body, client)

    async def send(self, method: str, path: str, body: Any, client: str = "till") -> httpx2.Response:
        headers = {"authorization": f"Bearer {self.tokens[client]}"}
        return await self.http.request(method, path, json=body, headers=headers)

    async def evaluate(self, transaction_id: str | None = None) -> dict[str, Any]:
        """Price the basket at this very process; reconnect to it if it has closed an idle connection."""
        while True:
            try:
                return await self.sell(transaction_id)
            except LookupError:
                await self.http.aclose()
                self.http = _connection(self.service)

    async def sell(self, transaction_id: str | None = None) -> dict[str, Any]:
        """Price the basket over the existing connection; raise LookupError if another process has answered."""
        header = {} if transaction_id is None else {"header": {"transactionId": transaction_id}}
        answer = await self.post("/pos/v2/evaluate", {"request": {**_BASKET, **header}})
        assert answer.status_code == 200, answer.text
        priced: dict[str, Any] = answer.json()
        if priced["meta"]["instanceId"] != self.instance_id:
            raise LookupError(self.instance_id)
        return priced


def _connection(service: Service) -> httpx2.AsyncClient:
    """Return a client with one connection, which stays with one process."""
    return httpx2.AsyncClient(base_url=service.url, timeout=60, limits=httpx2.Limits(max_connections=1))


@dataclass
class House:
    """The services, their database and their cache."""

    database_url: str
    services: list[Service]
    workers: list[Service]
    valkey: ValkeyServer
    tokens: dict[str, str]

    @contextlib.asynccontextmanager
    async def processes(self) -> AsyncIterator[list[Process]]:
        """Return all server processes, each with its own connection."""
        async with contextlib.AsyncExitStack() as open_ones:
            found: list[Process] = []
            for service in self.services:
                if service.running:
                    found += await self._processes_of(service, open_ones)
            yield found

    async def _processes_of(self, service: Service, open_ones: contextlib.AsyncExitStack) -> list[Process]:
        found: dict[str, Process] = {}
        while len(found) < PROCESSES:  # a killed one is replaced; the test's own timeout is the bound
            http = _connection(service)
            answer = await http.post(
                "/pos/v2/simulate",
                json={"request": _BASKET},
                headers={"authorization": f"Bearer {self.tokens['till']}"},
            )
            assert answer.status_code == 200, answer.text
            instance_id = answer.json()["meta"]["instanceId"]
            if instance_id in found:
                await http.aclose()
                continue
            process = found[instance_id] = Process(service, http, instance_id, self.tokens)
            open_ones.push_async_callback(process.close)
        return list(found.values())

    async def rows(self, name: str, **where: Any) -> Sequence[Row[Any]]:
        """Return the rows of a table, columns by their Python names."""
        wanted = rows_from(name)
        statement = select(wanted)
        for column, value in where.items():
            statement = statement.where(wanted.c[column] == value)
        database = await open_database(self.database_url)
        try:
            return await database.read(lambda session: session.execute(statement), tenant=TENANT)
        finally:
            await database.close()

    async def insert(self, set_name: str, rows: Sequence[dict[str, Any]]) -> None:
        """Add rows as if they had just been authored."""
        database = await open_database(self.database_url)
        at = datetime.now(UTC)

        async def work(session: Session) -> None:
            await insert_rows(session, set_name, list(rows), at=at, by="tests")
            await record_change(session, set_name, at=at)

        try:
            await database.write(work, tenant=TENANT)
        finally:
            await database.close()


@contextlib.contextmanager
def opened_house(database_url: str, valkey: ValkeyServer, logs: Path, directory: Path) -> Iterator[House]:
    """Open a house on a migrated database; all its processes are killed at the end."""
    ports = [free_port(), free_port()]
    shared = ("--database-url", database_url, "--redis-url", valkey.url, "--data-dir", str(directory))
    public = ("--public-url", f"http://127.0.0.1:{ports[0]}")
    services = [
        Service(
            logs / f"house-{port}.log",
            *(*shared, *public, "--workers", str(PROCESSES)),
            port=port,
            command=(sys.executable, "-m", "tests.reliability.processes.patient"),
        )
        for port in ports
    ]
    workers = [
        Service(logs / f"house-worker-{ports[0]}-{number}.log", *shared, verb="worker", ready_path=None)
        for number in range(2)
    ]
    try:
        for one in (*services, *workers):
            one.start()
        tokens = {name: _token(services[0].url, name) for name in CLIENTS}
        yield House(database_url, services, workers, valkey, tokens)
    finally:
        for one in (*services, *workers):
            one.kill()


def _token(url: str, client: str) -> str:
    form = {"grant_type": "client_credentials", "client_id": client, "client_secret": SECRET}
    answer = httpx2.post(f"{url}/oauth/token", data=form, timeout=30)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["access_token"])


async def furnished(database_url: str) -> None:
    """Create the tenant, its clients and its articles and promotions."""
    database = await open_database(database_url)
    at = datetime.now(UTC)
    try:
        await create_tenant(database, TENANT, settings={}, at=at, user="tests")
        for name, scopes in CLIENTS.items():
            await create_client(database, client_id=name, secret=SECRET, tenant_id=TENANT, scopes=scopes, at=at)
    finally:
        await database.close()
    await furnish(database_url)
