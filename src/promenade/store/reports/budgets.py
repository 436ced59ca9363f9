"""What sales consume from budgets, the budgets' burn rates, and the cost of a period by budget and stakeholder."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    and_,
    case,
    delete,
    exists,
    func,
    literal_column,
    or_,
    select,
    tuple_,
)

from odata_server.sql.connection import Kept
from promenade.store.driver.recurring import parameter, read_among
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.reports.periods import Stretch
from promenade.store.reports.queries import QUERIES
from promenade.store.reports.queue import SOLD
from promenade.store.reports.sums import set_columns, sums_between

_CONSUMPTIONS = table("BudgetConsumptions")
_TOTALS = table("budget_totals")
_DAYS = table("budget_utc_days")
_PROMOTION_DAYS = table("budget_promotion_utc_days")
_LOGS = table("CalculationLogs")
_LINKS = table("BudgetPromotions")
_SHARES = table("BudgetStakeholders")
_PAID = table("RechargeContributions")


class Charged(NamedTuple):
    """What a sale consumed from a budget for one promotion (negative: gave back), in the budget's currency.

    Sums are counted from these: a sale that charged a budget for several promotions counts as one ``sale``.
    """

    budget_id: str
    promotion_id: str
    origin: str
    transaction_id: str
    consumed: Decimal
    uncovered: Decimal
    at: datetime
    changed: bool = True

    def negated(self) -> Charged:
        """Return what a cancellation gave back, as if it had been consumed."""
        return self._replace(consumed=-self.consumed, uncovered=-self.uncovered)

    @property
    def day(self) -> date:
        """The UTC day."""
        return self.at.date()

    @property
    def sale(self) -> tuple[str, str]:
        """The key of the sale."""
        return self.origin, self.transaction_id


async def charged_by(
    session: Session, origin: str, transaction_ids: Sequence[str], *, is_cancellation: bool = False
) -> list[Charged]:
    """Return what the sales of one origin consumed, or what their cancellation did, unordered."""
    of = (_CONSUMPTIONS.c.transaction_id,)
    rows = await read_among(session, of, transaction_ids, _charges, given_origin=origin)
    return [Charged(*tuple(row)[:-1]) for row in rows if row.is_cancellation == is_cancellation]


async def drop_empty(session: Session, budget_ids: Collection[str]) -> None:
    """Delete the sums of these budgets from which cancellations have taken all sales."""
    for rows in (_TOTALS, _DAYS, _PROMOTION_DAYS):
        is_empty = and_(rows.c.transactions == 0, rows.c.consumed == 0, rows.c.uncovered == 0)
        await session.rowcount(delete(rows).where(rows.c.budget_id.in_(sorted(budget_ids)), is_empty))


def _charges(condition: ColumnElement[bool]) -> Select[Any]:
    names = ("budget_id", "promotion_id", "origin", "transaction_id", "amount", "uncovered_amount", "consumed_at",
             "is_cancellation")  # fmt: skip
    of_origin = _CONSUMPTIONS.c.origin == parameter("given_origin", _CONSUMPTIONS.c.origin.type)
    return select(*(_CONSUMPTIONS.c[name] for name in names)).where(of_origin, condition)


# ---- how fast budgets burn ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Burning:
    """A budget whose burn rate is to be computed; ``transactions`` is their number when it was read."""

    budget_id: str
    transactions: int
    first_at: datetime


@dataclass(frozen=True, slots=True)
class Burn:
    """The average daily consumption of a budget, computed from the state in ``seen``."""

    seen: Burning
    per_day: Decimal


async def to_reckon(session: Session, after: str, *, day: datetime, at: datetime, limit: int) -> list[Burning]:
    """Return budgets after ``after``, by ID, that have new sales or whose rate was not computed since ``day`` began.

    A rate from the future was computed by a clock that has been set back since. Budgets with a rate of zero and no new
    sales are skipped.
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
    """Return what budgets have consumed since the beginning of a UTC day; those without consumption are left out."""
    rows = await read_among(session, (_DAYS.c.budget_id,), budget_ids, _recent, first_day=first_day)
    return {row.budget_id: row.consumed for row in rows}


