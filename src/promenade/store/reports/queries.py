"""Reports that are read of other tables, and values of reports that are computed on reading.

Most are one row per budget, coupon type or day: master data with what was added up beside it (`driver.tables.reports`).
None of them reads sales or codes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from odata_server.sql.model import Column
from promenade import model
from promenade.store.driver.schema import table
from promenade.store.driver.types import ExactDecimal
from promenade.store.reports.percentages import Percentage, Projection, Share

POST_MORTEM = 10
"""How many places the lists of a post-mortem have."""

_AMOUNT = ExactDecimal(18, 3)
_PERCENTAGE = ExactDecimal(9, 2)


# ---- what several reports show --------------------------------------------------------------------------------------


def _zero(kind: sa.types.TypeEngine[Any]) -> sa.ColumnElement[Any]:
    return sa.literal_column("0", kind)


def _looked_up(set_name: str, by: str, key: str, wanted: str, source: sa.FromClause) -> sa.ColumnElement[Any]:
    """Select ``wanted`` of the row of ``set_name`` whose ``key`` equals ``source``'s ``by``; null: no such row."""
    rows = table(set_name)
    return (
        sa.select(rows.c[wanted])
        .where(rows.c.tenant_id == source.c.tenant_id, rows.c[key] == source.c[by])
        .correlate(source)
        .scalar_subquery()
    )


def _of_promotion(wanted: str, source: sa.FromClause) -> sa.ColumnElement[Any]:
    return _looked_up("Promotions", "promotion_id", "id", wanted, source)


def _promotion_name(source: sa.FromClause) -> sa.ColumnElement[Any]:
    """Return the promotion's current name, else its last known one, from the row or from PromotionPerformance.

    A subquery rather than a join: rows are often only counted.
    """
    own = [source.c[one] for one in ("kept_name", "logged_name", "promotion_name") if one in source.c]
    known: sa.ColumnElement[Any] = (
        own[0] if own else _looked_up("PromotionPerformance", "promotion_id", "promotion_id", "logged_name", source)
    )
    return sa.func.coalesce(_of_promotion("name", source), known)


# ---- lists of the first -------------------------------------------------------------------------------------------


@cache
def _top_pos_groups(places: int | None = None) -> sa.FromClause:
    sums = table("promotion_pos_group_sums")
    return _top(sums, sa.func.nullif(sums.c.pos_group_id, "", type_=sums.c.pos_group_id.type), "pos_group_id", places)


@cache
def _top_articles(places: int | None = None) -> sa.FromClause:
    sums = table("promotion_article_sums")
    return _top(sums, sums.c.article_number, "article_number", places)


def _top(sums: sa.Table, item: sa.ColumnElement[Any], name: str, places: int | None) -> sa.FromClause:
    """Select the ranked rows, up to ``places`` of them, in the order of a partial index on just these."""
    # Written as in the partial indexes, which the planner uses only if it recognizes their condition.
    shown = sums.c.rank != sa.literal_column("0")
    if places is not None:
        # As an expression, so that it is not used as an index range: a promotion has few ranks to scan.
        shown = shown & (sums.c.rank + sa.literal_column("0") <= sa.literal_column(str(places)))
    columns = (sums.c.promotion_id, sums.c.currency, sums.c.rank, sums.c.total_discount, sums.c.applications)
    return sa.select(sums.c.tenant_id, *columns, item.label(name)).where(shown).subquery("ranked")


# ---- averages -------------------------------------------------------------------------------------------------------


class Average(FunctionElement[Any]):
    """An amount divided by a positive number, rounded to three decimals, halves away from zero."""

    inherit_cache = True
    type = ExactDecimal(18, 3)


@compiles(Average)
def _of_whole_numbers(element: Average, compiler: SQLCompiler, **kw: Any) -> str:
    amount, number = (f"({compiler.process(one, **kw)})" for one in element.clauses)
    half = f"CASE WHEN {amount} < 0 THEN -{number} ELSE {number} END"
    # Integer division truncates towards zero.
    return f"({amount} / {number} + ({amount} % {number} * 2 + {half}) / (2 * {number}))"


@compiles(Average, "postgresql")
def _of_numerics(element: Average, compiler: SQLCompiler, **kw: Any) -> str:
    amount, number = (f"({compiler.process(one, **kw)})" for one in element.clauses)
    return f"round({amount} / {number}, 3)::numeric(18, 3)"


