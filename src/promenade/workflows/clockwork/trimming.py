"""Delete entries of the audit trail that a tenant does not want to keep, by whole days of UTC, the oldest first.

First a mark is raised to the end of the next day that has entries, in the unit of work that deletes the first of them;
readers take what is before it for gone. What says when a promotion ran stays until the promotion is deleted and the
entry about that is due, too: reports count sales of pilots and experiments by it. So does an entry that is written for
a day that is over. Stores keep their entries.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial

from promenade.store.clockwork import trimming as store
from promenade.store.clockwork.dropping import Mark, read_days, read_mark, read_wishing, write_mark
from promenade.store.driver.unit import Session
from promenade.store.sales.kept import AUDIT
from promenade.workflows.clockwork.dropping import begin_of_day
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import in_portions
from promenade.workflows.context import Context

EVERY = timedelta(hours=1)
UNIT_ROWS = 40  # as `workflows.clockwork.purges` has it
_DAY = timedelta(days=1)
_DAYS = "audit_log_days"


@clock_job("purge.audit", every=EVERY)
async def entries(context: Context, cursor: str | None) -> JobResult:
    """Delete entries of the audit trail, of the tenants that have set how long they stay."""
    if context.is_store:
        return JobResult(0)
    wishes = await context.database.read(partial(read_wishing, setting=_DAYS), system=True)
    return await in_portions(context, cursor, wishes, partial(_portion, context))


async def _portion(context: Context, tenant_id: str) -> tuple[int, bool]:
    """Delete some entries of the day before the mark; if there are none, raise the mark by a day that has some.

    Return how many went, and whether there is more.
    """
    at = context.clock()

    async def plan(session: Session) -> tuple[Mark, Mark | None, datetime]:
        mark, days = await read_mark(session, AUDIT), await read_days(session, _DAYS)
        if days is None:
            return mark, None, at
        limit = begin_of_day(at - timedelta(days=days))
        span = _span(mark, limit)
        if span is not None and await store.is_due(session, *span):
            return mark, mark, limit
        return mark, await _raised(session, mark, limit), limit

    seen, wanted, _ = await context.database.read(plan, tenant=tenant_id)
    if wanted is None:
        return 0, False

    async def work(session: Session) -> tuple[int, bool]:
        mark, planned, limit = await plan(session)
        if planned is None or (mark, planned) != (seen, wanted):
            return 0, False
        if planned != mark:
            await write_mark(session, planned, AUDIT)
        span = _span(planned, limit)
        gone = 0 if span is None else await store.drop_entries(session, *span, UNIT_ROWS)
        return gone, gone > 0 or planned != mark

    return await context.database.write(work, tenant=tenant_id, durable=False)


def _span(mark: Mark, limit: datetime) -> tuple[datetime, datetime] | None:
    """Return from when and until when entries may go; None: there is no such time."""
    if mark.purged_before is None or mark.spared_before is None:
        return None
    until = min(mark.purged_before, limit)
    return (mark.spared_before, until) if mark.spared_before < until else None


async def _raised(session: Session, mark: Mark, limit: datetime) -> Mark | None:
    """Return the mark at the end of the next day with entries; None: that day is to be kept."""
    first = await store.first_entry(session, mark.purged_before)
    if first is None or begin_of_day(first) + _DAY > limit:
        return None
    begin = begin_of_day(first)
    return replace(mark, purged_before=begin + _DAY, spared_before=begin)