def _recent(condition: ColumnElement[bool]) -> Select[Any]:
    since = _DAYS.c.day >= parameter("first_day", _DAYS.c.day.type)
    summed = func.sum(_DAYS.c.consumed).label("consumed")
    return select(_DAYS.c.budget_id, summed).where(condition, since).group_by(_DAYS.c.budget_id)


async def keep_burns(session: Session, burns: Sequence[Burn], at: datetime) -> None:
    """Store rates, except for budgets to which sales were added in the meantime: those are computed again."""
    rows = [
        {
            "budget_id": one.seen.budget_id,
            "transactions": one.seen.transactions,
            "daily_burn": one.per_day,
            "reckoned_at": at,
            "changed": False,
        }
        for one in burns
    ]
    await set_columns(session, "budget_totals", rows, by=("budget_id", "transactions"))


# ---- periods --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Cost:
    """What was consumed from a budget in a period, in its currency."""

    consumed: Decimal = Decimal(0)
    transactions: int = 0

    def plus(self, other: Cost) -> Cost:
        """Return the sum of both."""
        return Cost(self.consumed + other.consumed, self.transactions + other.transactions)


async def budgets_after(
    session: Session, after: str, limit: int, *, promotion_id: str | None, stakeholder_id: str | None
) -> Sequence[Row[Any]]:
    """Return rows of BudgetUtilization after ``after``, by the budget's ID.

    With a promotion: those that it is linked to or was charged to; with a stakeholder: those in which it has a share.
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
    """Sum up the consumption on the whole days of a period; ``promotion_id``: for that promotion alone."""
    if not budget_ids or not stretch.has_days:
        return {}
    name = "budget_utc_days" if promotion_id is None else "budget_promotion_utc_days"
    where: list[ColumnElement[bool]] = [table(name).c.budget_id.in_(budget_ids)]
    if promotion_id is not None:
        where.append(table(name).c.promotion_id == promotion_id)
    rows = await sums_between(session, name, ("budget_id",), stretch.first, stretch.end, *where)
    return {row.budget_id: Cost(row.consumed, int(row.transactions)) for row in rows}


async def sum_edges(session: Session, stretch: Stretch, promotion_id: str | None) -> dict[str, Cost]:
    """Sum up the consumption by the sales outside the whole days of a period, by budget."""
    found: dict[str, Cost] = {}
    for since, until in stretch.edges:
        for row in await session.execute(_edge(since, until, promotion_id)):
            found[row.charged] = found.get(row.charged, Cost()).plus(Cost(row.taken, row.sales))
    return found


def _edge(since: datetime, until: datetime, promotion_id: str | None) -> Select[Any]:
    # A cancelled sale is no sale any more, but what its returns gave back is in its consumptions.
    named = select(_LOGS.c.origin, _LOGS.c.transaction_id)
    confirmed = named.where(_LOGS.c.confirmed_at >= since, _LOGS.c.confirmed_at < until, _LOGS.c.status.in_(SOLD))
    cancelled = confirmed.where(_LOGS.c.status == "CANCELLED")
    # SQLite without statistics would scan all consumptions, to get the order of a join or of the budgets.
    sale, budget = (_CONSUMPTIONS.c.origin, _CONSUMPTIONS.c.transaction_id), _CONSUMPTIONS.c.budget_id + ""
    statement = (
        select(
            budget.label("charged"),
            func.sum(_CONSUMPTIONS.c.amount).label("taken"),
            func.count(case((tuple_(*sale).not_in(cancelled), sale[0] + " " + sale[1])).distinct()).label("sales"),
        )
        .where(tuple_(*sale).in_(confirmed))
        .group_by(literal_column("charged"))
    )
    return statement if promotion_id is None else statement.where(_CONSUMPTIONS.c.promotion_id == promotion_id)


async def shares_of(session: Session, budget_ids: Sequence[str], stakeholder_id: str | None) -> Sequence[Row[Any]]:
    """Read the columns of StakeholderCostBreakdown other than amounts, ordered by the IDs of budget and stakeholder."""
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
    """Return what stakeholders have paid into budgets in a period, by budget and stakeholder."""
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
