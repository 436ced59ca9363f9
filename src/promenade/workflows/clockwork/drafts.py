"""Edit drafts that nobody touches any more are deleted."""

from __future__ import annotations

from datetime import timedelta

from promenade.workflows import drafts
from promenade.workflows.clockwork.jobs import Ran, clock_job
from promenade.workflows.context import Context

__all__ = ["purge"]


@clock_job("drafts.purge", every=timedelta(hours=1))
async def purge(context: Context, cursor: str | None) -> Ran:
    """Delete some of the left drafts of all tenants, the oldest first."""
    gone = await drafts.purge(context)
    return Ran(gone, more=gone > 0)