def _average(source: sa.FromClause) -> sa.ColumnElement[Any]:
    return Average(source.c.total_discount_given, source.c.applications_count)


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
    """Count the promotions of a budget; cast, because one database returns a larger integer type."""
    links = table("BudgetPromotions")
    counting = sa.select(sa.func.count()).where(links.c.tenant_id == tenant, links.c.budget_id == budget)
    return sa.cast(counting.correlate_except(links).scalar_subquery(), sa.Integer())


# ---- stakeholders ---------------------------------------------------------------------------------------------------


@cache
def _stakeholder_cost_breakdown() -> sa.FromClause:
    pairs, budgets, stakeholders = table("BudgetStakeholders"), table("Budgets"), table("Stakeholders")
    of_budget = (budgets.c.tenant_id == pairs.c.tenant_id) & (budgets.c.id == pairs.c.budget_id)
    of_stakeholder = (stakeholders.c.tenant_id == pairs.c.tenant_id) & (stakeholders.c.id == pairs.c.stakeholder_id)
    # The rounded share of all up to this one minus that of all before it, so that the rounded parts add up to the
    # whole.
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
    """Sum up the percentages of the stakeholders before this one, ordered by ID."""
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
    # Cast, because on one database the quotient of integers is an integer.
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


# ---- pilots and experiments ------------------------------------------------------------------------------------------


@cache
def _daily() -> sa.FromClause:
    """The rows of DailyABTestAggregates."""
    days = table("arm_days")
    return (
        sa.select(
            *_of_a_day(days),
            days.c.trial.label("trial"),
            days.c.treated_revenue.label("revenue"),
            days.c.control_transactions.label("control_transactions"),
            days.c.control_conversions.label("control_converted"),
            days.c.control_revenue.label("control_revenue"),
        )
        .select_from(days)
        .subquery("daily_ab_test_aggregates")
    )


@cache
def _returns() -> sa.FromClause:
    """The rows of ABTestROI."""
    days = table("arm_days")
    nothing: sa.ColumnElement[Any] = sa.literal_column("0")
    won = sa.case((days.c.extra_revenue > nothing, days.c.extra_revenue), else_=nothing)
    return (
        sa.select(
            *_of_a_day(days),
            Percentage(days.c.treated_conversions, days.c.treated_transactions).label("conversion_rate"),
            sa.case((days.c.extra_revenue.is_(None), sa.null()), else_=Percentage(won, days.c.treated_discount)).label(
                "return_on_discount"
            ),
        )
        .select_from(days)
        .subquery("ab_test_roi")
    )


def _of_a_day(days: sa.Table) -> tuple[sa.ColumnElement[Any], ...]:
    return (
        days.c.tenant_id.label("tenant_id"),
        days.c.day.label("day"),
        days.c.promotion_id.label("promotion_id"),
        _promotion_name(days).label("promotion_name"),
        days.c.currency.label("currency"),
        days.c.treated_transactions.label("shown"),
        days.c.treated_conversions.label("converted"),
        days.c.extra_revenue.label("extra_revenue"),
        days.c.treated_discount.label("total_discount"),
    )


@cache
def _pilots() -> sa.FromClause:
    """The rows of PilotComparisonReports."""
    arms, promotions, configs = table("PromotionAbComparison"), table("Promotions"), table("PromotionPilotConfigs")
    shared = (
        "tenant_id", "promotion_id", "arm", "transactions", "avg_basket", "conversion_rate", "uplift", "p_value",
        "is_significant", "conversion_uplift", "conversion_p_value", "currency", "conversions", "revenue",
        "total_discount",
    )  # fmt: skip
    planned = ("pilot_start_at", "pilot_end_at", "auto_promote_threshold")
    of_the_pilot = (configs.c.tenant_id == arms.c.tenant_id) & (configs.c.promotion_id == arms.c.promotion_id)
    return (
        sa.select(
            *(arms.c[name].label(name) for name in shared),
            sa.func.coalesce(promotions.c.name, arms.c.kept_name).label("promotion_name"),
            promotions.c.status.label("promotion_status"),
            *(configs.c[name].label(name) for name in planned),
            sa.func.coalesce(configs.c.auto_promote, sa.false()).label("auto_promote"),
        )
        .select_from(_with_promotions(arms, promotions).outerjoin(configs, of_the_pilot))
        .where(arms.c.trial == "PILOT")
        .subquery("pilot_comparison_reports")
    )


