"""A market to test promotions in, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.driver.unit import Database
from tests.workflows.reports.arms.market import Market, open_market


@pytest.fixture
async def market(database: Database) -> Market:
    """Two shops without promotions."""
    return await open_market(database)
