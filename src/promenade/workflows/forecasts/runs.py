"""Run long forecasts in stretches, counting each sale once even if a worker dies.

A stretch is claimed, computed in memory, and written with the position it reached in one unit of work. If its worker
dies, it is repeated from the same position, with the same result, after its lease has expired.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from promenade.errors import Unavailable
from promenade.log import Logger
from promenade.store.driver.leases import FORECASTS
from promenade.store.driver.unit import Session
from promenade.store.forecasts import runs as forecasts
from promenade.store.forecasts.runs import ForecastJob
from promenade.store.forecasts.sales import Cursor, Windows, count_sales, kept_in, read_windows
from promenade.workflows.context import Context
from promenade.workflows.forecasts.replay import Replaying
from promenade.workflows.forecasts.results import children_of, finished, so_far

STRETCH_SECONDS = 0.25  # the worker's other jobs wait that long
LEASE_SECONDS = FORECASTS.lease_seconds
ATTEMPTS_MAX = FORECASTS.attempts_max

_log = Logger(__name__)


@dataclass(frozen=True, slots=True)
class _Standing:
    """The initial state of a stretch besides its job. ``total`` None: the sales have not been counted."""

    windows: Windows
    total: int | None
    is_there: bool


async def run_forecasts(
    context: Context, *, stretch_seconds: float = STRETCH_SECONDS, lease_seconds: int = LEASE_SECONDS
) -> int:
    """Claim and run one stretch of one forecast of any tenant; return how many were run: 1 or 0.

    Raises Unavailable if the database is unreachable. Any other error delays the forecast, and after some attempts ends
    it as FAILED.
    """
    if not await context.database.read(forecasts.is_anything_waiting, system=True):
        return 0
    owner = context.new_id()

    async def take(session: Session) -> ForecastJob | None:
        return await forecasts.claim(session, lease_owner=owner, at=context.clock(), lease_seconds=lease_seconds)

    # If a power failure loses this, it is computed again: forecasts must not make sales wait for the disk.
    job = await context.database.write(take, system=True, durable=False)
    if job is None:
        return 0
    if job.attempts > ATTEMPTS_MAX:
        await _end(context, job, "The last attempts did not finish.")
        return 1
    try:
        await _stretch(context, job, stretch_seconds)
    except Unavailable:
        raise
    except Exception as error:
        _log.exception("forecast.put_off", forecast=job.forecast_id, attempts=job.attempts)
        await _retry_later(context, job, f"{type(error).__name__}: {error}")
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
        await context.database.write(
            lambda session: _finish(context, session, job, replaying, standing.windows), tenant=job.tenant_id
        )
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


async def _finish(context: Context, session: Session, job: ForecastJob, replaying: Replaying, windows: Windows) -> None:
    at, tally = context.clock(), replaying.tally
    customers = await forecasts.drop_job(session, job, replaying.uses)
    if customers is None:
        return
    await forecasts.note_start(session, job.forecast_id, at)
    await forecasts.set_columns(
        session, job.forecast_id, finished(tally, customers, at, await kept_in(session, windows))
    )
    await forecasts.insert_children(session, children_of(job.forecast_id, tally, at, context.new_id))


async def _retry_later(context: Context, job: ForecastJob, reason: str) -> None:
    """Retry later with growing delays, or give up."""
    due = FORECASTS.retry_at(context.clock(), job.attempts)
    if due is None:
        await _end(context, job, reason)
        return
    await context.database.write(lambda session: forecasts.release(session, job, at=due), tenant=job.tenant_id)


async def _end(context: Context, job: ForecastJob, reason: str) -> None:
    """End a forecast that cannot be finished."""

    async def work(session: Session) -> None:
        if await forecasts.drop_job(session, job, {}) is not None:
            at = context.clock()
            failed = {"status": "FAILED", "message": reason[:1000], "completed_at": at, "modified_at": at}
            await forecasts.set_columns(session, job.forecast_id, failed)

    await context.database.write(work, tenant=job.tenant_id)
