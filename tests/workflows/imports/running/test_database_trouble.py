"""Database failures during an import: closed connections, deadlocks, full disks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import pytest
from sqlalchemy import func, select, text, update

from promenade.store.driver.leases import IMPORTS
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.imports.parts import NumberedRow
from promenade.workflows.context import Context
from promenade.workflows.imports.importing import Portion, RowImporter
from tests.workflows.imports.running.yard import Goods, Yard, good
from tests.workflows.shop import TENANT

Meanwhile = Callable[[Session, Sequence[NumberedRow]], Awaitable[None]]

ROWS = 30


@dataclass
class Disturbed(Goods):
    """Stores articles, then causes a disturbance before the unit ends."""

    meanwhile: Meanwhile | None = None

    async def store(self, session: Session, rows: Sequence[NumberedRow], *, at: datetime, keep_good: bool) -> Portion:
        portion = await super().store(session, rows, at=at, keep_good=keep_good)
        if self.meanwhile is not None:
            await self.meanwhile(session, rows)
        return portion


def disturb(yard: Yard, meanwhile: Meanwhile) -> None:
    def importers(entity: str, context: Context, *, tenant_id: str, user: str, source: str) -> RowImporter:
        return Disturbed(user, meanwhile=meanwhile)

    yard.importers = importers  # type: ignore[method-assign]


async def succeeds_in_the_end(yard: Yard, job_id: str, others: int = 0) -> None:
    for seconds in IMPORTS.pauses:
        await yard.work()
        yard.shop.later(seconds=seconds)
    job = await yard.job(job_id)
    assert (job.status, job.rows_succeeded, job.rows_failed) == ("SUCCEEDED", ROWS, 0), job.message
    assert len(await yard.numbers()) == ROWS + others
    assert len(await yard.events()) == 1


@pytest.fixture
def postgresql(database: Database) -> Database:
    """The database; PostgreSQL only, which has connections and several writers."""
    if database.dialect != "postgresql":
        pytest.skip("SQLite has neither connections nor two writers")
    return database


@pytest.mark.parametrize("continue_on_error", [True, False])
async def test_an_import_survives_lost_connections(yard: Yard, postgresql: Database, continue_on_error: bool) -> None:
    ended = 0

    async def meanwhile(session: Session, rows: Sequence[NumberedRow]) -> None:
        nonlocal ended
        if rows[-1].number > 15 and ended < 3:
            ended += 1
            ((pid,),) = await session.execute(select(func.pg_backend_pid()))
            await postgresql.read(lambda other: other.execute(select(func.pg_terminate_backend(pid))), system=True)
            await session.execute(select(func.pg_backend_pid()))

    disturb(yard, meanwhile)
    job_id = await yard.accept([good(number) for number in range(ROWS)], continue_on_error=continue_on_error)
    await succeeds_in_the_end(yard, job_id)
    assert ended == 3


@pytest.mark.parametrize("continue_on_error", [True, False])
async def test_an_import_survives_a_deadlock(yard: Yard, postgresql: Database, continue_on_error: bool) -> None:
    """Another unit changes two articles in the other order: one of the two is rolled back and repeated."""
    for number in ("X", "Y"):
        await yard.shop.put("Articles", article_number=number, name=number)
    articles = table("Articles")
    mine, other = asyncio.Event(), asyncio.Event()
    met = 0

    async def change(session: Session, number: str) -> None:
        changed = update(articles).where(articles.c.article_number == number).values(name="changed")
        await session.rowcount(changed)

    async def meanwhile(session: Session, rows: Sequence[NumberedRow]) -> None:
        nonlocal met
        met += 1
        await change(session, "X")
        mine.set()
        await other.wait()
        await change(session, "Y")

    async def work(session: Session) -> None:
        await mine.wait()
        await change(session, "Y")
        other.set()
        await change(session, "X")

    disturb(yard, meanwhile)
    job_id = await yard.accept([good(number) for number in range(ROWS)], continue_on_error=continue_on_error)
    await asyncio.gather(succeeds_in_the_end(yard, job_id, others=2), postgresql.write(work, tenant=TENANT))
    assert met >= 1


@pytest.mark.parametrize("continue_on_error", [True, False])
async def test_an_import_survives_a_disk_that_is_full_for_a_while(
    yard: Yard, database: Database, continue_on_error: bool
) -> None:
    if database.dialect != "sqlite":
        pytest.skip("a server's disk is not this test's to fill")

    async def bounded(session: Session, more: int) -> None:
        ((pages,),) = await session.execute(text("PRAGMA page_count"))
        await session.execute(text(f"PRAGMA max_page_count={pages + more}"))

    rows = [good(number, name="n" * 200) for number in range(ROWS)]
    job_id = await yard.accept(rows, continue_on_error=continue_on_error)
    await database.write(lambda session: bounded(session, 1), system=True)
    await yard.work()
    job = await yard.job(job_id)
    assert job.status in ("QUEUED", "RUNNING")
    assert job.rows_succeeded == len(await yard.numbers()) < ROWS
    await database.write(lambda session: bounded(session, 10_000), system=True)
    yard.shop.later(minutes=5)
    await succeeds_in_the_end(yard, job_id)
