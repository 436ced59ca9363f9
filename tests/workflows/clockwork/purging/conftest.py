"""A shop with old sales, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.driver.unit import Database
from tests.workflows.clockwork.purging.attic import Attic
from tests.workflows.shop import open_shop


@pytest.fixture
async def attic(database: Database) -> Attic:
    """Promotion off and a budget marketing of 100.00 EUR; nothing sold yet."""
    shop = await open_shop(database)
    await shop.put("Tenants", id=shop.tenant, tenant_id=shop.tenant, name="A")
    await shop.promotion("off")
    await shop.budget("marketing", "1000.00")
    return Attic(shop)
