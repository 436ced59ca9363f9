"""A shop of a registered tenant, and a fold that records its input."""

from __future__ import annotations

from importlib import import_module

import pytest
from sqlalchemy import insert

from promenade.store.driver.schema import table
from promenade.workflows.reports.folds import Fold
from tests.workflows.reports.witness import Witness
from tests.workflows.shop import Shop


@pytest.fixture
async def shop(shop: Shop) -> Shop:
    """The shop of all workflow tests, with its tenant registered for the clockwork."""
    row = {"tenant_id": shop.tenant, "name": "A"}
    await shop.context.database.write(lambda session: session.rowcount(insert(table("Tenants")), row), system=True)
    return shop


@pytest.fixture
def witness(monkeypatch: pytest.MonkeyPatch) -> Witness:
    """The only registered fold, and the only refresher."""
    made = Witness()
    registry = import_module("promenade.workflows.reports.folds")
    monkeypatch.setattr(registry, "_REGISTRY", {"witness": Fold("witness", ("forecast_customers",), made.add)})
    monkeypatch.setattr(registry, "_REFRESHERS", {"memory": made.refresher})
    return made
