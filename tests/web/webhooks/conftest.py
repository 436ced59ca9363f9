"""Administration and the public API, served for two tenants without a worker: nothing is sent meanwhile."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from promenade.store.session import open_database
from promenade.workflows.clients import create_client
from tests.kit.api_client import SECRET
from tests.kit.databases import DIALECTS, Databases
from tests.kit.service import Service
from tests.web.admin.conftest import MADE, OTHER, OWN, Admin, furnish
from tests.web.conftest import run

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


@pytest.fixture(scope="package", params=DIALECTS)
def admin(request: pytest.FixtureRequest, databases: Databases, logs: Path) -> Iterator[Admin]:
    """Both services, served once per database for all tests of this package."""
    database_url = databases.create(request.param)
    run(_furnish(database_url))
    log = logs / f"webhooks-{request.param}.log"
    command = (sys.executable, "-m", "tests.kit.without_worker")
    service = Service(log, "--database-url", database_url, command=command).start()
    with httpx2.Client(base_url=service.url, timeout=30) as http:
        yield Admin(service=service, database_url=database_url, http=http)
    service.kill()
    databases.drop(database_url)
