"""Reports that are read of other tables: what budgets cost whom, how they are used up, what became of coupons.

Each is one row per budget, per budget and stakeholder, or per coupon type: master data with what was added up beside
it (`store.money_report_tables`), and never goes through sales or codes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import sqlalchemy as sa

from odata_server.sql.model import Column
from promenade.store.money_shares import Projection, Share
from promenade.store.percentages import Percentage
from promenade.store.schema import table
from promenade.store.types import ExactDecimal

__all__ = ["COMPUTED", "QUERIES"]

_AMOUNT = ExactDecimal(18, 3)
_PERCENTAGE = ExactDecimal(9, 2)


# ---- budgets --------------------------------------------------------------------------------------------------------


@cache
def _budget_utilization() -> sa.FromClause:
    budgets, totals = table("Budgets"), table("budget_totals")
    remaining = _remaining(budgets)
    burn = sa.func.coalesce(totals.c.daily_burn, _zero(_AMOUNT))
    return (
        sa.select(
            budgets.c.id.label("budget_id"),
            budgets.c.name.label("budget_name"),
            budgets.c.status,
            sa.type_coerce(budgets.c.total_amount, _AMOUNT).label("total_amount"),
            budgets.c.consumed_amount,
            remaining.label("remaining_amount"),
            budgets.c.currency,
            Percentage(budgets.c.consumed_amount, budgets.c.total_amount).label("utilization_pct"),
            sa.type_coerce(burn, _AMOUNT).label("daily_burn_rate"),
            _projected(budgets, totals, remaining).label("projected_exhaustion"),
            sa.func.coalesce(totals.c.transactions, _zero(sa.BigInteger())).label("transaction_count"),
            _linked_promotions(budgets.c.tenant_id, budgets.c.id).label("linked_promotions"),
            sa.type_coerce(sa.func.coalesce(totals.c.uncovered, _zero(_AMOUNT)), _AMOUNT).label("uncovered_amount"),
            budgets.c.reserved_amount,
            budgets.c.valid_to,
            totals.c.first_at.label("first_consumed_at"),
            totals.c.last_at.label("last_consumed_at"),
            budgets.c.tenant_id,
        )
        .select_from(
            budgets.outerjoin(
                totals, (totals.c.tenant_id == budgets.c.tenant_id) & (totals.c.budget_id == budgets.c.id)
            )
        )
        .subquery("budget_utilization")
    )


def _remaining(budgets: sa.FromClause) -> sa.ColumnElement[Any]:
    return sa.type_coerce(budgets.c.total_amount - budgets.c.consumed_amount - budgets.c.reserved_amount, _AMOUNT)


def _projected(
    budgets: sa.FromClause, totals: sa.FromClause, remaining: sa.ColumnElement[Any]
) -> sa.ColumnElement[Any]:
    burns = totals.c.daily_burn > _zero(_AMOUNT)
    runs = budgets.c.status.not_in([sa.literal_column("'EXHAUSTED'"), sa.literal_column("'EXPIRED'")])
    projection = Projection(totals.c.reckoned_at, remaining, totals.c.daily_burn)
    return sa.case((burns & runs & (remaining > _zero(_AMOUNT)), projection), else_=sa.null())


def _linked_promotions(tenant: sa.ColumnElement[Any], budget: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """How many promotions a budget has; cast, because counts are longer numbers on one database."""
    links = table("BudgetPromotions")
    counting = sa.select(sa.func.count()).where(links.c.tenant_id == tenant, links.c.budget_id == budget)
    return sa.cast(counting.correlate_except(links).scalar_subquery(), sa.Integer())


# ---- stakeholders ---------------------------------------------------------------------------------------------------


@cache
def _stakeholder_cost_breakdown() -> sa.FromClause:
    pairs, budgets, stakeholders = table("BudgetStakeholders"), table("Budgets"), table("Stakeholders")
    of_budget = (budgets.c.tenant_id == pairs.c.tenant_id) & (budgets.c.id == pairs.c.budget_id)
    of_stakeholder = (stakeholders.c.tenant_id == pairs.c.tenant_id) & (stakeholders.c.id == pairs.c.stakeholder_id)
    # The part of all up to this one less the part of those before it: parts add up, whatever is rounded.
    before = _shares_before(pairs)
    upto = sa.type_coerce(before + pairs.c.share_percentage, _PERCENTAGE)
    consumed, currency = budgets.c.consumed_amount, budgets.c.currency
    cost = sa.type_coerce(Share(consumed, upto, currency) - Share(consumed, before, currency), _AMOUNT)
    paid = _contributions(pairs)
    return (
        sa.select(
            pairs.c.stakeholder_id,
            pairs.c.budget_id,
            stakeholders.c.name.label("stakeholder_name"),
            stakeholders.c.type.label("stakeholder_type"),
            budgets.c.name.label("budget_name"),
            pairs.c.share_percentage,
            before.label("shares_before"),
            budgets.c.consumed_amount.label("total_budget_cost"),
            cost.label("stakeholder_cost"),
            paid.label("contributions_total"),
            sa.type_coerce(paid - cost, _AMOUNT).label("net_balance"),
            _linked_promotions(pairs.c.tenant_id, pairs.c.budget_id).label("linked_promotions"),
            budgets.c.currency,
            pairs.c.tenant_id,
        )
        .select_from(pairs.join(budgets, of_budget).join(stakeholders, of_stakeholder))
        .subquery("stakeholder_cost_breakdown")
    )


def _shares_before(pairs: sa.FromClause) -> sa.ColumnElement[Any]:
    """What those bear of a budget who come before a stakeholder, by their IDs."""
    others = table("BudgetStakeholders").alias("others")
    total = sa.func.coalesce(sa.func.sum(others.c.share_percentage), _zero(_PERCENTAGE))
    before = sa.select(total).where(
        others.c.tenant_id == pairs.c.tenant_id,
        others.c.budget_id == pairs.c.budget_id,
        others.c.stakeholder_id < pairs.c.stakeholder_id,
    )
    return sa.type_coerce(before.correlate(pairs).scalar_subquery(), _PERCENTAGE)


def _contributions(pairs: sa.FromClause) -> sa.ColumnElement[Any]:
    paid = table("RechargeContributions").alias("paid")
    total = sa.func.coalesce(sa.func.sum(paid.c.amount), _zero(_AMOUNT))
    of_pair = sa.select(total).where(
        paid.c.tenant_id == pairs.c.tenant_id,
        paid.c.budget_id == pairs.c.budget_id,
        paid.c.stakeholder_id == pairs.c.stakeholder_id,
    )
    return sa.cast(of_pair.correlate(pairs).scalar_subquery(), _AMOUNT)


# ---- coupons --------------------------------------------------------------------------------------------------------


@cache
def _coupon_analytics() -> sa.FromClause:
    types, counts = table("CouponTypes"), table("coupon_type_counts")
    of_type = (counts.c.tenant_id == types.c.tenant_id) & (counts.c.coupon_type_id == types.c.id)

    def counted(name: str) -> sa.ColumnElement[Any]:
        return sa.func.coalesce(counts.c[name], _zero(sa.BigInteger()))

    totals = ("issued", "active", "reserved", "redeemed", "expired", "cancelled")
    # Cast, because a quotient of whole numbers is a whole number on one database.
    whole = ExactDecimal(18, 0)
    rate = Percentage(sa.cast(counts.c.redeemed, whole), sa.cast(counts.c.issued, whole))
    return (
        sa.select(
            types.c.id.label("coupon_type_id"),
            types.c.name.label("coupon_type_name"),
            *(counted(name).label(f"total_{name}") for name in totals),
            sa.case((counts.c.issued > _zero(sa.BigInteger()), rate), else_=sa.null()).label("redemption_rate"),
            types.c.code_type,
            counted("created").label("total_created"),
            counted("pooled").label("total_pooled"),
            counts.c.counted_at,
            types.c.tenant_id,
        )
        .select_from(types.outerjoin(counts, of_type))
        .subquery("coupon_analytics")
    )


def _zero(kind: sa.types.TypeEngine[Any]) -> sa.ColumnElement[Any]:
    return sa.literal_column("0", kind)


QUERIES: Mapping[str, Callable[[], sa.FromClause]] = {
    "BudgetUtilization": _budget_utilization,
    "CouponAnalytics": _coupon_analytics,
    "StakeholderCostBreakdown": _stakeholder_cost_breakdown,
}
"""By entity set, of one that is not stored: the query that stands in for its table."""

COMPUTED: Mapping[tuple[str, str], Column] = {}
"""By entity set and name of a virtual field: its value over the rows that the entity is read of."""
