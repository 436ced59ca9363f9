"""A unit of work gets a live PostgreSQL connection that has done the same work before, if there is one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import func, select

from promenade.store.driver.postgresql.hot_connections import IDLE_SECONDS_MAX
from promenade.store.driver.session import Database, Session, open_database
from tests.kit.databases import Databases

AT_ONCE = 4


@pytest.fixture
async def postgresql(databases: Databases) -> AsyncIterator[Database]:
    url = databases.create("postgresql")
    opened = await open_database(url)
    yield opened
    await opened.close()
    databases.drop(url)


async def server_process(session: Session) -> int:
    return int((await session.execute(select(func.pg_backend_pid())))[0][0])


async def process_of_a_unit(database: Database) -> int:
    return await database.read(server_process, tenant="a")


async def test_sequential_units_reuse_the_same_connection(postgresql: Database) -> None:
    at_once = await asyncio.gather(*[process_of_a_unit(postgresql) for _ in range(AT_ONCE)])
    assert len(set(at_once)) == AT_ONCE
    assert len({await process_of_a_unit(postgresql) for _ in range(AT_ONCE)}) == 1


async def test_a_connection_that_idled_long_is_replaced(postgresql: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await process_of_a_unit(postgresql)
    now = time.monotonic()
    monkeypatch.setattr("promenade.store.driver.postgresql.database.monotonic", lambda: now + IDLE_SECONDS_MAX - 60)
    assert await process_of_a_unit(postgresql) == first
    monkeypatch.setattr("promenade.store.driver.postgresql.database.monotonic", lambda: now + 2 * IDLE_SECONDS_MAX)
    second = await process_of_a_unit(postgresql)
    assert second != first
    assert await process_of_a_unit(postgresql) == second
