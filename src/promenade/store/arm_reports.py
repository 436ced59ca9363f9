"""Reports that are read of other tables, and values of reports that are computed on reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import sqlalchemy as sa

from odata_server.sql.model import Column
from promenade.store.percentages import Percentage
from promenade.store.schema import table

__all__ = ["COMPUTED", "QUERIES"]


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
        _name(days, days.c.promotion_name).label("promotion_name"),
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
    """Rows of reports with their promotions, where these are still there."""
    its = (promotions.c.tenant_id == rows.c.tenant_id) & (promotions.c.id == rows.c.promotion_id)
    return rows.outerjoin(promotions, its)


def _promotion_name(source: sa.FromClause) -> sa.ColumnElement[Any]:
    return _name(source, source.c.kept_name)


def _name(source: sa.FromClause, kept: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """What the promotion is called, else was called. Looked up where it is shown: days are often only counted."""
    promotions = table("Promotions")
    name = (
        sa.select(promotions.c.name)
        .where(promotions.c.tenant_id == source.c.tenant_id, promotions.c.id == source.c.promotion_id)
        .correlate(source)
        .scalar_subquery()
    )
    return sa.func.coalesce(name, kept)


QUERIES: Mapping[str, Callable[[], sa.FromClause]] = {
    "ABTestROI": _returns,
    "DailyABTestAggregates": _daily,
    "PilotComparisonReports": _pilots,
}
"""By entity set, of one that is not stored: the query that stands in for its table."""

COMPUTED: Mapping[tuple[str, str], Column] = {
    (name, "promotion_name"): _promotion_name
    for name in ("ABTestResults", "PromotionAbComparison", "PromotionUpliftAnalysis")
}
"""By entity set and name of a virtual field: its value over the rows that the entity is read of."""
