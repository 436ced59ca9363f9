"""Shares that stores no longer use: the cloud takes them back, and a store stops spending them.

The cloud waits once more for the validity period of a share: by then the sales that used it should have arrived, even
from a store that was offline all the time.
"""

from __future__ import annotations

from datetime import timedelta

from promenade.store.driver.unit import Session
from promenade.store.sync import shares as store
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import HALF, Pace
from promenade.workflows.context import Context
from promenade.workflows.replica.ending import end_shares
from promenade.workflows.sync.shares import FAR, GOOD_FOR, review_demand

PORTION = 100  # shares per unit of work
TENANTS = 500  # per run


@clock_job("shares.end", every=timedelta(minutes=1))
async def reclaim(context: Context, cursor: str | None) -> JobResult:
    """In the cloud: take back shares that expired long ago, and review reserves. In a store: end expired shares."""
    if context.is_store:
        return JobResult(await end_shares(context))
    at, pace = context.clock(), Pace(HALF)
    tenants = await context.database.read(
        lambda session: store.find_due(session, at - GOOD_FOR, at + FAR, TENANTS), system=True
    )
    waiting = list(tenants)
    while waiting and not pace.is_over:
        began = pace.now()
        count = await context.database.write(lambda session: _reclaim(context, session), tenant=waiting[0])
        pace.done += count
        if count < PORTION:
            waiting.pop(0)
        await pace.rest_after(began)
    for tenant_id in await context.database.read(lambda session: store.find_demanding(session, TENANTS), system=True):
        pace.done += await context.database.write(
            lambda session: review_demand(context, session), tenant=tenant_id, durable=False
        )
    return JobResult(pace.done, more=bool(waiting))


async def _reclaim(context: Context, session: Session) -> int:
    at = context.clock()
    await store.shorten(session, at + FAR, at + GOOD_FOR)
    due = await store.hold_due(session, at - GOOD_FOR, PORTION)
    await store.return_shares(session, [(one, one.outstanding) for one in due], at)
    for one in due:
        if one.forecast:
            await store.add_demand(session, one.kind, one.entity_id, -one.forecast, at)
    await store.drop_shares(session, due)
    return len(due)
