"""Evaluations, looked through once each for the advice that they returned.

They are walked in the order in which they were stored: on SQLite that of their rowids, which is the order of commits;
on PostgreSQL that of the moments at which they came, up to some seconds ago, for one that came earlier may be stored a
little later. How far the walk has come is written with what it counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Integer, Select, and_, func, literal_column, select, tuple_, update

from promenade.store.purging import START, Place
from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = ["ShownKey", "Stretch", "add_shown", "read_place", "walk"]

_ITERATIONS = table("iterations")
_GROUPS = table("PosGroups")
_SHOWN = table("advice_shown")
_WALK = table("advice_walk")

_ROWID = literal_column("iterations.rowid", Integer)
_KEY = (
    _ITERATIONS.c.tenant_id,
    _ITERATIONS.c.origin,
    _ITERATIONS.c.transaction_id,
    _ITERATIONS.c.transaction_counter,
)
_ONLY = 1

ShownKey = tuple[str, str, str, date, str]
"""Tenant, kind of advice, promotion, day, currency."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of the walk: rows with tenant_id, evaluated_at, time_zone and record, and the place that it led to."""

    rows: Sequence[Any]
    place: Place


async def read_place(session: Session) -> Place:
    """How far the walk has come. Needs a system session, as all here."""
    rows = await session.execute(select(_WALK.c.place).where(_WALK.c.id == _ONLY))
    return Place.decode(rows[0].place) if rows else START


async def walk(session: Session, place: Place, *, until: datetime, limit: int) -> Stretch:
    """At most ``limit`` evaluations after a place; on PostgreSQL those that came before ``until``."""
    columns = select(
        *_KEY, _ITERATIONS.c.created_at, _ITERATIONS.c.evaluated_at, _ITERATIONS.c.record, _GROUPS.c.time_zone
    ).select_from(
        _ITERATIONS.outerjoin(
            _GROUPS, and_(_GROUPS.c.tenant_id == _ITERATIONS.c.tenant_id, _GROUPS.c.id == _ITERATIONS.c.pos_group_id)
        )
    )
    columns = columns.where(_ITERATIONS.c.transaction_counter > 0)
    if session.dialect == "sqlite":
        return await _by_row(session, place, columns, limit)
    walked = columns.where(_ITERATIONS.c.created_at < until)
    order = (_ITERATIONS.c.created_at, *_KEY)
    if place.key:
        walked = walked.where(tuple_(*order) > tuple_(place.at, *place.key))
    rows = await session.execute(walked.order_by(*order).limit(limit))
    if not rows:
        return Stretch((), place)
    last = rows[-1]
    key = (last.tenant_id, last.origin, last.transaction_id, last.transaction_counter)
    return Stretch(rows, Place(last.created_at, key))


async def _by_row(session: Session, place: Place, columns: Select[Any], limit: int) -> Stretch:
    after = int(place.key[0]) if place.key else 0
    newest = (await session.execute(select(func.max(_ROWID)).select_from(_ITERATIONS)))[0][0] or 0
    walked = columns.add_columns(_ROWID.label("place")).where(after < _ROWID)
    if newest < after:
        # The table was empty for a while, or the file was vacuumed: rows have been numbered anew, in the same order.
        walked = columns.add_columns(_ROWID.label("place")).where(_ITERATIONS.c.created_at > place.at)
    rows = await session.execute(walked.order_by(_ROWID).limit(limit))
    if not rows:
        return Stretch((), place)
    return Stretch(rows, Place(max(row.created_at for row in rows), (rows[-1].place,)))


async def add_shown(session: Session, shown: Mapping[ShownKey, tuple[str, int]], was: Place, now: Place) -> bool:
    """Add what a stretch showed (names of promotions, and how often) and note the place it led to.

    False, and nothing is done: another has walked on from there meanwhile.
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
    adding = upsert(session.dialect, _SHOWN)
    adding = adding.on_conflict_do_update(
        index_elements=["tenant_id", "kind", "promotion_id", "day", "currency"],
        set_={
            "shown": _SHOWN.c.shown + adding.excluded.shown,
            "promotion_name": adding.excluded.promotion_name,
        },
    )
    rows = [
        {
            "tenant_id": tenant_id,
            "kind": kind,
            "promotion_id": promotion_id,
            "day": day,
            "currency": currency,
            "promotion_name": name,
            "shown": count,
        }
        for (tenant_id, kind, promotion_id, day, currency), (name, count) in sorted(shown.items())
    ]
    if rows:
        await session.execute_many(adding, rows)
    return True
