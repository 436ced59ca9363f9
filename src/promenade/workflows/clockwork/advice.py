"""Advice returned by evaluations is counted for reports; open advice is purged when it is too old."""

from __future__ import annotations

from datetime import timedelta

from promenade.store.reports.advice import purge_open
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import Pace
from promenade.workflows.context import Context
from promenade.workflows.reports.advice import OPEN_FOR, count_shown

PURGED = 200  # rows deleted in one unit of work


@clock_job("reports.advice", every=timedelta(seconds=15))
async def shown(context: Context, cursor: str | None) -> JobResult:
    """Process the evaluations since the last run."""
    pace = Pace()
    is_whole = await pace.while_more(lambda: count_shown(context))
    return JobResult(pace.done, more=not is_whole)


@clock_job("reports.forget_advice", every=timedelta(hours=1))
async def purge(context: Context, cursor: str | None) -> JobResult:
    """Purge open advice that is too old for a later visit of the customer to be related to it."""
    before = context.clock() - OPEN_FOR

    async def unit() -> tuple[int, bool]:
        gone = await context.database.write(
            lambda session: purge_open(session, before, PURGED), system=True, durable=False
        )
        return gone, gone == PURGED

    pace = Pace()
    is_whole = await pace.while_more(unit)
    return JobResult(pace.done, more=not is_whole)
