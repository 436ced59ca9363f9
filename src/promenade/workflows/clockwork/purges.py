"""Delete data that is no longer needed, in units of a few milliseconds, each followed by a pause twice as long.

``context.retention`` defines how long data is kept. The cost of a purge depends on the number of rows it deletes, not
on the size of the tables. A run stops after about a second and is due again at once while more is left.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from promenade.store.clockwork.purging import (
    START,
    Place,
    oldest_iteration,
    purge_events,
    purge_iterations,
    purge_jobs,
    purge_notifications,
    purge_secrets,
    purge_sold_iterations,
    remove_condemned,
)
from promenade.store.driver.unit import Session
from promenade.store.pricing.dictionaries import remove_dictionaries
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import Pace, tenant_by_tenant
from promenade.workflows.context import Context

T = TypeVar("T")

EVERY = timedelta(hours=1)
UNIT_ROWS = 40  # rows read, and possibly deleted, per unit of work: 2 to 5 ms of CPU time on SQLite
CONDEMNED_FOR = timedelta(minutes=5)  # longer than a confirm can take after it has found its iteration
REPLACED_FOR = timedelta(days=2)  # longer than a process stores with a dictionary that has been replaced
NOTIFICATIONS_DAYS = 90  # for finished deliveries; longer if their events are kept longer


@clock_job("purge.iterations", every=EVERY)
async def iterations(context: Context, cursor: str | None) -> JobResult:
    """Delete unconfirmed evaluations after `Retention.iterations` days, all others after `Retention.sales`.

    The counters of transactions that were never confirmed are deleted too. Confirmations stay: returns need them.
    """
    at = context.clock()
    kept = context.retention
    unconfirmed = at - timedelta(days=kept.iterations)
    sold = at - timedelta(days=max(kept.sales, kept.iterations))
    place = Place.decode(cursor)

    async def condemned() -> tuple[int, bool]:
        before = at - CONDEMNED_FOR
        gone = await _written(context, lambda session: remove_condemned(session, before=before, at=at, limit=UNIT_ROWS))
        return gone, gone == UNIT_ROWS

    async def walk() -> tuple[int, bool]:
        nonlocal place
        stretch = await _written(
            context, lambda session: purge_iterations(session, place, before=unconfirmed, at=at, limit=UNIT_ROWS)
        )
        place = stretch.place
        return stretch.gone, not stretch.ended

    async def sales() -> tuple[int, bool]:
        stretch = await _written(
            context, lambda session: purge_sold_iterations(session, before=sold, at=at, limit=UNIT_ROWS)
        )
        return stretch.gone, not stretch.ended

    pace = Pace()
    finished = [await pace.while_more(part) for part in (condemned, sales, walk)]
    return JobResult(pace.done, more=not all(finished), cursor=place.encode())


@clock_job("purge.dictionaries", every=EVERY)
async def old_dictionaries(context: Context, cursor: str | None) -> JobResult:
    """Delete dictionaries that were replaced before the oldest evaluation was stored: none is made with them."""
    at = context.clock()

    async def work(session: Session) -> int:
        oldest = await oldest_iteration(session)
        return await remove_dictionaries(session, replaced_before=min(oldest or at, at) - REPLACED_FOR)

    return JobResult(await _written(context, work))


@clock_job("purge.events", every=EVERY)
async def old_events(context: Context, cursor: str | None) -> JobResult:
    """Delete events after `Retention.events` days if they are dispatched and no delivery waits for them."""
    before = context.clock() - timedelta(days=context.retention.events)

    async def of_tenant(tenant_id: str, pace: Pace) -> bool:
        since: datetime | None = START.at

        async def unit() -> tuple[int, bool]:
            nonlocal since
            first = since or START.at
            gone, since = await context.database.write(
                lambda session: purge_events(
                    session, since=first, before=before, limit=UNIT_ROWS, publishes=context.events_to is not None
                ),
                tenant=tenant_id,
                durable=False,
            )
            return gone, since is not None

        return await pace.while_more(unit)

    return await tenant_by_tenant(context, cursor, of_tenant)


@clock_job("purge.notifications", every=EVERY)
async def notifications(context: Context, cursor: str | None) -> JobResult:
    """Delete the results of finished deliveries after `NOTIFICATIONS_DAYS`, or `Retention.events` if longer."""
    before = context.clock() - timedelta(days=max(NOTIFICATIONS_DAYS, context.retention.events))

    async def of_tenant(tenant_id: str, pace: Pace) -> bool:
        after: str | None = ""

        async def unit() -> tuple[int, bool]:
            nonlocal after
            last = after
            gone, of = await context.database.write(
                lambda session: purge_notifications(session, subscription=last, before=before, limit=UNIT_ROWS),
                tenant=tenant_id,
                durable=False,
            )
            if gone < UNIT_ROWS:  # otherwise this subscription may have more
                after = of
            return gone, gone == UNIT_ROWS or last is not None

        return await pace.while_more(unit)

    return await tenant_by_tenant(context, cursor, of_tenant)


@clock_job("purge.jobs", every=EVERY)
async def jobs(context: Context, cursor: str | None) -> JobResult:
    """Delete finished side effect jobs of sales (COMPLETED, FAILED or CANCELLED) after `Retention.sales` days."""
    before = context.clock() - timedelta(days=context.retention.sales)

    async def ended(status: str) -> tuple[int, bool]:
        gone = await _written(
            context, lambda session: purge_jobs(session, status=status, before=before, limit=UNIT_ROWS)
        )
        return gone, gone == UNIT_ROWS

    pace = Pace()
    finished = [await pace.while_more(partial(ended, status)) for status in ("COMPLETED", "FAILED", "CANCELLED")]
    return JobResult(pace.done, more=not all(finished))


@clock_job("purge.secrets", every=EVERY)
async def secrets(context: Context, cursor: str | None) -> JobResult:
    """Delete replaced webhook secrets that no longer sign."""
    at = context.clock()
    return JobResult(await _written(context, lambda session: purge_secrets(session, at=at)))


async def _written(context: Context, work: Callable[[Session], Awaitable[T]]) -> T:
    return await context.database.write(work, system=True, durable=False)