def _with_promotions(rows: sa.Table, promotions: sa.Table) -> sa.Join:
    """Join rows of reports with their promotions, if these still exist."""
    its = (promotions.c.tenant_id == rows.c.tenant_id) & (promotions.c.id == rows.c.promotion_id)
    return rows.outerjoin(promotions, its)


# ---- advice ---------------------------------------------------------------------------------------------------------

_KINDS = {
    "DailyThresholdGapAggregates": "GAP",
    "DailyNearMissAggregates": "NEAR_MISS",
    "DailySavingsSummaryAggregates": "SAVING",
    "DailyNudgesAggregates": "NUDGE",
    "DailyFreeItemAggregates": "FREE_ITEM",
    "ThresholdGapROI": "GAP",
    "NearMissROI": "NEAR_MISS",
    "SavingsSummaryROI": "SAVING",
    "ProgressiveNudgesROI": "NUDGE",
}


@cache
def _of_kind(kind: str) -> sa.FromClause:
    """Select the days of one kind of advice; it reads plain tables, so the tenant filter applies as usual."""

    shown, converted = table("advice_shown"), table("advice_converted")
    same = [converted.c[name] == shown.c[name] for name in ("tenant_id", "kind", "promotion_id", "day", "currency")]
    return (
        sa.select(
            shown.c.day,
            shown.c.promotion_id,
            _promotion_name(shown).label("promotion_name"),
            shown.c.currency,
            shown.c.shown,
            sa.func.coalesce(converted.c.converted, sa.literal_column("0", sa.BigInteger())).label("converted"),
            _amount(converted.c.extra_revenue).label("extra_revenue"),
            _amount(converted.c.total_discount).label("total_discount"),
            (_amount(converted.c.extra_revenue) - _amount(converted.c.total_discount)).label("net_gain"),
            shown.c.tenant_id,
        )
        .select_from(shown.outerjoin(converted, sa.and_(*same)))
        .where(shown.c.kind == sa.literal_column(f"'{kind}'"))
        .subquery("advice")
    )


def _amount(column: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    return sa.type_coerce(sa.func.coalesce(column, sa.literal_column("0")), ExactDecimal(18, 3))


def _conversion_rate(source: sa.FromClause) -> sa.ColumnElement[Any]:
    return Percentage(source.c.converted, source.c.shown)


def _return_on_discount(source: sa.FromClause) -> sa.ColumnElement[Any]:
    gain, loss = source.c.extra_revenue, -source.c.extra_revenue
    return sa.type_coerce(
        sa.case(
            (gain < sa.literal_column("0"), -Percentage(loss, source.c.total_discount)),
            else_=Percentage(gain, source.c.total_discount),
        ),
        ExactDecimal(5, 2),
    )


# ---- the registry ---------------------------------------------------------------------------------------------------

QUERIES: Mapping[str, Callable[[], sa.FromClause]] = {
    "ABTestROI": _returns,
    "BudgetUtilization": _budget_utilization,
    "CouponAnalytics": _coupon_analytics,
    "DailyABTestAggregates": _daily,
    "PilotComparisonReports": _pilots,
    "PromotionPostMortemTopArticles": partial(_top_articles, POST_MORTEM),
    "PromotionPostMortemTopStores": partial(_top_pos_groups, POST_MORTEM),
    "PromotionTopArticles": _top_articles,
    "PromotionTopPosGroups": _top_pos_groups,
    "StakeholderCostBreakdown": _stakeholder_cost_breakdown,
    **{name: partial(_of_kind, kind) for name, kind in _KINDS.items()},
}
"""By entity set, of one that is not stored: the query that stands in for its table."""

_VIRTUAL: Mapping[str, Column] = {
    "article_name": partial(_looked_up, "Articles", "article_number", "article_number", "name"),
    "avg_discount_per_tx": _average,
    "conversion_rate": _conversion_rate,
    "pos_group_code": partial(_looked_up, "PosGroups", "pos_group_id", "id", "code"),
    "pos_group_name": partial(_looked_up, "PosGroups", "pos_group_id", "id", "name"),
    "promotion_name": _promotion_name,
    "promotion_status": partial(_of_promotion, "status"),
    "promotion_type": partial(_of_promotion, "type"),
    "return_on_discount": _return_on_discount,
}

COMPUTED: Mapping[tuple[str, str], Column] = {
    (entity.set_name, field.name): _VIRTUAL[field.name]
    for entity in model.entities()
    for field in entity.fields
    if field.virtual and field.name in _VIRTUAL
}
"""By entity set and name of a virtual field: its value over the rows that the entity is read of."""
