"""The use of promotions: ranks of POS groups and articles, missing hours of the week, and totals of a period."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    and_,
    case,
    delete,
    func,
    literal_column,
    null,
    or_,
    select,
    union,
    update,
)

from odata_server.sql.connection import Kept
from promenade.store.driver.recurring import parameter, read_among
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.reports.periods import Stretch
from promenade.store.reports.sums import add_bounded, add_missing, add_up, delete_rows, sums_between
from promenade.store.sales.log_parts import part_rows

PLACES = 20
"""How many POS groups, and articles, of a promotion are given a place."""

CANDIDATES_AT_ONCE = 2_000

RANKINGS = ("promotion_article_sums", "promotion_pos_group_sums")
"""The tables whose rows have places."""

_WEEKDAYS = table("PromotionUsageByDayOfWeek")
_HOURS_DUE = table("promotion_hours_due")
_PLACES_DUE = table("promotion_places_due")
_LOGS = table("CalculationLogs")
_LOG_PROMOTIONS = part_rows("CalculationLogPromotions")
_PROMOTIONS = table("Promotions")
_PERFORMANCE = table("PromotionPerformance")
_BUDGETS_PAID = table("BudgetStakeholders")
_BUDGETS_USED = table("BudgetPromotions")
_PROMOTIONS_PAID = table("StakeholderPromotions")


# ---- places -------------------------------------------------------------------------------------------------------


async def give_places(session: Session, limit: int) -> int:
    """Rank the top rows of up to ``limit`` promotions (64 at most) again; return how many promotions were ranked.

    A row in the top was there before or has been added to since, so only those rows are compared; for promotions with a
    decreased total all rows are.
    """
    due = await session.execute(select(_PLACES_DUE.c.promotion_id).order_by(_PLACES_DUE.c.promotion_id).limit(limit))
    if not due:
        return 0
    some = await _few_candidates(session, [row.promotion_id for row in due])
    taken = await session.execute(
        delete(_PLACES_DUE)
        .where(_PLACES_DUE.c.promotion_id.in_(some))
        .returning(_PLACES_DUE.c.promotion_id, _PLACES_DUE.c.fallen)
    )
    fallen = sorted(row.promotion_id for row in taken if row.fallen)
    for name in RANKINGS:
        if fallen:
            await session.rowcount(_reconsidering(name, _size(fallen)), _numbered(fallen))
        await session.rowcount(_placing(name, _size(some)), _numbered(some))
    return len(some)


async def _few_candidates(session: Session, promotions: Sequence[str]) -> Sequence[str]:
    """Return the first of these promotions, at least one, with few candidates in total, so that a unit of work is
    short.
    """
    candidates = dict.fromkeys(promotions, 0)
    for name in RANKINGS:
        for row in await session.execute(_counting(name, _size(promotions)), _numbered(promotions)):
            candidates[row.promotion_id] += row.candidates
    together = 0
    for at, promotion_id in enumerate(promotions):
        together += candidates[promotion_id]
        if at and together > CANDIDATES_AT_ONCE:
            return promotions[:at]
    return promotions


@lru_cache(64)
def _counting(name: str, size: int) -> Kept:
    rows = table(name)
    candidates = func.count().label("candidates")
    waiting = select(rows.c.promotion_id, candidates).where(rows.c["rank"].is_not(None), _one_of(rows, size))
    return Kept(waiting.group_by(rows.c.promotion_id))


def _size(values: Sequence[str]) -> int:
    """Return the number of parameters of the prepared statement for these values: a power of two."""
    return 1 << (len(values) - 1).bit_length()


def _numbered(values: Sequence[str]) -> dict[str, str]:
    filled = [*values, *[values[-1]] * (_size(values) - len(values))]
    return {f"promotion{at}": value for at, value in enumerate(filled)}


def _one_of(rows: Table, size: int) -> ColumnElement[bool]:
    column = rows.c.promotion_id
    return column.in_([parameter(f"promotion{at}", column.type) for at in range(size)])


@lru_cache(64)
def _reconsidering(name: str, size: int) -> Kept:
    rows = table(name)
    return Kept(update(rows).where(_one_of(rows, size), rows.c["rank"].is_(None)).values(rank=0))


@lru_cache(64)
def _placing(name: str, size: int) -> Kept:
    rows = table(name)
    item = list(rows.primary_key.columns)[-1]
    key = [rows.c.promotion_id, rows.c.currency, item]
    position = func.row_number().over(partition_by=key[:2], order_by=[rows.c.total_discount.desc(), item])
    placed = (
        select(*key, rows.c["rank"].label("before"), position.label("position"))
        .where(rows.c["rank"].is_not(None), _one_of(rows, size))
        .subquery("placed")
    )
    place = case((placed.c.position <= PLACES, placed.c.position), else_=null())
    moved = (
        select(*(placed.c[column.name] for column in key), place.label("place"))
        .where(placed.c.before.is_distinct_from(place))
        .subquery("moved")
    )
    same = and_(*(column == moved.c[column.name] for column in key))
    return Kept(update(rows).where(same).values(rank=moved.c.place))


# ---- hours of the week --------------------------------------------------------------------------------------------


async def note_new(session: Session, pairs: Collection[tuple[str, str]]) -> None:
    """Note the promotions and currencies that occur for the first time, before rows are added for them."""
    promotions = sorted({promotion_id for promotion_id, _ in pairs})
    rows = await read_among(session, (_WEEKDAYS.c.promotion_id,), promotions, _select_known)
    known = {(row.promotion_id, row.currency) for row in rows}
    new = [{"promotion_id": one, "currency": other} for one, other in sorted(set(pairs) - known)]
    await add_missing(session, "promotion_hours_due", new)


def _select_known(condition: ColumnElement[bool]) -> Select[Any]:
    return select(_WEEKDAYS.c.promotion_id, _WEEKDAYS.c.currency).where(condition)


async def fill_hours(session: Session, limit: int) -> int:
    """Insert zero rows for the missing hours of up to ``limit`` new promotions; return how many hours that made."""
    due = await session.execute(select(_HOURS_DUE.c.promotion_id, _HOURS_DUE.c.currency).limit(limit))
    of_promotions = [dict(one._mapping) for one in sorted(due, key=tuple)]
    count = await add_bounded(session, "PromotionHourOfDay", "promotion_hours_due", of_promotions)
    await delete_rows(session, "promotion_hours_due", of_promotions)
    return count


# ---- periods ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PromotionNames:
    """Current or last known name of a promotion; status and type are None if it was deleted."""

    name: str | None
    status: str | None
    type: str | None


_SUMMED_BY = ("promotion_id", "currency")


async def sums_of(
    session: Session, since: datetime, until: datetime, promotion_id: str | None = None
) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the totals of sales confirmed from ``since`` to before ``until``, by promotion and currency.

    They are those of one promotion or of all.
    Sales of whole UTC days are included once reports count them, those of the first and last, incomplete day as soon as
    they are confirmed.
    """
    stretch = Stretch.of(since.astimezone(UTC), until.astimezone(UTC))
    rows: list[Any] = []
    for start, end in stretch.edges:
        rows += await _of_logs(session, start, end, promotion_id)
    for span, first, stop in stretch.spans():
        name = f"promotion_utc_{span}s"
        of_one = () if promotion_id is None else (table(name).c.promotion_id == promotion_id,)
        rows += await sums_between(session, name, _SUMMED_BY, first, stop, *of_one)
    return {(key[0], key[1]): sums for key, sums in add_up("promotion_utc_days", _SUMMED_BY, rows).items()}


