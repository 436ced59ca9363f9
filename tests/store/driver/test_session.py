"""Units of work mean the same on SQLite and PostgreSQL: atomic, and never falsely acknowledged."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from sqlalchemy import Row, func, insert, literal, select, text, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from odata_server.sql.connection import Kept
from promenade.errors import Invalid, Unavailable
from promenade.log import request_fields, serve_request, stop_serving
from promenade.store.driver.schema import table
from promenade.store.driver.session import Database, Session, open_database
from tests.kit.databases import Databases
from tests.kit.postgres import START_SECONDS_MAX, PostgresServer

USAGE = table("promotion_usage")


def usage(promotion: str, count: int = 1) -> dict[str, Any]:
    return {"promotion_id": promotion, "customer_id": "", "count": count}


async def add(session: Session, promotion: str, count: int = 1) -> None:
    await session.rowcount(insert(USAGE), usage(promotion, count))


def adding(promotion: str) -> Callable[[Session], Awaitable[None]]:
    return lambda session: add(session, promotion)


async def stored(database: Database, tenant: str = "a") -> list[str]:
    async def work(session: Session) -> Sequence[Row[Any]]:
        return await session.execute(select(USAGE.c.promotion_id).order_by(USAGE.c.promotion_id))

    return [row.promotion_id for row in await database.read(work, tenant=tenant)]


async def test_a_unit_is_committed_when_it_returns(database: Database) -> None:
    async def work(session: Session) -> str:
        await add(session, "p1")
        await add(session, "p2")
        return "done"

    assert await database.write(work, tenant="a") == "done"
    assert await stored(database) == ["p1", "p2"]


async def test_a_unit_belongs_to_the_request_that_it_is_of(database: Database) -> None:
    async def of_request(name: str) -> list[str]:
        """Return which request the lines that a write and a read log would name."""

        async def named(session: Session) -> str:
            await session.execute(select(USAGE.c.promotion_id))
            return request_fields()["correlation_id"]

        outside = serve_request(name)
        try:
            return [await database.write(named, system=True), await database.read(named, system=True)]
        finally:
            stop_serving(outside)

    found = await asyncio.gather(*(of_request(f"c-{number}") for number in range(20)))
    assert found == [[f"c-{number}"] * 2 for number in range(20)]


async def test_a_unit_that_raises_is_rolled_back_and_affects_no_other_unit(database: Database) -> None:
    async def fails(session: Session) -> None:
        await add(session, "lost")
        raise ValueError("changed my mind")

    outcomes = await asyncio.gather(
        *(database.write(fails if number % 3 == 0 else adding(f"p{number}"), tenant="a") for number in range(12)),
        return_exceptions=True,
    )
    assert [type(one) for one in outcomes] == [ValueError if n % 3 == 0 else type(None) for n in range(12)]
    assert await stored(database) == sorted(f"p{number}" for number in range(12) if number % 3)


async def test_a_constraint_violation_is_raised_only_in_its_own_unit(database: Database) -> None:
    await database.write(lambda session: add(session, "p1"), tenant="a")
    outcomes = await asyncio.gather(
        database.write(lambda session: add(session, "p1"), tenant="a"),
        database.write(lambda session: add(session, "p2"), tenant="a"),
        return_exceptions=True,
    )
    assert isinstance(outcomes[0], IntegrityError)
    assert await stored(database) == ["p1", "p2"]


async def test_a_failed_savepoint_does_not_affect_its_unit(database: Database) -> None:
    async def twice(session: Session) -> None:
        async with session.savepoint():
            await add(session, "undone")
            await add(session, "kept")

    async def work(session: Session) -> None:
        await add(session, "kept")
        with pytest.raises(IntegrityError):
            await twice(session)
        async with session.savepoint():
            await add(session, "kept too")

    await database.write(work, tenant="a")
    assert await stored(database) == ["kept", "kept too"]


async def test_updates_report_row_counts_and_returned_rows(database: Database) -> None:
    async def work(session: Session) -> tuple[int, Sequence[Row[Any]], int]:
        await session.execute_many(insert(USAGE), [usage("p1", 1), usage("p2", 5)])
        raised = await session.rowcount(update(USAGE).values(count=USAGE.c["count"] + 1))
        rows = await session.execute(
            update(USAGE).where(USAGE.c.promotion_id == "p2").values(count=9).returning(USAGE.c["count"].label("uses"))
        )
        nothing = await session.rowcount(update(USAGE).where(USAGE.c.promotion_id == "p3").values(count=0))
        await session.execute_many(insert(USAGE), [])
        return raised, rows, nothing

    raised, rows, nothing = await database.write(work, tenant="a")
    assert (raised, [row.uses for row in rows], nothing) == (2, [9], 0)


async def test_a_read_sees_one_state_and_cannot_write(database: Database) -> None:
    await database.write(lambda session: add(session, "p1"), tenant="a")
    looked, written = asyncio.Event(), asyncio.Event()

    if database.dialect == "postgresql":

        async def slow(session: Session) -> tuple[int, int]:
            first = len(await session.execute(select(USAGE)))
            looked.set()
            await written.wait()
            return first, len(await session.execute(select(USAGE)))

        reading = asyncio.create_task(database.read(slow, tenant="a"))
        await looked.wait()
        await database.write(lambda session: add(session, "p2"), tenant="a")
        written.set()
        assert await reading == (1, 1)

    with pytest.raises(DBAPIError):
        await database.read(lambda session: add(session, "p3"), tenant="a")
    assert "p3" not in await stored(database)


async def test_waiting_units_are_bounded(database_url: str) -> None:
    database = await open_database(database_url, waiting_max=5)
    outcomes = await asyncio.gather(
        *(database.write(adding(f"p{number}"), tenant="a") for number in range(40)),
        return_exceptions=True,
    )
    refused = [one for one in outcomes if isinstance(one, Unavailable)]
    assert len(refused) == 35
    assert {one.code for one in refused} == {"DATABASE_BUSY"}
    assert len(await stored(database)) == 5
    await database.close()


async def test_a_statement_beyond_the_time_limit_is_cancelled(database_url: str) -> None:
    # Long enough to complete the following within it, even on a busy machine.
    database = await open_database(database_url, seconds_max=2)
    endless = text("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
    for run in (database.read, database.write):
        with pytest.raises(Unavailable):
            await run(lambda session: session.execute(endless), system=True)
    await database.write(lambda session: add(session, "p1"), tenant="a")
    assert await stored(database) == ["p1"]
    await database.close()


async def test_closing_twice_loses_no_accepted_write(database_url: str) -> None:
    database = await open_database(database_url)
    writes = [asyncio.create_task(database.write(adding(f"p{n}"), tenant="a")) for n in range(5)]
    await asyncio.gather(*writes)
    await database.close()
    await database.close()
    again = await open_database(database_url)
    assert len(await stored(again)) == 5
    await again.close()


async def test_sqlite_finishes_queued_writes_before_it_closes(databases: Databases) -> None:
    url = databases.create("sqlite")
    database = await open_database(url)
    writes = [asyncio.create_task(database.write(adding(f"p{n}"), tenant="a")) for n in range(5)]
    await asyncio.sleep(0)
    await database.close()
    await asyncio.gather(*writes)
    with pytest.raises(Unavailable):
        await database.write(lambda session: add(session, "late"), tenant="a")


async def test_a_full_disk_is_an_error_for_every_unit_in_the_commit(databases: Databases) -> None:
    database = await open_database(databases.create("sqlite"))

    async def cap(session: Session) -> None:
        pages = (await session.execute(text("PRAGMA page_count")))[0][0]
        await session.execute(text(f"PRAGMA max_page_count={pages + 2}"))

    await database.write(cap, system=True)
    outcomes = await asyncio.gather(
        *(database.write(adding(f"p{n}" * 12), tenant="a") for n in range(2000)), return_exceptions=True
    )
    acknowledged = [n for n, one in enumerate(outcomes) if one is None]
    assert any(isinstance(one, Unavailable) for one in outcomes)
    assert await stored(database) == sorted(f"p{n}" * 12 for n in acknowledged)
    await database.close()


async def test_a_failing_commit_fails_every_unit_of_its_group(databases: Databases) -> None:
    database = await open_database(databases.create("sqlite"))
    orphan = {"id": "t1", "action_id": "nobody", "threshold_amount": 1, "discount_type": "ABSOLUTE"}
    orphan |= {"discount_value": 1, "sequence": 0}

    async def breaks_commit(session: Session) -> None:
        await session.execute(text("PRAGMA defer_foreign_keys=ON"))
        await session.rowcount(insert(table("ActionScaledTiers")), orphan | {"tenant_id": "a"})

    outcomes = await asyncio.gather(
        *(database.write(adding(f"p{n}"), tenant="a") for n in range(3)),
        database.write(breaks_commit, system=True),
        return_exceptions=True,
    )
    shared = [one for one in outcomes if one is not None]
    assert all(isinstance(one, Unavailable) for one in shared)
    assert shared
    assert await stored(database) == [f"p{n}" for n, one in enumerate(outcomes[:3]) if one is None]
    await database.write(lambda session: add(session, "after"), tenant="a")
    await database.close()


async def test_a_unit_that_awaits_anything_but_the_database_raises_on_sqlite(databases: Databases) -> None:
    database = await open_database(databases.create("sqlite"))

    async def wrong(session: Session) -> None:
        await add(session, "p1")
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="nothing but"):
        await database.write(wrong, tenant="a")
    assert await stored(database) == []
    await database.close()


async def test_a_hot_write_waits_for_another_process_off_the_event_loop(tmp_path: Any) -> None:
    database = await open_database(f"sqlite:///{tmp_path / 'shared.db'}")
    other = sqlite3.connect(tmp_path / "shared.db", isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        writes = [asyncio.create_task(database.hot("ping", ())) for _ in range(3)]
        for _ in range(10):
            # must return: nobody may block this thread, which alone can end the other transaction
            await asyncio.sleep(0)
        assert not any(write.done() for write in writes)
        other.execute("ROLLBACK")
        assert [rows[0][0] for rows in await asyncio.gather(*writes)] == [1, 1, 1]
    finally:
        other.close()
        await database.close()


async def test_postgresql_restarts_and_the_next_unit_succeeds(tmp_path: Any) -> None:
    server = PostgresServer(tmp_path / "postgres.log", {})
    server.start()
    database = await open_database(server.url)
    try:
        one = select(literal(1).label("one"))
        await asyncio.gather(*(database.read(lambda s: s.execute(one)) for _ in range(4)))
        await database.hot("ping", ())
        process = server._process
        assert process is not None
        process.send_signal(signal.SIGINT)  # a fast shutdown; the data stays
        process.wait(START_SECONDS_MAX)
        server.start()
        rows = await asyncio.gather(*(database.write(lambda s: s.execute(one)) for _ in range(4)))
        assert [row[0].one for row in rows] == [1] * 4
        assert (await database.hot("ping", ()))[0][0] == 1
    finally:
        await database.close()
        server.stop()


async def test_an_unreachable_database_raises_unavailable() -> None:
    database = await open_database("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(Unavailable):
        await database.read(lambda session: session.execute(select(literal(1))))
    with pytest.raises(Unavailable):
        await database.hot("ping", ())
    with pytest.raises(Unavailable):
        await database.ping()
    await database.close()


@pytest.mark.parametrize("url", ["mysql://x", "sqlite://", "sqlite:///:memory:"])
async def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(ValueError, match="database"):
        await open_database(url)


@pytest.mark.parametrize("is_kept", [False, True])
async def test_an_expensive_query_is_cancelled_in_time_and_the_next_one_succeeds(
    database: Database, is_kept: bool
) -> None:
    numbers = select(literal(1).label("n")).cte("numbers", recursive=True)
    numbers = numbers.union_all(select(numbers.c.n + 1).where(numbers.c.n < 1_000_000_000))
    endless, quick = Kept(select(func.max(numbers.c.n))), Kept(select(literal(1)))

    async def ask(session: Session, kept: Kept, seconds: float) -> Sequence[Sequence[Any]]:
        session.limit(seconds)
        if is_kept:
            return await session.run_kept(kept, {})
        return await session.execute(kept.statement)

    with pytest.raises(Invalid) as refused:
        await database.read(lambda session: ask(session, endless, 0.1), tenant="t1")
    assert refused.value.code == "QUERY_TOO_EXPENSIVE"
    assert [tuple(row) for row in await database.read(lambda session: ask(session, quick, 60), tenant="t1")] == [(1,)]
