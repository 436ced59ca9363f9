"""Reports that are read of other tables, and values of reports that are computed on reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from odata_server.sql.model import Column
from promenade.store.schema import table
from promenade.store.types import ExactDecimal

__all__ = ["COMPUTED", "QUERIES", "Average"]

POST_MORTEM = 10
"""How many places the lists of a post-mortem have."""


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
    """The rows that have a place, the first ``places`` of them; read in the order of an index of just these."""
    # As the indexes of these rows say it: they serve a query only where the planner sees that it wants no others.
    shown = sums.c.rank != sa.literal_column("0")
    if places is not None:
        # Reckoned with, so that it is no range of an index: of one promotion there are few places to look through.
        shown = shown & (sums.c.rank + sa.literal_column("0") <= sa.literal_column(str(places)))
    columns = (sums.c.promotion_id, sums.c.currency, sums.c.rank, sums.c.total_discount, sums.c.applications)
    return sa.select(sums.c.tenant_id, *columns, item.label(name)).where(shown).subquery("ranked")


QUERIES: Mapping[str, Callable[[], sa.FromClause]] = {
    "PromotionTopPosGroups": _top_pos_groups,
    "PromotionTopArticles": _top_articles,
    "PromotionPostMortemTopStores": partial(_top_pos_groups, POST_MORTEM),
    "PromotionPostMortemTopArticles": partial(_top_articles, POST_MORTEM),
}
"""By entity set, of one that is not stored: the query that stands in for its table."""


# ---- values computed on reading -----------------------------------------------------------------------------------


class Average(FunctionElement[Any]):
    """An amount divided by a number that is above zero, rounded to three decimals, halves away from zero."""

    inherit_cache = True
    type = ExactDecimal(18, 3)


@compiles(Average)
def _of_whole_numbers(element: Average, compiler: SQLCompiler, **kw: Any) -> str:
    amount, number = (f"({compiler.process(one, **kw)})" for one in element.clauses)
    half = f"CASE WHEN {amount} < 0 THEN -{number} ELSE {number} END"
    # Whole division drops what is behind the point, on either side of zero.
    return f"({amount} / {number} + ({amount} % {number} * 2 + {half}) / (2 * {number}))"


@compiles(Average, "postgresql")
def _of_numerics(element: Average, compiler: SQLCompiler, **kw: Any) -> str:
    amount, number = (f"({compiler.process(one, **kw)})" for one in element.clauses)
    return f"round({amount} / {number}, 3)::numeric(18, 3)"


def _average(source: sa.FromClause) -> sa.ColumnElement[Any]:
    return Average(source.c.total_discount_given, source.c.applications_count)


def _looked_up(set_name: str, by: str, key: str, wanted: str, source: sa.FromClause) -> sa.ColumnElement[Any]:
    """``wanted`` of the row of ``set_name`` whose ``key`` is the column ``by`` of ``source``; null: there is none."""
    rows = table(set_name)
    return (
        sa.select(rows.c[wanted])
        .where(rows.c.tenant_id == source.c.tenant_id, rows.c[key] == source.c[by])
        .correlate(source)
        .scalar_subquery()
    )


def _of_promotion(wanted: str, source: sa.FromClause) -> sa.ColumnElement[Any]:
    return _looked_up("Promotions", "promotion_id", "id", wanted, source)


def _name(source: sa.FromClause) -> sa.ColumnElement[Any]:
    """What the promotion is called, or was: PromotionPerformance holds each promotion that any report tells of."""
    logged = _looked_up("PromotionPerformance", "promotion_id", "promotion_id", "logged_name", source)
    return sa.func.coalesce(_of_promotion("name", source), logged)


def _own_name(source: sa.FromClause) -> sa.ColumnElement[Any]:
    return sa.func.coalesce(_of_promotion("name", source), source.c.logged_name)


_OF_PROMOTIONS = (
    "PromotionDiscountDistribution", "PromotionHourOfDay", "PromotionUsageByDay", "PromotionUsageByDayOfWeek",
    "PromotionUsageByHour", *QUERIES,
)  # fmt: skip

_POS_GROUPS, _ARTICLES = (
    ("PromotionTopPosGroups", "PromotionPostMortemTopStores"),
    ("PromotionTopArticles", "PromotionPostMortemTopArticles"),
)

COMPUTED: Mapping[tuple[str, str], Column] = {
    ("PromotionPerformance", "promotion_name"): _own_name,
    ("PromotionPerformance", "promotion_status"): partial(_of_promotion, "status"),
    ("PromotionPerformance", "promotion_type"): partial(_of_promotion, "type"),
    ("PromotionPerformance", "avg_discount_per_tx"): _average,
    **{(name, "promotion_name"): _name for name in _OF_PROMOTIONS},
    **{
        (name, f"pos_group_{wanted}"): partial(_looked_up, "PosGroups", "pos_group_id", "id", wanted)
        for name in _POS_GROUPS
        for wanted in ("code", "name")
    },
    **{
        (name, "article_name"): partial(_looked_up, "Articles", "article_number", "article_number", "name")
        for name in _ARTICLES
    },
}
"""By entity set and name of a virtual field: its value over the rows that the entity is read of."""
