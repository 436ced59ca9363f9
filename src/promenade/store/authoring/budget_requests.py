"""Requests for a budget in the database."""

from __future__ import annotations

from sqlalchemy import func, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_REQUESTS = table("BudgetRequests")


async def count_open(session: Session) -> int:
    """Return how many requests of the tenant wait for an answer."""
    rows = await session.execute(select(func.count()).where(_REQUESTS.c.status == "OPEN"))
    return int(rows[0][0])
