"""Budget consumption by sales, burn rates, and the costs of a period for budgets and their stakeholders.

An export has the rows of the entities, ordered by budget ID. Consumption, number of sales and contributions are those
of the period; totals, shares, links and the remaining amounts are the current ones. With a promotion, only its budgets
are exported, with its own consumption.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from promenade.engine.money import minor_digits
from promenade.store.driver.unit import Session
from promenade.store.reports import budgets as store
from promenade.store.reports.budgets import Burn, Burning, Cost
from promenade.store.reports.periods import Stretch
from promenade.store.reports.sums import Tally
from promenade.workflows.context import Context
from promenade.workflows.reports.exports import Period, Row, export, require_kept
from promenade.workflows.reports.folds import Write, fold, refresher
from promenade.workflows.reports.sales import LoggedSale

BURN_DAYS = 28
"""Over how many UTC days a budget's burn is averaged: whole weeks, as one day of a week is not like another."""

PORTION = 200  # budgets per unit of work
READ_AT_ONCE = 500  # budgets, in an export
_DAY = timedelta(days=1)
_OVER = frozenset({"EXHAUSTED", "EXPIRED"})
_SUMS = ("budget_totals", "budget_utc_days", "budget_promotion_utc_days")

_Budgets = tuple[Sequence[Any], Mapping[str, Cost]]


@fold("budgets", tables=_SUMS)
async def add(session: Session, sales: Sequence[LoggedSale], at: datetime, sign: int = 1) -> Write:
    """Add the budget consumption of sales, as recorded in BudgetConsumptions, or what their cancellation gave back."""
    by_origin: dict[str, list[str]] = {}
    for sale in sales:
        if _may_charge(sale):
            by_origin.setdefault(sale.origin, []).append(sale.transaction_id)
    tally, budgets = Tally(*_SUMS), set[str]()
    for origin, transaction_ids in sorted(by_origin.items()):
        for charged in await store.charged_by(session, origin, transaction_ids, is_cancellation=sign < 0):
            tally.add(charged if sign > 0 else charged.negated())
            budgets.add(charged.budget_id)

    async def write(session: Session) -> int:
        written = await tally.write(session, sign)
        if sign < 0:
            await store.drop_empty(session, budgets)
        return written

    return write


def _may_charge(sale: LoggedSale) -> bool:
    """Whether a sale may have changed budgets: through a discount or a return."""
    return any(one.total_discount for one in sale.promotions) or any(not line.is_sold for line in sale.lines)


@refresher("budget rates")
async def reckon(context: Context, tenant_id: str, at: datetime) -> int:
    """Recompute the burn rates of budgets charged since, and once a day those of all burning budgets."""
    done, after = 0, ""

    async def portion(session: Session) -> list[Burning]:
        today = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        since = today - (BURN_DAYS - 1) * _DAY
        found = await store.to_reckon(session, after, day=today, at=at, limit=PORTION)
        consumed = await store.consumed_since(session, [one.budget_id for one in found], since.date())
        burns = [
            Burn(one, burn_per_day(consumed.get(one.budget_id, Decimal(0)), max(since, one.first_at), at))
            for one in found
        ]
        await store.keep_burns(session, burns, at)
        return found

    while found := await context.database.write(portion, tenant=tenant_id, durable=False):
        done += len(found)
        after = found[-1].budget_id
    return done


# ---- exports --------------------------------------------------------------------------------------------------------


async def _budgets(context: Context, period: Period) -> AsyncIterator[_Budgets]:
    """Yield the budgets of a period in portions, each with its consumption in the period."""
    stretch, after = Stretch.of(period.since, period.until), ""

    async def look(session: Session) -> Mapping[str, Cost]:
        await require_kept(session, period)
        return await store.sum_edges(session, stretch, period.promotion_id)

    edges = await context.database.read(look, tenant=period.tenant_id)

    async def work(session: Session) -> _Budgets:
        found = await store.budgets_after(
            session, after, READ_AT_ONCE, promotion_id=period.promotion_id, stakeholder_id=period.stakeholder_id
        )
        ids = [row.budget_id for row in found]
        days = await store.add_days(session, ids, stretch, period.promotion_id)
        return found, {one: days.get(one, Cost()).plus(edges.get(one, Cost())) for one in ids}

    while True:
        rows, costs = await context.database.read(work, tenant=period.tenant_id)
        if not rows:
            return
        yield rows, costs
        after = rows[-1].budget_id


