"""A retailer's cloud and its stores as real processes, with lines between them and one clock that tests move."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sqlite3
import sys
import threading
import time
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing.changes import record_change
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.replica.linking import LinkChange, set_link, show_link
from tests.kit.moved_clock import MovedClock
from tests.kit.service import Service, promenade
from tests.web.replica.link.line import Line

__all__ = ["OPENED", "TENANT", "Branch", "Cloud", "furnish", "soon", "start_branch", "start_cloud"]

TENANT = "retailer"
OPENED = datetime(2026, 1, 1, tzinfo=UTC)
BY_CLOCK = (sys.executable, "-m", "tests.kit.moved_clock")
SECONDS_MAX = 90.0
T = TypeVar("T")
Rows = Mapping[str, Sequence[Mapping[str, Any]]]


def soon(look: Callable[[], Any], *, seconds: float = SECONDS_MAX) -> Any:
    """Poll ``look`` until it returns something and return that; fail after ``seconds``."""
    deadline = time.monotonic() + seconds
    pause = threading.Event().wait  # a wait for nothing, which leaves the processor to others
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, f"it did not come about within {seconds:g} s: {found!r}"
        pause(0.05)


def furnish(database_url: str, rows: Rows, clients: Mapping[str, tuple[str, str]]) -> None:
    """Create a tenant with clients and rows (by wire names) in a database that is not served yet."""

    async def fill(database: Database) -> None:
        await create_tenant(database, TENANT, settings={}, at=OPENED, user="tests")
        for name, (client_id, secret) in clients.items():
            await create_client(
                database, client_id=client_id, secret=secret, tenant_id=TENANT, scopes=SCOPES[name], name=name,
                at=OPENED,
            )  # fmt: skip

        async def work(session: Session) -> None:
            for set_name, of_set in rows.items():
                await insert_rows(session, set_name, of_set, at=OPENED, by="tests")
            await record_change(session, "Promotions", at=OPENED)
            await record_change(session, "Articles", at=OPENED)

        await database.write(work, tenant=TENANT)

    with_database(database_url, fill)


def with_database(
    database_url: str, work: Callable[[Database], Coroutine[Any, Any, T]], *, seconds_max: float = 10.0
) -> T:
    """Do the work of a command without the time to start a process."""

    async def opened() -> T:
        database = await open_database(database_url, seconds_max=seconds_max)
        try:
            return await work(database)
        finally:
            await database.close()

    with ThreadPoolExecutor(1) as pool:  # an event loop may be running in this thread
        return pool.submit(asyncio.run, opened()).result()


def columns(database: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Query a SQLite file while another process serves it."""
    with contextlib.closing(sqlite3.connect(database, timeout=10)) as connection:
        return connection.execute(query, values).fetchall()


@dataclass
class Cloud:
    """A running cloud with one tenant."""

    service: Service
    database_url: str
    clock: MovedClock
    clients: dict[str, tuple[str, str]]
    http: httpx2.Client
    _tokens: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.service.url

    def call(
        self, method: str, path: str, body: Any = None, *, client: str = "author", **headers: str
    ) -> httpx2.Response:
        """Send a request; renew the token if it has expired because the clock was moved."""
        for _ in range(2):
            sent = {"authorization": f"Bearer {self._token(client)}", **headers}
            answer = self.http.request(method, path, json=body, headers=sent)
            if answer.status_code != 401:
                break
            self._tokens.pop(client)
        return answer

    def read(self, path: str, **how: Any) -> Any:
        """GET from the public API; for a collection, return its rows."""
        answer = self.call("GET", f"/api/v1/{path}", **how)
        assert answer.status_code == 200, answer.text
        return answer.json()["value"]

    def patch(self, path: str, **values: Any) -> None:
        answer = self.call("PATCH", f"/api/v1/{path}", values)
        assert answer.status_code == 204, answer.text

    def make(self, path: str, **values: Any) -> dict[str, Any]:
        answer = self.call("POST", f"/api/v1/{path}", values)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def _token(self, client: str) -> str:
        if client not in self._tokens:
            client_id, secret = self.clients[client]
            form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
            answer = self.http.post("/oauth/token", data=form)
            assert answer.status_code == 200, answer.text
            self._tokens[client] = answer.json()["access_token"]
        return self._tokens[client]

    def close(self) -> None:
        self.http.close()
        self.service.kill()


