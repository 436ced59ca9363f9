"""Sales during a promotion compared with a baseline of as many days before it, in each currency.

The baseline begins with the first sale that was seen, and may be shorter: days before it say nothing.
All sales are added up by POS group and day. An analysis is computed when one of its days has changed, and once a day
for running promotions. The current day is not over, so its sales are not included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from functools import partial
from typing import Any

from promenade.engine.pilots import treated_groups
from promenade.store.access.tenants import significance_level
from promenade.store.driver.unit import Session
from promenade.store.reports.arms import Sample
from promenade.store.reports.trials import CONTROL
from promenade.store.reports.uplift import (
    ALL_GROUPS,
    Subject,
    add_baskets,
    basket_days,
    first_sales,
    keep_analyses,
    mark_stale,
    note_applied,
    read_subjects,
    take_stale_days,
    time_zones,
)
from promenade.workflows.context import Context
from promenade.workflows.reports.arms_counting import thousandths
from promenade.workflows.reports.arms_pace import in_portions
from promenade.workflows.reports.arms_results import amount, percent, probability
from promenade.workflows.reports.folds import Write, fold, refresher
from promenade.workflows.reports.sales import LoggedSale, zone_of
from promenade.workflows.reports.statistics import is_significant, uplift_percent, welch

PORTION = 20  # promotions analysed per unit of work
LENGTH_MAX = 731  # days; of a longer promotion only the first ones are compared with as many before
# Dates with valid neighbours in every time zone.
_FIRST = datetime(1900, 1, 1, tzinfo=UTC)
_LAST = datetime(9000, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)

Days = tuple[date, date]
"""The first and the last day of a period."""


@fold("baskets", tables=("basket_days", "PromotionUpliftAnalysis", "PromotionUpliftByCurrency"))
async def add(session: Session, sales: Sequence[LoggedSale], at: datetime, sign: int = 1) -> Write:
    """Add sales to their days, and note which promotions applied; or take cancelled sales out again."""
    days: dict[tuple[str, date, str], Sample] = {}
    applied: dict[str, tuple[date, str]] = {}
    for sale in sales:
        day, total = sale.local_at.date(), thousandths(sale.grand_total)
        for group in (ALL_GROUPS, sale.pos_group_id):
            if group is not None:
                days.setdefault((group, day, sale.currency), Sample()).add(total)
        for one in sale.promotions:
            if one.pilot_arm != CONTROL and (one.promotion_id not in applied or day < applied[one.promotion_id][0]):
                applied[one.promotion_id] = (day, one.promotion_name)

    async def write(session: Session) -> int:
        if sign > 0:
            await note_applied(session, applied)
        return await add_baskets(session, days, sign)

    return write


@refresher("uplift")
async def refresh(context: Context, tenant_id: str, at: datetime) -> int:
    """Analyse the promotions with changes; return how many."""

    async def mark(session: Session) -> None:
        # The last completed day in the time zone that is furthest ahead.
        over = (at.astimezone(UTC) + timedelta(hours=14)).date() - _DAY
        days = [day for day in await take_stale_days(session) if day <= over]
        await mark_stale(session, _ranges(days), at)

    await context.database.write(mark, tenant=tenant_id, durable=False)

    async def portion() -> int:
        analyses = await context.database.read(lambda session: _analyses(session, at), tenant=tenant_id)
        rows = [one.row(at) for one in analyses]
        details = {one.subject.promotion_id: one.by_currency(at) for one in analyses if one.span is not None}
        if rows:
            keeping = partial(keep_analyses, rows=rows, by_currency=details)
            await context.database.write(keeping, tenant=tenant_id, durable=False)
        return len(rows)

    return await in_portions(context, tenant_id, portion, full=PORTION)


def _ranges(days: Sequence[date]) -> list[tuple[date, date]]:
    """Combine sorted days into ranges, both ends included."""
    found: list[tuple[date, date]] = []
    for day in days:
        if found and day - found[-1][1] <= _DAY:
            found[-1] = (found[-1][0], day)
        else:
            found.append((day, day))
    return found


@dataclass(frozen=True, slots=True)
class _Span:
    """The first day of a promotion and its last day so far; ``last`` None: there is none yet.

    ``wanted_from`` is the first day whose sales would change the analysis, even if none are known yet. ``due_at`` is
    when the next day is added, None: never.
    """

    first: date
    last: date | None
    wanted_from: date
    due_at: datetime | None

    def since(self, opened: date) -> _Span:
        """Return the span without the days before the first sale."""
        return self if opened <= self.first else replace(self, first=opened)

    def baseline(self, opened: date) -> Days | None:
        """Return the first and last day of the baseline, which begins with the first sale; None: no sale before."""
        first, last = max(_as_long_before(self.first, self.last), opened), self.first - _DAY
        return (first, last) if first <= last else None

    @property
    def days(self) -> Days | None:
        """Return the first and last day of the promotion so far."""
        return None if self.last is None or self.last < self.first else (self.first, self.last)


@dataclass(frozen=True, slots=True)
class _Sold:
    """The sales in one currency where a promotion runs: the day of the very first, and the days of both periods."""

    opened: date
    days: Mapping[date, Sample]


@dataclass(frozen=True, slots=True)
class _Analysis:
    subject: Subject
    span: _Span | None
    sold: Mapping[str, _Sold]
    level: Decimal

    def row(self, at: datetime) -> dict[str, Any]:
        """Return the columns of PromotionUpliftAnalysis."""
        subject, span = self.subject, self.span
        told = {
            "promotion_id": subject.promotion_id,
            "first_applied_on": subject.first_applied_on,
            "computed_at": at,
            "due_at": None if span is None else span.due_at,
        }
        if span is None:  # the promotion was deleted, and its analysis stays unchanged
            return told
        found = {currency: _Comparison.of(span, sold) for currency, sold in self.sold.items()}
        # With several currencies, the only one with sales in both periods, so that like is compared with like.
        shared = [currency for currency, one in found.items() if one.before.baskets.count and one.during.baskets.count]
        chosen = list(found) if len(found) == 1 else shared
        currency = chosen[0] if len(chosen) == 1 else None
        opened = min((one.opened for one in self.sold.values()), default=span.first)
        compared = found[currency] if currency is not None else _Comparison.of(span, _Sold(opened, {}))
        counts = {
            "wanted_from": None if span.last is None else span.wanted_from,
            "baseline_transactions": sum(one.before.baskets.count for one in found.values()),
            "promotion_transactions": sum(one.during.baskets.count for one in found.values()),
        }
        return told | compared.columns(currency, self.level) | counts

    def by_currency(self, at: datetime) -> list[dict[str, Any]]:
        """Return the rows of PromotionUpliftByCurrency."""
        if self.span is None or self.span.last is None:
            return []
        key = {"promotion_id": self.subject.promotion_id, "computed_at": at}
        return [
            key | _Comparison.of(self.span, sold).columns(currency, self.level) for currency, sold in self.sold.items()
        ]


@dataclass(frozen=True, slots=True)
class _Period:
    """The totals of a period in one currency: its baskets, and its days' revenues."""

    baskets: Sample = field(default_factory=Sample)
    daily: Sample = field(default_factory=Sample)

    @classmethod
    def of(cls, sold: Mapping[date, Sample], days: Days | None) -> _Period:
        baskets, daily = Sample(), Sample()
        for number in range(_length(days)):
            one = sold.get(days[0] + number * _DAY, Sample())  # type: ignore[index]
            baskets.join(one)
            daily.add(one.total)
        return cls(baskets, daily)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Both periods in one currency; None: a period without days."""

    baseline: Days | None
    promotion: Days | None
    first: date
    before: _Period
    during: _Period

    @classmethod
    def of(cls, whole: _Span, sold: _Sold) -> _Comparison:
        span = whole.since(sold.opened)
        baseline = None if span.days is None else span.baseline(sold.opened)
        periods = (_Period.of(sold.days, days) for days in (baseline, span.days))
        return cls(baseline, span.days, span.first, *periods)

    def columns(self, currency: str | None, level: Decimal) -> dict[str, Any]:
        """Return the columns of UpliftFields and the currency; amounts are null without a currency."""
        baseline, promotion = self.baseline or (None, None), self.promotion or (self.first, None)
        before, during = (self.before, self.during) if currency is not None else (_Period(), _Period())
        usual = before.daily.mean if before.baskets.count else None
        by_basket = welch(during.baskets, before.baskets)
        by_day = welch(during.daily, before.daily) if usual is not None else None
        return {
            "currency": currency,
            "baseline_from": baseline[0],
            "baseline_to": baseline[1],
            "promotion_from": promotion[0],
            "promotion_to": promotion[1],
            "baseline_days": _length(self.baseline),
            "promotion_days": _length(self.promotion),
            "baseline_transactions": before.baskets.count,
            "promotion_transactions": during.baskets.count,
            "baseline_avg_basket": amount(before.baskets.mean, currency),
            "promotion_avg_basket": amount(during.baskets.mean, currency),
            "baseline_revenue_per_day": amount(before.daily.mean, currency),
            "promotion_revenue_per_day": amount(during.daily.mean, currency),
            "uplift_pct": percent(uplift_percent(during.baskets.mean, before.baskets.mean)),
            "p_value": probability(by_basket),
            "is_significant": is_significant(by_basket, level),
            "significance_level": level,
            "revenue_per_day_uplift_pct": percent(uplift_percent(during.daily.mean, usual)),
            "revenue_per_day_p_value": probability(by_day),
        }


def _as_long_before(first: date, last: date | None) -> date:
    """Return the first day of as many days before ``first`` as there are to ``last``; one, if there is no last."""
    length = 1 if last is None else (last - first).days + 1
    return date.fromordinal(max(1, first.toordinal() - length))


def _length(days: Days | None) -> int:
    return 0 if days is None else (days[1] - days[0]).days + 1


# --- Which days and which POS groups ---------------------------------------------------------------------------------


async def _analyses(session: Session, at: datetime) -> list[_Analysis]:
    subjects = await read_subjects(session, PORTION)
    if not subjects:
        return []
    zones, level = await time_zones(session), await significance_level(session)
    reading = _Reading(session)
    found: list[_Analysis] = []
    for one in subjects:
        if one.definition is None:
            found.append(_Analysis(one, None, {}, level))
            continue
        groups = _groups(one)
        opened = await reading.opened(groups, one.definition.currency)
        span = _span(one, _zone(groups, zones), at, min(opened.values(), default=None))
        found.append(_Analysis(one, span, await reading.sold(groups, span, opened), level))
    return found


class _Reading:
    """Reads the sales of POS groups by currency; what several promotions need is read once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._opened: dict[frozenset[str], Mapping[str, date]] = {}
        self._days: dict[tuple[frozenset[str], date, date], Mapping[str, Mapping[date, Sample]]] = {}

    async def opened(self, groups: frozenset[str], currency: str | None) -> dict[str, date]:
        """Return the day of the first sale in each currency; in ``currency`` alone if it is given."""
        if groups not in self._opened:
            self._opened[groups] = await first_sales(self._session, groups)
        return {name: day for name, day in self._opened[groups].items() if currency in (None, name)}

    async def sold(self, groups: frozenset[str], span: _Span, opened: Mapping[str, date]) -> dict[str, _Sold]:
        """Return the sales of a promotion's days and as many days before, in currencies with sales on these days."""
        if span.last is None:
            return {}
        key = (groups, _as_long_before(span.first, span.last), span.last)
        if key not in self._days:
            self._days[key] = await basket_days(self._session, *key)
        return {
            currency: _Sold(opened[currency], days)
            for currency, days in sorted(self._days[key].items())
            if currency in opened and any(one.count for one in days.values())
        }


