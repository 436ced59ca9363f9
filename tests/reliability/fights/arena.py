"""The setting of the fights: a database with all contested resources, and one or two services on it."""

from __future__ import annotations

import contextlib
import itertools
import json
import sqlite3
import sys
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import httpx2
from sqlalchemy import Row, select

from promenade.store.driver.rows import insert_rows
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import record_change
from promenade.workflows.access.clients import create_client
from promenade.workflows.access.tenants import create_tenant
from tests.kit.api_client import SECRET, ApiClient
from tests.kit.databases import Databases
from tests.kit.logged import rows_from
from tests.kit.moved_clock import MovedClock
from tests.kit.processes import free_port
from tests.kit.service import Service
from tests.reliability.fights.tills import Tills

__all__ = ["ARENAS", "Arena", "ArenaKind", "identity", "opened_arena"]

ArenaKind = Literal["sqlite", "postgresql", "two processes"]
ARENAS: tuple[ArenaKind, ...] = ("sqlite", "postgresql", "two processes")
TENANT, OTHER = "acme", "globex"
MADE = datetime(2026, 1, 1, tzinfo=UTC)
CODES = 400
BUDGETS = 8
CLIENTS = {
    "till": (TENANT, ("svc.POSReader",)),
    "guesser": (TENANT, ("svc.POSReader",)),
    "guesser with baskets": (TENANT, ("svc.POSReader",)),
    "foreign till": (OTHER, ("svc.POSReader",)),
    "integrator": (TENANT, ("PublicApi.Read", "PublicApi.Write")),
    "administrator": (TENANT, ("svc.Admin",)),
}


def identity(name: str) -> str:
    """Return a UUID that is the same in every run."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, name))


class Integrator(ApiClient):
    """Writes rows as another system of the retailer does."""

    root = "/api/v1"
    usual = "integrator"


@dataclass
class Arena:
    """A tenant's database and the services on it, which share one clock."""

    database_url: str
    services: Sequence[Service]
    clock: MovedClock
    directory: Path
    api: Integrator
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _codes: Iterator[int] = field(default_factory=lambda: iter(range(CODES)))
    _budgets: Iterator[int] = field(default_factory=lambda: iter(range(BUDGETS)))

    def tills(self) -> Tills:
        """Return tills that use all services of the arena."""
        return Tills([service.url for service in self.services], self.clock)

    def name(self, prefix: str) -> str:
        """Return a unique name."""
        return f"{prefix}-{next(self._numbers)}"

    def code(self) -> str:
        """Create an unused individual code; it gives 10 % off article A-1 and can be reserved for a minute."""
        return f"ONCE-{next(self._codes):04}"

    def budget(self) -> int:
        """Create an unspent budget of 10.00: its article is `B-<number>`, whose 10 % discount is charged to it."""
        return next(self._budgets)

    def generic(self, **limits: Any) -> str:
        """Create a GENERIC type for article A-1 and return its code; ``limits`` by their wire names."""
        name = self.name("ALL")
        made = self.api.make(
            "CouponTypes", code=name, name=name, status="ACTIVE", codeType="GENERIC", genericCode=name,
            reservationMinutes=1, **limits,
        )  # fmt: skip
        self.api.make("CouponTypePromotions", couponType_ID=made["ID"], promotion_ID=identity("coupon-off"))
        return name

    async def rows(self, name: str, **where: Any) -> Sequence[Row[Any]]:
        """Return the rows of a table as of one committed snapshot, columns by their Python names."""
        wanted = rows_from(name)
        statement = select(wanted)
        for column, value in where.items():
            statement = statement.where(wanted.c[column] == value)

        async def work(session: Session) -> Sequence[Row[Any]]:
            return await session.execute(statement)

        with self._readable() as url:
            database = await open_database(url)
            try:
                return await database.read(work, tenant=TENANT)
            finally:
                await database.close()

    @contextlib.contextmanager
    def _readable(self) -> Iterator[str]:
        """Yield the URL of the database, or of a copy if the service has the file for itself."""
        if not self.database_url.startswith("sqlite"):
            yield self.database_url
            return
        copy = self.directory / f"{self.name('copy')}.sqlite3"
        with contextlib.closing(sqlite3.connect(self.database_url.removeprefix("sqlite:///"))) as original:
            original.execute("VACUUM INTO ?", (str(copy),))
        try:
            yield f"sqlite:///{copy}"
        finally:
            for file in copy.parent.glob(f"{copy.name}*"):
                file.unlink()


