"""What sales took from budgets, added up by budget, by day and by promotion, and how fast budgets burn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, case, false, func, or_, select, true, update

from odata_server.sql.connection import Kept
from promenade.store.recurring import LISTED_MAX, among, parameter
from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = ["Burn", "Burning", "Charged", "Sum", "add_sums", "charged_by", "consumed_since", "keep_burns", "to_reckon"]

_CONSUMPTIONS = table("BudgetConsumptions")
_TOTALS = table("budget_totals")
_DAYS = table("budget_utc_days")
_PROMOTION_DAYS = table("budget_promotion_utc_days")


@dataclass(frozen=True, slots=True)
class Charged:
    """What a sale took from a budget for one promotion (below zero: gave back), in the budget's currency."""

    budget_id: str
    promotion_id: str
    origin: str
    transaction_id: str
    amount: Decimal
    uncovered: Decimal
    at: datetime

    @property
    def day(self) -> date:
        """The day of UTC."""
        return self.at.date()


@dataclass(slots=True)
class Sum:
    """What some sales took together; ``first_at`` and ``last_at`` are moments of sales."""

    consumed: Decimal
    uncovered: Decimal
    transactions: int
    first_at: datetime
    last_at: datetime


async def charged_by(session: Session, origin: str, transaction_ids: Sequence[str]) -> list[Charged]:
    """What the sales of one origin took, in no order."""
    found: list[Charged] = []
    for start in range(0, len(transaction_ids), LISTED_MAX):
        statement, params = among(
            (_CONSUMPTIONS.c.transaction_id,), transaction_ids[start : start + LISTED_MAX], _charges
        )
        rows = await session.execute(statement, {**params, "given_origin": origin})
        found += [Charged(*tuple(row)) for row in rows]
    return found


def _charges(condition: ColumnElement[bool]) -> Select[Any]:
    names = ("budget_id", "promotion_id", "origin", "transaction_id", "amount", "uncovered_amount", "consumed_at")
    of_origin = _CONSUMPTIONS.c.origin == parameter("given_origin", _CONSUMPTIONS.c.origin.type)
    return select(*(_CONSUMPTIONS.c[name] for name in names)).where(of_origin, condition)


# ---- adding up ------------------------------------------------------------------------------------------------------


async def add_sums(
    session: Session,
    by_budget: Mapping[str, Sum],
    by_day: Mapping[tuple[str, date], Sum],
    by_promotion: Mapping[tuple[str, str, date], Sum],
) -> int:
    """Add sums by budget, by budget and UTC day, and by promotion, budget and UTC day; how many rows that were."""
    rows = [
        {"given_budget_id": budget_id, **_given(one), "given_first_at": one.first_at, "given_last_at": one.last_at}
        for budget_id, one in sorted(by_budget.items())
    ]
    await session.execute_many(_adding_to_totals(session.dialect), rows)
    days = [
        {"given_budget_id": budget_id, "given_day": day, **_given(one)}
        for (budget_id, day), one in sorted(by_day.items())
    ]
    await session.execute_many(_adding_to(session.dialect, _DAYS, ("budget_id", "day")), days)
    promotions = [
        {"given_promotion_id": promotion_id, "given_budget_id": budget_id, "given_day": day, **_given(one)}
        for (promotion_id, budget_id, day), one in sorted(by_promotion.items())
    ]
    keys = ("promotion_id", "budget_id", "day")
    await session.execute_many(_adding_to(session.dialect, _PROMOTION_DAYS, keys), promotions)
    return len(rows) + len(days) + len(promotions)


_SUMMED = ("consumed", "uncovered", "transactions")


def _given(one: Sum) -> dict[str, Any]:
    return {
        "given_consumed": one.consumed,
        "given_uncovered": one.uncovered,
        "given_transactions": one.transactions,
    }


@cache
def _adding_to(dialect: str, sums: Table, keys: tuple[str, ...]) -> Kept:
    first = upsert(dialect, sums).values({name: _parameter(sums, name) for name in (*keys, *_SUMMED)})
    return Kept(
        first.on_conflict_do_update(
            index_elements=[sums.c.tenant_id, *(sums.c[name] for name in keys)],
            set_={name: sums.c[name] + first.excluded[name] for name in _SUMMED},
        )
    )


