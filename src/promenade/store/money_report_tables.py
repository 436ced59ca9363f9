"""What budgets and coupons came to, added up for reports."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa
from sqlalchemy.schema import SchemaItem

from promenade.store.system_columns import Definition, count, identity, key, moment
from promenade.store.types import ExactDecimal

__all__ = ["money_reports"]


def money_reports() -> Iterator[Definition]:
    """All of them."""
    yield from _budgets()
    yield from _coupons()


def _budgets() -> Iterator[Definition]:
    yield (
        "budget_totals",
        "What confirmed sales have done to each budget, and how fast it burns.",
        True,
        (
            identity("budget_id", "The budget."),
            *_consumption(),
            moment("first_at", "When the first of the sales was confirmed."),
            moment("last_at", "When the last of them was confirmed."),
            sa.Column("changed", sa.Boolean(), nullable=False, doc="Whether sales were added since it was reckoned."),
            _amount("daily_burn", "What is consumed per day on average; null: not reckoned yet.", nullable=True),
            moment("reckoned_at", "When that was reckoned.", nullable=True),
            key("budget_totals", "budget_id"),
        ),
    )
    yield (
        "budget_utc_days",
        "What confirmed sales have done to each budget on each day of UTC.",
        True,
        (identity("budget_id", "The budget."), _day(), *_consumption(), key("budget_utc_days", "budget_id", "day")),
    )
    yield (
        "budget_promotion_utc_days",
        "What each promotion has taken from each budget on each day of UTC.",
        True,
        (
            identity("promotion_id", "The promotion."),
            identity("budget_id", "The budget."),
            _day(),
            *_consumption(),
            key("budget_promotion_utc_days", "promotion_id", "budget_id", "day"),
        ),
    )


def _coupons() -> Iterator[Definition]:
    yield (
        "coupon_type_counts",
        "How many codes of each coupon type stand where, as last counted.",
        True,
        (
            identity("coupon_type_id", "The coupon type."),
            count("issued", "Codes that have left the pool; of a shared code, how often it was issued.", big=True),
            count("pooled", "ACTIVE and never issued.", big=True),
            count("created", "Issued and not activated.", big=True),
            count("active", "ACTIVE, the pool included.", big=True),
            count("reserved", "RESERVED; of a shared code, by how many tills.", big=True),
            count("redeemed", "REDEEMED; of a shared code, how often.", big=True),
            count("expired", "EXPIRED.", big=True),
            count("cancelled", "CANCELLED.", big=True),
            count("external", "Those from outside that nobody issued; they have left the pool.", big=True),
            moment("examined_at", "When those were last counted."),
            moment("counted_at", "Since when the counts are what they are."),
            key("coupon_type_counts", "coupon_type_id"),
        ),
    )


def _day() -> sa.Column[object]:
    return sa.Column("day", sa.Date(), nullable=False, doc="The day on which the sales were confirmed, in UTC.")


def _amount(name: str, doc: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, ExactDecimal(18, 3), nullable=nullable, doc=doc)


def _consumption() -> Iterator[SchemaItem]:
    yield _amount("consumed", "What sales took, less what returns gave back, in the budget's currency.")
    yield _amount("uncovered", "What sales were granted and the budget could not cover.")
    yield count("transactions", "Sales and returns that did.", big=True)
