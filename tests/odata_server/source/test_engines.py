"""Engines: what a unit of work may do, and what a failed one leaves behind."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import func, insert, select, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from odata_server.engines import EngineConnection, EngineDatabase
from tests.odata_server.bookshop import author, book
from tests.odata_server.bookshop_tables import AUTHORS, BOOKS, COUNTRIES


async def stock(connection: EngineConnection) -> int:
    return int((await connection.execute(select(BOOKS.c.stock).where(BOOKS.c.id == book(1))))[0][0])


async def test_a_unit_that_returns_is_committed(bookshop: EngineDatabase) -> None:
    async def work(connection: EngineConnection) -> int:
        touched = await connection.rowcount(update(BOOKS).where(BOOKS.c.id == book(1)).values(stock=77))
        await connection.execute_many(
            insert(COUNTRIES), [{"code": "FR", "name": "France"}, {"code": "ES", "name": None}]
        )
        await connection.execute_many(insert(COUNTRIES), [])
        return touched

    assert await bookshop.write(work) == 1
    assert await bookshop.read(stock) == 77

    async def countries(connection: EngineConnection) -> int:
        return int((await connection.execute(select(func.count()).select_from(COUNTRIES)))[0][0])

    assert await bookshop.read(countries) == 6


async def test_a_unit_that_raises_is_rolled_back(bookshop: EngineDatabase) -> None:
    async def work(connection: EngineConnection) -> None:
        await connection.execute(update(BOOKS).values(stock=77))
        raise LookupError("no")

    with pytest.raises(LookupError):
        await bookshop.write(work)
    assert await bookshop.read(stock) == 12


async def test_a_unit_that_hides_a_failed_statement_is_not_reported_as_committed(bookshop: EngineDatabase) -> None:
    async def work(connection: EngineConnection) -> None:
        await connection.execute(update(BOOKS).where(BOOKS.c.id == book(1)).values(stock=77))
        try:
            await connection.execute(insert(AUTHORS).values(id=author(1), name="twice"))
        except IntegrityError:
            return

    if bookshop.dialect == "postgresql":
        with pytest.raises(IntegrityError):
            await bookshop.write(work)
        assert await bookshop.read(stock) == 12
    else:
        await bookshop.write(work)
        assert await bookshop.read(stock) == 77


async def test_a_unit_that_reads_cannot_write_and_the_next_one_can(bookshop: EngineDatabase) -> None:
    async def work(connection: EngineConnection) -> None:
        await connection.execute(update(BOOKS).values(stock=77))

    with pytest.raises(DBAPIError):
        await bookshop.read(work)
    assert await bookshop.read(stock) == 12
    await bookshop.write(work)
    assert await bookshop.read(stock) == 77


async def test_concurrent_units_that_read_and_then_write_lose_no_update(bookshop: EngineDatabase) -> None:
    async def one_more(connection: EngineConnection) -> None:
        now = await stock(connection)
        await connection.execute(update(BOOKS).where(BOOKS.c.id == book(1)).values(stock=now + 1))

    await asyncio.gather(*(bookshop.write(one_more) for _ in range(4)))
    assert await bookshop.read(stock) == 16


@pytest.mark.parametrize("bookshop", ["postgresql"], indirect=True)  # on SQLite a unit occupies its thread
async def test_a_reading_unit_sees_one_state(bookshop: EngineDatabase) -> None:
    async def change(connection: EngineConnection) -> None:
        await connection.execute(update(BOOKS).values(stock=77))

    async def look(connection: EngineConnection) -> tuple[int, int]:
        before = await stock(connection)
        await bookshop.write(change)
        return before, await stock(connection)

    assert await bookshop.read(look) == (12, 12)
