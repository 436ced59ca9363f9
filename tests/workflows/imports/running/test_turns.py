"""Job scheduling: fairness between tenants, one job of a tenant at a time, leases, jumping clocks."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import delete

from promenade.store.driver.leases import end_all
from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database
from promenade.store.imports.work import ImportClaim
from promenade.workflows.imports.running import LEASE_SECONDS, ImportRun, claim_import
from tests.kit.databases import Dialect
from tests.workflows.imports.running.yard import Yard, good
from tests.workflows.shop import TENANT


class Hurried:
    """The pace of a worker that never yields: slices of ``rows`` rows."""

    def __init__(self, rows: int = 250) -> None:
        self.rows = rows

    def worked(self, rows: int, seconds: float) -> None:
        pass

    async def rest(self) -> None:
        pass

    async def rest_within(self) -> None:
        pass


async def claimed(yard: Yard, after: str = "") -> ImportClaim:
    held = await claim_import(yard.context, after)
    assert held is not None
    return held


async def carry_out(yard: Yard, held: ImportClaim, *, rows: int = 250, stretch_seconds: float = 60) -> ImportRun:
    run = ImportRun(yard.context, held, yard.importers, Hurried(rows), lambda: False, stretch_seconds=stretch_seconds)
    await run.carry_out()
    return run


async def test_tenants_take_turns_however_many_jobs_they_have(yard: Yard) -> None:
    for number in range(3):
        await yard.accept([good(number)], tenant="busy")
        yard.shop.later(seconds=1)
    await yard.accept([good(1)], tenant="calm")
    await yard.accept([good(2)], tenant="calm")
    await yard.accept([good(1)], tenant="new")
    await yard.work()
    turns = [order["tenant_id"] for order in yard.orders]
    assert turns == ["busy", "calm", "new", "busy", "calm", "busy"]


async def test_a_job_that_takes_long_gets_on_and_lets_other_tenants_have_their_turn(yard: Yard) -> None:
    long = await yard.accept((good(number) for number in range(30)), tenant="busy")
    short = await yard.accept([good(1)], tenant="calm")
    held = await claimed(yard)
    run = await carry_out(yard, held, rows=5, stretch_seconds=0)
    assert run.held.rows_succeeded == 5, "its time was over before it began, and yet it gets on"
    other = await claimed(yard, after=held.tenant_id)
    assert (held.job_id, other.job_id) == (long, short)
    await carry_out(yard, other)
    await yard.work()
    assert {job.status for job in await yard.every("ImportJobs")} == {"SUCCEEDED"}


async def test_a_tenant_s_jobs_are_done_one_after_the_other_the_oldest_first(yard: Yard) -> None:
    first = await yard.accept([good(1)])
    yard.shop.later(seconds=1)
    second = await yard.accept([good(2)])
    held = await claimed(yard)
    assert held.job_id == first
    assert (await yard.job(first)).status == "RUNNING"
    assert await claim_import(yard.context, "") is None
    await carry_out(yard, held)
    assert (await claimed(yard)).job_id == second


async def test_a_job_continues_where_it_was_interrupted(yard: Yard) -> None:
    job_id = await yard.accept(good(number, bad=["name"] if number % 7 == 3 else []) for number in range(35))
    stretches = 0
    while True:
        yard.shop.later(seconds=1)
        held = await claim_import(yard.context, "")
        if held is None:
            break
        slices = iter((False, False, True))
        run = ImportRun(yard.context, held, yard.importers, Hurried(4), lambda slices=slices: next(slices))  # type: ignore[misc]
        await run.carry_out()
        stretches += 1
        job = await yard.job(job_id)
        assert job.rows_succeeded == len(await yard.numbers()), "the job does not tell how far it is"
    assert stretches == 6  # slices of 4, 4, 2, 4, 4, 2, ... rows, two at a time
    job = await yard.job(job_id)
    assert (job.status, job.rows_succeeded, job.rows_failed) == ("SUCCEEDED", 30, 5)
    assert len(await yard.every("ImportJobErrors")) == 5


@pytest.mark.parametrize("continue_on_error", [True, False])
@pytest.mark.parametrize("jump", [LEASE_SECONDS + 1, 3600, -3600])
async def test_a_worker_that_lost_a_job_cannot_write(yard: Yard, continue_on_error: bool, jump: int) -> None:
    job_id = await yard.accept([good(1), good(2, bad=[])], continue_on_error=continue_on_error)
    lost = await claimed(yard)
    yard.shop.later(seconds=jump)
    other = await claimed(yard)
    await carry_out(yard, lost)
    assert await yard.numbers() == []
    assert (await yard.job(job_id)).status == "RUNNING"
    await carry_out(yard, other)
    await carry_out(yard, lost)
    job = await yard.job(job_id)
    assert (job.status, job.rows_succeeded) == ("SUCCEEDED", 2)
    assert len(await yard.events()) == 1
    assert not await yard.every("import_work")


async def test_a_lease_from_a_wrong_clock_delays_no_job(yard: Yard) -> None:
    def fail(rows: object) -> None:
        raise RuntimeError("not now")

    yard.before = fail
    await yard.accept([good(1)])
    await yard.work()
    yard.before = lambda rows: None
    assert await claim_import(yard.context, "") is None, "it was not put off"
    yard.shop.later(hours=-1)
    assert await yard.work() == 1
    assert await yard.numbers() == ["A1"]


async def test_a_new_worker_takes_over_abandoned_jobs(yard: Yard) -> None:
    await yard.accept([good(1)])
    await claimed(yard)
    at = yard.shop.now[0]
    assert await yard.work() == 0
    assert await yard.context.database.write(lambda session: end_all(session, at=at), system=True) == 1
    assert await yard.work() == 1
    assert await yard.numbers() == ["A1"]


async def test_several_workers_share_the_jobs_of_tenants(database_url: str, dialect: Dialect, yard: Yard) -> None:
    jobs = [
        await yard.accept((good(number) for number in range(23)), tenant=f"tenant-{of}", continue_on_error=bool(n % 2))
        for of in range(4)
        for n in range(2)
    ]
    # Separate processes on PostgreSQL; a SQLite file belongs to one process.
    others: list[Database] = [await open_database(database_url) for _ in range(2 if dialect == "postgresql" else 0)]
    places = [yard.context, *(replace(yard.context, database=other) for other in others)]
    try:
        await asyncio.gather(*(yard.work(yard.worker(context)) for context in places * 2))
        await yard.work()
    finally:
        for other in others:
            await other.close()
    found = [await yard.job(job_id) for job_id in jobs]
    assert {(job.status, job.rows_succeeded, job.rows_failed) for job in found} == {("SUCCEEDED", 23, 0)}
    assert len(await yard.numbers()) == 4 * 23
    assert sorted(event["jobId"] for event in await yard.events()) == sorted(jobs)


async def test_work_without_its_job_is_deleted(yard: Yard) -> None:
    await yard.accept([good(1)])
    gone = delete(table("ImportJobs"))
    await yard.context.database.write(lambda session: session.rowcount(gone), tenant=TENANT)
    await yard.work()
    assert not await yard.every("import_work")
    assert await yard.numbers() == []
