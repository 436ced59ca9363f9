"""Reporting served for two tenants with made-up reports and a user of every role."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx2
import pytest

from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.kit.api_client import SECRET, ApiClient
from tests.kit.databases import DIALECTS, Databases
from tests.kit.in_process import InProcess
from tests.kit.service import Running
from tests.web.conftest import run
from tests.web.reports.made_up import seed

MADE = datetime(2026, 1, 1, tzinfo=UTC)
OWN, OTHER = "acme", "globex"
ROLES = {
    "admin": "svc.Admin",
    "promoter": "svc.PromotionManager",
    "treasurer": "svc.BudgetManager",
    "reader": "svc.ReportReader",
}
SCOPES = {
    **{name: (OWN, (scope,)) for name, scope in ROLES.items()},
    "integrator": (OWN, ("PublicApi.Read", "PublicApi.Write")),
    "till": (OWN, ("svc.POSReader",)),
    "store": (OWN, ("svc.Sync",)),
    "stranger": (OTHER, ("svc.PromotionManager",)),
}
ODATA = {"OData-Version": "4.0"}
AT_ONCE = 25  # reads in a batch


@dataclass(kw_only=True)
class Reporting(ApiClient):
    """The served reports."""

    root = "/reporting"
    usual = "promoter"
    service: Running
    database_url: str

    def many(self, paths: Sequence[str]) -> list[list[dict[str, Any]]]:
        """Return the rows of many reads, sent in batches."""
        found: list[list[dict[str, Any]]] = []
        for start in range(0, len(paths), AT_ONCE):
            asked = [
                {"id": str(number), "method": "get", "url": path}
                for number, path in enumerate(paths[start : start + AT_ONCE])
            ]
            answer = self.post("$batch", {"requests": asked})
            assert answer.status_code == 200, answer.text
            for part, one in zip(answer.json()["responses"], asked, strict=True):
                assert (part["id"], part["status"]) == (one["id"], 200), (one["url"], part)
                found.append(part["body"]["value"])
        return found


async def furnish(database_url: str) -> None:
    """Create the tenants, their clients and their rows."""
    database = await open_database(database_url)
    try:
        for tenant in (OWN, OTHER):
            await create_tenant(database, tenant, settings={}, at=MADE, user="tests")
            await database.write(partial(_seeded, tenant), tenant=tenant)
        for name, (tenant, scopes) in SCOPES.items():
            await create_client(database, client_id=name, secret=SECRET, tenant_id=tenant, scopes=scopes, at=MADE)
    finally:
        await database.close()


async def _seeded(tenant: str, session: Session) -> None:
    await seed(session, tenant)


@pytest.fixture(scope="package", params=DIALECTS)
def reporting(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Reporting]:
    """Serve reporting in this process, once per database for all tests of this package, without aggregation."""
    database_url = databases.create(request.param)
    run(furnish(database_url))
    with InProcess(database_url, has_worker=False) as service, service.client() as http:
        yield Reporting(service=service, database_url=database_url, http=http)
    databases.drop(database_url)


def fault(answer: httpx2.Response) -> tuple[int, str, str | None]:
    """Return the status, code and target of an error response in the OData format."""
    assert answer.headers["content-type"].startswith("application/json"), answer.text
    error = answer.json()["error"]
    assert error["@Common.numericSeverity"] == 4
    return answer.status_code, error["code"], error.get("target")
