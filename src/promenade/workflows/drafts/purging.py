"""Drafts that nobody touches go after a month."""

from __future__ import annotations

from datetime import datetime, timedelta

from promenade.store.drafts import PURGED_MAX, purge_drafts
from promenade.store.unit import Session
from promenade.workflows.context import Context

__all__ = ["KEPT", "purge", "purge_left"]

KEPT = timedelta(days=30)
_ROUNDS_MAX = 4


async def purge_left(session: Session, at: datetime) -> int:
    """Delete the drafts that were left alone for so long, the oldest first and not too many at once; how many."""
    return await purge_drafts(session, at - KEPT)


async def purge(context: Context) -> int:
    """Delete the left drafts of all tenants, in units that are short and not too many; how many there were."""
    at = context.clock()
    total = 0
    for _ in range(_ROUNDS_MAX):
        gone = await context.database.write(lambda session: purge_left(session, at), system=True)
        total += gone
        if gone < PURGED_MAX:
            break
    return total
