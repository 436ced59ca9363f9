"""The admin service for two tenants, with a user of every role; tests create their own rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.kit.api_client import SECRET, ApiClient
from tests.kit.databases import DIALECTS, Databases, Dialect
from tests.kit.in_process import InProcess
from tests.kit.service import Running
from tests.web.conftest import run
from tests.web.services.admin.patient import patient

MADE = datetime(2026, 1, 1, tzinfo=UTC)
OWN, OTHER = "acme", "globex"
SCOPES = {
    "admin": (OWN, ("svc.Admin",)),
    "promoter": (OWN, ("svc.PromotionManager",)),
    "treasurer": (OWN, ("svc.BudgetManager",)),
    "integrator": (OWN, ("PublicApi.Read", "PublicApi.Write")),
    "till": (OWN, ("svc.POSReader",)),
    "stranger": (OTHER, ("svc.Admin",)),
}
NOBODY = "99999999-9999-4999-8999-999999999999"
LOGGED = "aa000000-0000-4000-8000-00000000000{}"
"""IDs of rows that no client makes: 1 belongs to the own tenant, 2 to the other."""


@dataclass(kw_only=True)
class Admin(ApiClient):
    """The served admin service."""

    root = "/admin"
    usual = "admin"
    service: Running
    database_url: str

    def promotion(self, *, client: str = "admin", **values: Any) -> dict[str, Any]:
        return self.make("Promotions", client=client, **{"name": "Ten off", "IsActiveEntity": True, **values})

    def campaign(self, **values: Any) -> dict[str, Any]:
        return self.make("Campaigns", **{"code": self.unique(), "name": "Spring", "IsActiveEntity": True, **values})

    def pos_group(self) -> str:
        code = self.unique("P")
        made = self.make("PosGroups", code=code, name="Berlin", currency="EUR", IsActiveEntity=True)
        return str(made["ID"])

    def edit(self, set_name: str, entity_id: str, *, client: str = "admin", preserve: bool = True) -> httpx2.Response:
        address = f"{set_name}(ID={entity_id},IsActiveEntity=true)/AdminService.draftEdit"
        return self.post(address, {"PreserveChanges": preserve}, client=client)

    def activate(self, set_name: str, entity_id: str, *, client: str = "admin") -> httpx2.Response:
        return self.post(f"{draft(set_name, entity_id)}/AdminService.draftActivate", client=client)


def draft(set_name: str, row: str | Mapping[str, Any]) -> str:
    """Return the path of a draft."""
    return f"{set_name}(ID={row if isinstance(row, str) else row['ID']},IsActiveEntity=false)"


def active(set_name: str, row: str | Mapping[str, Any]) -> str:
    """Return the path of an active entity."""
    return f"{set_name}(ID={row if isinstance(row, str) else row['ID']},IsActiveEntity=true)"


async def furnish(database_url: str) -> None:
    """Create the tenants, their clients, and a row of each entity that clients cannot create."""
    database = await open_database(database_url)
    try:
        for tenant in (OWN, OTHER):
            await create_tenant(database, tenant, settings={}, at=MADE, user="tests")
        for name, (tenant, scopes) in SCOPES.items():
            await create_client(database, client_id=name, secret=SECRET, tenant_id=tenant, scopes=scopes, at=MADE)
        for number, tenant in enumerate((OWN, OTHER), start=1):
            key = LOGGED.format(number)

            async def work(session: Session, key: str = key) -> None:
                row = {"ID": key, "entity": "Articles", "source": "BULK_IMPORT", "status": "SUCCEEDED"}
                await insert_rows(session, "ImportJobs", [row], at=MADE, by="tests")
                await insert_rows(session, "Promotions", [{"ID": key, "name": "Old"}], at=MADE, by="tests")

            await database.write(work, tenant=tenant)
    finally:
        await database.close()


@pytest.fixture(scope="package", params=DIALECTS)
def admin(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Admin]:
    """Serve the admin service in this process, once per database for all tests of this package."""
    with served(databases, request.param) as admin:
        yield admin


@contextmanager
def served(databases: Databases, dialect: Dialect, *, has_worker: bool = True) -> Iterator[Admin]:
    """Serve the admin service on a new database; without a worker what is queued stays so."""
    database_url = databases.create(dialect)
    run(furnish(database_url))
    with patient(), InProcess(database_url, has_worker=has_worker) as service, service.client() as http:
        yield Admin(service=service, database_url=database_url, http=http)
    databases.drop(database_url)


def fault(answer: httpx2.Response) -> tuple[int, str, str | None]:
    """Return the status, code and target of an error response in the OData format."""
    assert answer.headers["content-type"].startswith("application/json"), answer.text
    error = answer.json()["error"]
    assert error["@Common.numericSeverity"] == 4
    return answer.status_code, error["code"], error.get("target")
