"""Advice that evaluations returned is counted for reports, and what customers left with is forgotten in time."""

from __future__ import annotations

from datetime import timedelta

from promenade.store.advice_conversions import purge_open
from promenade.workflows.clockwork.jobs import Ran, clock_job
from promenade.workflows.clockwork.paced import Pace
from promenade.workflows.context import Context
from promenade.workflows.reporting.advice import OPEN_FOR, count_shown

__all__ = ["purge", "shown"]

PURGED = 200  # rows that one unit of work deletes


@clock_job("reports.advice", every=timedelta(seconds=15))
async def shown(context: Context, cursor: str | None) -> Ran:
    """Look through the evaluations that have come since."""
    pace = Pace()
    is_whole = await pace.while_more(lambda: count_shown(context))
    return Ran(pace.done, more=not is_whole)


@clock_job("reports.forget_advice", every=timedelta(hours=1))
async def purge(context: Context, cursor: str | None) -> Ran:
    """Forget what customers left with so long ago that their coming back has nothing to do with it."""
    before = context.clock() - OPEN_FOR

    async def unit() -> tuple[int, bool]:
        gone = await context.database.write(
            lambda session: purge_open(session, before, PURGED), system=True, durable=False
        )
        return gone, gone == PURGED

    pace = Pace()
    is_whole = await pace.while_more(unit)
    return Ran(pace.done, more=not is_whole)
