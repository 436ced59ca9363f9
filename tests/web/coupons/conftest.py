"""Coupons in the shop, on SQLite and on PostgreSQL."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import record_change
from tests.kit.databases import DIALECTS, Databases
from tests.kit.in_process import InProcess
from tests.kit.tenants import make_clients, make_tenants
from tests.web.conftest import OPENED, TENANT, Shop, furnish, run

OTHER = "other"
CODES = 100  # of each kind, more than there are tests
TYPE_ID = "0e000000-0000-4000-8000-000000000001"
SHARED_ID = "0e000000-0000-4000-8000-000000000002"
ACTIVATED_ID = "0e000000-0000-4000-8000-000000000003"
PROMOTED_ID = "0b000000-0000-4000-8000-000000000002"
_TYPES = (
    {"ID": TYPE_ID, "code": "SAVE", "name": "Save", "status": "ACTIVE"},
    {"ID": SHARED_ID, "code": "ALL", "name": "All", "status": "ACTIVE", "codeType": "GENERIC", "genericCode": "ALL"},
    {"ID": ACTIVATED_ID, "code": "DIGITAL", "name": "Digital", "status": "ACTIVE", "requiresActivation": True},
)


@dataclass
class Counter:
    """A till that calls the coupon endpoints of the served shop."""

    shop: Shop
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def coupon(self, kind: str = "SAVE") -> str:
        """Return an unused code of the type SAVE, or of DIGITAL, which C1 must activate."""
        return f"{kind}-{next(self._numbers)}"

    def ask(self, operation: str, *, client: str = "till", **body: Any) -> dict[str, Any]:
        """Return the response of a call that must succeed."""
        answer = self.shop.call(f"/pos/coupons/{operation}", body, client=client)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


async def furnish_coupons(database_url: str, tenant: str) -> None:
    """Create coupon types and codes for a tenant."""
    database = await open_database(database_url)
    promotion = {"ID": PROMOTED_ID, "code": "BY-COUPON", "name": "By coupon", "status": "ACTIVE", "type": "COUPON"}
    link = {"ID": str(uuid.uuid4()), "couponType_ID": TYPE_ID, "promotion_ID": PROMOTED_ID}
    ends = {"validUntil": datetime(2090, 1, 1, tzinfo=UTC)}
    digital = {"couponType_ID": ACTIVATED_ID, "status": "CREATED", "customerId": "C1", **ends}
    codes = [{"code": f"SAVE-{number}", "couponType_ID": TYPE_ID, **ends} for number in range(CODES)]
    codes += [{"code": f"DIGITAL-{number}", **digital} for number in range(CODES)]
    if tenant == OTHER:
        codes = [{"code": "THEIRS", "couponType_ID": TYPE_ID, **ends}]

    async def work(session: Session) -> None:
        for set_name, rows in (
            ("CouponTypes", _TYPES),
            ("Promotions", [promotion]),
            ("CouponTypePromotions", [link]),
            ("CouponCodes", [{"ID": str(uuid.uuid4()), "status": "ACTIVE", **code} for code in codes]),
        ):
            await insert_rows(session, set_name, rows, at=OPENED, by="tests")
        await record_change(session, "Promotions", at=OPENED)

    try:
        await database.write(work, tenant=tenant)
    finally:
        await database.close()


@pytest.fixture(scope="package", params=DIALECTS)
def shop(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Shop]:
    """Return a shop with coupons, and a second tenant with a code of its own."""
    database_url = databases.create(request.param)
    make_tenants(database_url, TENANT, OTHER)
    for tenant in (TENANT, OTHER):
        run(furnish_coupons(database_url, tenant))
    run(furnish(database_url))
    scopes = {
        "till": ("svc.POSReader",),
        "guesser": ("svc.POSReader",),
        "administrator": ("svc.Admin",),
        "planner": ("svc.PromotionManager", "PublicApi.Read"),
    }
    clients = make_clients(database_url, TENANT, scopes)
    with InProcess(database_url) as service, service.client() as http:
        yield Shop(service, database_url, clients, http)
    databases.drop(database_url)


@pytest.fixture(scope="package")
def counter(shop: Shop) -> Counter:
    return Counter(shop)
