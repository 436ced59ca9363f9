"""A served cloud with two tenants, stores, budgets and coupons, on SQLite and on PostgreSQL."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx2
import pytest

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from tests.kit.databases import DIALECTS, Databases
from tests.kit.service import Service
from tests.kit.tenants import make_clients, make_tenants
from tests.web.conftest import OPENED, TENANT, Shop, furnish, run

OTHER = "other"
NORTH, SOUTH = (str(uuid.uuid5(uuid.NAMESPACE_OID, one)) for one in ("north", "south"))
BUDGET, COUPONS, LIMITED = (str(uuid.uuid5(uuid.NAMESPACE_OID, one)) for one in ("budget", "coupons", "limited"))
PROMOTION = str(uuid.uuid5(uuid.NAMESPACE_OID, "promotion"))
THEIRS, THEIR_BUDGET = (str(uuid.uuid5(uuid.NAMESPACE_OID, one)) for one in ("theirs", "their-budget"))
CODES = 40


@dataclass
class Link:
    """A store's client for `/sync`."""

    shop: Shop
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def code(self) -> str:
        """Return an unused code."""
        return f"SAVE-{next(self._numbers)}"

    def post(self, what: str, *, client: str = "store", key: str | None = None, **body: Any) -> httpx2.Response:
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.shop.call(f"/sync/{what}", body, client=client, **headers)

    def ask(self, what: str, *, key: str | None = None, **body: Any) -> dict[str, Any]:
        """Return the response of a call that must succeed."""
        answer = self.post(what, key=key, **{"deploymentId": NORTH, **body})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


async def _furnish_shares(database_url: str) -> None:
    database = await open_database(database_url)

    async def mine(session: Session) -> None:
        money = {"currency": "EUR", "status": "ACTIVE"}
        kinds = {"status": "ACTIVE", "codeType": "INDIVIDUAL"}
        shared = {"status": "ACTIVE", "codeType": "GENERIC", "genericCode": "TEN", "maxRedemptions": 1000}
        for set_name, rows in (
            ("LocalDeployments", [{"ID": one, "storeCode": one[:8], "status": "OFFLINE"} for one in (NORTH, SOUTH)]),
            ("Budgets", [{"ID": BUDGET, "code": "B", "name": "B", "totalAmount": Decimal(1000), **money}]),
            ("CouponTypes", [{"ID": COUPONS, "code": "SAVE", "name": "Save", **kinds}]),
            ("CouponTypes", [{"ID": LIMITED, "code": "TEN", "name": "Ten", **shared}]),
            ("Promotions", [{"ID": PROMOTION, "code": "P", "name": "P", "status": "ACTIVE",
                             "maxApplicationsTotal": 1000, "type": "ARTICLE"}]),
            ("CouponCodes", [{"ID": str(uuid.uuid4()), "code": f"SAVE-{number}", "couponType_ID": COUPONS}
                             for number in range(CODES)]),
        ):  # fmt: skip
            await insert_rows(session, set_name, rows, at=OPENED, by="tests")

    async def theirs(session: Session) -> None:
        await insert_rows(
            session, "LocalDeployments", [{"ID": THEIRS, "storeCode": "T", "status": "OFFLINE"}], at=OPENED, by="tests"
        )
        row = {"ID": THEIR_BUDGET, "code": "B", "name": "B", "totalAmount": Decimal(10), "currency": "EUR",
               "status": "ACTIVE"}  # fmt: skip
        await insert_rows(session, "Budgets", [row], at=OPENED, by="tests")

    try:
        await database.write(mine, tenant=TENANT)
        await database.write(theirs, tenant=OTHER)
    finally:
        await database.close()


@pytest.fixture(scope="package", params=DIALECTS)
def link(request: pytest.FixtureRequest, databases: Databases, logs: Path) -> Iterator[Link]:
    """Return the stores' client; served once for all tests of this package."""
    database_url = databases.create(request.param)
    make_tenants(database_url, TENANT, OTHER)
    run(furnish(database_url))
    run(_furnish_shares(database_url))
    scopes = {
        "store": ("svc.Sync",),
        "till": ("svc.POSReader", "svc.PromotionManager"),
        "author": ("PublicApi.Read", "PublicApi.Write", "svc.Admin"),
    }
    clients = make_clients(database_url, TENANT, scopes)
    service = Service(logs / f"shares-{request.param}.log", "--database-url", database_url).start()
    with httpx2.Client(base_url=service.url, timeout=30) as http:
        yield Link(Shop(service, database_url, clients, http))
    service.stop()
    databases.drop(database_url)
