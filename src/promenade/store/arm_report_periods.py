"""What an export of trials reads besides sums: the logs at the edges of its period, and whom it is narrowed to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, or_, select

from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["names_of", "next_logs", "promotions_of"]

_LOGS = table("CalculationLogs")
_PROMOTIONS = table("Promotions")
_BUDGETS = table("BudgetPromotions")
_SHARES = table("BudgetStakeholders")


async def next_logs(
    session: Session, since: datetime, until: datetime, after: tuple[datetime, str] | None, limit: int
) -> list[tuple[datetime, str]]:
    """When sales were confirmed and the IDs of their logs: the next after ``after``, of a period without its end."""
    statement = select(_LOGS.c.confirmed_at, _LOGS.c.id).where(
        _LOGS.c.confirmed_at >= since, _LOGS.c.confirmed_at < until, _LOGS.c.status == "CALCULATED"
    )
    if after is not None:
        moment, log_id = after
        later = or_(_LOGS.c.confirmed_at > moment, and_(_LOGS.c.confirmed_at == moment, _LOGS.c.id > log_id))
        statement = statement.where(_LOGS.c.confirmed_at >= moment, later)
    rows = await session.execute(statement.order_by(_LOGS.c.confirmed_at, _LOGS.c.id).limit(limit))
    return [(row.confirmed_at, row.id) for row in rows]


async def promotions_of(session: Session, stakeholder_id: str) -> set[str]:
    """The promotions that a stakeholder pays for: those of the budgets that it has a share in."""
    shares: Any = select(_SHARES.c.budget_id).where(_SHARES.c.stakeholder_id == stakeholder_id)
    rows = await session.execute(select(_BUDGETS.c.promotion_id).where(_BUDGETS.c.budget_id.in_(shares)))
    return {row.promotion_id for row in rows}


async def names_of(session: Session, promotion_ids: Sequence[str]) -> dict[str, str]:
    """What promotions are called that are still there."""
    statement = select(_PROMOTIONS.c.id, _PROMOTIONS.c.name).where(_PROMOTIONS.c.id.in_(promotion_ids))
    return {row.id: row.name for row in await session.execute(statement)}
