"""What stores were given and do not use any more: the cloud takes it back, and a store stops to spend it.

The cloud waits as long again as a share was good for: by then the sales that have used it should be here, even of a
store that was without a link all the time.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from promenade.store import store_shares as store
from promenade.store.unit import Session
from promenade.workflows.clockwork.jobs import Ran, clock_job
from promenade.workflows.context import Context
from promenade.workflows.replica.ending import end_shares
from promenade.workflows.sync.shares import FAR, GOOD_FOR

__all__ = ["take_back"]

PORTION = 100  # shares of one unit
TENANTS = 500  # that a run begins with
RUN_SECONDS = 1.0
REST_SECONDS_MAX = 0.1


@clock_job("shares.end", every=timedelta(minutes=1))
async def take_back(context: Context, cursor: str | None) -> Ran:
    """In the cloud: take back what has run out long ago. In a store: spend nothing of what has run out."""
    if context.is_store:
        return Ran(await end_shares(context))
    at, now = context.clock(), asyncio.get_running_loop().time
    tenants = await context.database.read(
        lambda session: store.find_due(session, at - GOOD_FOR, at + FAR, TENANTS), system=True
    )
    done, end = 0, now() + RUN_SECONDS
    waiting = list(tenants)
    while waiting and now() < end:
        began = now()
        count = await context.database.write(lambda session: _take_back(context, session), tenant=waiting[0])
        done += count
        if count < PORTION:
            waiting.pop(0)
        await asyncio.sleep(min(now() - began, REST_SECONDS_MAX))
    return Ran(done, more=bool(waiting))


async def _take_back(context: Context, session: Session) -> int:
    at = context.clock()
    await store.shorten(session, at + FAR, at + GOOD_FOR)
    due = await store.hold_due(session, at - GOOD_FOR, PORTION)
    await store.return_shares(session, [(one, one.outstanding) for one in due], at)
    await store.drop_shares(session, due)
    return len(due)
