"""Values that are computed on reading: SQL over the rows they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from odata_server.sql.model import Column
from promenade.model.criticality import CRITICALITY, NEGATIVE, NEUTRAL, POSITIVE
from promenade.store import advice_reports, arm_reports, money_reports, usage_reports
from promenade.store.condition_facts import condition_summary
from promenade.store.percentages import Percentage
from promenade.store.schema import table
from promenade.store.types import ExactDecimal

__all__ = ["COMPUTED"]


def _remaining(source: sa.FromClause) -> sa.ColumnElement[Any]:
    rest = source.c.total_amount - source.c.consumed_amount - source.c.reserved_amount
    return sa.type_coerce(rest, ExactDecimal(18, 3))


# ---- criticality --------------------------------------------------------------------------------------------------


def _status_criticality(source: sa.FromClause) -> sa.ColumnElement[Any]:
    coloured: dict[int, list[sa.ColumnElement[str]]] = {
        number: [sa.literal_column(f"'{code}'") for code, one in CRITICALITY.items() if one == number]
        for number in sorted(set(CRITICALITY.values()) - {NEUTRAL})
    }
    return sa.case(
        *((source.c.status.in_(codes), _number(number)) for number, codes in coloured.items()), else_=_number(NEUTRAL)
    )


def _failed_criticality(source: sa.FromClause) -> sa.ColumnElement[Any]:
    return sa.case((source.c.failed_articles > _number(0), _number(NEGATIVE)), else_=_number(POSITIVE))


def _number(number: int) -> sa.ColumnElement[int]:
    return sa.literal_column(str(number), sa.Integer())


# ---- shares -------------------------------------------------------------------------------------------------------


def _utilization(source: sa.FromClause) -> sa.ColumnElement[Any]:
    return Percentage(source.c.consumed_amount, source.c.total_amount)


def _total_share(source: sa.FromClause) -> sa.ColumnElement[Any]:
    shares = table("BudgetStakeholders")
    of_stakeholder = (
        sa.select(sa.func.coalesce(sa.func.sum(shares.c.share_percentage), _number(0)))
        .where(shares.c.tenant_id == source.c.tenant_id, shares.c.stakeholder_id == source.c.id)
        .correlate(source)
        .scalar_subquery()
    )
    return sa.cast(of_stakeholder, ExactDecimal(9, 2))


_WITH_STATUS = (
    "ArticleImportJobItems", "ArticleImportJobs", "Budgets", "CalculationLogs", "Campaigns", "CouponCodeBatches",
    "CouponCodes", "CouponTypes", "ImportJobs", "LocalDeployments", "NotificationLogs", "Promotions",
    "PromotionsCalendar", "SyncHistory",
)  # fmt: skip

COMPUTED: Mapping[tuple[str, str], Column] = {
    **dict.fromkeys(((name, "status_criticality") for name in _WITH_STATUS), _status_criticality),
    ("ArticleImportJobs", "failed_criticality"): _failed_criticality,
    ("Budgets", "remaining_amount"): _remaining,
    ("Budgets", "utilization"): _utilization,
    ("Conditions", "parameter_summary"): condition_summary,
    ("Stakeholders", "total_share_across_budgets"): _total_share,
    **usage_reports.COMPUTED,
    **money_reports.COMPUTED,
    **arm_reports.COMPUTED,
    **advice_reports.COMPUTED,
}
"""For an entity set and the name of a virtual field: its value over the rows that an entity is read of."""
