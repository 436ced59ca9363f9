"""Run due jobs on exactly one of all workers: it claims the job, runs it and records the result.

If a worker dies during a job, the job stays claimed until the lease expires. Timestamps farther in the future than
any that could be written now come from a clock that has been set back since; they are ignored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from promenade.errors import Unavailable
from promenade.log import Logger
from promenade.store.clockwork import jobs as store
from promenade.store.clockwork.jobs import ClockRow, Leased
from promenade.store.driver.leases import CLOCK, LeaseLost
from promenade.store.driver.unit import Session
from promenade.workflows.clockwork.jobs import ClockJob, JobResult
from promenade.workflows.context import Context

LEASE = timedelta(seconds=CLOCK.lease_seconds)
RUN_SECONDS_MAX = 45  # shorter than the lease, which is not renewed
RETRY_MAX = timedelta(minutes=5)  # the longest delay after a failure, also for an hourly job
RETRY_NEW = timedelta(minutes=1)  # the delay for a job that has never run
CLOCK_SKEW = timedelta(seconds=10)  # maximum clock difference between two machines
_INSTANCE_MAX = 60

_log = Logger(__name__)


async def read_rows(context: Context, jobs: Mapping[str, ClockJob]) -> list[ClockRow]:
    """Return the rows of ``jobs``, longest overdue first; insert a row for each new job."""
    rows = await context.database.read(store.read_clock, system=True)
    known = {row.name for row in rows}
    if not jobs.keys() <= known:
        new, at = jobs.keys() - known, context.clock()
        await context.database.write(lambda session: store.add_clock_rows(session, new, at), system=True)
        rows = await context.database.read(store.read_clock, system=True)
    return [row for row in rows if row.name in jobs]


def due(
    jobs: Mapping[str, ClockJob], rows: Sequence[ClockRow], at: datetime, own: Collection[str] = ()
) -> list[ClockRow]:
    """Return those of ``rows`` that may run now. ``own``: leases that the caller holds and failed to release."""
    return [row for row in rows if next_due(jobs[row.name], row, at, own) <= at]


def next_due(job: ClockJob, row: ClockRow, at: datetime, own: Collection[str] = ()) -> datetime:
    """When a job may run, judged at the moment ``at``."""
    put_off_max = job.every if row.last_error is None else max(job.every, RETRY_MAX)
    due_at = _plausible(row.due_at, at, put_off_max)
    if row.lease_until is None or row.lease_owner in own:
        return due_at
    return max(due_at, _plausible(row.lease_until, at, LEASE))


def _plausible(moment: datetime, at: datetime, ahead_max: timedelta) -> datetime:
    """Return the recorded moment, or ``at`` if no correct clock could have written it."""
    return at if moment > at + ahead_max + CLOCK_SKEW else moment


async def run(context: Context, job: ClockJob, seen: ClockRow, own: set[str]) -> JobResult | None:
    """Run a due job; None: another worker claimed it first or took it over, or it failed.

    An exception of the job is recorded and delays its next run. ``own`` contains the lease until it is released. Raises
    Unavailable if the database is unreachable.
    """
    token = f"{context.instance_id[:_INSTANCE_MAX]}/{context.new_id()}"
    own.add(token)
    until = context.clock() + LEASE
    held = await context.database.write(
        lambda session: store.claim(session, seen, token, until), system=True, durable=False
    )
    if held is not None:
        own.discard(seen.lease_owner or "")
        ran = await _carry_out(context, job, held)
    own.discard(token)
    return None if held is None else ran


async def _carry_out(context: Context, job: ClockJob, held: ClockRow) -> JobResult | None:
    leased = replace(context, database=Leased(context.database, held))
    try:
        async with asyncio.timeout(RUN_SECONDS_MAX):
            ran = await job.run(leased, held.cursor)
    except LeaseLost:
        _log.info("clockwork.lease_lost", job=job.name)
        return None
    except asyncio.CancelledError:  # the worker is being stopped: the next one starts with this job
        await _finish(context, held, held.due_at, held.last_run_at, held.cursor, held.last_error)
        raise
    except Unavailable:
        raise
    except Exception as error:
        _log.exception("clockwork.job_failed", job=job.name)
        reason = "The run was cut off: it took too long." if isinstance(error, TimeoutError) else _error_text(error)
        at = context.clock()
        await _finish(context, held, at + _retry_delay(job, held, at), held.last_run_at, held.cursor, reason)
        return None
    at = context.clock()
    if not await _finish(context, held, at if ran.more else at + job.every, at, ran.cursor, ran.trouble):
        _log.info("clockwork.lease_lost", job=job.name)
    return ran


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _retry_delay(job: ClockJob, held: ClockRow, at: datetime) -> timedelta:
    """Delay by the time since the last run, so that the pauses between attempts double, up to a limit."""
    since = RETRY_NEW if held.last_run_at is None else at - held.last_run_at
    return min(max(since, job.every), RETRY_MAX)


async def _finish(
    context: Context,
    held: ClockRow,
    due_at: datetime,
    last_run_at: datetime | None,
    cursor: str | None,
    error: str | None,
) -> bool:
    async def work(session: Session) -> bool:
        return await store.finish(session, held, due_at=due_at, last_run_at=last_run_at, cursor=cursor, error=error)

    # If a power failure loses this, the job runs again and finds nothing to do.
    return await context.database.write(work, system=True, durable=False)
