"""Leases that a process left behind when it died. Needs a system session."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import update

from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["end_all"]


async def end_all(session: Session, *, at: datetime) -> int:
    """Make due what anybody holds: jobs, deliveries, forecasts, imports, the clock's jobs; how many there were.

    For a process that knows that it is alone. Whoever held something nevertheless can write nothing any more: each
    result is written only under the token of its claim.
    """
    jobs, queue, forecasts, imports, clock = (
        table(name) for name in ("side_effect_jobs", "webhook_queue", "forecast_jobs", "import_work", "clockwork")
    )
    ended = await session.rowcount(
        update(jobs).where(jobs.c.status == "RUNNING").values(lease_owner=None, lease_until=at)
    )
    ended += await session.rowcount(
        update(queue).where(queue.c.lease_owner.is_not(None)).values(lease_owner=None, lease_until=None, due_at=at)
    )
    for held in (forecasts, imports, clock):
        mine = update(held).where(held.c.lease_owner.is_not(None))
        ended += await session.rowcount(mine.values(lease_owner=None, lease_until=None))
    return ended
