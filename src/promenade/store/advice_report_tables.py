"""Advice that was shown, and what came of it, added up by day."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.schema import SchemaItem

from promenade.store.system_columns import Definition, count, identity, key, moment, text
from promenade.store.types import ExactDecimal

__all__ = ["advice_reports"]

_KEY = ("kind", "promotion_id", "day", "currency")


def advice_reports() -> Iterator[Definition]:
    """All of them."""
    yield (
        "advice_shown",
        "How many evaluations returned advice, by day.",
        True,
        (
            *_of_a_day(),
            text("promotion_name", 255, "What the promotion was called when it was last shown."),
            count("shown", "Evaluations.", big=True),
            key("advice_shown", *_KEY),
            sa.Index("ix_advice_shown__day", "tenant_id", "kind", "day"),
        ),
    )
    yield (
        "advice_converted",
        "What came of advice, by the day on which it was shown.",
        True,
        (
            *_of_a_day(),
            count("converted", "Sales.", big=True),
            sa.Column("extra_revenue", ExactDecimal(18, 3), nullable=False, doc="What they came to beyond the basket."),
            sa.Column("total_discount", ExactDecimal(18, 3), nullable=False, doc="What the promotion gave in them."),
            key("advice_converted", *_KEY),
        ),
    )
    yield (
        "advice_open",
        "Advice that a customer has left with, and may still come back for.",
        True,
        (
            text("customer_id", 50, "The customer."),
            *_of_a_day(),
            sa.Column("grand_total", ExactDecimal(18, 3), nullable=False, doc="What was paid then."),
            moment("shown_at", "When that sale was confirmed."),
            key("advice_open", "customer_id", "kind", "promotion_id"),
            sa.Index("ix_advice_open__age", "shown_at"),
        ),
    )
    yield (
        "advice_walk",
        "How far evaluations have been looked through for advice; one row.",
        False,
        (
            count("id", "1.", default=None),
            text("place", None, "The place in their order, see `store.purging.Place`."),
            key("advice_walk", "id", tenant=False),
        ),
    )


def _of_a_day() -> tuple[SchemaItem, ...]:
    return (
        text("kind", 10, "GAP, NEAR_MISS, NUDGE, SAVING or FREE_ITEM."),
        identity("promotion_id", "The promotion."),
        sa.Column("day", sa.Date(), nullable=False, doc="The day, on the clock of the POS group."),
        text("currency", 3, "The currency of the basket."),
    )
