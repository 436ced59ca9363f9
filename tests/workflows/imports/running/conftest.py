"""The yard, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.driver.unit import Database
from tests.workflows.imports.running.yard import Yard, open_yard


@pytest.fixture
async def yard(database: Database) -> Yard:
    """A yard without articles."""
    return await open_yard(database)