SCOPES = {
    "author": ("PublicApi.Read", "PublicApi.Write"),
    "till": ("svc.POSReader",),
    "store": ("svc.Sync",),
    "admin": ("svc.Admin",),
}


def start_cloud(database_url: str, clock_file: Path, log: Path, rows: Rows, *options: str) -> Cloud:
    """Start a cloud on a migrated database that contains ``rows``."""
    clients = {name: (str(uuid.uuid4()), secrets.token_urlsafe(16)) for name in SCOPES}
    furnish(database_url, rows, clients)
    clock = MovedClock(clock_file)
    service = Service(
        log, "--database-url", database_url, *options, command=BY_CLOCK, env={"CLOCK_FILE": str(clock_file)}
    ).start()
    http = httpx2.Client(base_url=service.url, timeout=60)
    return Cloud(service, database_url, clock, clients, http)


@dataclass
class Branch:
    """A store: a process, its directory, and a till."""

    service: Service
    directory: Path
    clock_file: Path
    http: httpx2.Client

    @property
    def database(self) -> Path:
        return self.directory / "promenade.db"

    def link(self, cloud: Cloud, line: Line | None = None, *, code: str = "S1", interval: int = 1) -> None:
        """Link the store to the cloud, through a line if there is one."""
        client_id, secret = cloud.clients["store"]
        url = cloud.url if line is None else line.url
        change = LinkChange(url, None, client_id, secret, code, interval_seconds=interval)
        with_database(self.url, lambda database: set_link(database, change, at=datetime.now(UTC)))

    def command(self, verb: str, *arguments: str, stdin: str = "") -> str:
        """Run `promenade sync-link`."""
        return promenade("sync-link", verb, *arguments, "--data-dir", str(self.directory), stdin=stdin)

    def shown(self) -> dict[str, Any]:
        """Return the output of `sync-link show`."""
        clock = MovedClock(self.clock_file)
        return with_database(self.url, lambda database: show_link(database, at=clock()))

    @property
    def url(self) -> str:
        return f"sqlite:///{self.database}"

    def heartbeat(self) -> dict[str, Any]:
        answer = self.http.get("/pos/heartbeat", headers=self._key())
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def post(self, path: str, body: Any) -> httpx2.Response:
        """Send a till's request."""
        return self.http.post(path, json=body, headers=self._key())

    def evaluate(self, *items: Mapping[str, Any], **request: Any) -> dict[str, Any]:
        """Price a basket."""
        sent = {"posGroupCode": "BERLIN", "items": [*items], **request}
        answer = self.post("/pos/v2/evaluate", {"request": sent})
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def columns(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return rows of the store's database."""
        return columns(self.database, query, *values)

    def _key(self) -> dict[str, str]:
        ((key,),) = self.columns("SELECT api_key FROM local_store")
        return {"x-api-key": key}

    def close(self) -> None:
        self.http.close()
        self.service.kill()


def start_branch(directory: Path, clock_file: Path, log: Path, *options: str) -> Branch:
    """Start a store in ``directory``; it is not linked unless it was before."""
    directory.mkdir(exist_ok=True)
    service = Service(
        log,
        *("--edition", "local-store", "--data-dir", str(directory), *options),
        command=BY_CLOCK,
        env={"CLOCK_FILE": str(clock_file)},
    ).start()
    return Branch(service, directory, clock_file, httpx2.Client(base_url=service.url, timeout=60))
