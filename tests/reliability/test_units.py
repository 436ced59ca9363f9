"""Units of work with odd data, failing disks and a stopping service: never a false acknowledgement (A3)."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import DBAPIError, IntegrityError

from promenade.errors import Unavailable
from promenade.store.driver.schema import table
from promenade.store.driver.session import Database, Session
from promenade.store.driver.sqlite.line import Line, SqliteSession

USAGE = table("promotion_usage")


async def add(session: Session, promotion: str, count: int = 1) -> None:
    await session.rowcount(insert(USAGE), {"promotion_id": promotion, "customer_id": "", "count": count})


async def stored(database: Database) -> list[str]:
    async def work(session: Session) -> list[str]:
        return sorted(row.promotion_id for row in await session.execute(select(USAGE.c.promotion_id)))

    return await database.read(work, tenant="a")


async def test_a_number_out_of_range_is_not_reported_as_an_outage(database: Database) -> None:
    """It would fail forever: reported as an outage, callers would retry and workers never give up."""
    attempts = 0

    async def work(session: Session) -> None:
        nonlocal attempts
        attempts += 1
        await add(session, "p1")
        await add(session, "p2", 2**70)

    with pytest.raises((OverflowError, DBAPIError)):
        await database.write(work, tenant="a")
    assert attempts == 1
    assert await stored(database) == []


async def test_a_unit_that_goes_on_after_a_failed_statement_is_not_acknowledged_falsely(database: Database) -> None:
    async def work(session: Session) -> None:
        await add(session, "p1")
        with contextlib.suppress(IntegrityError):
            await add(session, "p1")

    try:
        await database.write(work, tenant="a")
    except Exception:
        expected: list[str] = []
    else:
        expected = ["p1"]
    assert await stored(database) == expected


async def test_after_the_end_every_call_is_refused(database: Database) -> None:
    await database.write(lambda session: add(session, "p1"), tenant="a")
    await database.hot("ping", ())
    await database.close()
    for call in (
        database.write(lambda session: add(session, "p2"), tenant="a"),
        database.read(lambda session: session.execute(select(USAGE)), tenant="a"),
        database.hot("ping", ()),
        database.look("ping", ()),
    ):
        with pytest.raises(Unavailable):
            await call
    await database.close()


async def test_units_whose_callers_have_gone_stand_or_fall_as_a_whole(database: Database) -> None:
    """A disconnecting till neither aborts the units of others nor leaves half of its own."""

    def both(name: str) -> Callable[[Session], Awaitable[None]]:
        async def work(session: Session) -> None:
            await add(session, f"{name}-a")
            await add(session, f"{name}-b")

        return work

    calls = [asyncio.create_task(database.write(both(f"p{number}"), tenant="a")) for number in range(40)]
    await asyncio.sleep(0)
    for call in calls[::2]:
        call.cancel()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert all(one is None for one in outcomes[1::2])
    there = await stored(database)
    for number in range(40):
        of_unit = [name for name in there if name.startswith(f"p{number}-")]
        assert len(of_unit) in ((0, 2) if number % 2 == 0 else (2,))


class _Disk:
    """Makes the named statements fail like a disk that does not respond."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.failing: set[str] = set()
        begin = Line.begin

        def failing(line: Line, statement: str) -> None:
            if statement in self.failing:
                raise sqlite3.OperationalError("disk I/O error")
            begin(line, statement)

        monkeypatch.setattr(Line, "begin", failing)


@pytest.mark.parametrize("dialect", ["sqlite"])
@pytest.mark.parametrize("failing", [{"COMMIT"}, {"COMMIT", "ROLLBACK"}, {"BEGIN IMMEDIATE"}])
@pytest.mark.parametrize("units", [1, 3])
async def test_the_writer_outlives_whatever_the_disk_does(
    database: Database, monkeypatch: pytest.MonkeyPatch, failing: set[str], units: int
) -> None:
    disk = _Disk(monkeypatch)
    disk.failing = failing
    lost: list[Any] = await asyncio.gather(
        *(database.write(partial(add, promotion=f"lost-{number}"), tenant="a") for number in range(units)),
        return_exceptions=True,
    )
    assert all(isinstance(one, Unavailable) for one in lost), lost
    with pytest.raises(Unavailable):
        await database.hot("ping", ())
    disk.failing = set()
    async with asyncio.timeout(60):
        await database.write(lambda session: add(session, "kept"), tenant="a")
        await database.hot("ping", ())
    assert await stored(database) == ["kept"]


@pytest.mark.parametrize("dialect", ["sqlite"])
@pytest.mark.parametrize("neighbours", [0, 2])
async def test_a_unit_that_was_undone_under_way_is_not_acknowledged(database: Database, neighbours: int) -> None:
    """SQLite rolls back a whole transaction when the disk is full; a unit may treat that like any other error."""

    async def work(session: Session) -> None:
        await add(session, "lost")
        assert isinstance(session, SqliteSession)
        session.raw.execute("ROLLBACK")

    names = [f"p{number}" for number in range(neighbours)]
    outcomes = await asyncio.gather(
        *(database.write(partial(add, promotion=name), tenant="a") for name in names),
        database.write(work, tenant="a"),
        return_exceptions=True,
    )
    assert [type(one) for one in outcomes] == [Unavailable] * (neighbours + 1)
    assert await stored(database) == []
    await database.write(partial(add, promotion="kept"), tenant="a")
    assert await stored(database) == ["kept"]
