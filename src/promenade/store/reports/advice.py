"""Advice returned by evaluations and its outcome: advice shown, confirmed sales, and open advice of customers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Integer, Select, and_, func, literal_column, select, tuple_, update

from promenade.store.clockwork.purging import START, Place
from promenade.store.driver.recurring import read_among
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert
from promenade.store.pricing.packing import (
    IterationKey,
    packed_records,
    read_iterations,
    stored_records,
    unpacked,
)
from promenade.store.pricing.shown import Shown, decode_told, shown_in_record
from promenade.store.reports.sums import add_rows, delete_rows

_ITERATIONS = table("iterations")
_GROUPS = table("PosGroups")
_PROMOTIONS = table("Promotions")
_KEY = (
    _ITERATIONS.c.tenant_id,
    _ITERATIONS.c.origin,
    _ITERATIONS.c.transaction_id,
    _ITERATIONS.c.transaction_counter,
)
_OPEN = table("advice_open")
_WALK = table("advice_walk")

OpenKey = tuple[str, str, str]
"""Customer, kind of advice, promotion."""


class OpenAdvice(NamedTuple):
    """Advice still open after a sale: shown on ``day``, at a sale of ``grand_total`` confirmed at ``shown_at``."""

    day: date
    currency: str
    grand_total: Decimal
    shown_at: datetime


class Evaluation(NamedTuple):
    """A stored evaluation. ``time_zone`` is that of its POS group; None: the group no longer exists."""

    tenant_id: str
    origin: str
    transaction_id: str
    transaction_counter: int
    evaluated_at: datetime
    time_zone: str | None
    shown: Shown


async def evaluations_of(session: Session, transactions: Sequence[tuple[str, str]]) -> list[Evaluation]:
    """Return all stored evaluations of these transactions (origin, transaction ID), the earliest first."""
    wanted = (_ITERATIONS.c.origin, _ITERATIONS.c.transaction_id)
    found: list[Any] = await read_among(session, wanted, transactions, _evaluations)
    found.sort(key=lambda row: abs(row.transaction_counter))
    return await _with_shown(session, found)


def _evaluations(condition: Any) -> Select[Any]:
    return _zoned(*_KEY).where(condition)


async def _with_shown(session: Session, rows: Sequence[Any]) -> list[Evaluation]:
    """Add to the rows what their evaluations have shown, of those that can be read: not if a base has been purged."""
    keys: list[IterationKey] = [(row[0], row[1], row[2], abs(row[3])) for row in rows]
    told = [None if row.advice is None else decode_told(row.advice) for row in rows]
    entries = {key: one.entries for key, one in zip(keys, told, strict=True) if one is not None}
    bases = [
        None if one is None or one.entries is not None or row.base_counter is None else (*key[:3], row.base_counter)
        for row, key, one in zip(rows, keys, told, strict=True)
    ]
    lacking = {base for base in bases if base is not None and base not in entries}
    if lacking:
        of_bases = await read_iterations(session, lacking, _ADVICE_ROWS)
        entries |= {_key_of(row): decode_told(row.advice).entries for row in of_bases if row.advice is not None}
    shown = [
        None if one is None else one.shown(None if base is None else entries.get(base))
        for one, base in zip(told, bases, strict=True)
    ]
    silent = [key for key, one in zip(keys, shown, strict=True) if one is None]
    records = await recorded(session, silent) if silent else {}
    return [
        Evaluation(row[0], row[1], row[2], row[3], row.evaluated_at, row.time_zone, known)
        for row, key, one in zip(rows, keys, shown, strict=True)
        if (known := one or records.get(key)) is not None
    ]


def _key_of(row: Any) -> IterationKey:
    return row.tenant_id, row.origin, row.transaction_id, abs(row.transaction_counter)


_ADVICE_ROWS = select(*_KEY, _ITERATIONS.c.advice)


async def recorded(session: Session, keys: Collection[IterationKey]) -> dict[IterationKey, Shown]:
    """Return what evaluations have shown by their records, with names, of those whose records can be read."""
    stored = sorted(await stored_records(session, keys), key=lambda one: one.key) if keys else []
    packed = await packed_records(session, stored) if stored else []
    kept = [(one.key, record) for one, record in zip(stored, packed, strict=True) if record is not None]
    contents = unpacked(record for _, record in kept)
    return {key: shown_in_record(content) for (key, _), content in zip(kept, contents, strict=True)}


async def names_of(session: Session, promotions: Collection[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the present names of promotions (tenant, ID), of those that there are. Needs a system session."""
    wanted = (_PROMOTIONS.c.tenant_id, _PROMOTIONS.c.id)
    rows = await read_among(session, wanted, sorted(promotions), _NAMED.where)
    return {(row.tenant_id, row.id): row.name for row in rows}


_NAMED = select(_PROMOTIONS.c.tenant_id, _PROMOTIONS.c.id, _PROMOTIONS.c.name)


def _zoned(*columns: ColumnElement[Any]) -> Select[Any]:
    """Select columns of evaluations, their time, what they have shown, and the time zone of the POS group."""
    its = and_(_GROUPS.c.tenant_id == _ITERATIONS.c.tenant_id, _GROUPS.c.id == _ITERATIONS.c.pos_group_id)
    its_own = (_ITERATIONS.c.evaluated_at, _ITERATIONS.c.advice, _ITERATIONS.c.base_counter)
    shown = (*columns, *its_own, _GROUPS.c.time_zone)
    return select(*shown).select_from(_ITERATIONS.outerjoin(_GROUPS, its))


