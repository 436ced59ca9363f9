"""An office at a fresh database, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.unit import Database
from tests.workflows.lifecycle.acting import Office


@pytest.fixture
def office(database: Database) -> Office:
    """The administration of the tenant that the tests are about."""
    return Office(database)
