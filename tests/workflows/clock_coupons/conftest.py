"""A shop whose coupons get old, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.unit import Database
from tests.workflows.shop import Shop, open_shop


@pytest.fixture
async def shop(database: Database) -> Shop:
    """A shop with nothing in it."""
    return await open_shop(database)
