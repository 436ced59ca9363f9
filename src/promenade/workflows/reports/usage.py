"""Usage of promotions: how often, when, where and to which articles they applied, and their discounts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

from promenade.store.driver.unit import Session
from promenade.store.reports import usage as store
from promenade.store.reports.sums import Tally, add_rows
from promenade.store.reports.undone import Applied, correct_moments, drop_empty
from promenade.store.reports.uplift import correct_applied
from promenade.store.reports.usage import PromotionNames
from promenade.workflows.context import Context
from promenade.workflows.reports.arms_pace import in_portions
from promenade.workflows.reports.exports import Period, Row, export, require_kept
from promenade.workflows.reports.folds import Write, fold, refresher
from promenade.workflows.reports.sales import LoggedSale

CONTROL = "CONTROL"
NOWHERE = ""
TO_BE_PLACED = 0  # the `rank` of rows that have grown and had none
FILLED_AT_ONCE = 10  # promotions, of 168 hours each: locks SQLite's writer no longer than a few sales do
PLACED_AT_ONCE = 32  # promotions

_NOTHING = Decimal(0)

# ---- what sales come to -------------------------------------------------------------------------------------------


def _bounds() -> tuple[Decimal, ...]:
    """Return 0.5, 1, 2, 5, 10 and so on, up to the largest amount of a column, with their negatives and zero."""
    above = [Decimal(digit).scaleb(power) for power in range(-1, 15) for digit in (1, 2, 5)][2:]
    above.append(Decimal("999999999999999.999"))
    return (*(-bound for bound in reversed(above)), _NOTHING, *above)


_BOUNDS = _bounds()


def bucket_of(amount: Decimal) -> tuple[Decimal, Decimal]:
    """Return the bounds of an amount's bucket: from (included) and to (excluded)."""
    at = min(bisect_right(_BOUNDS, amount), len(_BOUNDS) - 1)
    return _BOUNDS[at - 1], _BOUNDS[at]


class _Application(NamedTuple):
    """One promotion in one sale: the basis of every report about the use of promotions."""

    promotion_id: str
    promotion_name: str
    currency: str
    pos_group_id: str
    confirmed_at: datetime
    day: date  # this and the next two in the POS group's local time
    weekday: int
    hour: int
    utc_day: date
    utc_month: date
    total_discount: Decimal
    bucket_from: Decimal
    bucket_to: Decimal
    applications: int = 1
    transactions: int = 1
    rank: int = TO_BE_PLACED

    @property
    def fallen(self) -> bool:
        """Whether it took more back than it gave: others may have a better place then."""
        return self.total_discount < 0


class _ArticleDiscount(NamedTuple):
    """The amount one promotion took off all pieces of one article in one sale."""

    promotion_id: str
    currency: str
    article_number: str
    total_discount: Decimal
    applications: int = 1
    rank: int = TO_BE_PLACED

    @property
    def fallen(self) -> bool:
        """As of an application."""
        return self.total_discount < 0


def _applications(sale: LoggedSale) -> Iterator[_Application]:
    given: dict[str, Decimal] = {}
    names: dict[str, str] = {}
    for one in sale.promotions:
        if one.pilot_arm != CONTROL:
            given[one.promotion_id] = given.get(one.promotion_id, _NOTHING) + one.total_discount
            names[one.promotion_id] = one.promotion_name
    at, local = sale.confirmed_at, sale.local_at
    day, utc_day = local.date(), at.date()
    of_sale = (
        sale.currency, sale.pos_group_id or NOWHERE, at,
        day, day.isoweekday(), local.hour, utc_day, utc_day.replace(day=1),
    )  # fmt: skip
    for promotion_id, amount in given.items():
        yield _Application(promotion_id, names[promotion_id], *of_sale, amount, *bucket_of(amount))


