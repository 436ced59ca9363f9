"""What the arms of pilots and experiments came to, added up; and all sales by day, which promotions are held against.

Baskets are added up with their squares, so that variances can be told of the sums. Squares are of thousandths of the
currency, exact, and larger than what databases reckon with: they are kept as three whole numbers, of which the second
counts 2^40 and the third 2^80, and each is added up for itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.schema import SchemaItem

from promenade.store.system_columns import Definition, content, count, identity, key, moment, text
from promenade.store.types import ExactDecimal

__all__ = ["arm_reports"]

_KEY = ("promotion_id", "day", "currency")


def arm_reports() -> Iterator[Definition]:
    """All of them."""
    is_stale = sa.text("is_stale")
    yield (
        "arm_days",
        "What the arms of pilots and experiments came to, by days on the clocks of the POS groups.",
        True,
        (
            *_arms("The day, on the clock of the POS group."),
            _amount("extra_revenue", "What the treated arm took beyond as many control baskets.", nullable=True),
            sa.Column("is_stale", sa.Boolean(), nullable=False, doc="Whether reports do not know of it yet."),
            key("arm_days", *_KEY),
            sa.Index("ix_arm_days__day", "tenant_id", "day"),
            sa.Index(
                "ix_arm_days__stale", "tenant_id", "promotion_id", sqlite_where=is_stale, postgresql_where=is_stale
            ),
        ),
    )
    yield (
        "arm_utc_days",
        "The same by days in UTC, for exports of a period.",
        True,
        (*_arms("The day, in UTC."), key("arm_utc_days", *_KEY)),
    )
    yield (
        "arm_trials",
        "Which POS groups were in which arm and when, and what the promotions target: read once, for many sales.",
        True,
        (
            count("catalogue", "The version of the catalogue that it was read at.", default=None, big=True),
            moment("read_at", "When it was read."),
            moment("since", "It holds all trials from then on."),
            moment("until", "To before then."),
            content("trials", "The trials, as MessagePack."),
            key("arm_trials"),
        ),
    )
    yield (
        "basket_days",
        "All sales by day, on the clock of the POS group: of each POS group, and of all together.",
        True,
        (
            identity("pos_group_id", "The POS group; empty: all of the tenant."),
            sa.Column("day", sa.Date(), nullable=False, doc="The day."),
            text("currency", 3, "The currency."),
            *_baskets("", "all"),
            sa.Column("is_stale", sa.Boolean(), nullable=False, doc="Whether analyses do not know of it yet."),
            key("basket_days", "pos_group_id", "day", "currency"),
            sa.Index("ix_basket_days__stale", "tenant_id", "day", sqlite_where=is_stale, postgresql_where=is_stale),
        ),
    )


def _arms(day: str) -> tuple[SchemaItem, ...]:
    return (
        identity("promotion_id", "The promotion."),
        sa.Column("day", sa.Date(), nullable=False, doc=day),
        text("currency", 3, "The currency."),
        text("trial", 10, "PILOT or EXPERIMENT."),
        text("promotion_name", 255, "What it was called.", nullable=True),
        *_baskets("treated_", "the treated arm"),
        count("treated_conversions", "Those that hold a line which the promotion targets.", big=True),
        _amount("treated_discount", "What the promotion gave."),
        *_baskets("control_", "the control arm"),
        count("control_conversions", "Those that hold a line which the promotion targets.", big=True),
    )


def _baskets(prefix: str, whose: str) -> tuple[SchemaItem, ...]:
    return (
        count(f"{prefix}transactions", f"Transactions of {whose}.", big=True),
        _amount(f"{prefix}revenue", "Sum of their grand totals."),
        count(f"{prefix}squares_0", "Sum of the squares of these: the last 40 bits of each.", big=True),
        count(f"{prefix}squares_1", "The 40 bits before.", big=True),
        count(f"{prefix}squares_2", "What is before these.", big=True),
    )


def _amount(name: str, doc: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, ExactDecimal(18, 3), nullable=nullable, doc=doc)
