"""The counter on both databases; see `tests.odata_server.draft.counter`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import StaticPool

from odata_server.engines import EngineDatabase
from odata_server.source import Rows
from odata_server.sql.reader import SqlReader
from tests.kit.databases import DIALECTS, Databases, Dialect
from tests.odata_server.draft.counter import USERS, fill, model_of, query_of


class Counter:
    """Queries as one user: each twice, and a third time with a cached plan."""

    def __init__(self, database: EngineDatabase) -> None:
        self.database = database
        self.readers = {user: SqlReader(model_of(user)) for user in USERS}

    async def ask(self, user: str, address: str, **how: Any) -> Rows:
        """Read a page."""
        query = query_of(address, **how)
        found = [await self.database.read(lambda one: self.readers[user].read(one, query)) for _ in range(3)]
        assert found[0] == found[1] == found[2]
        return found[0]

    async def count(self, user: str, address: str) -> int:
        """Return the response to ``/$count``."""
        return await self.database.read(lambda one: self.readers[user].count(one, query_of(address)))


@pytest.fixture(scope="package")
def counter_urls(databases: Databases) -> dict[Dialect, str]:
    """Return a database for each dialect, created when first needed."""
    return {}


@pytest.fixture(params=DIALECTS)
async def counter(
    request: pytest.FixtureRequest, databases: Databases, counter_urls: dict[Dialect, str]
) -> AsyncIterator[Counter]:
    """Return the counter with its rows, read-only; on SQLite, then on PostgreSQL."""
    if request.param == "sqlite":
        engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
        yield Counter(await fill(engine))
        engine.dispose()
        return
    known = request.param in counter_urls
    if not known:
        counter_urls[request.param] = databases.create_empty(request.param)
    url = counter_urls[request.param].replace("postgresql://", "postgresql+asyncpg://", 1)
    waiting: AsyncEngine = create_async_engine(url)
    yield Counter(EngineDatabase(waiting) if known else await fill(waiting))
    await waiting.dispose()
