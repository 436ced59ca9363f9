"""Sales during a promotion compared with a baseline of as many days before it.

All sales are added up by POS group and day. An analysis is computed when one of its days has changed, and once a day
for running promotions. The current day is not over, so its sales are not included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    correct_applied,
    first_sale,
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
from promenade.workflows.reports.folds import fold, refresher
from promenade.workflows.reports.sales import LoggedSale, zone_of
from promenade.workflows.reports.statistics import is_significant, uplift_percent, welch

PORTION = 20  # promotions analysed per unit of work
LENGTH_MAX = 731  # days; of a longer promotion only the first ones are compared with as many before
# Dates with valid neighbours in every time zone.
_FIRST = datetime(1900, 1, 1, tzinfo=UTC)
_LAST = datetime(9000, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)

Days = Mapping[str, Mapping[date, Sample]]


@fold("baskets", tables=("basket_days", "PromotionUpliftAnalysis"))
async def add(session: Session, sales: Sequence[LoggedSale], at: datetime, sign: int = 1) -> int:
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
    if sign > 0:
        await note_applied(session, applied)
    else:  # the reports about usage have left the sales out already
        await correct_applied(session, applied)
    return await add_baskets(session, days, sign)


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
        if rows:
            await context.database.write(partial(keep_analyses, rows=rows), tenant=tenant_id, durable=False)
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

    ``due_at`` is when the next day is added, None: never.
    """

    first: date
    last: date | None
    due_at: datetime | None

    @property
    def baseline(self) -> tuple[date, date]:
        """The same number of days before the promotion."""
        length = 1 if self.last is None else (self.last - self.first).days + 1
        return self.first - length * _DAY, self.first - _DAY


@dataclass(frozen=True, slots=True)
class _Analysis:
    subject: Subject
    span: _Span | None
    days: Days
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
        is_open = span.last is None
        told |= {
            "baseline_from": None if is_open else span.baseline[0],
            "baseline_to": None if is_open else span.baseline[1],
            "promotion_from": span.first,
            "promotion_to": span.last,
        }
        return told | self._figures(span)

    def _figures(self, span: _Span) -> dict[str, Any]:
        if span.last is None:
            return _compared(_Period(), _Period(), None, self.level)
        days, periods = self.days, (span.baseline, (span.first, span.last))
        before, during = (_Period.of(days, *one) for one in periods)
        counts = {
            "baseline_transactions": before.baskets.count,
            "promotion_transactions": during.baskets.count,
        }
        # With several currencies, the only one with sales in both periods, so that like is compared with like.
        sold = [name for name, of_currency in days.items() if any(one.count for one in of_currency.values())]
        shared = [name for name in sold if all(_Period.of({name: days[name]}, *one).baskets.count for one in periods)]
        chosen = sold if len(sold) == 1 else shared
        currency = chosen[0] if len(chosen) == 1 else None
        if currency is not None:
            before, during = (_Period.of({currency: days[currency]}, *one) for one in periods)
        return _compared(before, during, currency, self.level) | counts


@dataclass(frozen=True, slots=True)
class _Period:
    """The totals of a period: its baskets, and its days' revenues."""

    baskets: Sample = field(default_factory=Sample)
    daily: Sample = field(default_factory=Sample)

    @classmethod
    def of(cls, days: Days, first: date, last: date) -> _Period:
        baskets, daily, day = Sample(), Sample(), first
        while day <= last:
            sold = [of_currency[day] for of_currency in days.values() if day in of_currency]
            for one in sold:
                baskets.join(one)
            daily.add(sum(one.total for one in sold))
            day += _DAY
        return cls(baskets, daily)


def _compared(before: _Period, during: _Period, currency: str | None, level: Decimal) -> dict[str, Any]:
    usual = before.daily.mean if before.baskets.count else None
    by_basket = welch(during.baskets, before.baskets)
    by_day = welch(during.daily, before.daily) if usual is not None else None
    return {
        "currency": currency,
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


# --- Which days and which POS groups ---------------------------------------------------------------------------------


async def _analyses(session: Session, at: datetime) -> list[_Analysis]:
    subjects = await read_subjects(session, PORTION)
    if not subjects:
        return []
    zones, opened, level = await time_zones(session), await first_sale(session), await significance_level(session)
    read: dict[tuple[frozenset[str], date, date], Days] = {}
    found: list[_Analysis] = []
    for one in subjects:
        if one.definition is None:
            found.append(_Analysis(one, None, {}, level))
            continue
        groups = _groups(one)
        span = _span(one, _zone(groups, zones), at, opened)
        days: Days = {}
        if span.last is not None:
            key = (groups, span.baseline[0], span.last)
            if key not in read:
                read[key] = await basket_days(session, *key)
            days = read[key]
        currency = one.definition.currency
        if currency is not None:
            days = {currency: days.get(currency, {})}
        found.append(_Analysis(one, span, days, level))
    return found


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
    ``opened`` is the day of the very first sale: there is no data for the days before.
    """
    definition = subject.definition
    assert definition is not None  # noqa: S101 - nobody asks of one that is deleted
    opens, closes = definition.campaign_window or (None, None)
    begun = [one for one in (definition.valid_from, opens, subject.begun_at) if one is not None]
    ended = [one for one in (definition.valid_to, closes, subject.ended_at) if one is not None]
    first = subject.first_applied_on
    if begun:
        first = min(first, _day(max(begun), zone))
    first = max(first, opened or first, _FIRST.date())
    yesterday = _day(at, zone) - _DAY
    last = first + (LENGTH_MAX - 1) * _DAY
    if ended:
        last = min(last, _day(min(ended) - _INSTANT, zone))
    until = min(last, yesterday)
    due_at = datetime.combine(max(yesterday + _DAY, first) + _DAY, time(), zone) if last > yesterday else None
    return _Span(first, until if until >= first else None, due_at)


def _day(moment: datetime, zone: tzinfo) -> date:
    return min(max(moment, _FIRST), _LAST).astimezone(zone).date()