async def open_advice(session: Session, customers: Collection[str]) -> dict[OpenKey, OpenAdvice]:
    """Return the open advice of these customers."""
    rows = await read_among(session, (_OPEN.c.customer_id,), sorted(customers), _OPEN_ROWS.where)
    return {(row[0], row[1], row[2]): OpenAdvice(*row[3:]) for row in rows}


_OPEN_ROWS = select(*(_OPEN.c[name] for name in ("customer_id", "kind", "promotion_id", *OpenAdvice._fields)))


async def keep_open(session: Session, kept: Mapping[OpenKey, OpenAdvice], gone: Collection[OpenKey]) -> int:
    """Store the open advice in ``kept`` and delete that in ``gone``; return the number of rows written."""
    names = ("customer_id", "kind", "promotion_id")
    await delete_rows(session, "advice_open", [dict(zip(names, key, strict=True)) for key in sorted(gone)])
    rows = [
        {
            "customer_id": customer_id,
            "kind": kind,
            "promotion_id": promotion_id,
            "day": one.day,
            "currency": one.currency,
            "grand_total": one.grand_total,
            "shown_at": one.shown_at,
        }
        for (customer_id, kind, promotion_id), one in sorted(kept.items())
    ]
    await add_rows(session, "advice_open", rows)
    return len(gone) + len(kept)


# ---- what was shown -------------------------------------------------------------------------------------------------

# Each evaluation is read once, in the order of storage: on SQLite by rowid, which is the order of commits; on
# PostgreSQL by creation time, up to some seconds ago, because an evaluation with an earlier time may be committed a
# little later. The position of the scan is written together with the counts.

_ROWID = literal_column("iterations.rowid", Integer)
_ONLY = 1

ShownKey = tuple[str, str, str, date, str]
"""Tenant, kind of advice, promotion, day, currency."""


@dataclass(frozen=True, slots=True)
class Walked:
    """A portion of the scan, and the position reached."""

    rows: Sequence[Evaluation]
    place: Place


async def read_place(session: Session) -> Place:
    """Return the position of the scan. Needs a system session, like the other functions of the scan."""
    rows = await session.execute(select(_WALK.c.place).where(_WALK.c.id == _ONLY))
    return Place.decode(rows[0].place) if rows else START


async def walk(session: Session, place: Place, *, until: datetime, limit: int) -> Walked:
    """Return at most ``limit`` evaluations after ``place``; on PostgreSQL only those created before ``until``."""
    columns = _zoned(*_KEY, _ITERATIONS.c.created_at).where(_ITERATIONS.c.transaction_counter > 0)
    if session.dialect == "sqlite":
        return await _by_row(session, place, columns, limit)
    walked = columns.where(_ITERATIONS.c.created_at < until)
    order = (_ITERATIONS.c.created_at, *_KEY)
    if place.key:
        walked = walked.where(tuple_(*order) > tuple_(place.at, *place.key))
    rows = await session.execute(walked.order_by(*order).limit(limit))
    if not rows:
        return Walked((), place)
    last = rows[-1]
    key = (last.tenant_id, last.origin, last.transaction_id, last.transaction_counter)
    return Walked(await _with_shown(session, rows), Place(last.created_at, key))


async def _by_row(session: Session, place: Place, columns: Select[Any], limit: int) -> Walked:
    after = int(place.key[0]) if place.key else 0
    newest = (await session.execute(select(func.max(_ROWID)).select_from(_ITERATIONS)))[0][0] or 0
    walked = columns.add_columns(_ROWID.label("place")).where(after < _ROWID)
    if newest < after:
        # The table was empty for a while, or the file was vacuumed: the rows have been renumbered, in the same order.
        walked = columns.add_columns(_ROWID.label("place")).where(_ITERATIONS.c.created_at > place.at)
    rows = await session.execute(walked.order_by(_ROWID).limit(limit))
    if not rows:
        return Walked((), place)
    place = Place(max(row.created_at for row in rows), (rows[-1].place,))
    return Walked(await _with_shown(session, rows), place)


async def add_shown(session: Session, shown: Mapping[ShownKey, tuple[str, int]], was: Place, now: Place) -> bool:
    """Add the counts of a portion (promotion name, and how often shown) and store the position reached.

    False, and nothing is written: another worker has moved the position in the meantime.
    """
    values = {"place": now.encode()}
    moved = await session.rowcount(
        update(_WALK).where(_WALK.c.id == _ONLY, _WALK.c.place == was.encode()).values(values)
    )
    if not moved:
        if was != START:
            return False
        first = upsert(session.dialect, _WALK).on_conflict_do_nothing()
        if not await session.rowcount(first, {"id": _ONLY, **values}):
            return False
    names = ("tenant_id", "kind", "promotion_id", "day", "currency")
    rows = [
        {**dict(zip(names, key, strict=True)), "promotion_name": name, "shown": count}
        for key, (name, count) in sorted(shown.items())
    ]
    await add_rows(session, "advice_shown", rows)
    return True
