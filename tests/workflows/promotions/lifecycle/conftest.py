"""An office on a fresh database, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.driver.unit import Database
from tests.workflows.promotions.lifecycle.acting import Office


@pytest.fixture
def office(database: Database) -> Office:
    """The administration of the tenant under test."""
    return Office(database)