@contextlib.contextmanager
def opened_arena(
    databases: Databases, kind: ArenaKind, logs: Path, directory: Path, *options: str, url: str | None = None
) -> Iterator[Arena]:
    """Open an arena on its own database (or the migrated one at ``url``), with as many services as needed.

    ``options`` are those of `promenade serve`.
    """
    database_url = url or databases.create("sqlite" if kind == "sqlite" else "postgresql")
    clock_file = directory / f"clock-{uuid.uuid4()}"
    clock = MovedClock(clock_file)
    run_to_end(furnish(database_url))
    ports = [free_port() for _ in range(2 if kind == "two processes" else 1)]
    # one issuer: each service accepts the tokens of the other
    public = ("--public-url", f"http://127.0.0.1:{ports[0]}")
    services = [
        Service(
            logs / f"fights-{port}-{uuid.uuid4()}.log",
            *("--database-url", database_url, "--data-dir", str(directory), *public, *options),
            env={"CLOCK_FILE": str(clock_file)},
            port=port,
            command=(sys.executable, "-m", "tests.kit.moved_clock"),
        )
        for port in ports
    ]
    try:
        for service in services:
            service.start()
        with httpx2.Client(base_url=services[0].url, timeout=60) as http:
            yield Arena(database_url, services, clock, directory, Integrator(http=http))
    finally:
        for service in services:
            service.kill()
        if url is None:
            databases.drop(database_url)


def run_to_end(coroutine: Any) -> Any:
    """Run a coroutine in a separate thread: a fixture may be created while an event loop runs."""
    from tests.web.conftest import run

    return run(coroutine)


async def furnish(database_url: str) -> None:
    """Create the tenants, their clients, and the first tenant's articles, promotions and coupons."""
    database = await open_database(database_url)
    try:
        for tenant in (TENANT, OTHER):
            await create_tenant(database, tenant, settings={}, at=MADE, user="tests")
        for name, (tenant, scopes) in CLIENTS.items():
            await create_client(database, client_id=name, secret=SECRET, tenant_id=tenant, scopes=scopes, at=MADE)

        async def work(session: Session) -> None:
            for set_name, rows in _stock():
                await insert_rows(session, set_name, rows, at=MADE, by="tests")
            await record_change(session, "Promotions", at=MADE)

        await database.write(work, tenant=TENANT)
    finally:
        await database.close()


def _stock() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    yield "PosGroups", [{"ID": identity("BERLIN"), "code": "BERLIN", "name": "Berlin", "currency": "EUR"}]
    yield "CouponTypes", [_coupon_type("once"), _coupon_type("gift"), _coupon_type("issued")]
    yield (
        "CouponCodes",
        [
            {
                "ID": identity(code),
                "code": code,
                "couponType_ID": identity("once"),
                "status": "ACTIVE",
                "issuedAt": MADE,
            }
            for code in (f"ONCE-{number:04}" for number in range(CODES))
        ],
    )
    yield from _promotion("coupon-off", "A-1", type="COUPON")
    yield "CouponTypePromotions", [_link("once", couponType_ID=identity("once"), promotion_ID=identity("coupon-off"))]
    gift = {"actionType": "POST_PURCHASE_COUPON", "targetCouponType_ID": identity("gift")}
    yield from _promotion("gift", "G-1", action=gift, type="COUPON")
    for number in range(BUDGETS):
        name = f"budget-{number}"
        yield from _promotion(name, f"B-{number}")
        row = {"ID": identity(name), "code": name, "name": name, "status": "ACTIVE", "currency": "EUR"}
        yield "Budgets", [row | {"totalAmount": 10}]
        yield "BudgetPromotions", [_link(name, budget_ID=identity(name), promotion_ID=identity(name))]


def _coupon_type(name: str) -> dict[str, Any]:
    return {"ID": identity(name), "code": name, "name": name, "status": "ACTIVE", "reservationMinutes": 1}


def _link(name: str, **ends: str) -> dict[str, Any]:
    return {"ID": identity(f"link of {name}"), **ends}


def _promotion(
    name: str, article: str, action: dict[str, Any] | None = None, **values: str
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Return a promotion with 10 % off an article, or with another action."""
    row = {"ID": identity(name), "code": name, "name": name, "status": "ACTIVE", "type": "ARTICLE", **values}
    yield "Promotions", [row]
    about = {"promotion_ID": identity(name)}
    condition = {"sequence": 1, "conditionType": "ARTICLE", "articleNumber": article}
    yield "Conditions", [{"ID": identity(f"condition of {name}"), **about, **condition}]
    usual = {"actionType": "ARTICLE", "discountType": "PERCENTAGE", "discountValue": 10}
    yield "DiscountActions", [{"ID": identity(f"action of {name}"), **about, **(action or usual)}]


def shown(value: Any) -> str:
    """Format a value for failure messages."""
    return json.dumps(value, indent=1, default=str)