async def _of_logs(session: Session, since: datetime, until: datetime, promotion_id: str | None) -> list[Any]:
    applied = or_(_LOG_PROMOTIONS.c.pilot_arm.is_(None), _LOG_PROMOTIONS.c.pilot_arm != "CONTROL")
    # Grouped by an expression without an index: SQLite would otherwise scan the index of all promotions ever applied.
    promotion = _LOG_PROMOTIONS.c.promotion_id.concat(literal_column("''"))
    statement = (
        select(
            promotion.label("promotion_id"),
            _LOGS.c.currency,
            func.count(_LOG_PROMOTIONS.c.log_id.distinct()).label("applications"),
            func.sum(_LOG_PROMOTIONS.c.total_discount).label("total_discount"),
            func.min(_LOGS.c.confirmed_at).label("first_applied_at"),
            func.max(_LOGS.c.confirmed_at).label("last_applied_at"),
        )
        .select_from(_LOGS.join(_LOG_PROMOTIONS, _LOG_PROMOTIONS.c.log_id == _LOGS.c.id))
        .where(_LOGS.c.confirmed_at >= since, _LOGS.c.confirmed_at < until, _LOGS.c.status == "CALCULATED", applied)
        .group_by(promotion, _LOGS.c.currency)
    )
    found = await session.execute(statement)
    # Filtered here: with a condition on one promotion a planner may read all its sales instead of those of a day.
    return [row for row in found if promotion_id in (None, row.promotion_id)]


async def paid_by(session: Session, stakeholder_id: str) -> set[str]:
    """Return the promotions whose cost a stakeholder bears, wholly or in part: through their budgets or directly."""
    of_budgets = (
        select(_BUDGETS_USED.c.promotion_id)
        .join(_BUDGETS_PAID, _BUDGETS_PAID.c.budget_id == _BUDGETS_USED.c.budget_id)
        .where(_BUDGETS_PAID.c.stakeholder_id == stakeholder_id)
    )
    direct = select(_PROMOTIONS_PAID.c.promotion_id).where(_PROMOTIONS_PAID.c.stakeholder_id == stakeholder_id)
    return {row.promotion_id for row in await session.execute(union(of_budgets, direct))}


async def names_of(session: Session, promotions: Collection[str]) -> dict[str, PromotionNames]:
    """Return name, status and type of some promotions, a few hundred at most."""
    logged = select(_PERFORMANCE.c.promotion_id, _PERFORMANCE.c.logged_name)
    rows = await session.execute(logged.where(_PERFORMANCE.c.promotion_id.in_(promotions)))
    found = {row.promotion_id: PromotionNames(row.logged_name, None, None) for row in rows}
    known = select(_PROMOTIONS.c.id, _PROMOTIONS.c.name, _PROMOTIONS.c.status, _PROMOTIONS.c.type)
    for row in await session.execute(known.where(_PROMOTIONS.c.id.in_(promotions))):
        found[row.id] = PromotionNames(row.name, row.status, row.type)
    return found
