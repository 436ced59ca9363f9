"""Drafts that nobody touches go after a month."""

from __future__ import annotations

from datetime import datetime, timedelta

from promenade.store.drafts import PURGED_MAX, purge_drafts
from promenade.store.unit import Session

__all__ = ["KEPT", "PURGED_MAX", "purge_left"]

KEPT = timedelta(days=30)


async def purge_left(session: Session, at: datetime) -> int:
    """Delete the drafts that were left alone for so long, the oldest `PURGED_MAX` of them; how many there were.

    Those of the session's tenant, of a system session those of all.
    """
    return await purge_drafts(session, at - KEPT)
