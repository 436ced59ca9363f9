"""The tables of reports that no service shows: aggregates, what is noted beside them, how far the aggregator is.

Of an aggregate each column that is no dimension says how it grows (`promenade.model.measures`); `store.reports.sums`
derives from that how sales are added and summed up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.schema import SchemaItem

from promenade.model.measures import Measure, Merge
from promenade.store.driver.tables.columns import Definition, content, count, identity, key, moment, partial_index, text
from promenade.store.driver.types import ExactDecimal

C = TypeVar("C", bound=sa.Column[Any])


def report_tables() -> Iterator[Definition]:
    """Yield the definitions of these tables."""
    yield from _work()
    yield from _usage()
    yield from _budgets()
    yield from _coupons()
    yield from _arms()
    yield from _advice()


def _aggregate(
    name: str, doc: str, dimensions: Sequence[sa.Column[Any]], *others: SchemaItem, key_order: Sequence[str] = ()
) -> Definition:
    """A table of sums by its dimensions: measures, and what else stands beside them.

    ``key_order``: the dimensions in the order of the key, where it begins with another one.
    """
    columns = key_order or [column.name for column in dimensions]
    return name, doc, True, (*dimensions, *others, key(name, *columns))


def _of(column: C, attribute: str) -> C:
    """A dimension whose attribute in the facts has another name."""
    column.info["of"] = attribute
    return column


def _measured(merge: Merge, column: C, of: str = "") -> C:
    column.info["measure"] = Measure(merge, of)
    return column


def _kept(days: int, column: C) -> C:
    """A time; so many days later its row is deleted."""
    column.info["kept_days"] = days
    return column


def _number(name: str, doc: str) -> sa.Column[int]:
    """A column of integers that are summed."""
    return _measured(Merge.SUM, count(name, doc, big=True))


def _amount(name: str, doc: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, ExactDecimal(18, 3), nullable=nullable, doc=doc)


def _total(name: str, doc: str) -> sa.Column[object]:
    """A column of amounts that are summed."""
    return _measured(Merge.SUM, _amount(name, doc))


def _flag(name: str, doc: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), nullable=False, doc=doc)


def _day(name: str, doc: str) -> sa.Column[object]:
    return sa.Column(name, sa.Date(), nullable=False, doc=doc)


def _partial(name: str, where: str, *columns: str) -> sa.Index:
    return partial_index(name, *columns, where=sa.text(where))


# ---- the aggregator's own work ---------------------------------------------------------------------------------------


def _work() -> Iterator[Definition]:
    yield (
        "report_state",
        "How far a tenant's reports are; whoever adds sales to its aggregates holds the row.",
        True,
        (
            count("portions", "Portions of sales that were counted.", big=True),
            count("refreshed_portions", "How many of them are in what is computed from aggregates.", big=True),
            moment("refreshed_at", "When that was last computed.", nullable=True),
            text("rebuild", 10, "EMPTYING or COUNTING while all is counted anew from the logs.", nullable=True),
            moment("cursor_at", "When the last sale that was counted anew was confirmed.", nullable=True),
            identity("cursor_id", "The calculation log of that sale.", nullable=True),
            key("report_state"),
        ),
    )


# ---- the use of promotions -------------------------------------------------------------------------------------------


def _usage() -> Iterator[Definition]:
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
            _measured(Merge.GREATEST, _flag("fallen", "Whether it took something back somewhere.")),
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
    """A table from which reports of any period are summed."""
    return _aggregate(
        name,
        doc,
        (
            identity("promotion_id", "The promotion."),
            _of(_day(span, f"The first day of the {span}."), f"utc_{span}"),
            text("currency", 3, "The currency of the amounts."),
        ),
        _number("applications", "Confirmed transactions that it was applied to."),
        _total("total_discount", "What it gave."),
        _measured(Merge.LEAST, moment("first_applied_at", "When the first of them was confirmed."), "confirmed_at"),
        _measured(Merge.GREATEST, moment("last_applied_at", "When the last was."), "confirmed_at"),
        key_order=(span, "promotion_id", "currency"),
    )


def _ranked(name: str, doc: str, item: sa.Column[str]) -> Definition:
    rank: sa.Column[Any] = sa.Column(
        "rank", sa.Integer(), nullable=True, doc="Its place; 0: to be given one; null: beyond the last."
    )
    return _aggregate(
        name,
        doc,
        (identity("promotion_id", "The promotion."), text("currency", 3, "The currency of the amounts."), item),
        _number("applications", "Confirmed transactions that it was applied to."),
        _total("total_discount", "What it gave."),
        _measured(Merge.FIRST, rank),
        # Both indexes hold only the few ranked rows, so that neither reading nor ranking scans the others.
        _partial(f"ix_{name}__of_promotion", "rank IS NOT NULL", "tenant_id", "promotion_id", "currency", "rank"),
        # Not "rank > 0": a planner would take that for a range of the index, and use it for one promotion as well.
        _partial(f"ix_{name}__rank", "rank <> 0", "tenant_id", "rank", "promotion_id", "currency"),
    )


# ---- budgets and coupons ---------------------------------------------------------------------------------------------


def _budgets() -> Iterator[Definition]:
    budget, day = "The budget.", "The day on which the sales were confirmed, in UTC."
    yield _aggregate(
        "budget_totals",
        "What confirmed sales have done to each budget, and how fast it burns.",
        (identity("budget_id", budget),),
        *_consumption(),
        _measured(Merge.LEAST, moment("first_at", "When the first of the sales was confirmed."), "at"),
        _measured(Merge.GREATEST, moment("last_at", "When the last of them was confirmed."), "at"),
        _measured(Merge.LAST, _flag("changed", "Whether sales were added since it was reckoned.")),
        _amount("daily_burn", "What is consumed per day on average; null: not reckoned yet.", nullable=True),
        moment("reckoned_at", "When that was reckoned.", nullable=True),
    )
    yield _aggregate(
        "budget_utc_days",
        "What confirmed sales have done to each budget on each day of UTC.",
        (identity("budget_id", budget), _day("day", day)),
        *_consumption(),
    )
    yield _aggregate(
        "budget_promotion_utc_days",
        "What each promotion has taken from each budget on each day of UTC.",
        (identity("promotion_id", "The promotion."), identity("budget_id", budget), _day("day", day)),
        *_consumption(),
    )


def _consumption() -> Iterator[SchemaItem]:
    yield _total("consumed", "What sales took, less what returns gave back, in the budget's currency.")
    yield _total("uncovered", "What sales were granted and the budget could not cover.")
    yield _measured(Merge.DISTINCT, count("transactions", "Sales and returns that did.", big=True), "sale")


def _coupons() -> Iterator[Definition]:
    counts = {
        "issued": "Codes that have left the pool; of a shared code, how often it was issued.",
        "pooled": "ACTIVE and never issued.",
        "created": "Issued and not activated.",
        "active": "ACTIVE, the pool included.",
        "reserved": "RESERVED; of a shared code, by how many tills.",
        "redeemed": "REDEEMED; of a shared code, how often.",
        "expired": "EXPIRED.",
        "cancelled": "CANCELLED.",
        "external": "Those from outside that nobody issued; they have left the pool.",
    }
    yield _aggregate(
        "coupon_type_counts",
        "How many codes of each coupon type stand where, as last counted.",
        (identity("coupon_type_id", "The coupon type."),),
        *(_measured(Merge.LAST, count(name, doc, big=True)) for name, doc in counts.items()),
        _measured(Merge.LAST, moment("examined_at", "When those were last counted.")),
        _measured(Merge.LAST, moment("counted_at", "Since when the counts are what they are.")),
    )


# ---- pilots and experiments ------------------------------------------------------------------------------------------

# Baskets are summed together with their squares, so that variances can be computed from the sums. Squares are of
# amounts in thousandths of the currency, exact, and exceed the databases' number range: each is stored as three
# integers that are summed separately; the second counts 2^40, the third 2^80.


def _arms() -> Iterator[Definition]:
    yield _aggregate(
        "arm_days",
        "What the arms of pilots and experiments came to, by days on the clocks of the POS groups.",
        _arm_day("The day, on the clock of the POS group."),
        *_both_arms(),
        _amount("extra_revenue", "What the treated arm took beyond as many control baskets.", nullable=True),
        _measured(Merge.LAST, _flag("is_stale", "Whether reports do not know of it yet.")),
        sa.Index("ix_arm_days__day", "tenant_id", "day"),
        _partial("ix_arm_days__stale", "is_stale", "tenant_id", "promotion_id"),
    )
    yield _aggregate(
        "arm_utc_days", "The same by days in UTC, for exports of a period.", _arm_day("The day, in UTC."), *_both_arms()
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
    yield _aggregate(
        "basket_days",
        "All sales by day, on the clock of the POS group: of each POS group, and of all together.",
        (
            identity("pos_group_id", "The POS group; empty: all of the tenant."),
            _day("day", "The day."),
            text("currency", 3, "The currency."),
        ),
        *_baskets("", "all"),
        _measured(Merge.LAST, _flag("is_stale", "Whether analyses do not know of it yet.")),
        _partial("ix_basket_days__stale", "is_stale", "tenant_id", "day"),
    )


def _arm_day(day: str) -> tuple[sa.Column[Any], ...]:
    return identity("promotion_id", "The promotion."), _day("day", day), text("currency", 3, "The currency.")


def _both_arms() -> tuple[SchemaItem, ...]:
    return (
        _measured(Merge.LAST, text("trial", 10, "PILOT or EXPERIMENT.")),
        _measured(Merge.LAST, text("promotion_name", 255, "What it was called.", nullable=True)),
        *_baskets("treated_", "the treated arm"),
        _number("treated_conversions", "Those that hold a line which the promotion targets."),
        _total("treated_discount", "What the promotion gave."),
        *_baskets("control_", "the control arm"),
        _number("control_conversions", "Those that hold a line which the promotion targets."),
    )


def _baskets(prefix: str, whose: str) -> tuple[SchemaItem, ...]:
    return (
        _number(f"{prefix}transactions", f"Transactions of {whose}."),
        _total(f"{prefix}revenue", "Sum of their grand totals."),
        _number(f"{prefix}squares_0", "Sum of the squares of these: the last 40 bits of each."),
        _number(f"{prefix}squares_1", "The 40 bits before."),
        _number(f"{prefix}squares_2", "What is before these."),
    )


# ---- advice ----------------------------------------------------------------------------------------------------------


def _advice() -> Iterator[Definition]:
    yield _aggregate(
        "advice_shown",
        "How many evaluations returned advice, by day.",
        _advice_of_a_day(),
        _measured(Merge.LAST, text("promotion_name", 255, "What the promotion was called when it was last shown.")),
        _number("shown", "Evaluations."),
        sa.Index("ix_advice_shown__day", "tenant_id", "kind", "day"),
    )
    yield _aggregate(
        "advice_converted",
        "What came of advice, by the day on which it was shown.",
        _advice_of_a_day(),
        _number("converted", "Sales."),
        _total("extra_revenue", "What they came to beyond the basket."),
        _total("total_discount", "What the promotion gave in them."),
    )
    kind, promotion, *rest = _advice_of_a_day()
    yield _aggregate(
        "advice_open",
        "Advice that a customer has left with, and may still come back for.",
        (text("customer_id", 50, "The customer."), kind, promotion),
        *(_measured(Merge.LAST, one) for one in rest),
        _measured(Merge.LAST, _amount("grand_total", "What was paid then.")),
        _kept(30, _measured(Merge.LAST, moment("shown_at", "When that sale was confirmed."))),
        sa.Index("ix_advice_open__age", "shown_at"),
    )
    yield (
        "advice_walk",
        "How far evaluations have been looked through for advice; one row.",
        False,
        (
            count("id", "1.", default=None),
            text("place", None, "The place in their order, see `store.clockwork.purging.Place`."),
            key("advice_walk", "id", tenant=False),
        ),
    )


def _advice_of_a_day() -> tuple[sa.Column[Any], ...]:
    return (
        text("kind", 10, "GAP, NEAR_MISS, NUDGE, SAVING or FREE_ITEM."),
        identity("promotion_id", "The promotion."),
        _day("day", "The day, on the clock of the POS group."),
        text("currency", 3, "The currency of the basket."),
    )
