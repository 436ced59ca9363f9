"""A pilot with two shops, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.driver.unit import Database
from tests.workflows.clockwork.pilots.trial import Trial, open_trial


@pytest.fixture
async def trial(database: Database) -> Trial:
    """Two shops without promotions."""
    return await open_trial(database)
