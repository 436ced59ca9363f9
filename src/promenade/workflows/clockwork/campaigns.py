"""The window of a campaign moves it: it starts, it ends (data model, State machines).

A campaign without a beginning is open already, so it starts as soon as it is scheduled; one without an end goes on
until somebody cancels it. A lock does not hold the window up, for it is against authors.
"""

from __future__ import annotations

from datetime import timedelta

from promenade.store.clock_rows import Passage
from promenade.workflows.clockwork.jobs import Ran, clock_job
from promenade.workflows.clockwork.passages import move_all
from promenade.workflows.context import Context

__all__ = ["PASSAGES", "move"]

# In this order: a campaign whose window was missed goes through both.
PASSAGES = (
    Passage("Campaigns", "start", ("SCHEDULED",), "start_at", open_start=True),
    Passage("Campaigns", "end", ("ACTIVE",), "end_at"),
)


@clock_job("campaigns.move", every=timedelta(seconds=5))
async def move(context: Context, cursor: str | None) -> Ran:
    """SCHEDULED campaigns become ACTIVE at startAt (CAMPAIGN_STARTED), those COMPLETED at endAt (CAMPAIGN_ENDED)."""
    return await move_all(context, PASSAGES, cursor)
