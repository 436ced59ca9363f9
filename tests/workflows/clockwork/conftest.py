"""A bench of jobs, and a desk whose rows the clock moves."""

from __future__ import annotations

import pytest
from sqlalchemy import insert

from promenade.store.schema import table
from promenade.store.unit import Database
from tests.workflows.clockwork.jobs_at_hand import Bench
from tests.workflows.drafts.editor import Editor
from tests.workflows.shop import TENANT, open_shop


@pytest.fixture
async def bench(database: Database) -> Bench:
    """An empty bench."""
    return Bench(await open_shop(database))


@pytest.fixture
async def desk(database: Database) -> Editor:
    """A desk of a tenant that the directory knows."""
    await database.write(
        lambda session: session.rowcount(insert(table("Tenants")), {"tenant_id": TENANT, "name": "A"}), system=True
    )
    return Editor(database)