@cache
def _adding_to_totals(dialect: str) -> Kept:
    given = {name: _parameter(_TOTALS, name) for name in ("budget_id", *_SUMMED, "first_at", "last_at")}
    first = upsert(dialect, _TOTALS).values({**given, "changed": true()})
    new = first.excluded
    return Kept(
        first.on_conflict_do_update(
            index_elements=[_TOTALS.c.tenant_id, _TOTALS.c.budget_id],
            set_={
                **{name: _TOTALS.c[name] + new[name] for name in _SUMMED},
                "first_at": case((new.first_at < _TOTALS.c.first_at, new.first_at), else_=_TOTALS.c.first_at),
                "last_at": case((new.last_at > _TOTALS.c.last_at, new.last_at), else_=_TOTALS.c.last_at),
                "changed": true(),
            },
        )
    )


def _parameter(rows: Table, name: str) -> ColumnElement[Any]:
    return parameter(f"given_{name}", rows.c[name].type)


# ---- how fast budgets burn ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Burning:
    """A budget whose rate is to be reckoned; ``transactions`` are those that were seen."""

    budget_id: str
    transactions: int
    first_at: datetime


@dataclass(frozen=True, slots=True)
class Burn:
    """What a budget consumes per day on average, as reckoned of what ``seen`` shows."""

    seen: Burning
    per_day: Decimal


async def to_reckon(session: Session, after: str, *, day: datetime, at: datetime, limit: int) -> list[Burning]:
    """Budgets after one, by ID, that sales were added to since, or whose rate is not of the day that began at ``day``.

    A rate of the future was reckoned by a clock that has been set back since. What burns no more is left alone.
    """
    rows = await session.execute(
        _reckoning(), {"after": after, "day": day, "at": at, "few": limit, "nothing": Decimal(0)}
    )
    return [Burning(*tuple(row)) for row in rows]


@cache
def _reckoning() -> Kept:
    moment, amount = _TOTALS.c.reckoned_at.type, _TOTALS.c.daily_burn.type
    is_old = or_(_TOTALS.c.reckoned_at < parameter("day", moment), _TOTALS.c.reckoned_at > parameter("at", moment))
    burns = _TOTALS.c.daily_burn != parameter("nothing", amount)
    return Kept(
        select(_TOTALS.c.budget_id, _TOTALS.c.transactions, _TOTALS.c.first_at)
        .where(
            _TOTALS.c.budget_id > parameter("after", _TOTALS.c.budget_id.type),
            or_(_TOTALS.c.changed, and_(is_old, burns)),
        )
        .order_by(_TOTALS.c.budget_id)
        .limit(parameter("few", _TOTALS.c.transactions.type))
    )


async def consumed_since(session: Session, budget_ids: Sequence[str], first_day: date) -> dict[str, Decimal]:
    """What budgets have consumed since the beginning of a UTC day; of those that have consumed anything."""
    found: dict[str, Decimal] = {}
    for start in range(0, len(budget_ids), LISTED_MAX):
        statement, params = among((_DAYS.c.budget_id,), budget_ids[start : start + LISTED_MAX], _recent)
        rows = await session.execute(statement, {**params, "first_day": first_day})
        found.update((row.budget_id, row.consumed) for row in rows)
    return found


def _recent(condition: ColumnElement[bool]) -> Select[Any]:
    since = _DAYS.c.day >= parameter("first_day", _DAYS.c.day.type)
    summed = func.sum(_DAYS.c.consumed).label("consumed")
    return select(_DAYS.c.budget_id, summed).where(condition, since).group_by(_DAYS.c.budget_id)


async def keep_burns(session: Session, burns: Sequence[Burn], at: datetime) -> None:
    """Write rates down, except where sales were added since they were reckoned: those are reckoned again."""
    await session.execute_many(
        _keeping(),
        [
            {
                "key": one.seen.budget_id,
                "seen": one.seen.transactions,
                "per_day": one.per_day,
                "at": at,
            }
            for one in burns
        ],
    )


@cache
def _keeping() -> Kept:
    return Kept(
        update(_TOTALS)
        .where(
            _TOTALS.c.budget_id == parameter("key", _TOTALS.c.budget_id.type),
            _TOTALS.c.transactions == parameter("seen", _TOTALS.c.transactions.type),
        )
        .values(
            daily_burn=parameter("per_day", _TOTALS.c.daily_burn.type),
            reckoned_at=parameter("at", _TOTALS.c.reckoned_at.type),
            changed=false(),
        )
    )