def _article_discounts(sale: LoggedSale) -> Iterator[_ArticleDiscount]:
    given: dict[tuple[str, str], Decimal] = {}
    for line in sale.lines:
        for share in line.discounts:
            key = share.promotion_id, line.article_number
            given[key] = given.get(key, _NOTHING) + share.amount
    for (promotion_id, article_number), amount in given.items():
        yield _ArticleDiscount(promotion_id, sale.currency, article_number, amount)


class _Hours:
    """Applications added up by promotion, currency and hour: most tables ask for no more than that.

    So a portion of sales is a few facts for each of these tables, and not one for each sale.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[Any, ...], list[Any]] = {}

    def add(self, one: _Application) -> None:
        key = one.promotion_id, one.currency, one.utc_day, one.day, one.hour
        found = self._found.get(key)
        if found is None:
            self._found[key] = [one, one, one.total_discount, 1]
            return
        if one.confirmed_at < found[0].confirmed_at:
            found[0] = one
        if one.confirmed_at >= found[1].confirmed_at:
            found[1] = one
        found[2] += one.total_discount
        found[3] += 1

    def facts(self) -> Iterator[_Application]:
        """Yield the first application of each hour with the sums of all, and the last one, which adds nothing more."""
        for first, last, total, count in self._found.values():
            yield first._replace(total_discount=total, applications=count, transactions=count)
            if last is not first:
                yield last._replace(total_discount=_NOTHING, applications=0, transactions=0)


class _Groups:
    """Applications added up by what ``key`` returns of them, for the tables that ask for no moment."""

    def __init__(self, key: Callable[[_Application], tuple[Any, ...]]) -> None:
        self._key = key
        self._found: dict[tuple[Any, ...], list[Any]] = {}

    def add(self, one: _Application) -> None:
        found = self._found.get(key := self._key(one))
        if found is None:
            self._found[key] = [one, one.total_discount, 1]
        else:
            found[1] += one.total_discount
            found[2] += 1

    def facts(self) -> Iterator[_Application]:
        """Yield one application of each group with the sums of all."""
        for one, total, count in self._found.values():
            yield one._replace(total_discount=total, applications=count, transactions=count)


_OF_HOURS = (
    "PromotionPerformance", "PromotionPerformanceByCurrency", "PromotionUsageByDay", "PromotionUsageByDayAndHour",
    "PromotionUsageByHour", "PromotionUsageByDayOfWeek", "PromotionHourOfDay", "promotion_utc_days",
    "promotion_utc_months",
)  # fmt: skip
_OF_BUCKETS = "PromotionDiscountDistribution"
_OF_POS_GROUPS = "promotion_pos_group_sums"
_OF_ARTICLES = "promotion_article_sums"
_TO_BE_PLACED = "promotion_places_due"


@fold("usage", tables=("promotion_hours_due", _TO_BE_PLACED, *_OF_HOURS, _OF_BUCKETS, _OF_POS_GROUPS, _OF_ARTICLES))
async def add_usage(session: Session, sales: Sequence[LoggedSale], at: datetime, sign: int = 1) -> Write:
    """Add sales to every report about the use of promotions, or take cancelled ones out again."""
    hours = _Hours()
    buckets = _Groups(attrgetter("promotion_id", "currency", "bucket_from"))
    pos_groups = _Groups(attrgetter("promotion_id", "currency", "pos_group_id"))
    articles = Tally(_OF_ARTICLES)
    pairs: set[tuple[str, str]] = set()
    fallen: dict[str, bool] = {}  # promotions whose POS groups and articles are to be placed again
    moments: set[Applied] = set()
    for sale in sales:
        for one in _applications(sale):
            hours.add(one)
            buckets.add(one)
            pos_groups.add(one)
            pairs.add((one.promotion_id, one.currency))
            fallen[one.promotion_id] = one.fallen or fallen.get(one.promotion_id, sign < 0)
            if sign < 0:
                moments.add(Applied(one.promotion_id, one.currency, one.utc_day, one.confirmed_at))
        for share in _article_discounts(sale):
            articles.add(share)
            fallen[share.promotion_id] = share.fallen or fallen.get(share.promotion_id, sign < 0)
    added = []
    for names, found in (_OF_HOURS, hours), ((_OF_BUCKETS,), buckets), ((_OF_POS_GROUPS,), pos_groups):
        added.append(Tally(*names))
        for one in found.facts():
            added[-1].add(one)
    added.append(articles)

    async def write(session: Session) -> int:
        if not pairs:
            return 0
        # These rows first: the ranking also locks them before the sums.
        placed = [{"promotion_id": one, "fallen": has_fallen} for one, has_fallen in sorted(fallen.items())]
        await add_rows(session, _TO_BE_PLACED, placed)
        if sign > 0:
            await store.note_new(session, pairs)
        written = sum([await one.write(session, sign) for one in added])
        if sign < 0:
            await drop_empty(session, moments)
            await correct_moments(session, moments)
            # Analyses begin with the first day of use, which these reports know.
            await correct_applied(session, {promotion_id for promotion_id, _ in pairs})
        return written

    return write


# ---- what is computed of the sums ---------------------------------------------------------------------------------


@refresher("places")
async def give_places(context: Context, tenant_id: str, at: datetime) -> int:
    """Rank the POS groups and articles with the highest discounts of each promotion."""
    return await _portions(context, tenant_id, partial(store.give_places, limit=PLACED_AT_ONCE))


@refresher("hoursOfDay")
async def fill_hours(context: Context, tenant_id: str, at: datetime) -> int:
    """Add rows for all 168 hours of the week for promotions that applied for the first time."""
    return await _portions(context, tenant_id, partial(store.fill_hours, limit=FILLED_AT_ONCE))


async def _portions(context: Context, tenant_id: str, work: Callable[[Session], Awaitable[int]]) -> int:
    async def portion() -> int:
        return await context.database.write(work, tenant=tenant_id, durable=False)

    return await in_portions(context, tenant_id, portion)


# ---- exports ------------------------------------------------------------------------------------------------------

NAMED_AT_ONCE = 500

_UNKNOWN = PromotionNames(None, None, None)
_THOUSANDTH = Decimal("0.001")


@export("promotionPerformance")
async def promotion_performance(context: Context, period: Period) -> AsyncIterator[Row]:
    """Yield the promotions that applied within the period, by currency, the highest total discount first."""

    async def look(session: Session) -> dict[tuple[str, str], dict[str, Any]]:
        await require_kept(session, period)
        sums = await store.sums_of(session, period.since, period.until, period.promotion_id)
        if period.stakeholder_id is None:
            return sums
        paid = await store.paid_by(session, period.stakeholder_id)
        return {key: one for key, one in sums.items() if key[0] in paid}

    found = await context.database.read(look, tenant=period.tenant_id)
    ordered = sorted(found, key=lambda one: (one[1], -found[one]["total_discount"], one[0]))
    for start in range(0, len(ordered), NAMED_AT_ONCE):
        some = ordered[start : start + NAMED_AT_ONCE]
        reading = partial(store.names_of, promotions=sorted({promotion_id for promotion_id, _ in some}))
        names = await context.database.read(reading, tenant=period.tenant_id)
        for promotion_id, currency in some:
            yield _row(promotion_id, currency, found[promotion_id, currency], names.get(promotion_id, _UNKNOWN))


def _row(promotion_id: str, currency: str, sums: Mapping[str, Any], names: PromotionNames) -> Row:
    average = sums["total_discount"] / sums["applications"]
    return {
        "promotion_id": promotion_id,
        "promotion_name": names.name,
        "promotion_status": names.status,
        "promotion_type": names.type,
        "applications_count": int(sums["applications"]),
        "total_discount_given": sums["total_discount"],
        "avg_discount_per_tx": average.quantize(_THOUSANDTH, ROUND_HALF_UP),
        "first_applied_at": sums["first_applied_at"],
        "last_applied_at": sums["last_applied_at"],
        "currency": currency,
    }
