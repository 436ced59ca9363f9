"""What waits for a worker, over all tenants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_JOBS = table("side_effect_jobs")
_EVENTS = table("outbox_events")


@dataclass(frozen=True, slots=True)
class Backlog:
    """How many wait, and since when the one that has waited longest could have been done; None: none waits.

    ``sales_failed``: how many have failed, by tenant, the most first.
    """

    sales: int
    sales_since: datetime | None
    sales_failed: Mapping[str, int]
    events: int
    events_since: datetime | None


async def read_backlog(session: Session) -> Backlog:
    """Count side effects and events; needs a system session. Both are found by index."""
    pending = select(func.count(), func.min(_JOBS.c.due_at)).where(_JOBS.c.status == "PENDING")
    sales, sales_since = tuple((await session.execute(pending))[0])
    failed = select(_JOBS.c.tenant_id, func.count()).where(_JOBS.c.status == "FAILED").group_by(_JOBS.c.tenant_id)
    by_tenant = sorted(map(tuple, await session.execute(failed)), key=lambda one: (-one[1], one[0]))
    waiting = select(func.count(), func.min(_EVENTS.c.created_at)).where(_EVENTS.c.dispatched_at.is_(None))
    events, events_since = tuple((await session.execute(waiting))[0])
    return Backlog(sales, sales_since, dict(by_tenant), events, events_since)
