"""Delete abandoned edit drafts, in small units like all purges."""

from __future__ import annotations

from datetime import timedelta

from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import Pace
from promenade.workflows.context import Context
from promenade.workflows.drafts import PURGED_MAX, purge_left


@clock_job("drafts.purge", every=timedelta(hours=1))
async def purge(context: Context, cursor: str | None) -> JobResult:
    """Delete the abandoned drafts of all tenants, oldest first."""
    at = context.clock()

    async def oldest() -> tuple[int, bool]:
        gone = await context.database.write(lambda session: purge_left(session, at), system=True)
        return gone, gone >= PURGED_MAX

    pace = Pace()
    is_whole = await pace.while_more(oldest)
    return JobResult(pace.done, more=not is_whole)