@export("budgetUtilization")
async def budget_utilization(context: Context, period: Period) -> AsyncIterator[Row]:
    """Yield BudgetUtilization of a period; its burn rate is that of the elapsed part of the period."""
    async for rows, costs in _budgets(context, period):
        at = context.clock()
        for row in rows:
            cost = costs[row.budget_id]
            began = period.since if row.first_consumed_at is None else max(period.since, row.first_consumed_at)
            per_day = burn_per_day(cost.consumed, began, min(period.until, at))
            yield {
                **row._mapping,
                "consumed_amount": cost.consumed,
                "utilization_pct": percentage(cost.consumed, row.total_amount) or Decimal(0),
                "daily_burn_rate": per_day,
                "projected_exhaustion": (
                    None if row.status in _OVER else exhausted_at(row.remaining_amount, per_day, at)
                ),
                "transaction_count": cost.transactions,
            }


@export("stakeholderCost")
async def stakeholder_cost(context: Context, period: Period) -> AsyncIterator[Row]:
    """Yield StakeholderCostBreakdown of a period."""
    async for budgets, costs in _budgets(context, period):
        ids = [row.budget_id for row in budgets]

        async def work(session: Session, ids: Sequence[str] = ids) -> tuple[Sequence[Any], Mapping[Any, Decimal]]:
            rows = await store.shares_of(session, ids, period.stakeholder_id)
            return rows, await store.contributions(session, ids, period.since, period.until)

        rows, paid = await context.database.read(work, tenant=period.tenant_id)
        for row in rows:
            total = costs[row.budget_id].consumed
            cost = share(total, row.share_percentage, row.currency, row.shares_before)
            contributed = paid.get((row.budget_id, row.stakeholder_id), Decimal(0))
            yield {
                **row._mapping,
                "total_budget_cost": total,
                "stakeholder_cost": cost,
                "contributions_total": contributed,
                "net_balance": contributed - cost,
            }


# ---- rates, percentages and parts of amounts, exactly ---------------------------------------------------------------

_MICROSECOND = timedelta(microseconds=1)
_SECONDS = 86400
_DAYS_MAX = Decimal(1_000_000)
_PERCENT_MAX = Decimal("999.99")
_HUNDREDTH = Decimal("0.01")
_THOUSANDTH = Decimal("0.001")
_DECIMALS = 3  # decimal places of amounts


def burn_per_day(consumed: Decimal, since: datetime, at: datetime) -> Decimal:
    """Consumption per day between two moments, at least one day apart; to three decimals."""
    days = max(Decimal((at - since) // _MICROSECOND) / (_DAY // _MICROSECOND), Decimal(1))
    return (consumed / days).quantize(_THOUSANDTH, ROUND_HALF_UP)


def exhausted_at(remaining: Decimal, per_day: Decimal, at: datetime) -> datetime | None:
    """When an amount is used up at this rate, some thousand years ahead at most; None: never, or already."""
    if per_day <= 0 or remaining <= 0:
        return None
    return at + timedelta(seconds=int(min(remaining / per_day, _DAYS_MAX) * _SECONDS))


def percentage(part: Decimal, whole: Decimal) -> Decimal | None:
    """A part's percentage, rounded half up to two decimals, at most 999.99; None if the whole is not positive."""
    if whole <= 0:
        return None
    return min((part * 100 / whole).quantize(_HUNDREDTH, ROUND_HALF_UP), _PERCENT_MAX)


def share(amount: Decimal, percent: Decimal, currency: str, before: Decimal = Decimal(0)) -> Decimal:
    """Return a percentage of an amount in its minor unit, when others have received ``before`` percent.

    The cumulative shares with and without this one are each rounded half up (away from zero), so that parts add up.
    """
    unit = Decimal(1).scaleb(-min(minor_digits(currency), _DECIMALS))
    upto, others = ((amount * part / 100).quantize(unit, ROUND_HALF_UP) for part in (before + percent, before))
    return upto - others
