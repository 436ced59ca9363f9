"""The ingest, served without a worker, so that jobs stay as accepted; each test has its own tenant."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from lxml import etree
from msgspec import json as exact

from promenade.store.driver.session import open_database
from promenade.workflows.access.tenants import create_tenant
from promenade.zstd import decompress
from tests.kit.databases import DIALECTS, Databases
from tests.kit.moved_clock import MovedClock
from tests.kit.service import Service
from tests.web.conftest import OPENED, run
from tests.web.imports.bulk.conftest import ask
from tests.web.imports.master_data.messages import ENVELOPE, REQUEST, envelope, message

TENANTS = 150
SOAP = "/api/v1/master-data/soap"
REST = f"/api/v1/master-data/{REQUEST}"
COMMAND = (sys.executable, "-m", "tests.web.imports.master_data.served")
EMPTY = f'<soap:Envelope xmlns:soap="{ENVELOPE}"><soap:Body/></soap:Envelope>'


async def furnish(database_url: str, tenants: int = TENANTS) -> None:
    database = await open_database(database_url)
    try:
        for number in range(tenants):
            await create_tenant(database, f"t{number}", settings={}, at=OPENED, user="tests")
    finally:
        await database.close()


@dataclass(kw_only=True)
class Ingest:
    """The served ingest, as one tenant's leading system uses it."""

    http: httpx2.Client
    service: Service
    database_url: str
    clock: MovedClock
    tenant: str = ""
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def of(self, tenant: str) -> Ingest:
        return Ingest(http=self.http, service=self.service, database_url=self.database_url, clock=self.clock,
                      tenant=tenant, numbers=self.numbers)  # fmt: skip

    @property
    def name(self) -> str:
        return f"erp@{self.tenant}"

    def soap(self, body: str | bytes, *, name: str | None = None, media_type: str = "text/xml") -> httpx2.Response:
        """Send an envelope unchanged."""
        headers = {"content-type": media_type, "x-common-name": self.name if name is None else name}
        content = body.encode() if isinstance(body, str) else body
        return self.http.post(SOAP, content=content, headers=headers)

    def send(self, items: str, message_id: str = "m-1") -> httpx2.Response:
        """Send a message over SOAP."""
        return self.soap(envelope(items, message_id=message_id))

    def rest(self, body: bytes, *, name: str | None = None, **headers: str) -> httpx2.Response:
        """Send JSON unchanged; ``headers`` have underscores for dashes."""
        sent = {"content-type": "application/json", "x-common-name": self.name if name is None else name}
        sent |= {header.replace("_", "-"): value for header, value in headers.items()}
        return self.http.post(REST, content=body, headers=sent)

    def send_json(self, items: Any, message_id: str | None = "m-1", **headers: str) -> httpx2.Response:
        return self.rest(message(items, message_id), **headers)

    def jobs(self) -> list[dict[str, Any]]:
        """Return the tenant's jobs in order of arrival."""
        columns = ("id", "entity", "source", "status", "total_rows", "rows_skipped", "rows_succeeded", "rows_failed",
                   "continue_on_error", "idempotency_key", "created_by")  # fmt: skip
        found = ask(
            self.database_url,
            f"SELECT {', '.join(columns)} FROM import_jobs WHERE tenant_id = '{self.tenant}' ORDER BY created_at",
        )
        return [dict(zip(columns, row, strict=True)) for row in found]

    def payloads(self) -> list[tuple[Any, ...]]:
        """Return the message ID, body, content type and job of each stored payload."""
        return ask(
            self.database_url,
            "SELECT message_id, payload, content_type, job_id FROM raw_payloads"
            f" WHERE tenant_id = '{self.tenant}' ORDER BY received_at",
        )

    def rows(self) -> dict[int, Any]:
        """Return the rows that wait for the worker, by their numbers."""
        parts = ask(
            self.database_url,
            f"SELECT row_numbers, rows FROM import_parts WHERE tenant_id = '{self.tenant}' ORDER BY part",
        )
        waiting: dict[int, Any] = {}
        for numbers, packed in parts:
            rows = exact.decode(decompress(packed))
            waiting |= zip(exact.decode(numbers) if isinstance(numbers, str) else numbers, rows, strict=True)
        return waiting

    def counts(self, metric: str) -> dict[str, float]:
        """Return the tenant's samples of a metric, by their other labels."""
        text = self.http.get("/metrics").text
        found = re.findall(rf"^{metric}{{(.*)}} (\S+)$", text, re.MULTILINE)
        mine = f'tenant="{self.tenant}"'
        return {
            ",".join(sorted(set(labels.split(",")) - {mine})): float(value)
            for labels, value in found
            if mine in labels.split(",")
        }


def fault(answer: httpx2.Response, media_type: str = "text/xml") -> tuple[int, str, str]:
    """Return the status, code and message of a fault, and check that it contains nothing else."""
    assert answer.headers["content-type"] == f"{media_type}; charset=utf-8"
    root = etree.fromstring(answer.content)
    assert [one.tag for one in root.iter()] == [
        *(f"{{{ENVELOPE}}}{name}" for name in ("Envelope", "Body", "Fault")),
        *("faultcode", "faultstring"),
    ], answer.text
    code, text = (one.text for one in root[0][0])
    prefix, _, code = code.partition(":")
    assert root.nsmap[prefix] == ENVELOPE
    assert 0 < len(text) <= 200
    assert "secret" not in answer.text
    return answer.status_code, code, text


def accepted(answer: httpx2.Response, status: int = 202, media_type: str = "text/xml") -> None:
    """Check that a message was accepted and that the response says nothing more."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == f"{media_type}; charset=utf-8"
    assert etree.canonicalize(answer.text.partition("?>")[2]) == etree.canonicalize(EMPTY)


@pytest.fixture(scope="package", params=DIALECTS)
def served(
    request: pytest.FixtureRequest, databases: Databases, logs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ingest]:
    """Serve the ingest once per database for all tests of this package."""
    database_url = databases.create(request.param)
    run(furnish(database_url))
    clock_file = tmp_path_factory.mktemp("clock") / "clock"
    clock = MovedClock(clock_file)
    env = {"CLOCK_FILE": str(clock_file), "WITHOUT_WORKER": "1"}
    log = logs / f"master-data-{request.param}.log"
    service = Service(log, "--database-url", database_url, command=COMMAND, env=env).start()
    with httpx2.Client(base_url=service.url, timeout=60) as http:
        yield Ingest(http=http, service=service, database_url=database_url, clock=clock)
    service.kill()
    databases.drop(database_url)


@pytest.fixture
def ingest(served: Ingest) -> Ingest:
    """Return the ingest for a tenant that has sent nothing yet."""
    return served.of(f"t{next(served.numbers)}")
