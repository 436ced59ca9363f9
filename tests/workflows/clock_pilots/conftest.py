"""A pilot to be judged, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.unit import Database
from tests.workflows.clock_pilots.trial import Trial, open_trial


@pytest.fixture
async def trial(database: Database) -> Trial:
    """Two shops, and no promotion yet."""
    return await open_trial(database)
