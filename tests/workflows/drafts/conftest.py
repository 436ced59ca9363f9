"""Two users of one tenant, each at a desk of edit drafts, on SQLite and on PostgreSQL."""

from __future__ import annotations

import pytest

from promenade.store.unit import Database
from tests.workflows.drafts.editor import Editor


@pytest.fixture
def ann(database: Database) -> Editor:
    """The user that the tests are about."""
    return Editor(database, user="ann")


@pytest.fixture
def bob(database: Database) -> Editor:
    """Another user of the same tenant."""
    return Editor(database, user="bob")
