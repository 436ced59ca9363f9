"""A shop that can sell, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.driver.unit import Database
from tests.workflows.shop import Shop, open_shop


@pytest.fixture
async def shop(database: Database) -> Shop:
    """Promotions off, stamps and saver; a budget marketing of 100.00 EUR."""
    opened = await open_shop(database)
    for name in ("off", "stamps", "saver"):
        await opened.promotion(name)
    await opened.budget("marketing", "100.00")
    return opened
