"""The clockwork starts each job once when it is due, whatever workers, jobs and clocks do."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import insert, select

from promenade.errors import Unavailable
from promenade.store.driver.leases import LeaseLost
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.worker import clockwork as loop
from promenade.worker import loop as every_loop
from promenade.workflows.clockwork import JobResult, runs, sheet
from promenade.workflows.context import Context
from tests.workflows.clockwork.jobs_at_hand import Bench
from tests.workflows.counting import count_statements
from tests.workflows.shop import TENANT

HOUR = 3600


async def test_a_job_runs_at_once_and_then_at_its_interval(bench: Bench) -> None:
    bench.job("often", every=5)
    bench.job("hourly", every=HOUR)
    worker = bench.worker()
    assert await worker.run_once() == 2
    assert sorted(bench.ran()) == ["hourly", "often"]
    bench.later(4)
    assert await worker.run_once() == 0
    bench.later(1)
    await worker.run_once()
    assert bench.ran() == ["often"]
    row = await bench.row("often")
    assert (row.last_run_at, row.due_at, row.lease_owner) == (bench.now, bench.now + timedelta(seconds=5), None)


async def test_a_day_that_was_missed_is_caught_up_by_one_run(bench: Bench) -> None:
    bench.job("often", every=5)
    await bench.worker().run_once()
    bench.later(24 * HOUR)
    worker = bench.worker()
    while await worker.run_once():
        pass
    assert bench.ran() == ["often", "often"]


async def test_a_failing_job_backs_off_and_delays_no_other(bench: Bench) -> None:
    broken = True

    async def fail(context: Context, cursor: str | None) -> JobResult:
        if broken:
            raise ValueError("the sky has fallen")
        return JobResult(1)

    bench.job("a fails", fail)
    bench.job("b works")
    worker = bench.worker()
    broken = False
    await worker.run_once()
    broken = True
    bench.ran()
    tried = []
    for second in range(60):
        bench.later(1)
        await worker.run_once()
        tried += [second + 1] if "a fails" in bench.ran() else []
    assert tried == [5, 10, 20, 40]
    row = await bench.row("a fails")
    assert row.last_error == "ValueError: the sky has fallen"
    assert row.lease_owner is None
    assert (await bench.row("b works")).last_run_at == bench.now
    broken = False
    bench.later(300)  # no job waits for longer than that
    await worker.run_once()
    assert (await bench.row("a fails")).last_error is None


async def test_a_run_may_report_a_problem_and_still_continue(bench: Bench) -> None:
    async def troubled(context: Context, cursor: str | None) -> JobResult:
        return JobResult(1, cursor=f"{cursor or ''}x", trouble="one row is odd")

    bench.job("troubled", troubled)
    worker = bench.worker()
    await worker.run_once()
    bench.later(5)
    await worker.run_once()
    row = await bench.row("troubled")
    assert (row.last_error, row.cursor, row.last_run_at) == ("one row is odd", "xx", bench.now)


async def test_a_job_with_more_work_takes_turns_with_the_others(bench: Bench) -> None:
    async def more(context: Context, cursor: str | None) -> JobResult:
        bench.later(0.01)
        number = int(cursor or 0) + 1
        return JobResult(1, more=number % 3 != 0, cursor=str(number))

    bench.job("a", more)
    bench.job("b", more)
    worker = bench.worker()
    while await worker.run_once():
        pass
    assert bench.ran() == ["a", "b"] * 3


async def test_one_of_many_workers_runs_a_job(bench: Bench) -> None:
    bench.job("once")
    bench.job("other")
    workers = [bench.worker() for _ in range(8)]
    assert sum(await asyncio.gather(*(worker.run_once() for worker in workers))) == 2
    assert sorted(bench.ran()) == ["once", "other"]


async def test_another_takes_over_from_a_worker_that_died_when_its_lease_has_run_out(bench: Bench) -> None:
    died = asyncio.Event()

    async def die(context: Context, cursor: str | None) -> JobResult:
        died.set()
        await asyncio.Event().wait()
        raise AssertionError

    bench.job("deadly", die)
    victim = asyncio.create_task(bench.worker().run_once())
    await died.wait()
    assert (await bench.row("deadly")).lease_owner is not None
    bench.job("deadly")
    bench.ran()
    other = bench.worker()
    for _ in range(2):
        bench.later(29)
        await other.run_once()
        assert bench.ran() == []
    bench.later(2)
    await other.run_once()
    assert bench.ran() == ["deadly"]
    victim.cancel()
    await asyncio.gather(victim, return_exceptions=True)
    assert (await bench.row("deadly")).last_run_at == bench.now, "the dead one wrote past its lease"


async def test_a_run_that_lost_its_lease_cannot_write(bench: Bench) -> None:
    lost: list[str] = []
    resume, waits = asyncio.Event(), asyncio.Event()

    async def slow(context: Context, cursor: str | None) -> JobResult:
        async def write(session: Session) -> None:
            await session.rowcount(insert(table("Budgets")), row)

        row = {"id": context.new_id(), "code": "B", "name": "B", "total_amount": 1, "currency": "EUR"}
        waits.set()
        await resume.wait()
        try:
            await context.database.write(write, tenant=TENANT)
        except LeaseLost:
            lost.append("slow")
            raise
        return JobResult(1, cursor="mine")

    bench.job("slow", slow)
    stalled = asyncio.create_task(bench.worker().run_once())
    await waits.wait()
    bench.job("slow")
    bench.later(61)
    assert await bench.worker().run_once() == 1
    resume.set()
    assert await stalled == 0
    assert lost == ["slow"]
    assert await bench.shop.rows("Budgets") == []
    row = await bench.row("slow")
    assert (row.cursor, row.last_error, row.lease_owner) == (None, None, None)


@pytest.mark.parametrize("jump", [-HOUR, HOUR])
async def test_a_clock_that_jumps_stops_nothing(bench: Bench, jump: int) -> None:
    bench.job("often", every=5)
    bench.job("hourly", every=HOUR)
    worker = bench.worker()
    await worker.run_once()
    bench.ran()
    bench.later(jump)
    for _ in range(30):
        await worker.run_once()
        bench.later(1)
    log = bench.ran()
    assert 6 <= log.count("often") <= 7, "every five seconds, as before"
    assert log.count("hourly") == 1, "once more: there is nothing that a run does twice"
    for _ in range(130):
        bench.later(60)
        await worker.run_once()
    assert 2 <= bench.ran().count("hourly") <= 3


async def test_a_lease_given_by_a_clock_ahead_is_not_waited_for(bench: Bench) -> None:
    async def die(context: Context, cursor: str | None) -> JobResult:
        raise Unavailable("GONE", "The database is away.")

    bench.job("often", die)
    with pytest.raises(Unavailable):
        await bench.worker(ahead=HOUR).run_once()
    assert (await bench.row("often")).lease_until == bench.now + timedelta(seconds=HOUR + 60)
    bench.job("often")
    await bench.worker().run_once()
    assert bench.ran() == ["often", "often"]


async def test_workers_with_slightly_different_clocks_do_not_steal_leases(bench: Bench) -> None:
    begun = asyncio.Event()

    async def stay(context: Context, cursor: str | None) -> JobResult:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    bench.job("long", stay)
    one = asyncio.create_task(bench.worker(ahead=3).run_once())
    await begun.wait()
    assert await bench.worker(ahead=-3).run_once() == 0
    one.cancel()
    await asyncio.gather(one, return_exceptions=True)


async def test_a_run_that_takes_too_long_is_cut_off(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "RUN_SECONDS_MAX", 0.05)

    async def stay(context: Context, cursor: str | None) -> JobResult:
        await asyncio.Event().wait()
        raise AssertionError

    bench.job("a hangs", stay)
    bench.job("b works")
    assert await bench.worker().run_once() == 1
    assert bench.ran() == ["a hangs", "b works"]
    assert (await bench.row("a hangs")).last_error == "The run was cut off: it took too long."


async def test_a_worker_asked_to_stop_releases_its_job(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "GRACE_SECONDS", 0.05)
    stop = asyncio.Event()

    async def stay(context: Context, cursor: str | None) -> JobResult:
        stop.set()
        await asyncio.Event().wait()
        raise AssertionError

    bench.job("a long", stay)
    bench.job("b next")
    await asyncio.wait_for(bench.worker().run(stop), 90)
    assert bench.ran() == ["a long"]
    row = await bench.row("a long")
    assert (row.lease_owner, row.due_at, row.last_error) == (None, bench.now, None)


async def test_a_worker_continues_when_the_database_is_back(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Including the job it held when the database went away: nobody has to wait for the lease."""
    monkeypatch.setattr(every_loop, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(loop, "LOOK_SECONDS_MIN", 0.01)
    stop = asyncio.Event()
    away = 3

    async def vanish(context: Context, cursor: str | None) -> JobResult:
        nonlocal away
        away -= 1
        if away >= 0:
            raise Unavailable("GONE", "The database is away.")
        stop.set()
        return JobResult(1)

    bench.job("held", vanish)
    await asyncio.wait_for(bench.worker().run(stop), 90)
    assert bench.ran() == ["held"] * 4
    assert (await bench.row("held")).last_run_at == bench.now


async def test_an_idle_worker_asks_once_a_second_at_most(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(10):
        bench.job(f"job {number}", every=5)
    bench.job("hourly", every=HOUR)
    worker = bench.worker()
    await worker.run_once()
    counted = count_statements(monkeypatch)
    stop = asyncio.Event()
    slept: list[float] = []

    async def sleep(seconds: float, stop: asyncio.Event) -> None:
        slept.append(seconds)
        bench.later(seconds)
        if sum(slept) >= 4.5:
            stop.set()

    monkeypatch.setattr(loop, "wait", sleep)
    bench.ran()
    bench.later(0.2)
    await worker.run(stop)
    assert bench.ran() == []
    assert counted() == len(slept)
    assert min(slept) >= 1


async def test_a_job_of_another_version_is_left_alone(bench: Bench) -> None:
    clockwork = table("clockwork")
    row = {"name": "of the future", "due_at": bench.now}
    await bench.shop.context.database.write(lambda session: session.rowcount(insert(clockwork), row), system=True)
    bench.job("known")
    assert await bench.worker().run_once() == 1

    async def names(session: Session) -> list[str]:
        return [found.name for found in await session.execute(select(clockwork.c.name))]

    assert sorted(await bench.shop.context.database.read(names, system=True)) == ["known", "of the future"]
    assert (await bench.row("of the future")).last_run_at is None


async def test_operators_see_how_every_job_is_doing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(context: Context, cursor: str | None) -> JobResult:
        raise ValueError("the sky has fallen")

    async def troubled(context: Context, cursor: str | None) -> JobResult:
        return JobResult(1, trouble="one row is odd")

    async def vanish(context: Context, cursor: str | None) -> JobResult:
        raise Unavailable("GONE", "The database is away.")

    bench.job("a works")
    bench.job("b fails", fail)
    bench.job("c limps", troubled)
    bench.job("d vanishes", vanish)
    monkeypatch.setattr(sheet, "clock_jobs", lambda: bench.jobs)

    async def states(seconds: float = 0) -> list[str]:
        shown = await sheet.clock_sheet(bench.shop.context.database, bench.now + timedelta(seconds=seconds))
        return [row["state"] for row in shown]

    assert await states() == ["NEW", "NEW", "NEW", "NEW"]
    with pytest.raises(Unavailable):
        await bench.worker().run_once()
    assert await states() == ["OK", "FAILED", "TROUBLE", "RUNNING"]
    assert await states(66) == ["LATE", "FAILED", "TROUBLE", "STUCK"]
    rows = await sheet.clock_sheet(bench.shop.context.database, bench.now)
    assert [row["lastError"] for row in rows] == [None, "ValueError: the sky has fallen", "one row is odd", None]
    assert [row["heldBy"] is None for row in rows] == [True, True, True, False]
