"""An author's desk on a fresh database, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.driver.unit import Database
from tests.workflows.authoring.desk import Desk


@pytest.fixture
def desk(database: Database) -> Desk:
    """An author of the tenant under test."""
    return Desk(database)
