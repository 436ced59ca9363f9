"""A served cloud, on both databases, with two tenants; each has a store, a budget and a coupon."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from sqlalchemy import Row, select

from promenade.engine.basket import Basket, BasketLine, Facts, PosGroupFact, Settings
from promenade.engine.view import NO_GROUPS
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.store.pricing.surroundings import tree_hash
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.replica.uploads import UploadedSale
from tests.kit.api_client import SECRET, ApiClient
from tests.kit.databases import DIALECTS, Databases
from tests.kit.logged import rows_from
from tests.kit.service import Service
from tests.web.conftest import run
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.replica.uploads import upload_of
from tests.workflows.shop import identity

MADE = datetime(2026, 1, 1, tzinfo=UTC)
OWN, OTHER = "acme", "globex"
SCOPES = {
    "store": (OWN, ("svc.Sync",)),
    "stranger": (OTHER, ("svc.Sync",)),
    "everything": (
        OWN,
        ("PublicApi.Read", "PublicApi.Write", "svc.Admin", "svc.PromotionManager", "svc.BudgetManager",
         "svc.POSReader"),
    ),
}  # fmt: skip
TREE = tree_hash(NO_GROUPS)


@dataclass(kw_only=True)
class Cloud(ApiClient):
    """The served cloud, as stores use it."""

    root = "/sync"
    usual = "store"
    service: Service
    database_url: str

    def send(self, *sales: Any, client: str = "store", **changes: Any) -> httpx2.Response:
        """Send sales of the tenant's store, unchanged or as documents."""
        body = {
            "deploymentId": named(OWN, "store"),
            "definitions": {TREE: "gA=="},
            "transactions": [json.loads(msgspec.json.encode(one)) for one in sales],
            **changes,
        }
        return self.post("transactions", body, client=client)

    def results(self, *sales: Any, **changes: Any) -> list[tuple[str, str | None]]:
        """Send sales; return status and reason of each."""
        answer = self.send(*sales, **changes)
        assert answer.status_code == 200, answer.text
        return [(one["status"], one.get("reason")) for one in answer.json()["results"]]

    def rows(self, set_name: str, tenant: str = OWN, **where: Any) -> list[Row[Any]]:
        """Return rows of a tenant, directly from the database."""
        wanted = rows_from(set_name)
        statement = select(wanted).where(*[wanted.c[name] == value for name, value in where.items()])

        async def work(session: Session) -> list[Row[Any]]:
            return list(await session.execute(statement))

        async def read() -> list[Row[Any]]:
            database = await open_database(self.database_url)
            try:
                return await database.read(work, tenant=tenant)
            finally:
                await database.close()

        found: list[Row[Any]] = run(read())
        return found


def named(tenant: str, name: str) -> str:
    """Return the ID of a tenant's row by name."""
    return identity(f"{tenant} {name}")


def sale(name: str, tenant: str = OWN, lines: int = 1, **changes: Any) -> UploadedSale:
    """Return a sale of coffees at 10.00 with 2.00 off charged to a budget; all IDs are those of ``tenant``."""
    promotion, budget, group = (named(tenant, one) for one in ("promotion", "budget", "group"))
    priced = outcome(
        (
            line("1", 2000, 1000, discount(promotion, ((2, 100),))),
            *[line(str(number), 1000, 500) for number in range(2, lines + 1)],
        ),
        (applied(promotion, 200, budget_ids=(budget,)),),
    )
    basket = Basket(
        name,
        tuple(
            BasketLine(one.reference, one.article_number, one.quantity_thousandths, one.unit_price_hundredths)
            for one in priced.lines
        ),
        PosGroupFact(group, "BERLIN", "EUR"),
    )
    upload = upload_of(basket, priced, Facts(), Settings(datetime(2026, 11, 1, 12, tzinfo=UTC)), **changes)
    request = msgspec.structs.replace(upload.request, tree_hash=TREE)
    return msgspec.structs.replace(upload, request=request)


async def _furnish(database_url: str) -> None:
    database = await open_database(database_url)

    async def fill(session: Session) -> None:
        mark = session.tenant or ""
        budget = {"ID": named(mark, "budget"), "code": "B", "name": "B", "totalAmount": Decimal(100_000)}
        rows: dict[str, dict[str, Any]] = {
            "PosGroups": {"ID": named(mark, "group"), "code": "BERLIN", "name": "Berlin", "currency": "EUR"},
            "LocalDeployments": {"ID": named(mark, "store"), "storeCode": "S1", "status": "ONLINE"},
            "Budgets": {**budget, "currency": "EUR", "status": "ACTIVE"},
            "Promotions": {"ID": named(mark, "promotion"), "code": "P", "name": "P", "status": "ACTIVE"},
            "CouponTypes": {"ID": named(mark, "type"), "code": "T", "name": "T", "status": "ACTIVE"},
            "CouponCodes": {"ID": named(mark, "code"), "code": f"CODE-{mark}", "couponType_ID": named(mark, "type")},
        }
        for set_name, row in rows.items():
            await insert_rows(session, set_name, [row], at=MADE, by="tests")

    try:
        for tenant in (OWN, OTHER):
            await create_tenant(database, tenant, settings={}, at=MADE, user="tests")
            await database.write(fill, tenant=tenant)
        for name, (tenant, scopes) in SCOPES.items():
            await create_client(database, client_id=name, secret=SECRET, tenant_id=tenant, scopes=scopes, at=MADE)
    finally:
        await database.close()


@pytest.fixture(scope="package", params=DIALECTS)
def cloud(request: pytest.FixtureRequest, databases: Databases, logs: Path) -> Iterator[Cloud]:
    """Serve the cloud once per database for all tests of this package."""
    database_url = databases.create(request.param)
    run(_furnish(database_url))
    service = Service(logs / f"sync-up-{request.param}.log", "--database-url", database_url).start()
    with httpx2.Client(base_url=service.url, timeout=60) as http:
        yield Cloud(service=service, database_url=database_url, http=http)
    service.kill()
    databases.drop(database_url)
