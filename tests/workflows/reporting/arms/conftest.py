"""A market to try promotions out in, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.unit import Database
from tests.workflows.reporting.arms.market import Market, open_market


@pytest.fixture
async def market(database: Database) -> Market:
    """Two shops, and no promotion yet."""
    return await open_market(database)
