"""Two tenants served side by side, with clients of every kind; tests create their own rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import Database, open_database
from promenade.store.driver.unit import Session
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.kit.api_client import SECRET, ApiClient
from tests.kit.databases import DIALECTS, Databases
from tests.kit.in_process import InProcess
from tests.kit.service import Running
from tests.web.conftest import run

MADE = datetime(2026, 1, 1, tzinfo=UTC)
OWN, OTHER = "acme", "globex"
SCOPES = {
    "integrator": (OWN, ("PublicApi.Read", "PublicApi.Write")),
    "reader": (OWN, ("PublicApi.Read",)),
    "writer": (OWN, ("PublicApi.Write",)),
    "administrator": (OWN, ("svc.Admin",)),
    "till": (OWN, ("svc.POSReader",)),
    "stranger": (OTHER, ("PublicApi.Read", "PublicApi.Write")),
}
ODATA = {"OData-Version": "4.01"}


@dataclass(kw_only=True)
class Api(ApiClient):
    """The served API."""

    root = "/api/v1"
    usual = "integrator"
    service: Running
    database_url: str

    def campaign(self, *, client: str = "integrator", **values: Any) -> dict[str, Any]:
        return self.make("Campaigns", client=client, **{"code": self.unique(), "name": "Spring", **values})

    def promotion(self, *, client: str = "integrator", **values: Any) -> dict[str, Any]:
        return self.make("Promotions", client=client, **{"name": "Ten off", **values})


async def furnish(database_url: str) -> None:
    """Create the tenants and their clients."""
    database = await open_database(database_url)
    try:
        for tenant in (OWN, OTHER):
            await create_tenant(database, tenant, settings={}, at=MADE, user="tests")
        await make_clients(database)
        await seed(database)
    finally:
        await database.close()


async def make_clients(database: Database) -> None:
    for name, (tenant, scopes) in SCOPES.items():
        await create_client(database, client_id=name, secret=SECRET, tenant_id=tenant, scopes=scopes, at=MADE)


LOGGED = "aa000000-0000-4000-8000-00000000000{}"
"""IDs of rows that no client can make: 1 belongs to the own tenant, 2 to the other."""
ENDED = "bb000000-0000-4000-8000-00000000000{}"
"""IDs of import jobs that have ended, likewise."""


async def seed(database: Database) -> None:
    """Create one row per tenant of each entity that only the service writes, and a locked campaign with a promotion."""
    for number, tenant in enumerate((OWN, OTHER), start=1):
        key = LOGGED.format(number)
        shared: list[tuple[str, dict[str, Any]]] = [
            ("CouponTypes", {"ID": key, "code": "seeded", "name": "Seeded", "genericCode": "TOPSECRET"}),
            ("CouponCodes", {"ID": key, "couponType_ID": key, "code": f"SECRET-{number}"}),
            ("AuditLogs", {
                "ID": key, "timestamp": MADE, "actor": "tests", "action": "CREATE", "entityType": "Campaigns",
                "entityId": key, "entityName": key, "ownerType": "Campaigns", "ownerId": key, "ownerName": key,
            }),
            ("ImportJobs", {"ID": key, "entity": "Articles", "source": "BULK_IMPORT", "status": "RUNNING"}),
            ("ImportJobErrors", {
                "ID": key, "job_ID": key, "rowNumber": 1, "code": "TOO_LONG", "message": "name is too long",
            }),
            ("ImportJobs", {
                "ID": ENDED.format(number), "entity": "Articles", "source": "BULK_IMPORT", "status": "SUCCEEDED",
            }),
            ("Campaigns", {"ID": key, "code": "locked", "name": "Locked", "status": "ACTIVE", "locked": True}),
            ("Promotions", {"ID": key, "code": "locked", "name": "Frozen", "campaign_ID": key}),
        ]  # fmt: skip

        async def work(session: Session, rows: Any = shared) -> None:
            for set_name, row in rows:
                await insert_rows(session, set_name, [row], at=MADE, by="tests")

        await database.write(work, tenant=tenant)


@pytest.fixture(scope="package", params=DIALECTS)
def api(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Api]:
    """Serve the API in this process, once per database for all tests of this package."""
    database_url = databases.create(request.param)
    run(furnish(database_url))
    with (
        InProcess(database_url, webhook_allow=("Hooks.Internal", "10.0.0.0/8")) as service,
        service.client() as http,
    ):
        yield Api(service=service, database_url=database_url, http=http)
    databases.drop(database_url)


def problem(answer: httpx2.Response) -> tuple[int, str, str | None]:
    """Return the status, code and target of an error response to a plain REST client."""
    assert answer.headers["content-type"].startswith("application/problem+json"), answer.text
    body = answer.json()
    assert body["status"] == answer.status_code
    return answer.status_code, body["code"], body.get("target")


def odata_fault(answer: httpx2.Response) -> tuple[int, str, str | None]:
    """Return the status, code and target of an error response to an OData client."""
    assert answer.headers["content-type"].startswith("application/json"), answer.text
    error = answer.json()["error"]
    return answer.status_code, error["code"], error.get("target")
