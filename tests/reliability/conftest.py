"""The shop of the workflow tests, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.driver.unit import Database
from tests.workflows.shop import Shop, open_shop


@pytest.fixture
async def shop(database: Database) -> Shop:
    """A shop with a promotion `off`."""
    opened = await open_shop(database)
    await opened.promotion("off")
    return opened
