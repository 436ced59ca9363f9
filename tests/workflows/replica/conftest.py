"""A cloud on both databases, and a store on SQLite, as in production."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database
from tests.kit.databases import Databases
from tests.workflows.replica.market import Cloud, Store, open_cloud, open_store


@pytest.fixture
async def cloud(database: Database) -> Cloud:
    """The cloud: promotions off, stamps and saver; a budget marketing of 100.00 EUR."""
    opened = await open_cloud(database)
    for name in ("off", "stamps", "saver"):
        await opened.shop.promotion(name)
    await opened.shop.budget("marketing", "100.00")
    return opened


@pytest.fixture
async def store(databases: Databases, cloud: Cloud) -> AsyncIterator[Store]:
    """A store with the same promotions, which was granted 30.00 EUR of the budget."""
    async for opened in _store(databases, cloud, "S1"):
        yield opened


@pytest.fixture
async def other_store(databases: Databases, cloud: Cloud) -> AsyncIterator[Store]:
    """Another store of the same cloud."""
    async for opened in _store(databases, cloud, "S2"):
        yield opened


async def _store(databases: Databases, cloud: Cloud, code: str) -> AsyncIterator[Store]:
    url = databases.create("sqlite")
    database = await open_database(url)
    opened = await open_store(database, cloud, code)
    for name in ("off", "stamps", "saver"):
        await opened.promotion(name)
    await opened.budget("marketing", "30.00")
    yield opened
    await database.close()
    databases.drop(url)
