"""The bookshop on both databases; see `tests.odata_server.bookshop`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from sqlalchemy import Engine, create_engine
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from odata_server.engines import EngineDatabase
from tests.kit.databases import DIALECTS, Databases, Dialect
from tests.odata_server.bookshop import check_foreign_keys, fill


@pytest.fixture(scope="session")
def bookshop_urls(databases: Databases) -> Iterator[dict[tuple[Dialect, str], str]]:
    """Return one database for tests that write and one for tests that read, per dialect, created when first needed."""
    made: dict[tuple[Dialect, str], str] = {}
    yield made
    for url in made.values():
        databases.drop(url)


def _open(url: str) -> Engine | AsyncEngine:
    if url.startswith("sqlite"):
        engine = create_engine(url)
        check_foreign_keys(engine)
        return engine
    return create_async_engine(url.replace("postgresql://", "postgresql+asyncpg://", 1))


async def _close(engine: Engine | AsyncEngine) -> None:
    if isinstance(engine, AsyncEngine):
        await engine.dispose()
    else:
        engine.dispose()


async def _engine(
    databases: Databases, urls: dict[tuple[Dialect, str], str], dialect: Dialect, use: str
) -> AsyncIterator[Engine | AsyncEngine]:
    known = (dialect, use) in urls
    if not known:
        urls[dialect, use] = databases.create_empty(dialect)
    engine = _open(urls[dialect, use])
    try:
        if use == "write" or not known:
            await fill(engine)
        yield engine
    finally:
        await _close(engine)


@pytest.fixture(params=DIALECTS)
async def bookshop(
    request: pytest.FixtureRequest, databases: Databases, bookshop_urls: dict[tuple[Dialect, str], str]
) -> AsyncIterator[EngineDatabase]:
    """Return the bookshop with its original rows, which tests may change; on SQLite, then on PostgreSQL."""
    async for engine in _engine(databases, bookshop_urls, request.param, "write"):
        yield EngineDatabase(engine)


@pytest.fixture(params=DIALECTS)
async def library(
    request: pytest.FixtureRequest, databases: Databases, bookshop_urls: dict[tuple[Dialect, str], str]
) -> AsyncIterator[EngineDatabase]:
    """Return the bookshop for tests that only read; on SQLite, then on PostgreSQL."""
    async for engine in _engine(databases, bookshop_urls, request.param, "read"):
        yield EngineDatabase(engine)
