"""The interfaces, served with rows of every entity for two tenants."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx2
import pytest

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from tests.conftest import SEED
from tests.contract.conftest import MINE, _seed
from tests.kit.databases import DIALECTS, Databases, Dialect
from tests.kit.service import Service
from tests.kit.tenants import make_clients, make_tenants
from tests.schemas.nearly_sound import COUPON_CODES, RIVALS
from tests.web.conftest import OPENED, basket, furnish, item, run

SHOP, RIVAL = "shop", "rival"


@dataclass
class Served:
    """The service, and tokens: public API and reporting for `MINE`, the POS service for a separate shop.

    A rival has a shop, coupons and sales with the same codes and numbers; its texts contain `RIVALS`.
    """

    service: Service
    dialect: Dialect
    session_seed: int
    token: str
    new_till_token: Callable[[], str]
    """Makes another client of the shop."""
    manager_token: str


async def _furnish_coupons(database_url: str, tenant: str, name: str) -> None:
    database = await open_database(database_url)
    kind = {"ID": str(uuid.uuid4()), "code": "SAVE", "name": name, "status": "ACTIVE"}
    codes = [
        {"ID": str(uuid.uuid4()), "couponType_ID": kind["ID"], "code": code, "status": "ACTIVE"}
        for code in COUPON_CODES
    ]

    async def work(session: Session) -> None:
        await insert_rows(session, "CouponTypes", [kind], at=OPENED, by="tests")
        await insert_rows(session, "CouponCodes", codes, at=OPENED, by="tests")

    try:
        await database.write(work, tenant=tenant)
    finally:
        await database.close()


def _sell_to_rivals(url: str, till_token: str) -> None:
    """Confirm sales of the rival under the numbers and for the customer that requests of the shop will name."""
    with httpx2.Client(base_url=f"{url}/pos/v2", headers={"authorization": f"Bearer {till_token}"}, timeout=30) as till:
        for number in ("T1", *(f"sale-{one}" for one in range(1, 11))):
            more = {"header": {"transactionId": number, "receiptId": RIVALS}, "customer": {"customerId": "C1"}}
            priced = till.post("evaluate", json=basket(items=[item(articleNumber=RIVALS)], **more)).raise_for_status()
            sale = {"header": priced.json()["meta"]["header"], "transactionId": number, "appliedPromotions": []}
            till.post("confirm", json={"request": sale}).raise_for_status()


@pytest.fixture(scope="package", params=DIALECTS)
def served(request: pytest.FixtureRequest, databases: Databases, logs: Path) -> Iterator[Served]:
    """Serve once for the package and database; thousands of requests change every row."""
    database_url = databases.create(request.param)
    run(_seed(database_url))
    for shop, coupons in ((SHOP, "Save"), (RIVAL, f"Save with {RIVALS}")):
        make_tenants(database_url, shop)
        run(furnish(database_url, shop))
        run(_furnish_coupons(database_url, shop, coupons))
    log = logs / f"schemas-{request.param}-{os.getpid()}.log"
    service = Service(log, "--database-url", database_url).start()

    def token(tenant: str, *scopes: str) -> str:
        client_id, secret = make_clients(database_url, tenant, {"client": scopes})["client"]
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret}
        answer = httpx2.post(f"{service.url}/oauth/token", data=form, timeout=30).raise_for_status()
        return str(answer.json()["access_token"])

    integrator = token(MINE, "PublicApi.Read", "PublicApi.Write")
    _sell_to_rivals(service.url, token(RIVAL, "svc.POSReader", "svc.Admin"))
    new_till = partial(token, SHOP, "svc.POSReader", "svc.Admin")
    manager = token(MINE, "svc.PromotionManager")
    yield Served(service, request.param, request.config.stash[SEED], integrator, new_till, manager)
    service.kill()
    databases.drop(database_url)
