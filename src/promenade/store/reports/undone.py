"""What a cancelled sale leaves in the reports about usage besides sums: rows without a sale, and times of first and
last use.

Sums are subtracted; a row from which everything is subtracted is deleted. A time is only looked up again if it is that
of the cancelled sale: that of a day in the logs, those of a month and of a currency in its days, that of a promotion in
its currencies.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, delete, func, or_, select, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.reports.sums import delete_rows
from promenade.store.sales.kept import kept_since
from promenade.store.sales.log_parts import part_rows

_LOGS = table("CalculationLogs")
_LOG_PROMOTIONS = part_rows("CalculationLogPromotions")
_USAGE = table("PromotionUsageByDay")
_PERFORMANCE = table("PromotionPerformance")
_BY_CURRENCY = table("PromotionPerformanceByCurrency")
_UTC_DAYS = table("promotion_utc_days")
_UTC_MONTHS = table("promotion_utc_months")
_HOURS = table("PromotionHourOfDay")
_HOURS_DUE = table("promotion_hours_due")
_WEEKDAYS = table("PromotionUsageByDayOfWeek")
_COUNTED_BY = {
    "PromotionPerformance": "applications_count",
    "PromotionPerformanceByCurrency": "applications_count",
    "PromotionUsageByDay": "applications",
    "PromotionUsageByDayAndHour": "applications",
    "PromotionUsageByHour": "applications",
    "PromotionUsageByDayOfWeek": "applications",
    "PromotionDiscountDistribution": "transactions",
    "promotion_pos_group_sums": "applications",
    "promotion_article_sums": "applications",
}
_SPANS = ((_UTC_DAYS, "day"), (_UTC_MONTHS, "month"))
_DAY = timedelta(days=1)


class Applied(NamedTuple):
    """A promotion that applied to a cancelled sale, in its currency; the UTC day and the time of its confirm."""

    promotion_id: str
    currency: str
    day: date
    at: datetime

    def begins(self, span: str) -> date:
        """Return the first day of its day or month."""
        return self.day if span == "day" else self.day.replace(day=1)


async def drop_empty(session: Session, applied: Collection[Applied]) -> None:
    """Delete the rows in which no sale of these promotions is left."""
    promotion_ids = sorted({one.promotion_id for one in applied})
    for name, count in _COUNTED_BY.items():
        rows = table(name)
        await session.rowcount(delete(rows).where(rows.c.promotion_id.in_(promotion_ids), rows.c[count] == 0))
    for rows, span in _SPANS:  # whose keys begin with the time
        keys = {(one.begins(span), one.promotion_id, one.currency) for one in applied}
        named = [dict(zip((span, "promotion_id", "currency"), key, strict=True)) for key in sorted(keys)]
        await delete_rows(session, rows.name, named, rows.c.applications == 0)
    # The hours of a week have a row without a sale too, as long as there is any sale.
    for promotion_id, currency in sorted({(one.promotion_id, one.currency) for one in applied}):
        its = and_(_WEEKDAYS.c.promotion_id == promotion_id, _WEEKDAYS.c.currency == currency)
        if not await session.execute(select(_WEEKDAYS.c.weekday).where(its).limit(1)):
            for rows in (_HOURS, _HOURS_DUE):
                both = rows.c.promotion_id == promotion_id, rows.c.currency == currency
                await session.rowcount(delete(rows).where(*both))


async def correct_moments(session: Session, applied: Collection[Applied]) -> None:
    """Look up first and last use again where they were those of a cancelled sale, or of a day that has none any more.

    The latter: of the last sales of a day that are cancelled together, but counted one after the other, the first finds
    nothing to look up.
    """
    gone = _Gone({one.at for one in applied}, set())
    for one in sorted(applied):
        its_day = _of(_UTC_DAYS, one, _UTC_DAYS.c.day == one.day)
        shown = await _moments(session, _UTC_DAYS, its_day)
        if shown is None:
            gone.days.add(one.day)
        elif one.at in shown:
            await _set(session, _UTC_DAYS, its_day, await _in_logs(session, one))
        month = one.begins("month")
        its_month = _of(_UTC_MONTHS, one, _UTC_MONTHS.c.month == month)
        if gone.has(await _moments(session, _UTC_MONTHS, its_month)):
            days = _of(_UTC_DAYS, one, _UTC_DAYS.c.day >= month, _UTC_DAYS.c.day < (month + 31 * _DAY).replace(day=1))
            await _set(session, _UTC_MONTHS, its_month, await _least_and_most(session, _UTC_DAYS, days))
    for promotion_id, currency in sorted({(one.promotion_id, one.currency) for one in applied}):
        await _correct_currency(session, promotion_id, currency, gone)
    for promotion_id in sorted({one.promotion_id for one in applied}):
        await _correct_promotion(session, promotion_id, gone)


class _Gone(NamedTuple):
    """Times of cancelled sales, and UTC days of which no sale is left of some promotion in some currency."""

    moments: set[datetime]
    days: set[date]

    def has(self, shown: Collection[datetime] | None) -> bool:
        """Whether one of the times that a row shows, if there is one, may be that of no sale."""
        return any(at in self.moments or at.astimezone(UTC).date() in self.days for at in shown or ())


async def _correct_currency(session: Session, promotion_id: str, currency: str, gone: _Gone) -> None:
    """Set first and last use of a promotion in a currency, if they may be of no sale any more."""
    its = and_(_BY_CURRENCY.c.promotion_id == promotion_id, _BY_CURRENCY.c.currency == currency)
    if not gone.has(await _moments(session, _BY_CURRENCY, its)):
        return
    its_days = _USAGE.c.promotion_id == promotion_id, _USAGE.c.currency == currency
    found: Any = (await session.execute(select(func.min(_USAGE.c.day), func.max(_USAGE.c.day)).where(*its_days)))[0]
    if found[0] is None:
        return
    # A day on the clock of a POS group is at most one day in UTC away.
    near = sorted({day + offset * _DAY for day in found for offset in (-1, 0, 1)})
    of_both = _UTC_DAYS.c.promotion_id == promotion_id, _UTC_DAYS.c.currency == currency
    around = and_(*of_both, _UTC_DAYS.c.day.in_(near))
    await _set(session, _BY_CURRENCY, its, await _least_and_most(session, _UTC_DAYS, around))


async def _correct_promotion(session: Session, promotion_id: str, gone: _Gone) -> None:
    """Set first and last use of a promotion, its currency and its amount; the latter are null if there are several."""
    its = _PERFORMANCE.c.promotion_id == promotion_id
    every = _BY_CURRENCY.c.promotion_id == promotion_id
    columns = (_BY_CURRENCY.c.currency, _BY_CURRENCY.c.total_discount_given)
    rows = await session.execute(select(*columns).where(every).limit(2))
    currency, total = tuple(rows[0])[:2] if len(rows) == 1 else (None, None)
    await session.rowcount(update(_PERFORMANCE).where(its).values(currency=currency, total_discount_given=total))
    if gone.has(await _moments(session, _PERFORMANCE, its)):
        await _set(session, _PERFORMANCE, its, await _least_and_most(session, _BY_CURRENCY, every))


async def _moments(session: Session, rows: Any, its: ColumnElement[bool]) -> tuple[datetime, datetime] | None:
    """Return first and last use that a row shows; None: it is not there."""
    shown = await session.execute(select(rows.c.first_applied_at, rows.c.last_applied_at).where(its))
    return (shown[0].first_applied_at, shown[0].last_applied_at) if shown else None


def _of(rows: Any, one: Applied, *when: ColumnElement[bool]) -> ColumnElement[bool]:
    return and_(rows.c.promotion_id == one.promotion_id, rows.c.currency == one.currency, *when)


async def _least_and_most(session: Session, rows: Any, its: ColumnElement[bool]) -> tuple[Any, Any]:
    """Return the first and the last use that some rows tell."""
    both = select(func.min(rows.c.first_applied_at), func.max(rows.c.last_applied_at)).where(its)
    found: Any = (await session.execute(both))[0]
    return found[0], found[1]


async def _in_logs(session: Session, one: Applied) -> tuple[Any, Any]:
    """Return when the promotion first and last applied on the day, to sales that were not cancelled.

    None: to none, or logs of the day may have been dropped.
    """
    begins = datetime.combine(one.day, time(), UTC)
    since = await kept_since(session)
    if since is not None and begins < since:
        return None, None
    arm = _LOG_PROMOTIONS.c.pilot_arm
    sales: Select[Any] = (
        select(_LOGS.c.confirmed_at)
        .select_from(_LOGS.join(_LOG_PROMOTIONS, _LOG_PROMOTIONS.c.log_id == _LOGS.c.id))
        .where(
            _LOGS.c.confirmed_at >= begins,
            _LOGS.c.confirmed_at < begins + _DAY,
            _LOGS.c.status == "CALCULATED",
            _LOGS.c.currency == one.currency,
            _LOG_PROMOTIONS.c.promotion_id + "" == one.promotion_id,
            or_(arm.is_(None), arm != "CONTROL"),
        )
        .limit(1)
    )
    first = await session.execute(sales.order_by(_LOGS.c.confirmed_at))
    last = await session.execute(sales.order_by(_LOGS.c.confirmed_at.desc()))
    return (first[0].confirmed_at, last[0].confirmed_at) if first else (None, None)


async def _set(session: Session, rows: Any, its: ColumnElement[bool], found: tuple[Any, Any]) -> None:
    first, last = found
    if first is not None:
        await session.rowcount(update(rows).where(its).values(first_applied_at=first, last_applied_at=last))
