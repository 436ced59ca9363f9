"""A linked store with an empty database. Stores keep their data in SQLite, so only that is tested."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from promenade.store.driver.session import open_database
from tests.kit.databases import Databases
from tests.workflows.replica.link.pages import link
from tests.workflows.shop import Shop, open_shop


@pytest.fixture
async def store(databases: Databases) -> AsyncIterator[Shop]:
    """A store whose link is configured."""
    url = databases.create("sqlite")
    database = await open_database(url)
    opened = await open_shop(database, is_new=False)
    await link(opened)
    yield opened
    await database.close()
    databases.drop(url)
