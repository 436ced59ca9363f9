"""Since when logs are kept: what readers of logs ask, so that they never take a part for the whole.

Logs before the mark were dropped or are about to be; a few that came late may still be there.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

__all__ = ["AUDIT", "MARKS", "REDEMPTIONS", "SALES", "keep_check", "kept_since"]

SALES = "sales"
"""The kind of calculation logs with their lines and promotions."""
AUDIT = "audit"
"""The kind of entries of the audit trail."""
REDEMPTIONS = "redemptions"
"""The kind of events in the life of coupon codes."""
MARKS = table("retention_marks")


async def kept_since(session: Session, kind: str = SALES) -> datetime | None:
    """Return the time before which the tenant's logs of a kind may be gone, a midnight of UTC; None: all are there."""
    rows = await session.execute(select(MARKS.c.purged_before).where(MARKS.c.kind == kind))
    return rows[0].purged_before if rows else None


async def keep_check(session: Session, *, archived_before: datetime | None, at: datetime) -> None:
    """Note up to when an archive has the logs of sales as they were at ``at``; None: it lacks the first of them."""
    values: dict[str, Any] = {"archived_before": archived_before, "archived_at": at}
    statement = upsert(session.dialect, MARKS).on_conflict_do_update(index_elements=["tenant_id", "kind"], set_=values)
    await session.rowcount(statement, {"kind": SALES, **values})
