"""Two users of one tenant with edit drafts, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.driver.unit import Database
from tests.workflows.drafts.editor import Editor


@pytest.fixture
def ann(database: Database) -> Editor:
    """The user under test."""
    return Editor(database, user="ann")


@pytest.fixture
def bob(database: Database) -> Editor:
    """Another user of the same tenant."""
    return Editor(database, user="bob")
