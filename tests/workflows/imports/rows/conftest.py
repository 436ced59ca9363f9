"""A dock at a fresh database, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.unit import Database
from tests.workflows.imports.rows.dock import Dock


@pytest.fixture
def dock(database: Database) -> Dock:
    """Where rows of the tenant that the tests are about arrive."""
    return Dock(database)
