"""Advice returned by evaluations is counted for reports."""

from __future__ import annotations

from datetime import timedelta

from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import Pace
from promenade.workflows.context import Context
from promenade.workflows.reports.advice import count_shown


@clock_job("reports.advice", every=timedelta(seconds=15))
async def shown(context: Context, cursor: str | None) -> JobResult:
    """Process the evaluations since the last run."""
    pace = Pace()
    is_whole = await pace.while_more(lambda: count_shown(context))
    return JobResult(pace.done, more=not is_whole)
