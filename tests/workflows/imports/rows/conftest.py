"""A dock on a fresh database, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.driver.unit import Database
from tests.workflows.imports.rows.dock import Dock


@pytest.fixture
def dock(database: Database) -> Dock:
    """A dock for the tenant under test."""
    return Dock(database)
