"""A shop with expiring coupons, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.driver.unit import Database
from tests.workflows.shop import Shop, open_shop


@pytest.fixture
async def shop(database: Database) -> Shop:
    """An empty shop."""
    return await open_shop(database)
