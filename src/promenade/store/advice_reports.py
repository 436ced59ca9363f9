"""Advice and what came of it, as reports show it: each kind of advice is a share of the same tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import sqlalchemy as sa

from odata_server.sql.model import Column
from promenade.store.percentages import Percentage
from promenade.store.schema import table
from promenade.store.types import ExactDecimal

__all__ = ["COMPUTED", "QUERIES"]

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
    """The days of one kind of advice. It reads plain tables, so the tenant gate meets it as it meets them."""

    shown, converted, promotions = table("advice_shown"), table("advice_converted"), table("Promotions")
    same = [converted.c[name] == shown.c[name] for name in ("tenant_id", "kind", "promotion_id", "day", "currency")]
    name = (
        sa.select(promotions.c.name)
        .where(promotions.c.tenant_id == shown.c.tenant_id, promotions.c.id == shown.c.promotion_id)
        .correlate(shown)
        .scalar_subquery()
    )
    return (
        sa.select(
            shown.c.day,
            shown.c.promotion_id,
            sa.func.coalesce(name, shown.c.promotion_name).label("promotion_name"),
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


QUERIES: Mapping[str, Callable[[], sa.FromClause]] = {name: partial(_of_kind, kind) for name, kind in _KINDS.items()}
"""By entity set: the query that stands in for its table."""

COMPUTED: Mapping[tuple[str, str], Column] = {
    (name, field): column
    for name in ("ThresholdGapROI", "NearMissROI", "SavingsSummaryROI", "ProgressiveNudgesROI")
    for field, column in (("conversion_rate", _conversion_rate), ("return_on_discount", _return_on_discount))
}
"""By entity set and name of a virtual field: its value over the rows that the entity is read of."""
