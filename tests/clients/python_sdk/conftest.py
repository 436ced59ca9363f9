"""A shop with coupons in this process, and tills of the Python SDK that call it over a line that can fail."""

from __future__ import annotations

import itertools
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import promenade_client
from promenade_client import AsyncTill, ClientCredentials, Patience, Till
from promenade_client.requests import BasketItem, CouponInput, EvaluateHeader, EvaluateRequest
from tests.clients.python_sdk.line import Fault, Hour, Line
from tests.kit.databases import Databases
from tests.kit.in_process import InProcess
from tests.kit.service import Service
from tests.kit.tenants import make_clients, make_tenants
from tests.web.conftest import TENANT, furnish, run
from tests.web.coupons.conftest import furnish_coupons

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Counter:
    """The shop as a till sees it."""

    service: InProcess
    credentials: ClientCredentials
    _coupons: Iterator[int] = field(default_factory=itertools.count)

    def line(self, *faults: Fault) -> Line:
        return Line(self.service.transport(), *faults)

    def till(self, line: Line | None = None, hour: Hour | None = None, **patience: Any) -> Till:
        hour = hour or Hour()
        patient = Patience(clock=hour.clock, luck=lambda: 1.0, **patience)
        transport = line or self.line()
        return Till(self.service.url, self.credentials, patience=patient, transport=transport, sleep=hour.sleep)

    def async_till(
        self, line: Line | None = None, hour: Hour | None = None, *, sleep: Any = None, **patience: Any
    ) -> AsyncTill:
        hour = hour or Hour()
        patient = Patience(clock=hour.clock, luck=lambda: 1.0, **patience)
        how: dict[str, Any] = {"transport": line or self.line(), "sleep": sleep or hour.asleep}
        return AsyncTill(self.service.url, self.credentials, patience=patient, **how)

    def coupon(self) -> str:
        """Return a code that nobody has used."""
        return f"SAVE-{next(self._coupons)}"


@dataclass(frozen=True)
class Served:
    """The shop served by a process of its own."""

    service: Service
    database_url: str
    credentials: ClientCredentials

    def sales(self, prefix: str) -> list[str]:
        """Return the transaction of each sale in the books."""
        path = self.database_url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            asked = "SELECT transaction_id FROM calculation_logs WHERE status <> 'FAILED' AND transaction_id LIKE ?"
            return [transaction for (transaction,) in database.execute(asked, (f"{prefix}%",))]


def environment() -> dict[str, str]:
    """Return the environment of a process that imports the SDK as it is here."""
    return {**os.environ, "PYTHONPATH": str(Path(promenade_client.__file__).parent.parent)}


def new_transaction() -> str:
    return f"SDK-{next(_numbers)}"


def basket(transaction: str | None = None, *coupons: str, **changes: Any) -> EvaluateRequest:
    """Return two of A-1 at 5.00, of which 10 % are off."""
    usual: dict[str, Any] = {
        "header": EvaluateHeader(transaction_id=transaction),
        "pos_group_code": "BERLIN",
        "items": [BasketItem(article_number="A-1", quantity=2, unit_price=Decimal("5.00"))],
        "coupons": [CouponInput(code) for code in coupons],
    }
    return EvaluateRequest(**usual | changes)


@pytest.fixture(scope="package")
def counter(databases: Databases) -> Iterator[Counter]:
    """Open the shop in this process, once for all tests; they use their own transactions."""
    database_url = databases.create("sqlite")
    make_tenants(database_url, TENANT)
    run(furnish_coupons(database_url, TENANT))
    run(furnish(database_url))
    (pair,) = make_clients(database_url, TENANT, {"till": ("svc.POSReader",)}).values()
    with InProcess(database_url) as service:
        yield Counter(service, ClientCredentials(*pair))
    databases.drop(database_url)


@pytest.fixture(scope="module")
def served(databases: Databases, logs: Path) -> Iterator[Served]:
    """Open the shop in a process of its own."""
    database_url = databases.create("sqlite")
    (pair,) = make_clients(database_url, TENANT, {"till": ("svc.POSReader",)}, is_new=True).values()
    run(furnish(database_url))
    service = Service(logs / f"sdk-{os.getpid()}-{next(_numbers)}.log", "--database-url", database_url).start()
    yield Served(service, database_url, ClientCredentials(*pair))
    service.kill()
    databases.drop(database_url)
