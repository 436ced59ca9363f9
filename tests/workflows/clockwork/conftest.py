"""A clockwork test bench, and a desk whose rows the clockwork changes."""

from __future__ import annotations

import pytest
from sqlalchemy import insert

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database
from tests.workflows.clockwork.jobs_at_hand import Bench
from tests.workflows.drafts.editor import Editor
from tests.workflows.shop import TENANT, open_shop


@pytest.fixture
async def bench(database: Database) -> Bench:
    """A bench without jobs."""
    return Bench(await open_shop(database))


@pytest.fixture
async def desk(database: Database) -> Editor:
    """A desk of a registered tenant."""
    await database.write(
        lambda session: session.rowcount(insert(table("Tenants")), {"tenant_id": TENANT, "name": "A"}), system=True
    )
    return Editor(database)
