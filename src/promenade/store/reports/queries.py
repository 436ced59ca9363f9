"""Reports that are read of other tables, and values of reports that are computed on reading.

Most are one row per budget, coupon type or day: master data with what was added up beside it (`driver.tables.reports`).
None of them reads sales or codes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
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

_Joins = Mapping[sa.Table, sa.ColumnElement[bool]]
_NONE: _Joins = MappingProxyType({})
_AMOUNT = ExactDecimal(18, 3)
_PERCENTAGE = ExactDecimal(9, 2)


# ---- what several reports show --------------------------------------------------------------------------------------


def _zero(kind: sa.types.TypeEngine[Any]) -> sa.ColumnElement[Any]:
    return sa.literal_column("0", kind)


def _report(
    set_name: str,
    rows: sa.Table,
    given: Mapping[str, sa.ColumnElement[Any]],
    inner: _Joins = _NONE,
    outer: _Joins = _NONE,
) -> sa.Select[Any]:
    """Select the fields of a report from ``rows``, joined with ``inner`` and ``outer`` tables on their conditions.

    A field that is not ``given`` is the column of its name in the first of the tables that has one. One that is never
    null is zero where there is no row in an ``outer`` table.
    """
    source: sa.FromClause = rows
    for one, condition in inner.items():
        source = source.join(one, condition)
    for one, condition in outer.items():
        source = source.outerjoin(one, condition)
    stored = {name: column for one in reversed((rows, *inner, *outer)) for name, column in one.c.items()}
    columns = []
    for field in model.entity(set_name).fields:
        if not field.virtual:
            value = given[field.name] if field.name in given else stored[field.name]
            if field.required and isinstance(value, sa.Column) and value.table in outer:
                value = sa.type_coerce(sa.func.coalesce(value, _zero(value.type)), value.type)
            columns.append(value.label(field.name))
    return sa.select(*columns).select_from(source)


def _its(rows: sa.Table, of: sa.Table, *, key: str = "id", by: str) -> sa.ColumnElement[bool]:
    """Return the condition that ``key`` of these rows is ``by`` of other rows of the same tenant."""
    return (rows.c.tenant_id == of.c.tenant_id) & (rows.c[key] == of.c[by])


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
def _top_pos_groups(set_name: str, places: int | None = None) -> sa.FromClause:
    sums = table("promotion_pos_group_sums")
    group = sa.func.nullif(sums.c.pos_group_id, "", type_=sums.c.pos_group_id.type)
    return _report(set_name, sums, {"pos_group_id": group}).where(_is_shown(sums, places)).subquery("ranked")


@cache
def _top_articles(set_name: str, places: int | None = None) -> sa.FromClause:
    sums = table("promotion_article_sums")
    return _report(set_name, sums, {}).where(_is_shown(sums, places)).subquery("ranked")


def _is_shown(sums: sa.Table, places: int | None) -> sa.ColumnElement[bool]:
    """Return the condition for the ranked rows, up to ``places`` of them, in the order of a partial index on these."""
    # Written as in the partial indexes, which the planner uses only if it recognizes their condition.
    shown = sums.c.rank != sa.literal_column("0")
    if places is None:
        return shown
    # As an expression, so that it is not used as an index range: a promotion has few ranks to scan.
    return shown & (sums.c.rank + sa.literal_column("0") <= sa.literal_column(str(places)))


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
    return _report(
        "BudgetUtilization",
        budgets,
        {
            "budget_id": budgets.c.id,
            "budget_name": budgets.c.name,
            "total_amount": sa.type_coerce(budgets.c.total_amount, _AMOUNT),
            "remaining_amount": remaining,
            "utilization_pct": Percentage(budgets.c.consumed_amount, budgets.c.total_amount),
            "daily_burn_rate": totals.c.daily_burn,
            "projected_exhaustion": _projected(budgets, totals, remaining),
            "transaction_count": totals.c.transactions,
            "linked_promotions": _linked_promotions(budgets.c.tenant_id, budgets.c.id),
            "uncovered_amount": totals.c.uncovered,
            "first_consumed_at": totals.c.first_at,
            "last_consumed_at": totals.c.last_at,
        },
        outer={totals: _its(totals, budgets, key="budget_id", by="id")},
    ).subquery("budget_utilization")


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
    # The rounded share of all up to this one minus that of all before it, so that the rounded parts add up to the
    # whole.
    before = _shares_before(pairs)
    upto = sa.type_coerce(before + pairs.c.share_percentage, _PERCENTAGE)
    consumed, currency = budgets.c.consumed_amount, budgets.c.currency
    cost = sa.type_coerce(Share(consumed, upto, currency) - Share(consumed, before, currency), _AMOUNT)
    paid = _contributions(pairs)
    rows = _report(
        "StakeholderCostBreakdown",
        pairs,
        {
            "stakeholder_name": stakeholders.c.name,
            "stakeholder_type": stakeholders.c.type,
            "budget_name": budgets.c.name,
            "total_budget_cost": consumed,
            "stakeholder_cost": cost,
            "contributions_total": paid,
            "net_balance": sa.type_coerce(paid - cost, _AMOUNT),
            "linked_promotions": _linked_promotions(pairs.c.tenant_id, pairs.c.budget_id),
        },
        inner={
            budgets: _its(budgets, pairs, by="budget_id"),
            stakeholders: _its(stakeholders, pairs, by="stakeholder_id"),
        },
    )
    return rows.add_columns(before.label("shares_before")).subquery("stakeholder_cost_breakdown")


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
    # Cast, because on one database the quotient of integers is an integer.
    whole = ExactDecimal(18, 0)
    rate = Percentage(sa.cast(counts.c.redeemed, whole), sa.cast(counts.c.issued, whole))
    return _report(
        "CouponAnalytics",
        types,
        {
            "coupon_type_id": types.c.id,
            "coupon_type_name": types.c.name,
            "redemption_rate": sa.case((counts.c.issued > _zero(sa.BigInteger()), rate), else_=sa.null()),
            **{f"total_{name}": column for name, column in counts.c.items()},
        },
        outer={counts: _its(counts, types, key="coupon_type_id", by="id")},
    ).subquery("coupon_analytics")


# ---- pilots and experiments ------------------------------------------------------------------------------------------


@cache
def _daily() -> sa.FromClause:
    """The rows of DailyABTestAggregates."""
    days = table("arm_days")
    given = {"revenue": days.c.treated_revenue, "control_converted": days.c.control_conversions}
    return _trial_days("DailyABTestAggregates", given)


@cache
def _returns() -> sa.FromClause:
    """The rows of ABTestROI."""
    days = table("arm_days")
    nothing: sa.ColumnElement[Any] = sa.literal_column("0")
    won = sa.case((days.c.extra_revenue > nothing, days.c.extra_revenue), else_=nothing)
    gained = Percentage(won, days.c.treated_discount)
    given = {
        "conversion_rate": Percentage(days.c.treated_conversions, days.c.treated_transactions),
        "return_on_discount": sa.case((days.c.extra_revenue.is_(None), sa.null()), else_=gained),
    }
    return _trial_days("ABTestROI", given)


def _trial_days(set_name: str, given: Mapping[str, sa.ColumnElement[Any]]) -> sa.FromClause:
    days = table("arm_days")
    shared = {
        "promotion_name": _promotion_name(days),
        "shown": days.c.treated_transactions,
        "converted": days.c.treated_conversions,
        "total_discount": days.c.treated_discount,
    }
    return _report(set_name, days, {**shared, **given}).subquery("trial_days")


@cache
def _pilots() -> sa.FromClause:
    """The rows of PilotComparisonReports."""
    arms, promotions, configs = table("PromotionAbComparison"), table("Promotions"), table("PromotionPilotConfigs")
    return (
        _report(
            "PilotComparisonReports",
            arms,
            {
                "promotion_name": sa.func.coalesce(promotions.c.name, arms.c.kept_name),
                "promotion_status": promotions.c.status,
                "auto_promote": sa.func.coalesce(configs.c.auto_promote, sa.false()),
            },
            outer={
                promotions: _its(promotions, arms, by="promotion_id"),
                configs: _its(configs, arms, key="promotion_id", by="promotion_id"),
            },
        )
        .where(arms.c.trial == "PILOT")
        .subquery("pilot_comparison_reports")
    )


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
def _of_kind(set_name: str, kind: str) -> sa.FromClause:
    """Select the days of one kind of advice; it reads plain tables, so the tenant filter applies as usual."""
    shown, converted = table("advice_shown"), table("advice_converted")
    same = [converted.c[name] == shown.c[name] for name in ("tenant_id", "kind", "promotion_id", "day", "currency")]
    gained, given = (_amount(converted.c[name]) for name in ("extra_revenue", "total_discount"))
    fields = {"promotion_name": _promotion_name(shown), "net_gain": gained - given}
    rows = _report(set_name, shown, fields, outer={converted: sa.and_(*same)})
    return rows.where(shown.c.kind == sa.literal_column(f"'{kind}'")).subquery("advice")


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
    "PromotionPostMortemTopArticles": partial(_top_articles, "PromotionPostMortemTopArticles", POST_MORTEM),
    "PromotionPostMortemTopStores": partial(_top_pos_groups, "PromotionPostMortemTopStores", POST_MORTEM),
    "PromotionTopArticles": partial(_top_articles, "PromotionTopArticles"),
    "PromotionTopPosGroups": partial(_top_pos_groups, "PromotionTopPosGroups"),
    "StakeholderCostBreakdown": _stakeholder_cost_breakdown,
    **{name: partial(_of_kind, name, kind) for name, kind in _KINDS.items()},
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
