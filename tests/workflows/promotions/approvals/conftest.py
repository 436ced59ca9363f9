"""A tenant with binding approval on a fresh database, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.driver.unit import Database
from tests.workflows.promotions.approvals.house import House


@pytest.fixture
async def house(database: Database) -> House:
    """The tenant under test."""
    return await House(database).open()
