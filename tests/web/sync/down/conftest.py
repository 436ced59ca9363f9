"""A served cloud, on both databases: two tenants, their stores, and their authors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import record_change
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.kit.api_client import SECRET, ApiClient
from tests.kit.databases import DIALECTS, Databases
from tests.kit.service import Service
from tests.web.conftest import run
from tests.web.sync.down.replica import Replica

MADE = datetime(2026, 1, 1, tzinfo=UTC)
OWN, OTHER = "acme", "globex"
ARTICLES = 2300
SCOPES = {
    "store": (OWN, ("svc.Sync",)),
    "integrator": (OWN, ("PublicApi.Read", "PublicApi.Write")),
    "everything": (
        OWN,
        ("PublicApi.Read", "PublicApi.Write", "svc.Admin", "svc.PromotionManager", "svc.BudgetManager",
         "svc.POSReader"),
    ),
    "stranger": (OTHER, ("svc.Sync",)),
    "strange integrator": (OTHER, ("PublicApi.Read", "PublicApi.Write")),
}  # fmt: skip
CANARY = "CANARY-of-globex"


@dataclass(kw_only=True)
class Cloud(ApiClient):
    """The served cloud, as stores and integrators use it."""

    root = "/sync"
    usual = "store"
    service: Service
    database_url: str
    dialect: str

    def register(self, store_code: str, *, client: str = "store", **values: Any) -> str:
        """Register a store and return its deployment ID."""
        answer = self.post("register", {"storeCode": store_code, "version": "1.4.0", **values}, client=client)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["deploymentId"])

    def promotions(self, deployment_id: str, cursor: str | None = None, **how: Any) -> httpx2.Response:
        query = f"promotions?deploymentId={deployment_id}" + (f"&cursor={cursor}" if cursor else "")
        return self.get(query, **how)

    def follow(self, deployment_id: str, replica: Replica, **how: Any) -> int:
        """Fetch and apply all pages; return their number."""
        pages = 0
        while True:
            answer = self.promotions(deployment_id, replica.cursor, **how)
            assert answer.status_code == 200, answer.text
            page = answer.json()
            replica.take(page)
            pages += 1
            if not page["hasMore"]:
                return pages

    def author(self, set_name: str, **values: Any) -> str:
        """Create a row as an integrator; return its ID."""
        answer = self.post(f"/api/v1/{set_name}", values, client="integrator")
        assert answer.status_code == 201, answer.text
        return str(answer.json()["ID"])


async def furnish(database_url: str) -> None:
    database = await open_database(database_url)

    async def fill(session: Session) -> None:
        mark = session.tenant or ""
        group = {"ID": _id(mark, 1), "code": "BERLIN", "name": f"CANARY-of-{mark}", "currency": "EUR"}
        await insert_rows(session, "PosGroups", [group], at=MADE, by="tests")
        articles = [{"ID": _id(mark, 10 + n), "articleNumber": f"A-{n}", "name": f"CANARY-of-{mark}"}
                    for n in range(ARTICLES if mark == OWN else 20)]  # fmt: skip
        await insert_rows(session, "Articles", articles, at=MADE, by="tests")
        await record_change(session, "PosGroups", at=MADE)
        await record_change(session, "Articles", at=MADE)

    try:
        for tenant in (OWN, OTHER):
            await create_tenant(database, tenant, settings={}, at=MADE, user="tests")
            await database.write(fill, tenant=tenant)
        for name, (tenant, scopes) in SCOPES.items():
            await create_client(database, client_id=name, secret=SECRET, tenant_id=tenant, scopes=scopes, at=MADE)
    finally:
        await database.close()


def _id(mark: str, number: int) -> str:
    return f"{len(mark):08x}-0000-4000-8000-{number:012x}"


@pytest.fixture(scope="package", params=DIALECTS)
def cloud(request: pytest.FixtureRequest, databases: Databases, logs: Path) -> Iterator[Cloud]:
    """Serve the cloud once per database for all tests of this package."""
    database_url = databases.create(request.param)
    run(furnish(database_url))
    service = Service(logs / f"sync-down-{request.param}.log", "--database-url", database_url).start()
    with httpx2.Client(base_url=service.url, timeout=30) as http:
        yield Cloud(service=service, database_url=database_url, dialect=request.param, http=http)
    service.kill()
    databases.drop(database_url)


def fault(answer: httpx2.Response) -> tuple[int, str, str | None]:
    """Return the status, code and target of an error response."""
    error = answer.json()["error"]
    return answer.status_code, error["code"], error.get("target")
