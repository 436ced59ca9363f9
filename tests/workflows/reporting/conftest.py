"""A shop whose tenant the directory knows, and a fold that notes what it was given."""

from __future__ import annotations

from importlib import import_module

import pytest
from sqlalchemy import insert

from promenade.store.schema import table
from promenade.workflows.reporting.folds import Fold
from tests.workflows.reporting.witness import Witness
from tests.workflows.shop import Shop


@pytest.fixture
async def shop(shop: Shop) -> Shop:
    """The shop of all workflows; its tenant is one that the clock looks after."""
    row = {"tenant_id": shop.tenant, "name": "A"}
    await shop.context.database.write(lambda session: session.rowcount(insert(table("Tenants")), row), system=True)
    return shop


@pytest.fixture
def witness(monkeypatch: pytest.MonkeyPatch) -> Witness:
    """The only fold, and the only refresher, that there is."""
    made = Witness()
    registry = import_module("promenade.workflows.reporting.folds")
    monkeypatch.setattr(registry, "_REGISTRY", {"witness": Fold("witness", ("forecast_customers",), made.add)})
    monkeypatch.setattr(registry, "_REFRESHERS", {"memory": made.refresher})
    return made
