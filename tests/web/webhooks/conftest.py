"""The admin service and the public API for two tenants without a worker, so that nothing is sent."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from promenade.store.driver.session import open_database
from promenade.workflows.access.clients import create_client
from tests.kit.api_client import SECRET
from tests.kit.databases import DIALECTS, Databases
from tests.kit.service import Service
from tests.web.conftest import run
from tests.web.services.admin.conftest import MADE, OTHER, OWN, Admin, furnish

_FURTHER = {
    "writer": (OWN, ("PublicApi.Write",)),
    "reader": (OWN, ("PublicApi.Read",)),
    "strange-integrator": (OTHER, ("PublicApi.Read", "PublicApi.Write")),
}


async def _furnish(database_url: str) -> None:
    await furnish(database_url)
    database = await open_database(database_url)
    try:
        for name, (tenant, scopes) in _FURTHER.items():
            await create_client(database, client_id=name, secret=SECRET, tenant_id=tenant, scopes=scopes, at=MADE)
    finally:
        await database.close()


@dataclass(kw_only=True)
class Integration(Admin):
    """Both services in a separate process, because tests read its log."""

    service: Service


@pytest.fixture(scope="package", params=DIALECTS)
def admin(request: pytest.FixtureRequest, databases: Databases, logs: Path) -> Iterator[Integration]:
    """Serve both services once per database for all tests of this package."""
    database_url = databases.create(request.param)
    run(_furnish(database_url))
    log = logs / f"webhooks-{request.param}.log"
    command = (sys.executable, "-m", "tests.kit.without_worker")
    service = Service(log, "--database-url", database_url, command=command).start()
    with httpx2.Client(base_url=service.url, timeout=30) as http:
        yield Integration(service=service, database_url=database_url, http=http)
    service.kill()
    databases.drop(database_url)
