"""Promotions whose validity is over become EXPIRED (data model, State machines).

No price waits for that: evaluation judges validity itself. It is for people and for subscribers.
"""

from __future__ import annotations

from datetime import timedelta

from promenade.store.clock_rows import Passage
from promenade.workflows.clockwork.jobs import Ran, clock_job
from promenade.workflows.clockwork.passages import move_all
from promenade.workflows.context import Context

__all__ = ["PASSAGES", "expire"]

PASSAGES = (Passage("Promotions", "expire", ("ACTIVE", "PILOT"), "valid_to"),)


@clock_job("promotions.expire", every=timedelta(seconds=5))
async def expire(context: Context, cursor: str | None) -> Ran:
    """ACTIVE and PILOT promotions expire at their validTo, in a locked campaign too: PROMOTION_EXPIRED."""
    return await move_all(context, PASSAGES, cursor)
