"""How often promotions were applied, when, where and to what, and what they gave."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from promenade.store import usage_report_sums as store
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.reporting import usage_export
from promenade.workflows.reporting.arms_pace import Pace
from promenade.workflows.reporting.folds import fold, refresher
from promenade.workflows.reporting.sales import LoggedPromotion, LoggedSale

__all__ = ["add_usage", "bucket_of", "fill_hours", "give_places", "usage_export"]

CONTROL = "CONTROL"
NOWHERE = ""
FILLED_AT_ONCE = 10  # promotions, of 168 hours each: SQLite's writer is held no longer than for a few sales
PLACED_AT_ONCE = 32  # promotions

_NOTHING = Decimal(0)

# ---- what sales come to -------------------------------------------------------------------------------------------


def _bounds() -> tuple[Decimal, ...]:
    """0.5, 1, 2, 5, 10 and so on, to the largest amount that a column can hold; the same below zero; and zero."""
    above = [Decimal(digit).scaleb(power) for power in range(-1, 15) for digit in (1, 2, 5)][2:]
    above.append(Decimal("999999999999999.999"))
    return (*(-bound for bound in reversed(above)), _NOTHING, *above)


_BOUNDS = _bounds()


def bucket_of(amount: Decimal) -> tuple[Decimal, Decimal]:
    """From which bound to before which an amount lies."""
    at = min(bisect_right(_BOUNDS, amount), len(_BOUNDS) - 1)
    return _BOUNDS[at - 1], _BOUNDS[at]


@dataclass(slots=True)
class _Sums:
    """Sums by key: how many applications, and what they gave."""

    found: dict[tuple[Any, ...], tuple[int, Decimal]] = field(default_factory=dict)

    def add(self, key: tuple[Any, ...], amount: Decimal) -> None:
        number, total = self.found.get(key, (0, _NOTHING))
        self.found[key] = number + 1, total + amount

    def rows(self, names: Sequence[str], counted: Sequence[str], given: str | None) -> list[dict[str, Any]]:
        """Rows in the order of their keys."""
        rows = []
        for key in sorted(self.found):
            number, total = self.found[key]
            row = dict(zip(names, key, strict=True)) | dict.fromkeys(counted, number)
            if given is not None:
                row[given] = total
            rows.append(row)
        return rows


@dataclass(slots=True)
class _Span:
    """When promotions were first and last applied, by key, and what they were called at the last."""

    found: dict[tuple[Any, ...], tuple[datetime, datetime, str]] = field(default_factory=dict)

    def add(self, key: tuple[Any, ...], at: datetime, name: str) -> None:
        known = self.found.get(key)
        if known is None:
            self.found[key] = at, at, name
            return
        first, last, latest = known
        self.found[key] = min(first, at), max(last, at), name if at >= last else latest


_APPLICATIONS = ("applications",)
_BOTH = ("applications", "transactions")
_BY: tuple[tuple[str, tuple[str, ...], tuple[str, ...], str | None], ...] = (
    ("PromotionUsageByDay", ("promotion_id", "day", "currency"), _BOTH, "total_discount"),
    ("PromotionUsageByHour", ("promotion_id", "hour", "currency"), _BOTH, "total_discount"),
    ("PromotionUsageByDayOfWeek", ("promotion_id", "weekday", "currency"), _BOTH, "total_discount"),
    ("PromotionHourOfDay", ("promotion_id", "weekday", "hour", "currency"), ("transactions",), "total_discount"),
    (
        "PromotionDiscountDistribution",
        ("promotion_id", "bucket_from", "bucket_to", "currency"),
        ("transactions",),
        None,
    ),
    ("promotion_utc_days", ("promotion_id", "day", "currency"), _APPLICATIONS, "total_discount"),
    ("promotion_utc_months", ("promotion_id", "month", "currency"), _APPLICATIONS, "total_discount"),
    ("promotion_pos_group_sums", ("promotion_id", "currency", "pos_group_id"), _APPLICATIONS, "total_discount"),
    ("promotion_article_sums", ("promotion_id", "currency", "article_number"), _APPLICATIONS, "total_discount"),
)
"""For each table its key, what counts applications, and what they gave."""

_SPANNED = frozenset({"promotion_utc_days", "promotion_utc_months"})


class _Tally:
    """What some sales come to, for every table."""

    def __init__(self) -> None:
        self.sums = {name: _Sums() for name, *_ in _BY}
        self.performance: dict[str, tuple[int, Decimal, set[str]]] = {}
        self.spans = {name: _Span() for name in (*_SPANNED, "PromotionPerformance")}
        self.fallen: dict[str, bool] = {}

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """Promotions and currencies."""
        return {(key[0], key[-1]) for key in self.sums["PromotionUsageByDayOfWeek"].found}

    def add(self, sale: LoggedSale) -> None:
        applied: dict[str, tuple[Decimal, LoggedPromotion]] = {}
        for one in sale.promotions:
            if one.pilot_arm != CONTROL:
                before = applied[one.promotion_id][0] if one.promotion_id in applied else _NOTHING
                applied[one.promotion_id] = before + one.total_discount, one
        for promotion_id, (amount, promotion) in applied.items():
            self._add_promotion(sale, promotion_id, amount, promotion.promotion_name)
        articles: dict[tuple[str, str, str], Decimal] = {}
        for line in sale.lines:
            for share in line.discounts:
                key = (share.promotion_id, sale.currency, line.article_number)
                articles[key] = articles.get(key, _NOTHING) + share.amount
        for key, amount in articles.items():
            self._add_ranked("promotion_article_sums", key, amount)

    def _add_promotion(self, sale: LoggedSale, promotion_id: str, amount: Decimal, name: str) -> None:
        currency, local, at = sale.currency, sale.local_at, sale.confirmed_at
        day, weekday = local.date(), local.isoweekday()
        utc_day = at.date()
        sums = self.sums
        sums["PromotionUsageByDay"].add((promotion_id, day, currency), amount)
        sums["PromotionUsageByHour"].add((promotion_id, local.hour, currency), amount)
        sums["PromotionUsageByDayOfWeek"].add((promotion_id, weekday, currency), amount)
        sums["PromotionHourOfDay"].add((promotion_id, weekday, local.hour, currency), amount)
        sums["PromotionDiscountDistribution"].add((promotion_id, *bucket_of(amount), currency), amount)
        for table, span in (("promotion_utc_days", utc_day), ("promotion_utc_months", utc_day.replace(day=1))):
            sums[table].add((promotion_id, span, currency), amount)
            self.spans[table].add((promotion_id, span, currency), at, name)
        self._add_ranked("promotion_pos_group_sums", (promotion_id, currency, sale.pos_group_id or NOWHERE), amount)
        number, total, currencies = self.performance.get(promotion_id, (0, _NOTHING, set()))
        self.performance[promotion_id] = number + 1, total + amount, currencies | {currency}
        self.spans["PromotionPerformance"].add((promotion_id,), at, name)

    def _add_ranked(self, table: str, key: tuple[str, str, str], amount: Decimal) -> None:
        self.sums[table].add(key, amount)
        self.fallen[key[0]] = self.fallen.get(key[0], False) or amount < 0

    def performances(self) -> list[dict[str, Any]]:
        """Rows of PromotionPerformance."""
        rows = []
        for promotion_id in sorted(self.performance):
            number, total, currencies = self.performance[promotion_id]
            first, last, name = self.spans["PromotionPerformance"].found[promotion_id,]
            rows.append(
                {
                    "promotion_id": promotion_id,
                    "applications_count": number,
                    "total_discount_given": total,
                    "first_applied_at": first,
                    "last_applied_at": last,
                    "currency": next(iter(currencies)) if len(currencies) == 1 else None,
                    "logged_name": name,
                }
            )
        return rows

    def rows(self, table: str, key: Sequence[str], counted: Sequence[str], given: str | None) -> list[dict[str, Any]]:
        """Rows of any other table."""
        rows = self.sums[table].rows(key, counted, given)
        if table in _SPANNED:
            spans = self.spans[table].found
            for row in rows:
                first, last, _ = spans[tuple(row[name] for name in key)]
                row |= {"first_applied_at": first, "last_applied_at": last}
        return rows


@fold(
    "usage", tables=("PromotionPerformance", "promotion_hours_due", "promotion_places_due", *(name for name, *_ in _BY))
)
async def add_usage(session: Session, sales: Sequence[LoggedSale], at: datetime) -> int:
    """Add sales to every report about the use of promotions."""
    tally = _Tally()
    for sale in sales:
        tally.add(sale)
    if not tally.performance:
        return 0
    # First, as whoever gives places takes these rows before the sums as well.
    await store.note_applied(session, tally.fallen)
    await store.note_new(session, tally.pairs)
    written = await store.add_performance(session, tally.performances())
    for table, key, counted, given in _BY:
        written += await store.add_sums(session, table, tally.rows(table, key, counted, given))
    return written


# ---- what is computed of the sums ---------------------------------------------------------------------------------


@refresher("places")
async def give_places(context: Context, tenant_id: str, at: datetime) -> int:
    """Give the POS groups and articles in which promotions gave most their places."""

    async def work(session: Session) -> int:
        return await store.give_places(session, PLACED_AT_ONCE)

    return await _portions(context, tenant_id, work)


@refresher("hoursOfDay")
async def fill_hours(context: Context, tenant_id: str, at: datetime) -> int:
    """Give promotions that were applied for the first time all 168 hours of the week."""

    async def work(session: Session) -> int:
        return await store.fill_hours(session, FILLED_AT_ONCE)

    return await _portions(context, tenant_id, work) * len(store.HOURS)


async def _portions(context: Context, tenant_id: str, work: Callable[[Session], Awaitable[int]]) -> int:
    """Repeat a unit of work until it finds nothing to do, or others are to have their turn; how much it did."""
    done, pace = 0, Pace(context, tenant_id)
    while found := await context.database.write(work, tenant=tenant_id, durable=False):
        done += found
        if not await pace.goes_on():
            break
    return done
