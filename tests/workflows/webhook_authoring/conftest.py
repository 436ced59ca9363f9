"""An author at a fresh database, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.unit import Database
from tests.workflows.authoring.desk import Desk


@pytest.fixture
def desk(database: Database) -> Desk:
    """An author of the tenant that the tests are about."""
    return Desk(database)
