"""Tenants of a served system that import: their clients, their requests, and the expected database contents."""

from __future__ import annotations

import contextlib
import json
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
from sqlalchemy import Row, select

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.kit.api_client import SECRET
from tests.kit.service import Service

__all__ = ["ENDED", "Tenant", "bulk_body", "peak_growth", "prepare", "rows_of", "until_ended"]

ENDED = ("SUCCEEDED", "FAILED")
SCOPES = ("PublicApi.Read", "PublicApi.Write", "svc.POSReader")
PLACES = 3
END_SECONDS_MAX = 400.0


@dataclass
class Tenant:
    """A tenant and its client, which can call several services; ``places`` are IDs of its POS groups."""

    name: str
    places: tuple[str, ...] = ()
    _tokens: dict[int, str] = field(default_factory=dict)

    @contextlib.contextmanager
    def asking(self, service: Service) -> Iterator[httpx2.Client]:
        """Return a client of the service that acts for the tenant."""
        with httpx2.Client(base_url=service.url, timeout=120, verify=False) as http:
            if service.port not in self._tokens:
                form = {"grant_type": "client_credentials", "client_id": self.name, "client_secret": SECRET}
                answer = http.post("/oauth/token", data=form)
                assert answer.status_code == 200, answer.text
                self._tokens[service.port] = answer.json()["access_token"]
            http.headers["Authorization"] = f"Bearer {self._tokens[service.port]}"
            http.headers["Content-Type"] = "application/json"
            yield http


async def prepare(database_url: str, *names: str) -> list[Tenant]:
    """Create tenants, each with a client and some POS groups."""
    database = await open_database(database_url)
    at = datetime.now(UTC)
    tenants = []
    for name in names:
        await create_tenant(database, name, settings={}, at=at, user="test")
        await create_client(database, client_id=name, secret=SECRET, tenant_id=name, scopes=SCOPES, at=at)
        places = tuple(str(uuid.uuid4()) for _ in range(PLACES))
        rows = [{"ID": one, "code": f"S{place}", "currency": "EUR"} for place, one in enumerate(places)]

        async def work(session: Session, rows: list[dict[str, str]] = rows) -> None:
            await insert_rows(session, "PosGroups", [row | {"name": row["code"]} for row in rows], at=at, by="test")

        await database.write(work, tenant=name)
        tenants.append(Tenant(name, places))
    await database.close()
    return tenants


def bulk_body(rows: Sequence[Mapping[str, Any]], *, keep_good: bool) -> bytes:
    """Return the body of a bulk import request."""
    return json.dumps({"header": {"continueOnError": keep_good}, "rows": rows}).encode()


def until_ended(http: httpx2.Client, address: str, seconds: float = END_SECONDS_MAX) -> dict[str, Any]:
    """Wait for a job to end; return its status."""
    deadline, pause = time.monotonic() + seconds, threading.Event()
    while True:
        answer = http.get(address)
        assert answer.status_code == 200, answer.text
        job: dict[str, Any] = answer.json()
        if job["status"] in ENDED:
            return job
        assert time.monotonic() < deadline, job
        pause.wait(0.05)


async def rows_of(database: Database, tenant: str, name: str) -> Sequence[Row[Any]]:
    """Return all rows of a tenant in a table."""
    statement = select(table(name))

    async def work(session: Session) -> Sequence[Row[Any]]:
        return await session.execute(statement)

    return await database.read(work, tenant=tenant)


def peak_growth(process_id: int, work: Callable[[], None]) -> int:
    """Return by how many bytes a process grew beyond its initial size, at the peak of ``work`` (Linux)."""
    before = _memory(process_id, "VmRSS")
    Path(f"/proc/{process_id}/clear_refs").write_text("5")  # resets the peak
    work()
    return _memory(process_id, "VmHWM") - before


def _memory(process_id: int, name: str) -> int:
    for line in Path(f"/proc/{process_id}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise AssertionError(name)
