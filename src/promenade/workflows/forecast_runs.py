"""Long forecasts, a stretch at a time: whatever becomes of a worker, each sale counts once.

A stretch is claimed, worked out in memory and written in one unit, with the place it came to. One whose worker died is
done again from where the last one ended, with the same result, when its lease has run out.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta

import structlog

from promenade.errors import Unavailable
from promenade.store import forecasts
from promenade.store.forecast_sales import Cursor, Windows, count_sales, read_windows
from promenade.store.forecasts import ForecastJob
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.forecast_replay import Replaying
from promenade.workflows.forecast_results import children_of, finished, so_far

__all__ = ["ATTEMPTS_MAX", "LEASE_SECONDS", "STRETCH_SECONDS", "run_forecasts"]

STRETCH_SECONDS = 0.25  # the worker's other jobs wait as long
LEASE_SECONDS = 60
ATTEMPTS_MAX = 5

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Standing:
    """What a stretch starts from besides its job. ``total`` None: the sales have not been counted."""

    windows: Windows
    total: int | None
    is_there: bool


async def run_forecasts(
    context: Context, *, stretch_seconds: float = STRETCH_SECONDS, lease_seconds: int = LEASE_SECONDS
) -> int:
    """Claim one stretch of one forecast of any tenant and carry it out; how many there were: 1 or 0.

    Raises Unavailable with the database away. Whatever else goes wrong puts the forecast off, and ends it as FAILED
    after some attempts.
    """
    if not await context.database.read(forecasts.is_anything_waiting, system=True):
        return 0
    owner = context.new_id()

    async def take(session: Session) -> ForecastJob | None:
        return await forecasts.claim(session, lease_owner=owner, at=context.clock(), lease_seconds=lease_seconds)

    # What the power takes along is worked out again: no sale waits for the disk because of a forecast.
    job = await context.database.write(take, system=True, durable=False)
    if job is None:
        return 0
    if job.attempts > ATTEMPTS_MAX:
        await _end(context, job, "The last attempts were not finished.")
        return 1
    try:
        await _stretch(context, job, stretch_seconds)
    except Unavailable:
        raise
    except Exception as error:
        _log.exception("forecast.put_off", forecast=job.forecast_id, attempts=job.attempts)
        await _put_off(context, job, f"{type(error).__name__}: {error}")
    return 1


async def _stretch(context: Context, job: ForecastJob, seconds: float) -> None:
    standing = await context.database.read(lambda session: _look_up(session, job), tenant=job.tenant_id)
    if not standing.is_there:
        await _end(context, job, "The promotion was deleted.")
        return
    total = standing.total
    if total is None:
        total = await context.database.read(
            lambda session: count_sales(session, standing.windows, job.recorded_until), tenant=job.tenant_id
        )
    replaying = Replaying(context, job.tenant_id, job.forecast_id, job.plan, job.tally)
    began, cursor, is_last = time.monotonic(), job.cursor, False
    while not is_last:
        reached, is_last = await replaying.page(standing.windows, job.recorded_until, cursor)
        cursor = reached or cursor
        if time.monotonic() - began > seconds:
            break
    if is_last:
        await context.database.write(lambda session: _finish(context, session, job, replaying), tenant=job.tenant_id)
    elif cursor is not None:
        reached_to, counted = cursor, total
        await context.database.write(
            lambda session: _save(context, session, job, replaying, reached_to, counted),
            tenant=job.tenant_id,
            durable=False,
        )


async def _look_up(session: Session, job: ForecastJob) -> _Standing:
    return _Standing(
        await read_windows(session, job.plan.date_from, job.plan.date_to),
        await forecasts.read_total(session, job.forecast_id),
        await forecasts.is_promotion_there(session, job.plan.definition.id),
    )


async def _save(
    context: Context, session: Session, job: ForecastJob, replaying: Replaying, cursor: Cursor, total: int
) -> None:
    at = context.clock()
    if await forecasts.save(session, job, replaying.tally, cursor, replaying.uses, at=at):
        await forecasts.set_columns(session, job.forecast_id, so_far(replaying.tally, total, at))
        await forecasts.note_start(session, job.forecast_id, at)


async def _finish(context: Context, session: Session, job: ForecastJob, replaying: Replaying) -> None:
    at, tally = context.clock(), replaying.tally
    customers = await forecasts.drop_job(session, job, replaying.uses)
    if customers is None:
        return
    await forecasts.note_start(session, job.forecast_id, at)
    await forecasts.set_columns(session, job.forecast_id, finished(tally, customers, at))
    await forecasts.insert_children(session, children_of(job.forecast_id, tally, at, context.new_id))


async def _put_off(context: Context, job: ForecastJob, reason: str) -> None:
    """Try again later, each time a little later, or not at all."""
    if job.attempts >= ATTEMPTS_MAX:
        await _end(context, job, reason)
        return
    due = context.clock() + timedelta(seconds=2**job.attempts)
    await context.database.write(lambda session: forecasts.give_back(session, job, at=due), tenant=job.tenant_id)


async def _end(context: Context, job: ForecastJob, reason: str) -> None:
    """End a forecast that cannot be finished."""

    async def work(session: Session) -> None:
        if await forecasts.drop_job(session, job, {}) is not None:
            at = context.clock()
            failed = {"status": "FAILED", "message": reason[:1000], "completed_at": at, "modified_at": at}
            await forecasts.set_columns(session, job.forecast_id, failed)

    await context.database.write(work, tenant=job.tenant_id)
