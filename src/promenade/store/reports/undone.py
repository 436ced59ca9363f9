"""What a cancelled sale leaves in the reports about usage besides sums: rows without a sale, and times of first and
last use.

Sums are subtracted; a row from which everything is subtracted is deleted. A time is only looked up again if it is that
of the cancelled sale: that of a day in the logs, that of a month in its days, that of a promotion in its months.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, delete, func, or_, select, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.sales.log_parts import part_rows

_LOGS = table("CalculationLogs")
_LOG_PROMOTIONS = part_rows("CalculationLogPromotions")
_PERFORMANCE = table("PromotionPerformance")
_UTC_DAYS = table("promotion_utc_days")
_UTC_MONTHS = table("promotion_utc_months")
_HOURS = table("PromotionHourOfDay")
_HOURS_DUE = table("promotion_hours_due")
_WEEKDAYS = table("PromotionUsageByDayOfWeek")
_COUNTED_BY = {
    "PromotionPerformance": "applications_count",
    "PromotionUsageByDay": "applications",
    "PromotionUsageByHour": "applications",
    "PromotionUsageByDayOfWeek": "applications",
    "PromotionDiscountDistribution": "transactions",
    "promotion_utc_days": "applications",
    "promotion_utc_months": "applications",
    "promotion_pos_group_sums": "applications",
    "promotion_article_sums": "applications",
}
_DAY = timedelta(days=1)


class Applied(NamedTuple):
    """A promotion that applied to a cancelled sale, in its currency; the UTC day and the time of its confirm."""

    promotion_id: str
    currency: str
    day: date
    at: datetime


async def drop_empty(session: Session, pairs: Collection[tuple[str, str]]) -> None:
    """Delete the rows of these promotions and currencies in which no sale is left."""
    promotion_ids = sorted({promotion_id for promotion_id, _ in pairs})
    for name, count in _COUNTED_BY.items():
        rows = table(name)
        await session.rowcount(delete(rows).where(rows.c.promotion_id.in_(promotion_ids), rows.c[count] == 0))
    # The hours of a week have a row without a sale too, as long as there is any sale.
    for promotion_id, currency in sorted(pairs):
        its = and_(_WEEKDAYS.c.promotion_id == promotion_id, _WEEKDAYS.c.currency == currency)
        if not await session.execute(select(_WEEKDAYS.c.weekday).where(its).limit(1)):
            for rows in (_HOURS, _HOURS_DUE):
                both = rows.c.promotion_id == promotion_id, rows.c.currency == currency
                await session.rowcount(delete(rows).where(*both))


async def correct_moments(session: Session, applied: Collection[Applied]) -> None:
    """Look up first and last use again where they were those of a cancelled sale."""
    for one in sorted(applied):
        its_day = _of(_UTC_DAYS, one, _UTC_DAYS.c.day == one.day)
        if await _has_moment(session, _UTC_DAYS, its_day, one.at):
            await _set(session, _UTC_DAYS, its_day, await _in_logs(session, one))
        month = one.day.replace(day=1)
        its_month = _of(_UTC_MONTHS, one, _UTC_MONTHS.c.month == month)
        if await _has_moment(session, _UTC_MONTHS, its_month, one.at):
            days = _UTC_DAYS.c.day >= month, _UTC_DAYS.c.day < (month + 31 * _DAY).replace(day=1)
            await _set(
                session, _UTC_MONTHS, its_month, await _least_and_most(session, _UTC_DAYS, _of(_UTC_DAYS, one, *days))
            )
        its = _PERFORMANCE.c.promotion_id == one.promotion_id
        if await _has_moment(session, _PERFORMANCE, its, one.at):
            its_months = _UTC_MONTHS.c.promotion_id == one.promotion_id
            await _set(session, _PERFORMANCE, its, await _least_and_most(session, _UTC_MONTHS, its_months))
    for promotion_id in sorted({one.promotion_id for one in applied}):
        await _set_currency(session, promotion_id)


def _of(rows: Any, one: Applied, *when: ColumnElement[bool]) -> ColumnElement[bool]:
    return and_(rows.c.promotion_id == one.promotion_id, rows.c.currency == one.currency, *when)


async def _has_moment(session: Session, rows: Any, its: ColumnElement[bool], at: datetime) -> bool:
    moment = or_(rows.c.first_applied_at == at, rows.c.last_applied_at == at)
    return bool(await session.execute(select(rows.c.promotion_id).where(its, moment)))


async def _least_and_most(session: Session, rows: Any, its: ColumnElement[bool]) -> tuple[Any, Any]:
    both = select(func.min(rows.c.first_applied_at), func.max(rows.c.last_applied_at)).where(its)
    return tuple((await session.execute(both))[0])[:2]


async def _in_logs(session: Session, one: Applied) -> tuple[Any, Any]:
    """Return when the promotion first and last applied on the day, to sales that were not cancelled."""
    begins = datetime.combine(one.day, time(), UTC)
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


async def _set_currency(session: Session, promotion_id: str) -> None:
    """Set the currency of a promotion's totals: null if there are several."""
    found = select(_UTC_MONTHS.c.currency).where(_UTC_MONTHS.c.promotion_id == promotion_id).distinct().limit(2)
    currencies = [row.currency for row in await session.execute(found)]
    its = _PERFORMANCE.c.promotion_id == promotion_id
    only = currencies[0] if len(currencies) == 1 else None
    await session.rowcount(update(_PERFORMANCE).where(its).values(currency=only))
