"""Failures that prevent a job from running: it is postponed and retried, and finally FAILED."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

import asyncpg
import pytest

from promenade import metrics
from promenade.errors import Unavailable
from promenade.store.driver.leases import IMPORTS
from promenade.store.driver.tenancy import Scope
from promenade.store.driver.unit import Database, Session, Work
from promenade.store.imports.parts import NumberedRow
from promenade.workflows.context import Context
from promenade.workflows.imports.importing import Portion, RowImporter
from promenade.workflows.imports.running import ATTEMPTS_MAX, claim_import
from tests.kit.databases import Dialect
from tests.workflows.imports.running.yard import Goods, Yard, good

T = TypeVar("T")

SECRET = "statement and rows"


class Failing(Database):
    """A database in which the writes numbered in ``broken``, counted from 1, fail."""

    def __init__(self, inner: Database, broken: Sequence[int]) -> None:
        self.dialect, self.url = inner.dialect, inner.url
        self._inner = inner
        self._broken = broken
        self.writes = 0

    async def hot(self, name: str, params: tuple[Any, ...], *, durable: bool = False) -> Sequence[Sequence[Any]]:
        return await self._inner.hot(name, params, durable=durable)

    async def ping(self) -> None:
        await self._inner.ping()

    async def close(self) -> None:
        await self._inner.close()

    async def _write(self, work: Work[T], scope: Scope, durable: bool) -> T:
        self.writes += 1
        if self.writes in self._broken:
            raise Unavailable("DATABASE_UNAVAILABLE", SECRET)
        return await self._inner._write(work, scope, durable)

    async def _read(self, work: Work[T], scope: Scope) -> T:
        return await self._inner._read(work, scope)


@dataclass
class Patient(RowImporter):
    """An importer that waits for an event in each slice; for PostgreSQL, where a unit may wait."""

    goods: Goods
    until: Any

    async def store(self, session: Session, rows: Sequence[NumberedRow], *, at: datetime, keep_good: bool) -> Portion:
        await self.until(session)
        return await self.goods.store(session, rows, at=at, keep_good=keep_good)


async def until_ended(yard: Yard, job_id: str) -> None:
    """Poll until the job has ended, as its sender does."""
    while (await yard.job(job_id)).status in ("QUEUED", "RUNNING"):  # noqa: ASYNC110 - nothing else tells of it
        await asyncio.sleep(0)


def raising(error: Exception) -> Any:
    def before(rows: Sequence[NumberedRow]) -> None:
        raise error

    return before


@pytest.mark.parametrize("continue_on_error", [True, False])
@pytest.mark.parametrize(
    ("error", "why"),
    [
        (Unavailable("DATABASE_UNAVAILABLE", SECRET), "The database could not store the rows."),
        (RuntimeError(SECRET), "It failed with an internal error; the service's log says more."),
    ],
)
async def test_a_failing_job_is_retried_and_finally_fails(
    yard: Yard, continue_on_error: bool, error: Exception, why: str
) -> None:
    yard.before = raising(error)
    job_id = await yard.accept([good(1)], continue_on_error=continue_on_error)
    for attempt in range(1, ATTEMPTS_MAX):
        assert await yard.work() == 1
        assert (await yard.job(job_id)).status == "RUNNING"
        yard.shop.later(seconds=IMPORTS.pauses[attempt - 1] - 1)
        assert await yard.work() == 0, "it was tried again too early"
        yard.shop.later(seconds=1)
    assert await yard.work() == 1
    job = await yard.job(job_id)
    assert job.status == "FAILED"
    assert job.message == f"Nothing was imported; the import was given up after 5 attempts. {why}"
    assert [event["kind"] for event in await yard.events()] == ["ImportJobs.Failed"]
    assert not await yard.every("import_work")
    assert not await yard.every("import_parts")
    assert await yard.numbers() == []


@pytest.mark.parametrize("continue_on_error", [True, False])
async def test_a_job_that_can_be_carried_out_later_succeeds(yard: Yard, continue_on_error: bool) -> None:
    calls = 0

    def before(rows: Sequence[NumberedRow]) -> None:
        nonlocal calls
        calls += 1
        if calls in (2, 4, 9):
            raise RuntimeError("now and then")

    yard.before = before
    job_id = await yard.accept((good(number) for number in range(50)), continue_on_error=continue_on_error)
    for seconds in IMPORTS.pauses:
        await yard.work()
        yard.shop.later(seconds=seconds)
    job = await yard.job(job_id)
    assert (job.status, job.rows_succeeded, job.rows_failed) == ("SUCCEEDED", 50, 0)
    assert len(await yard.numbers()) == 50


async def test_rows_stored_before_a_job_failed_are_kept_and_counted(yard: Yard) -> None:
    def before(rows: Sequence[NumberedRow]) -> None:
        if rows[0].number > 20:
            raise RuntimeError(SECRET)

    yard.before = before
    rows = [good(number, bad=["name"] if number == 1 else []) for number in range(30)]
    job_id = await yard.accept(rows, source="POS_BATCH")
    for seconds in (*IMPORTS.pauses, 0):
        await yard.work()
        yard.shop.later(seconds=seconds)
    job = await yard.job(job_id)
    assert (job.status, job.rows_succeeded, job.rows_failed) == ("FAILED", 19, 1)
    assert job.message.startswith("19 of 30 rows were imported; the import was given up after 5 attempts.")
    (batch,) = await yard.every("ArticleImportJobs")
    assert (batch.status, batch.processed_articles, batch.failed_articles) == ("FAILED", 20, 1)
    assert [event["kind"] for event in await yard.events()] == ["ArticleImportJobs.Failed", "ImportJobs.Failed"]


@pytest.mark.parametrize("continue_on_error", [True, False])
async def test_a_job_that_kills_every_worker_finally_fails(yard: Yard, continue_on_error: bool) -> None:
    job_id = await yard.accept([good(1)], continue_on_error=continue_on_error)
    for _ in range(ATTEMPTS_MAX):
        assert await claim_import(yard.context, "") is not None
        yard.shop.later(minutes=2)  # it never reports again
    await yard.work()
    job = await yard.job(job_id)
    assert (job.status, job.rows_succeeded) == ("FAILED", 0)
    assert job.message.endswith("It was started several times and never finished.")


@pytest.mark.parametrize("continue_on_error", [True, False])
async def test_an_import_worker_continues_when_the_database_is_back(yard: Yard, continue_on_error: bool) -> None:
    """Whichever write fails, and the one after it: nobody has to wait for a lease to expire."""
    rows = [good(number) for number in range(30)]
    for broken in range(1, 12):
        yard.shop.later(hours=1)
        job_id = await yard.accept(rows, continue_on_error=continue_on_error, tenant=f"tenant-{broken}")
        database = Failing(yard.context.database, (broken, broken + 1))
        worker = yard.worker(replace(yard.context, database=database))
        for _ in range(20):
            try:
                if not await worker.run_once():
                    yard.shop.later(seconds=IMPORTS.pauses[0])
            except Unavailable:
                continue
        job = await yard.job(job_id)
        assert (job.status, job.rows_succeeded) == ("SUCCEEDED", 30), f"with write {broken}"
        assert len(await yard.every("Articles", tenant_id=f"tenant-{broken}")) == 30


@pytest.mark.parametrize("continue_on_error", [True, False])
async def test_a_worker_asked_to_stop_leaves_the_job_to_the_next(yard: Yard, continue_on_error: bool) -> None:
    slices: list[int] = []
    yard.before = lambda rows: slices.append(len(rows))
    job_id = await yard.accept((good(number) for number in range(30)), continue_on_error=continue_on_error)
    for _ in range(ATTEMPTS_MAX + 2):  # however often
        slices.clear()
        await yard.worker().run_once(lambda: bool(slices))
        (work,) = await yard.every("import_work")
        assert (work.attempts, work.lease_owner) == (0, None)
        if continue_on_error:
            break
        assert await yard.numbers() == []
    await yard.work()
    assert (await yard.job(job_id)).rows_succeeded == 30


async def test_a_worker_is_woken_by_a_job_and_stops_on_request(yard: Yard) -> None:
    stop = asyncio.Event()
    running = asyncio.create_task(yard.worker(poll_seconds=3600).run(stop))
    async with asyncio.timeout(30):
        for number in range(3):
            job_id = await yard.accept([good(number)])
            await until_ended(yard, job_id)
    stop.set()
    await asyncio.wait_for(running, 10)


async def test_metrics_count_finished_jobs(yard: Yard) -> None:
    tenant = f"metered-{yard.context.database.dialect}"

    def value(name: str, **labels: str) -> float:
        return metrics.REGISTRY.get_sample_value(name, {"tenant": tenant, **labels}) or 0

    await yard.accept([good(1)], tenant=tenant, source="MASTER_DATA_SOAP")
    held = await claim_import(yard.context, "")
    assert held is not None
    yard.shop.later(minutes=2)
    await yard.work()
    await yard.accept([good(2, bad=["name"])], tenant=tenant, continue_on_error=False)
    await yard.work()
    assert value("svc_imports_total", type="MASTER_DATA_SOAP", status="SUCCEEDED") == 1
    assert value("svc_imports_total", type="BULK_IMPORT", status="FAILED") == 1
    assert value("svc_imports_duration_seconds_sum", type="MASTER_DATA_SOAP") == 120
    interface = "ProductMerchandiseViewReplicationBulkRequest"
    assert value("svc_drfout_job_duration_seconds_count", interface=interface) == 1


async def test_an_all_or_nothing_job_reports_progress_and_renews_its_lease(yard: Yard, dialect: Dialect) -> None:
    if dialect == "sqlite":
        pytest.skip("SQLite has one writer")
    job_id = await yard.accept((good(number) for number in range(30)), continue_on_error=False)
    told: list[str] = []

    async def until(session: Session) -> None:
        """In the second slice, wait until the job shows the first as done and the lease was renewed."""
        if len(told) != 1:
            told.append("")
            return
        (before,) = await yard.every("import_work")
        yard.shop.later(seconds=1)
        while True:
            (work,), job = await yard.every("import_work"), await yard.job(job_id)
            if work.lease_until > before.lease_until and job.message.startswith("10 of 30"):
                break
        told.append(job.message)
        assert await yard.numbers() == [], "something can be seen before all is stored"

    def importers(entity: str, context: Context, *, tenant_id: str, user: str, source: str) -> RowImporter:
        return Patient(Goods(user), until)

    yard.importers = importers  # type: ignore[method-assign]
    async with asyncio.timeout(30):
        await yard.worker(lease_seconds=1).run_once()
    assert told[1] == "10 of 30 rows have been checked; none is stored until all have been."
    assert (await yard.job(job_id)).rows_succeeded == 30


async def test_a_unit_that_postgresql_undoes_is_repeated_from_the_first_row(yard: Yard, dialect: Dialect) -> None:
    if dialect == "sqlite":
        pytest.skip("SQLite undoes nothing for the sake of others")

    class Later(Goods):
        async def store(
            self, session: Session, rows: Sequence[NumberedRow], *, at: datetime, keep_good: bool
        ) -> Portion:
            portion = await Goods.store(self, session, rows, at=at, keep_good=keep_good)
            if rows[-1].number > 20 and len(yard.orders) == 1:
                raise asyncpg.exceptions.SerializationError("once")
            return portion

    def importers(entity: str, context: Context, *, tenant_id: str, user: str, source: str) -> RowImporter:
        yard.orders.append({})
        return Later(user)

    yard.importers = importers  # type: ignore[method-assign]
    job_id = await yard.accept((good(number) for number in range(30)), continue_on_error=False)
    await yard.worker().run_once()
    assert len(yard.orders) == 2, "it was not undone"
    job = await yard.job(job_id)
    assert (job.status, job.rows_succeeded, job.message) == ("SUCCEEDED", 30, "30 of 30 rows were imported.")
    assert len(await yard.numbers()) == 30
    assert len(await yard.events()) == 1
