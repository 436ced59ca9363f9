"""One worker of all runs a job that is due: it claims the job, runs it, and writes down what came of it.

A worker that dies in the middle keeps the job until its lease runs out. Moments farther ahead than any that could be
given now were given by a clock that has been set back since, and are not waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from promenade.errors import Unavailable
from promenade.store import clockwork as store
from promenade.store.clockwork import ClockRow, Leased, LeaseLost
from promenade.store.unit import Session
from promenade.workflows.clockwork.jobs import ClockJob, Ran
from promenade.workflows.context import Context

__all__ = ["LEASE", "due", "look", "next_due", "run"]

LEASE = timedelta(seconds=60)
RUN_SECONDS_MAX = 45  # below the lease, which nobody renews
RETRY_MAX = timedelta(minutes=5)  # the longest that a failed job is put off, an hourly one too
RETRY_NEW = timedelta(minutes=1)  # for how long one is put off that has never run
CLOCKS_APART = timedelta(seconds=10)  # by how much the clocks of two machines may differ
_INSTANCE_MAX = 60

_log = structlog.get_logger(__name__)


async def look(context: Context, jobs: Mapping[str, ClockJob]) -> list[ClockRow]:
    """The rows of ``jobs``, those first that have been due for longest; a job seen for the first time gets one."""
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
    """Those of ``rows`` that may be run now. ``own``: leases that the caller was given and could not give back."""
    return [row for row in rows if next_due(jobs[row.name], row, at, own) <= at]


def next_due(job: ClockJob, row: ClockRow, at: datetime, own: Collection[str] = ()) -> datetime:
    """When a job may be run, as far as can be told ``at`` that moment."""
    put_off_max = job.every if row.last_error is None else max(job.every, RETRY_MAX)
    due_at = _believed(row.due_at, at, put_off_max)
    if row.lease_until is None or row.lease_owner in own:
        return due_at
    return max(due_at, _believed(row.lease_until, at, LEASE))


def _believed(moment: datetime, at: datetime, ahead_max: timedelta) -> datetime:
    """A moment that was written down, or now, if no clock that is right could have said that."""
    return at if moment > at + ahead_max + CLOCKS_APART else moment


async def run(context: Context, job: ClockJob, seen: ClockRow, own: set[str]) -> Ran | None:
    """Run a job that was seen to be due; None: somebody was quicker, or took it over, or it failed.

    What a job raises is written down and puts it off. ``own`` holds the lease while it is not given back. Raises
    Unavailable with the database away.
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


async def _carry_out(context: Context, job: ClockJob, held: ClockRow) -> Ran | None:
    leased = replace(context, database=Leased(context.database, held))
    try:
        async with asyncio.timeout(RUN_SECONDS_MAX):
            ran = await job.run(leased, held.cursor)
    except LeaseLost:
        _log.info("clockwork.lease_lost", job=job.name)
        return None
    except asyncio.CancelledError:  # the worker is told to stop: whoever comes next begins with it
        await _finish(context, held, held.due_at, held.last_run_at, held.cursor, held.last_error)
        raise
    except Unavailable:
        raise
    except Exception as error:
        _log.exception("clockwork.job_failed", job=job.name)
        reason = "The run was cut off: it took too long." if isinstance(error, TimeoutError) else _told(error)
        at = context.clock()
        await _finish(context, held, at + _put_off(job, held, at), held.last_run_at, held.cursor, reason)
        return None
    at = context.clock()
    if not await _finish(context, held, at if ran.more else at + job.every, at, ran.cursor, ran.trouble):
        _log.info("clockwork.lease_lost", job=job.name)
    return ran


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _put_off(job: ClockJob, held: ClockRow, at: datetime) -> timedelta:
    """As long as it has not run: so the pauses between attempts double, up to a bound."""
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

    # What is lost with the power is done again, which finds nothing to do.
    return await context.database.write(work, system=True, durable=False)
