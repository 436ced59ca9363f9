"""What sales came to, added up for the reports about the use of promotions."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from promenade.store.system_columns import Definition, count, identity, key, moment, text
from promenade.store.types import ExactDecimal

__all__ = ["usage_reports"]

_KEPT = sa.text("rank IS NOT NULL")
# Said so that no planner takes it for a range of an index, which it would go through for one promotion as well.
_SHOWN = sa.text("rank <> 0")


def usage_reports() -> Iterator[Definition]:
    """All of them."""
    yield _by_utc("promotion_utc_days", "day", "What each promotion came to on each day in UTC.")
    yield _by_utc("promotion_utc_months", "month", "What each promotion came to in each month in UTC.")
    yield (
        "promotion_hours_due",
        "Promotions of which PromotionHourOfDay does not have all hours of the week yet.",
        True,
        (
            identity("promotion_id", "The promotion."),
            text("currency", 3, "The currency of the amounts."),
            key("promotion_hours_due", "promotion_id", "currency"),
        ),
    )
    yield (
        "promotion_places_due",
        "Promotions that were applied since their POS groups and articles were last given places.",
        True,
        (
            identity("promotion_id", "The promotion."),
            sa.Column("fallen", sa.Boolean(), nullable=False, doc="Whether it took something back somewhere."),
            key("promotion_places_due", "promotion_id"),
        ),
    )
    yield _ranked(
        "promotion_pos_group_sums",
        "What each promotion gave in each POS group, with the places of the first.",
        identity("pos_group_id", "The POS group; empty for sales that named none."),
    )
    yield _ranked(
        "promotion_article_sums",
        "What each promotion gave on each article, with the places of the first.",
        text("article_number", 50, "The article."),
    )


def _by_utc(name: str, span: str, doc: str) -> Definition:
    """What reports of any period are added up from."""
    return (
        name,
        doc,
        True,
        (
            identity("promotion_id", "The promotion."),
            sa.Column(span, sa.Date(), nullable=False, doc=f"The first day of the {span}."),
            text("currency", 3, "The currency of the amounts."),
            count("applications", "Confirmed transactions that it was applied to.", big=True),
            _amount("total_discount", "What it gave."),
            moment("first_applied_at", "When the first of them was confirmed."),
            moment("last_applied_at", "When the last was."),
            key(name, span, "promotion_id", "currency"),
        ),
    )


def _ranked(name: str, doc: str, item: sa.Column[str]) -> Definition:
    return (
        name,
        doc,
        True,
        (
            identity("promotion_id", "The promotion."),
            text("currency", 3, "The currency of the amounts."),
            item,
            count("applications", "Confirmed transactions that it was applied to.", big=True),
            _amount("total_discount", "What it gave."),
            sa.Column("rank", sa.Integer(), nullable=True, doc="Its place; 0: to be given one; null: beyond the last."),
            key(name, "promotion_id", "currency", item.name),
            # Both hold the few rows that have a place, so that neither reading nor placing goes through the others.
            _partial(f"ix_{name}__of_promotion", _KEPT, "tenant_id", "promotion_id", "currency", "rank"),
            _partial(f"ix_{name}__rank", _SHOWN, "tenant_id", "rank", "promotion_id", "currency"),
        ),
    )


def _partial(name: str, where: sa.TextClause, *columns: str) -> sa.Index:
    return sa.Index(name, *columns, sqlite_where=where, postgresql_where=where)


def _amount(name: str, doc: str) -> sa.Column[object]:
    return sa.Column(name, ExactDecimal(18, 3), nullable=False, doc=doc)
