"""The public API served without a worker, so that jobs stay as accepted; each test has its own tenant."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import pytest
from sqlalchemy.engine import make_url

from promenade.store.access.clients import digest_of, insert_client
from promenade.store.access.tenants import insert_tenant
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.store.imports.parts import Part, unpack
from promenade.workflows.access.tenants import create_tenant
from tests.kit.api_client import SECRET, ApiClient
from tests.kit.databases import DIALECTS, Databases, past_the_wall
from tests.kit.service import Service
from tests.web.conftest import run

MADE = datetime(2026, 1, 1, tzinfo=UTC)
TENANTS = 300
OPERATOR = "operator"
WITHOUT_WORKER = (sys.executable, "-m", "tests.kit.without_worker")
ROLES = {
    "erp": ("PublicApi.Read", "PublicApi.Write"),
    "writer": ("PublicApi.Write",),
    "reader": ("PublicApi.Read",),
    "chief": ("PublicApi.Read", "PublicApi.Write", "svc.Admin"),
}
ODATA = {"OData-Version": "4.01"}
FORMS = ("{}:bulk-import", "{}%3Abulk-import", "{}/PublicAPI.bulkImport", "{}/bulkImport")
TABLES = ("import_jobs", "import_work", "import_parts", "import_keys")
NOTHING = dict.fromkeys(TABLES, 0)


async def furnish(database_url: str, tenants: int = TENANTS) -> None:
    """Create tenants, including the operator's, each with a client for every role: `erp@t1`."""
    database = await open_database(database_url)
    await create_tenant(database, OPERATOR, settings={"isOperator": "true"}, at=MADE, user="tests")
    names = [f"t{number}" for number in range(tenants)]
    digest = digest_of(SECRET)

    async def work(session: Session) -> None:  # all in one transaction: each commit would wait for the disk
        for tenant in names:
            stamps = {"created_at": MADE, "created_by": "tests", "modified_at": MADE, "modified_by": "tests"}
            await insert_tenant(session, {"tenant_id": tenant, "name": tenant, **stamps})
        for tenant in (OPERATOR, *names):
            for role, scopes in ROLES.items():
                client = f"{role}@{tenant}"
                row = {"id": client, "client_id": client, "tenant_id": tenant, "name": None, "secret_digest": digest}
                await insert_client(session, row | {"scopes": list(scopes), "created_at": MADE})

    try:
        await database.write(work, system=True)
    finally:
        await database.close()


def ask(database_url: str, statement: str) -> list[tuple[Any, ...]]:
    """Query the database of a running service directly."""
    if not database_url.startswith("sqlite"):

        async def fetched() -> list[tuple[Any, ...]]:
            connection = await asyncpg.connect(past_the_wall(database_url))
            try:
                return [tuple(row) for row in await connection.fetch(statement)]
            finally:
                await connection.close()

        return run(fetched())  # type: ignore[no-any-return]
    path = make_url(database_url).database
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as connection:
        return connection.execute(statement).fetchall()


@dataclass(kw_only=True)
class Bulk(ApiClient):
    """The public API, as the clients of one tenant see it."""

    root = "/api/v1"
    service: Service
    database_url: str
    tenant: str = ""
    numbers: Iterator[int] = field(default_factory=itertools.count)

    @property
    def usual(self) -> str:  # type: ignore[override]
        return f"erp@{self.tenant}"

    def of(self, tenant: str) -> Bulk:
        return Bulk(http=self.http, tokens=self.tokens, service=self.service, database_url=self.database_url,
                    tenant=tenant, numbers=self.numbers)  # fmt: skip

    def send(self, rows: Any = None, *, entity: str = "Articles", form: str = FORMS[0], role: str = "erp",
             header: Any = None, **headers: str) -> httpx2.Response:  # fmt: skip
        """Import rows; ``headers`` have underscores for dashes."""
        body = {"rows": articles(1) if rows is None else rows} | ({} if header is None else {"header": header})
        return self.raw(json.dumps(body).encode(), entity=entity, form=form, role=role, **headers)

    def raw(self, body: bytes, *, entity: str = "Articles", form: str = FORMS[0], role: str = "erp",
            **headers: str) -> httpx2.Response:  # fmt: skip
        return self.call("POST", form.format(entity), body, client=f"{role}@{self.tenant}", **headers)

    def received(self, job_id: str) -> list[bytes]:
        """Return the rows of a job as the worker will read them."""
        columns = "part, first_row, row_count, row_numbers, rows"
        parts = ask(self.database_url, f"SELECT {columns} FROM import_parts WHERE job_id = '{job_id}' ORDER BY part")
        return [row.text for part in parts for row in unpack(Part(*part))]

    def stored(self) -> dict[str, int]:
        """Return the number of import rows that the tenant has, by table."""
        counts = ", ".join(f"(SELECT count(*) FROM {name} WHERE tenant_id = '{self.tenant}')" for name in TABLES)
        return dict(zip(TABLES, ask(self.database_url, f"SELECT {counts}")[0], strict=True))


def articles(count: int, name: str = "Milk") -> list[dict[str, Any]]:
    return [{"articleNumber": f"A-{number}", "name": name} for number in range(count)]


def accepted(answer: httpx2.Response, status: int = 202) -> str:
    """Return the job ID in a response, and check that the response has the specified form."""
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert set(body) - {"@context"} == {"jobId", "statusUrl", "minorVersion"}
    assert body["statusUrl"] == f"/api/v1/jobs/{body['jobId']}"
    assert body["minorVersion"] == 13
    return str(body["jobId"])


def problem(answer: httpx2.Response) -> tuple[int, str, str | None]:
    """Return the status, code and target of an error response to a plain REST client."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    body = answer.json()
    assert body["status"] == answer.status_code
    assert body["detail"]
    return answer.status_code, body["code"], body.get("target")


@pytest.fixture(scope="package", params=DIALECTS)
def served(request: pytest.FixtureRequest, databases: Databases, logs: Path) -> Iterator[Bulk]:
    """Serve the service, once per database for all tests of this package."""
    database_url = databases.create(request.param)
    run(furnish(database_url))
    service = Service(logs / f"bulk-{request.param}.log", "--database-url", database_url, command=WITHOUT_WORKER)
    service.start()
    with httpx2.Client(base_url=service.url, timeout=60) as http:
        yield Bulk(http=http, service=service, database_url=database_url)
    service.kill()
    databases.drop(database_url)


@pytest.fixture
def api(served: Bulk) -> Bulk:
    """Return the API for a tenant that has imported nothing yet."""
    return served.of(f"t{next(served.numbers)}")


async def at_once(count: int, url: str, call: Any) -> list[httpx2.Response]:
    """Return the responses to ``count`` simultaneous requests, each on its own connection: ``call(client, n)``."""
    async with contextlib.AsyncExitStack() as stack:
        limits = httpx2.Limits(max_connections=1)
        clients = [
            await stack.enter_async_context(httpx2.AsyncClient(base_url=url, timeout=60, limits=limits))
            for _ in range(count)
        ]
        return list(await asyncio.gather(*(call(client, number) for number, client in enumerate(clients))))
