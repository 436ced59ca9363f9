"""The validity of a budget moves it: it starts, it expires (data model, State machines).

One that starts with nothing left is EXHAUSTED at once, as authoring has it. Confirms charge budgets meanwhile: each
side holds a budget's row for what it writes and takes budgets in the order of their IDs; no move writes amounts.
"""

from __future__ import annotations

from datetime import timedelta

from promenade.store.clock_rows import Passage
from promenade.workflows.clockwork.jobs import Ran, clock_job
from promenade.workflows.clockwork.passages import move_all
from promenade.workflows.context import Context

__all__ = ["PASSAGES", "move"]

# In this order: one that is over already has no use for a start.
PASSAGES = (
    Passage("Budgets", "expire", ("SCHEDULED", "ACTIVE", "EXHAUSTED"), "valid_to"),
    Passage("Budgets", "start", ("SCHEDULED",), "valid_from", open_start=True),
)


@clock_job("budgets.move", every=timedelta(seconds=5))
async def move(context: Context, cursor: str | None) -> Ran:
    """SCHEDULED budgets become ACTIVE at validFrom; at validTo all that run become EXPIRED."""
    return await move_all(context, PASSAGES, cursor)