def _groups(subject: Subject) -> frozenset[str]:
    """Return the POS groups in which the promotion runs; `ALL_GROUPS` alone: everywhere."""
    definition = subject.definition
    assert definition is not None  # noqa: S101 - nobody asks of one that is deleted
    if definition.is_experiment and definition.experiment_group_id is not None:
        return frozenset((definition.experiment_group_id,))
    if definition.status == "PILOT" and definition.pilot is not None:
        return treated_groups(definition.pilot)
    return definition.pos_groups or frozenset((ALL_GROUPS,))


def _zone(groups: frozenset[str], zones: Mapping[str, str]) -> tzinfo:
    """Return the most common time zone of these POS groups; if several are, the first by name."""
    asked = zones.values() if ALL_GROUPS in groups else [zones[one] for one in groups if one in zones]
    if not asked:
        return UTC
    return zone_of(min(Counter(asked).items(), key=lambda one: (-one[1], one[0]))[0])


def _span(subject: Subject, zone: tzinfo, at: datetime, opened: date | None) -> _Span:
    """Return the span from the promotion's start to yesterday.

    It starts on the day on which the promotion was both valid and active, or first applied if that was earlier.
    ``opened`` is the day of the very first sale where it runs: there is no data for the days before.
    """
    definition = subject.definition
    assert definition is not None  # noqa: S101 - nobody asks of one that is deleted
    opens, closes = definition.campaign_window or (None, None)
    begun = [one for one in (definition.valid_from, opens, subject.begun_at) if one is not None]
    ended = [one for one in (definition.valid_to, closes, subject.ended_at) if one is not None]
    first = subject.first_applied_on
    if begun:
        first = min(first, _day(max(begun), zone))
    begins = max(first, _FIRST.date())
    first = max(begins, opened or begins)
    yesterday = _day(at, zone) - _DAY
    last = first + (LENGTH_MAX - 1) * _DAY
    if ended:
        last = min(last, _day(min(ended) - _INSTANT, zone))
    until = min(last, yesterday)
    due_at = datetime.combine(max(yesterday + _DAY, first) + _DAY, time(), zone) if last > yesterday else None
    return _Span(first, until if until >= first else None, _as_long_before(begins, max(begins, until)), due_at)


def _day(moment: datetime, zone: tzinfo) -> date:
    return min(max(moment, _FIRST), _LAST).astimezone(zone).date()
