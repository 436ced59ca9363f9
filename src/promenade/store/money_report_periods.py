"""What a period has cost budgets and those who pay for them: whole UTC days as they were added up, the rest from sales.

A period begins and ends at any moment. What lies between the first and the last midnight in it is read from the sums
by day; the less than two days around it are read from the logs of their sales, by the time of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import Row, Select, exists, func, literal_column, or_, select, tuple_

from promenade.store.money_reports import QUERIES
from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["Cost", "Stretch", "add_days", "budgets_after", "contributions", "shares_of", "sum_edges"]

_CONSUMPTIONS = table("BudgetConsumptions")
_DAYS = table("budget_utc_days")
_PROMOTION_DAYS = table("budget_promotion_utc_days")
_LOGS = table("CalculationLogs")
_LINKS = table("BudgetPromotions")
_SHARES = table("BudgetStakeholders")
_PAID = table("RechargeContributions")
_DAY = timedelta(days=1)


@dataclass(slots=True)
class Cost:
    """What a period took from a budget, in its currency."""

    consumed: Decimal = Decimal(0)
    transactions: int = 0

    def plus(self, other: Cost) -> Cost:
        """Both together."""
        return Cost(self.consumed + other.consumed, self.transactions + other.transactions)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A period as it is read: whole UTC days ``first`` to before ``end``, and ``edges`` (from, to before) around."""

    first: date
    end: date
    edges: tuple[tuple[datetime, datetime], ...]

    @classmethod
    def of(cls, since: datetime, until: datetime) -> Stretch:
        """The parts of a period, whose ends are in UTC."""
        first, end = since.date(), until.date()
        if _midnight(first) < since:
            first += _DAY
        if first > end:  # within one day
            return cls(first, first, ((since, until),))
        around = ((since, _midnight(first)), (_midnight(end), until))
        return cls(first, end, tuple([(one, other) for one, other in around if one < other]))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


# ---- budgets --------------------------------------------------------------------------------------------------------


async def budgets_after(
    session: Session, after: str, limit: int, *, promotion_id: str | None, stakeholder_id: str | None
) -> Sequence[Row[Any]]:
    """Rows of BudgetUtilization after one, by the budget's ID.

    Of a promotion: those that it is, or was, charged to; of a stakeholder: those of which it bears a part.
    """
    rows = QUERIES["BudgetUtilization"]()
    statement = select(rows).where(rows.c.budget_id > after).order_by(rows.c.budget_id).limit(limit)
    if promotion_id is not None:
        linked = exists().where(_LINKS.c.budget_id == rows.c.budget_id, _LINKS.c.promotion_id == promotion_id)
        charged = exists().where(
            _PROMOTION_DAYS.c.promotion_id == promotion_id, _PROMOTION_DAYS.c.budget_id == rows.c.budget_id
        )
        statement = statement.where(or_(linked, charged))
    if stakeholder_id is not None:
        shares = exists().where(_SHARES.c.budget_id == rows.c.budget_id, _SHARES.c.stakeholder_id == stakeholder_id)
        statement = statement.where(shares)
    return await session.execute(statement)


async def add_days(
    session: Session, budget_ids: Sequence[str], stretch: Stretch, promotion_id: str | None
) -> dict[str, Cost]:
    """What the whole days of a period took from budgets; ``promotion_id``: for that promotion alone."""
    if not budget_ids or stretch.first >= stretch.end:
        return {}
    days = _DAYS if promotion_id is None else _PROMOTION_DAYS
    statement: Select[Any] = (
        select(days.c.budget_id, func.sum(days.c.consumed).label("taken"), func.sum(days.c.transactions).label("sales"))
        .where(days.c.budget_id.in_(budget_ids), days.c.day >= stretch.first, days.c.day < stretch.end)
        .group_by(days.c.budget_id)
    )
    if promotion_id is not None:
        statement = statement.where(days.c.promotion_id == promotion_id)
    return {row.budget_id: Cost(row.taken, int(row.sales)) for row in await session.execute(statement)}


async def sum_edges(session: Session, stretch: Stretch, promotion_id: str | None) -> dict[str, Cost]:
    """What the sales around the whole days of a period took, by budget."""
    found: dict[str, Cost] = {}
    for since, until in stretch.edges:
        for row in await session.execute(_edge(since, until, promotion_id)):
            found[row.charged] = found.get(row.charged, Cost()).plus(Cost(row.taken, row.sales))
    return found


def _edge(since: datetime, until: datetime, promotion_id: str | None) -> Select[Any]:
    sales = select(_LOGS.c.origin, _LOGS.c.transaction_id).where(
        _LOGS.c.confirmed_at >= since, _LOGS.c.confirmed_at < until, _LOGS.c.status == "CALCULATED"
    )
    # SQLite without statistics would go through all consumptions: for the order of a join, or that of their budgets.
    sale, budget = (_CONSUMPTIONS.c.origin, _CONSUMPTIONS.c.transaction_id), _CONSUMPTIONS.c.budget_id + ""
    statement = (
        select(
            budget.label("charged"),
            func.sum(_CONSUMPTIONS.c.amount).label("taken"),
            func.count((sale[0] + " " + sale[1]).distinct()).label("sales"),
        )
        .where(tuple_(*sale).in_(sales))
        .group_by(literal_column("charged"))
    )
    return statement if promotion_id is None else statement.where(_CONSUMPTIONS.c.promotion_id == promotion_id)


# ---- stakeholders ---------------------------------------------------------------------------------------------------


async def shares_of(session: Session, budget_ids: Sequence[str], stakeholder_id: str | None) -> Sequence[Row[Any]]:
    """What StakeholderCostBreakdown says of budgets beside amounts, by the IDs of budget and stakeholder."""
    rows = QUERIES["StakeholderCostBreakdown"]()
    told = ("stakeholder_id", "budget_id", "stakeholder_name", "stakeholder_type", "budget_name", "share_percentage",
            "shares_before")  # fmt: skip
    statement = (
        select(*(rows.c[name] for name in (*told, "linked_promotions", "currency")))
        .where(rows.c.budget_id.in_(budget_ids))
        .order_by(rows.c.budget_id, rows.c.stakeholder_id)
    )
    if stakeholder_id is not None:
        statement = statement.where(rows.c.stakeholder_id == stakeholder_id)
    return await session.execute(statement)


async def contributions(
    session: Session, budget_ids: Sequence[str], since: datetime, until: datetime
) -> dict[tuple[str, str], Decimal]:
    """What stakeholders have paid into budgets in a period, by budget and stakeholder."""
    statement = (
        select(_PAID.c.budget_id, _PAID.c.stakeholder_id, func.sum(_PAID.c.amount).label("paid"))
        .where(
            _PAID.c.budget_id.in_(budget_ids),
            _PAID.c.contributed_at >= since,
            _PAID.c.contributed_at < until,
            _PAID.c.stakeholder_id.is_not(None),
        )
        .group_by(_PAID.c.budget_id, _PAID.c.stakeholder_id)
    )
    return {(row.budget_id, row.stakeholder_id): row.paid for row in await session.execute(statement)}
