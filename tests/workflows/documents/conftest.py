"""Two tenants on a fresh database, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.driver.unit import Database
from tests.workflows.documents.pair import Pair, open_pair


@pytest.fixture
async def pair(database: Database) -> Pair:
    """A tenant with promotions, and one that gets them."""
    return await open_pair(database)
