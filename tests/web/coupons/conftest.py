"""Coupons in the served shop, on SQLite and on PostgreSQL."""

from __future__ import annotations

import itertools
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from promenade.store.catalogue import record_change
from promenade.store.rows import insert_rows
from promenade.store.session import open_database
from promenade.store.unit import Session
from tests.kit.databases import DIALECTS, Databases
from tests.kit.service import Service, promenade
from tests.web.conftest import OPENED, TENANT, Shop, furnish, make_client, run

OTHER = "other"
CODES = 100  # of each kind: more than there are tests
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
    """A till's calls to the coupon endpoints of the served shop."""

    shop: Shop
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def coupon(self, kind: str = "SAVE") -> str:
        """A code that no test has used: of the type SAVE, or of DIGITAL, which C1 is to activate."""
        return f"{kind}-{next(self._numbers)}"

    def ask(self, operation: str, *, client: str = "till", **body: Any) -> dict[str, Any]:
        """The answer of a call that must be one."""
        answer = self.shop.call(f"/pos/coupons/{operation}", body, client=client)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


async def _furnish_coupons(database_url: str, tenant: str) -> None:
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
def shop(request: pytest.FixtureRequest, databases: Databases, logs: Path) -> Iterator[Shop]:
    """A shop with coupons, its neighbour with a code of its own."""
    database_url = databases.create(request.param)
    for tenant in (TENANT, OTHER):
        promenade("tenant", "create", tenant, "--database-url", database_url)
        run(_furnish_coupons(database_url, tenant))
    run(furnish(database_url))
    clients = {
        "till": make_client(database_url, TENANT, "svc.POSReader"),
        "guesser": make_client(database_url, TENANT, "svc.POSReader"),
        "administrator": make_client(database_url, TENANT, "svc.Admin"),
        "planner": make_client(database_url, TENANT, "svc.PromotionManager", "PublicApi.Read"),
    }
    service = Service(logs / f"coupons-{request.param}-{os.getpid()}.log", "--database-url", database_url).start()
    with httpx2.Client(base_url=service.url, timeout=30) as http:
        yield Shop(service, database_url, clients, http)
    service.kill()
    databases.drop(database_url)


@pytest.fixture(scope="package")
def counter(shop: Shop) -> Counter:
    return Counter(shop)
