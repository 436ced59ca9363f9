"""What each promotion came to within a period: of whole months and days from aggregates, of the rest from the logs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import func, literal_column, or_, select, union

from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["PromotionNames", "PromotionSums", "names_of", "paid_by", "sums_of"]

_DAYS = table("promotion_utc_days")
_MONTHS = table("promotion_utc_months")
_LOGS = table("CalculationLogs")
_LOG_PROMOTIONS = table("CalculationLogPromotions")
_PROMOTIONS = table("Promotions")
_PERFORMANCE = table("PromotionPerformance")
_BUDGETS_PAID = table("BudgetStakeholders")
_BUDGETS_USED = table("BudgetPromotions")
_PROMOTIONS_PAID = table("StakeholderPromotions")


@dataclass(frozen=True, slots=True)
class PromotionSums:
    """What a promotion came to: how often it was applied, what it gave, and when first and last."""

    applications: int
    total_discount: Decimal
    first_applied_at: datetime
    last_applied_at: datetime

    def plus(self, other: PromotionSums) -> PromotionSums:
        """Both together."""
        return PromotionSums(
            self.applications + other.applications,
            self.total_discount + other.total_discount,
            min(self.first_applied_at, other.first_applied_at),
            max(self.last_applied_at, other.last_applied_at),
        )


@dataclass(frozen=True, slots=True)
class PromotionNames:
    """What a promotion is called, or was; status and type are null of one that is deleted."""

    name: str | None
    status: str | None
    type: str | None


async def sums_of(
    session: Session, since: datetime, until: datetime, promotion_id: str | None = None
) -> dict[str, PromotionSums]:
    """The sums by promotion of all sales confirmed from ``since`` to before ``until``; of one promotion or of all.

    Sales of whole days in UTC are in it once reports count them, those of the days that the period begins and ends
    in from the moment they are confirmed.
    """
    first, last = _midnight_after(since), _midnight_before(until)
    if first >= last:
        return await _of_logs(session, since, until, promotion_id)
    found: dict[str, PromotionSums] = {}
    for start, end in ((since, first), (last, until)):
        if start < end:
            _merge(found, await _of_logs(session, start, end, promotion_id))
    for rows, span, begin, stop in _spans(first.date(), last.date()):
        _merge(found, await _of_spans(session, rows.c[span], begin, stop, promotion_id))
    return found


def _merge(found: dict[str, PromotionSums], more: dict[str, PromotionSums]) -> None:
    for promotion_id, sums in more.items():
        before = found.get(promotion_id)
        found[promotion_id] = sums if before is None else before.plus(sums)


def _midnight_before(moment: datetime) -> datetime:
    return datetime.combine(moment.astimezone(UTC).date(), time(), UTC)


def _midnight_after(moment: datetime) -> datetime:
    """The moment itself, if it is a midnight."""
    before = _midnight_before(moment)
    return before if before == moment or before.date() == date.max else before + timedelta(days=1)


def _spans(first: date, last: date) -> Iterator[tuple[Any, str, date, date]]:
    """Days from ``first`` to before ``last`` as whole months and the days before and after them."""
    begin = first if first.day == 1 else _month_after(first)
    end = last.replace(day=1)
    if begin >= end:
        yield _DAYS, "day", first, last
        return
    yield _MONTHS, "month", begin, end
    for start, stop in ((first, begin), (end, last)):
        if start < stop:
            yield _DAYS, "day", start, stop


def _month_after(day: date) -> date:
    if (day.year, day.month) == (date.max.year, date.max.month):
        return date.max
    return (day.replace(day=1) + timedelta(days=31)).replace(day=1)


async def _of_spans(
    session: Session, span: Any, begin: date, stop: date, promotion_id: str | None
) -> dict[str, PromotionSums]:
    rows = span.table
    statement = select(
        rows.c.promotion_id,
        func.sum(rows.c.applications).label("applications"),
        func.sum(rows.c.total_discount).label("total_discount"),
        func.min(rows.c.first_applied_at).label("first_applied_at"),
        func.max(rows.c.last_applied_at).label("last_applied_at"),
    ).where(span >= begin, span < stop)
    if promotion_id is not None:
        statement = statement.where(rows.c.promotion_id == promotion_id)
    return _sums(await session.execute(statement.group_by(rows.c.promotion_id)))


async def _of_logs(
    session: Session, since: datetime, until: datetime, promotion_id: str | None
) -> dict[str, PromotionSums]:
    applied = or_(_LOG_PROMOTIONS.c.pilot_arm.is_(None), _LOG_PROMOTIONS.c.pilot_arm != "CONTROL")
    # Grouped by what no index has: SQLite would go through one of all promotions ever applied, for its order.
    promotion = _LOG_PROMOTIONS.c.promotion_id.concat(literal_column("''"))
    statement = (
        select(
            promotion.label("promotion_id"),
            func.count(_LOG_PROMOTIONS.c.log_id.distinct()).label("applications"),
            func.sum(_LOG_PROMOTIONS.c.total_discount).label("total_discount"),
            func.min(_LOGS.c.confirmed_at).label("first_applied_at"),
            func.max(_LOGS.c.confirmed_at).label("last_applied_at"),
        )
        .select_from(_LOGS.join(_LOG_PROMOTIONS, _LOG_PROMOTIONS.c.log_id == _LOGS.c.id))
        .where(_LOGS.c.confirmed_at >= since, _LOGS.c.confirmed_at < until, _LOGS.c.status == "CALCULATED", applied)
        .group_by(promotion)
    )
    found = _sums(await session.execute(statement))
    # Picked here: asked for one promotion, a planner may go through all its sales instead of those of a day.
    return found if promotion_id is None else {one: sums for one, sums in found.items() if one == promotion_id}


def _sums(rows: Sequence[Any]) -> dict[str, PromotionSums]:
    return {
        row.promotion_id: PromotionSums(
            int(row.applications), row.total_discount, row.first_applied_at, row.last_applied_at
        )
        for row in rows
    }


async def paid_by(session: Session, stakeholder_id: str) -> set[str]:
    """The promotions whose cost a stakeholder bears, wholly or in part: by their budgets, or by itself."""
    of_budgets = (
        select(_BUDGETS_USED.c.promotion_id)
        .join(_BUDGETS_PAID, _BUDGETS_PAID.c.budget_id == _BUDGETS_USED.c.budget_id)
        .where(_BUDGETS_PAID.c.stakeholder_id == stakeholder_id)
    )
    direct = select(_PROMOTIONS_PAID.c.promotion_id).where(_PROMOTIONS_PAID.c.stakeholder_id == stakeholder_id)
    return {row.promotion_id for row in await session.execute(union(of_budgets, direct))}


async def names_of(session: Session, promotions: Collection[str]) -> dict[str, PromotionNames]:
    """Name, status and type of some promotions, at most some hundreds."""
    logged = select(_PERFORMANCE.c.promotion_id, _PERFORMANCE.c.logged_name)
    rows = await session.execute(logged.where(_PERFORMANCE.c.promotion_id.in_(promotions)))
    found = {row.promotion_id: PromotionNames(row.logged_name, None, None) for row in rows}
    known = select(_PROMOTIONS.c.id, _PROMOTIONS.c.name, _PROMOTIONS.c.status, _PROMOTIONS.c.type)
    for row in await session.execute(known.where(_PROMOTIONS.c.id.in_(promotions))):
        found[row.id] = PromotionNames(row.name, row.status, row.type)
    return found
