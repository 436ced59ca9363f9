"""Aggregates of the use of promotions: sums that grow, places among the first, and hours that are filled up."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, case, delete, func, null, or_, select, update

from odata_server.sql.connection import Kept
from promenade.store.recurring import LISTED_MAX, among, parameter
from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = [
    "HOURS",
    "PLACES",
    "RANKINGS",
    "Row",
    "add_performance",
    "add_sums",
    "fill_hours",
    "give_places",
    "note_applied",
    "note_new",
]

PLACES = 20
"""How many POS groups, and articles, of a promotion are given a place."""

CANDIDATES_AT_ONCE = 2_000

RANKINGS = ("promotion_article_sums", "promotion_pos_group_sums")
"""The tables whose rows have places."""

HOURS = tuple((weekday, hour) for weekday in range(1, 8) for hour in range(24))

Row = Mapping[str, Any]

_PERFORMANCE = table("PromotionPerformance")
_HOURS = table("PromotionHourOfDay")
_WEEKDAYS = table("PromotionUsageByDayOfWeek")
_HOURS_DUE = table("promotion_hours_due")
_PLACES_DUE = table("promotion_places_due")


# ---- sums ---------------------------------------------------------------------------------------------------------


async def add_sums(session: Session, name: str, rows: Sequence[Row]) -> int:
    """Add rows to the table ``name``: what is counted or given grows, and the other columns are its key's.

    How many rows there were. In the table of a ranking, those that have no place yet wait for one.
    """
    await session.execute_many(_adding(session.dialect, name), _given(rows))
    return len(rows)


async def add_performance(session: Session, rows: Sequence[Row]) -> int:
    """Add rows to PromotionPerformance; the name is that of the latest."""
    await session.execute_many(_performing(session.dialect), _given(rows))
    return len(rows)


def _portions(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (values[start : start + LISTED_MAX] for start in range(0, len(values), LISTED_MAX))


def _given(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [{f"given_{name}": value for name, value in row.items()} for row in rows]


_GROWING = frozenset({"applications", "applications_count", "transactions", "total_discount", "total_discount_given"})


@cache
def _adding(dialect: str, name: str) -> Kept:
    return _upserting(dialect, table(name), {})


@cache
def _performing(dialect: str) -> Kept:
    first = _PERFORMANCE.c
    given = upsert(dialect, _PERFORMANCE).excluded
    is_later = given.last_applied_at >= first.last_applied_at
    return _upserting(
        dialect,
        _PERFORMANCE,
        {
            # Amounts of several currencies are in none.
            "currency": case((first.currency == given.currency, first.currency), else_=null()),
            "logged_name": case((is_later, given.logged_name), else_=first.logged_name),
        },
    )


def _upserting(dialect: str, rows: Table, more: Mapping[str, Any]) -> Kept:
    names = [column.name for column in rows.c if column.name not in {"tenant_id", "version", "rank"}]
    values: dict[str, Any] = {name: parameter(f"given_{name}", rows.c[name].type) for name in names}
    changed = dict(more)
    if "rank" in rows.c:
        values["rank"] = 0
        changed["rank"] = func.coalesce(rows.c["rank"], 0)
    first = upsert(dialect, rows).values(values)
    given = first.excluded
    for name in names:
        if name in _GROWING:
            changed[name] = rows.c[name] + given[name]
    if "first_applied_at" in rows.c:
        earliest, latest = rows.c.first_applied_at, rows.c.last_applied_at
        changed["first_applied_at"] = case((given.first_applied_at < earliest, given.first_applied_at), else_=earliest)
        changed["last_applied_at"] = case((given.last_applied_at > latest, given.last_applied_at), else_=latest)
    return Kept(first.on_conflict_do_update(index_elements=list(rows.primary_key.columns), set_=changed))


# ---- places -------------------------------------------------------------------------------------------------------


async def note_applied(session: Session, promotions: Mapping[str, bool]) -> None:
    """Note which promotions' places are to be given again; and of each, whether it took something back somewhere."""
    await session.execute_many(
        _noting_applied(session.dialect),
        [{"given_promotion_id": one, "given_fallen": promotions[one]} for one in sorted(promotions)],
    )


@cache
def _noting_applied(dialect: str) -> Kept:
    first = upsert(dialect, _PLACES_DUE).values(
        promotion_id=parameter("given_promotion_id", _PLACES_DUE.c.promotion_id.type),
        fallen=parameter("given_fallen", _PLACES_DUE.c.fallen.type),
    )
    changed = {"fallen": or_(_PLACES_DUE.c.fallen, first.excluded.fallen)}
    return Kept(first.on_conflict_do_update(index_elements=list(_PLACES_DUE.primary_key.columns), set_=changed))


async def give_places(session: Session, limit: int) -> int:
    """Give the first of up to ``limit`` promotions (64 at most) their places again; of how many it was due.

    Who is among the first was so before or has been added to since, so that only those are compared; of promotions
    that took something back somewhere, all are.
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
    """The first of some promotions, one at least, that have few candidates together: a unit of work is to be short."""
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
    """How many values a kept statement for so many takes: a power of two."""
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
    """Note which promotions and currencies are met for the first time, before rows are added for them."""
    known: set[tuple[str, str]] = set()
    for some in _portions(sorted({promotion_id for promotion_id, _ in pairs})):
        rows = await session.execute(*among((_WEEKDAYS.c.promotion_id,), some, _select_known))
        known |= {(row.promotion_id, row.currency) for row in rows}
    new = [{"given_promotion_id": one, "given_currency": other} for one, other in sorted(set(pairs) - known)]
    await session.execute_many(_noting(session.dialect), new)


def _select_known(condition: ColumnElement[bool]) -> Select[Any]:
    return select(_WEEKDAYS.c.promotion_id, _WEEKDAYS.c.currency).where(condition)


@cache
def _noting(dialect: str) -> Kept:
    values: dict[str, Any] = {
        name: parameter(f"given_{name}", _HOURS_DUE.c[name].type) for name in ("promotion_id", "currency")
    }
    return Kept(upsert(dialect, _HOURS_DUE).values(values).on_conflict_do_nothing())


async def fill_hours(session: Session, limit: int) -> int:
    """Give up to ``limit`` new promotions the hours in which nothing was sold, of zeros; how many had been noted."""
    due = await session.execute(select(_HOURS_DUE.c.promotion_id, _HOURS_DUE.c.currency).limit(limit))
    rows = [
        {
            "promotion_id": one.promotion_id,
            "currency": one.currency,
            "weekday": weekday,
            "hour": hour,
            "transactions": 0,
            "total_discount": 0,
        }
        for one in sorted(due, key=tuple)
        for weekday, hour in HOURS
    ]
    await session.execute_many(_filling(session.dialect), _given(rows))
    await session.execute_many(_FILLED, [{"filled": one.promotion_id, "filled_currency": one.currency} for one in due])
    return len(due)


@cache
def _filling(dialect: str) -> Kept:
    names = ("promotion_id", "currency", "weekday", "hour", "transactions", "total_discount")
    values: dict[str, Any] = {name: parameter(f"given_{name}", _HOURS.c[name].type) for name in names}
    return Kept(upsert(dialect, _HOURS).values(values).on_conflict_do_nothing())


_FILLED = Kept(
    delete(_HOURS_DUE).where(
        _HOURS_DUE.c.promotion_id == parameter("filled", _HOURS_DUE.c.promotion_id.type),
        _HOURS_DUE.c.currency == parameter("filled_currency", _HOURS_DUE.c.currency.type),
    )
)
