"""What a period has cost, as it is exported (specification, Reporting Service, CSV export).

The rows are those of the entities, in the order of their budgets' IDs. What was consumed, the sales counted and the
money paid in are those of the period; totals, shares, links and what is left are as they stand now. With a promotion
the rows are those of its budgets, and what is consumed is what it has taken from them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from promenade.store import money_report_periods as store
from promenade.store.money_report_periods import Cost, Stretch
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.reporting.exports import Period, Row, export
from promenade.workflows.reporting.money_figures import burn_per_day, exhausted_at, percentage, share

__all__ = ["budget_utilization", "stakeholder_cost"]

PORTION = 500  # budgets that are read together
_OVER = frozenset({"EXHAUSTED", "EXPIRED"})

_Budgets = tuple[Sequence[Any], Mapping[str, Cost]]


async def _budgets(context: Context, period: Period) -> AsyncIterator[_Budgets]:
    """The budgets of a period, in portions, each with what the period took from them."""
    stretch, after = Stretch.of(period.since, period.until), ""
    edges = await context.database.read(
        lambda session: store.sum_edges(session, stretch, period.promotion_id), tenant=period.tenant_id
    )

    async def work(session: Session) -> _Budgets:
        found = await store.budgets_after(
            session, after, PORTION, promotion_id=period.promotion_id, stakeholder_id=period.stakeholder_id
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


# ---- budgets --------------------------------------------------------------------------------------------------------


@export(
    "budgetUtilization",
    filename="budget-utilization.csv",
    columns=(
        *("budgetId", "budgetName", "status", "totalAmount", "consumedAmount", "remainingAmount", "currency"),
        *("utilizationPct", "dailyBurnRate", "projectedExhaustion", "transactionCount", "linkedPromotions"),
    ),
)
async def budget_utilization(context: Context, period: Period) -> AsyncIterator[Row]:
    """BudgetUtilization of a period, whose rate is that of the part of it that has passed."""
    async for rows, costs in _budgets(context, period):
        at = context.clock()
        for row in rows:
            cost = costs[row.budget_id]
            began = period.since if row.first_consumed_at is None else max(period.since, row.first_consumed_at)
            per_day = burn_per_day(cost.consumed, began, min(period.until, at))
            yield {
                "budgetId": row.budget_id,
                "budgetName": row.budget_name,
                "status": row.status,
                "totalAmount": row.total_amount,
                "consumedAmount": cost.consumed,
                "remainingAmount": row.remaining_amount,
                "currency": row.currency,
                "utilizationPct": percentage(cost.consumed, row.total_amount) or Decimal(0),
                "dailyBurnRate": per_day,
                "projectedExhaustion": None if row.status in _OVER else exhausted_at(row.remaining_amount, per_day, at),
                "transactionCount": cost.transactions,
                "linkedPromotions": row.linked_promotions,
            }


# ---- stakeholders ---------------------------------------------------------------------------------------------------


@export(
    "stakeholderCost",
    filename="stakeholder-cost.csv",
    columns=(
        *("stakeholderId", "budgetId", "stakeholderName", "stakeholderType", "budgetName", "sharePercentage"),
        *("totalBudgetCost", "stakeholderCost", "contributionsTotal", "netBalance", "linkedPromotions"),
    ),
)
async def stakeholder_cost(context: Context, period: Period) -> AsyncIterator[Row]:
    """StakeholderCostBreakdown of a period."""
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
                "stakeholderId": row.stakeholder_id,
                "budgetId": row.budget_id,
                "stakeholderName": row.stakeholder_name,
                "stakeholderType": row.stakeholder_type,
                "budgetName": row.budget_name,
                "sharePercentage": row.share_percentage,
                "totalBudgetCost": total,
                "stakeholderCost": cost,
                "contributionsTotal": contributed,
                "netBalance": contributed - cost,
                "linkedPromotions": row.linked_promotions,
            }
