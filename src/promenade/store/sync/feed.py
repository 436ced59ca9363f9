"""The rows that stores download, as JSON: bulk statements that read a portion of a set, and its parts.

The amount read at once is always bounded: by the number of rows, and for aggregates by the number of their parts.
`model.sync_sets` defines what is sent of each set.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Integer, Row, Select, Table, and_, case, func, literal_column, or_, select

from odata_server.sql.connection import Kept
from promenade.model.sync_sets import CANDIDATES, Root, columns_of
from promenade.store.driver.recurring import among, parameter
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import EVERYTHING, KINDS, Version, unpack_ids

PARTS_MAX = 20_000
"""Rows of parts that are held at once, unless one aggregate alone has more."""
CHANGED_MAX = 100_000
"""So many changed rows and more: reading everything is quicker, and takes less memory."""
_OWNERS_AT_ONCE = 10_000  # values in one statement; both databases accept 32 766

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A root row and the rows of its parts, as JSON, by set; ``size`` in bytes."""

    id: str
    rows: Mapping[str, Sequence[bytes]]
    size: int


# --- which rows -------------------------------------------------------------------------------------------------------


async def read_changed(session: Session, since: Version, until: Version) -> dict[str, set[str]] | None:
    """Return by kind (`KINDS`) the IDs of what changed after ``since``, up to ``until``.

    None: the record of changes is incomplete, or says that all of a kind may have changed, or is too large.
    """
    changes = table("catalogue_changes").c
    others = sorted(KINDS - {"Articles"})
    within = or_(
        and_(changes.kind.in_(others), changes.version > since.promotions, changes.version <= until.promotions),
        and_(changes.kind == "Articles", changes.version > since.articles, changes.version <= until.articles),
    )
    packed_size = func.coalesce(func.sum(func.length(changes.others)), 0)
    sizes = await session.execute(select(func.count().label("rows"), packed_size.label("bytes")).where(within))
    if sizes[0].rows + sizes[0].bytes // 16 > CHANGED_MAX:
        return None
    rows = await session.execute(select(changes.kind, changes.version, changes.entity_id, changes.others).where(within))
    found: dict[str, set[str]] = {}
    seen: set[tuple[bool, int]] = set()
    for row in rows:
        if row.entity_id == EVERYTHING:
            return None
        seen.add((row.kind == "Articles", row.version))
        ids = found.setdefault(row.kind, set())
        ids.add(row.entity_id)
        if row.others:
            ids.update(unpack_ids(row.others))
    expected = until.promotions - since.promotions + until.articles - since.articles
    return found if len(seen) == expected else None


# --- rows -------------------------------------------------------------------------------------------------------------


async def read_after(session: Session, root: Root, after: str, limit: int) -> Sequence[Row[Any]]:
    """Return up to ``limit`` root rows after an ID, ordered by ID, with the columns of `columns_of`."""
    if root.set_name == "Tenants":
        return () if after else await _settings(session)
    return await session.execute(_following(root.set_name, limit), {"after": after})


async def read_named(session: Session, root: Root, ids: Collection[str]) -> Sequence[Row[Any]]:
    """Return the root rows among ``ids``, ordered by ID, without those that stores do not hold."""
    if root.set_name == "Tenants":
        return await _settings(session)
    rows = table(root.set_name)
    return await session.execute(*among((rows.c.id,), sorted(ids), _named, root.set_name))


async def _settings(session: Session) -> Sequence[Row[Any]]:
    tenants = table("Tenants")
    return await session.execute(select(*_columns("Tenants")).where(tenants.c.tenant_id == session.tenant))


@cache
def _following(set_name: str, limit: int) -> Kept:
    rows = table(set_name)
    after = rows.c.id > parameter("after", rows.c.id.type)
    # A literal limit: for a parameter PostgreSQL assumes a limit so large that it prefers to sort all rows.
    return Kept(_held(set_name, after).order_by(rows.c.id).limit(literal_column(str(limit), Integer)))


def _named(condition: ColumnElement[bool], set_name: str) -> Select[Any]:
    return _held(set_name, condition).order_by(table(set_name).c.id)


def _held(set_name: str, condition: ColumnElement[bool]) -> Select[Any]:
    if set_name == "Promotions":
        condition = and_(condition, table(set_name).c.status.in_(CANDIDATES))
    return select(*_columns(set_name)).where(condition)


@cache
def _columns(set_name: str) -> tuple[ColumnElement[Any], ...]:
    rows = table(set_name)
    return tuple(_shown(rows, column.name) for column in columns_of(set_name))


def _shown(rows: Table, name: str) -> ColumnElement[Any]:
    if rows.name == "budgets" and name == "status":
        # A store may spend its share regardless of what sales elsewhere have left of the budget.
        return case((rows.c.status == "EXHAUSTED", "ACTIVE"), else_=rows.c.status).label(name)
    return rows.c[name]


# --- aggregates -------------------------------------------------------------------------------------------------------


async def read_aggregates(session: Session, root: Root, rows: Sequence[Row[Any]]) -> list[Aggregate]:
    """Return the first of ``rows``, at least one, with their parts: as many as `PARTS_MAX` allows."""
    while True:
        parts = await _parts(session, root, rows, PARTS_MAX if len(rows) > 1 else None)
        if parts is not None:
            return _joined(root, rows, parts)
        rows = rows[: len(rows) // 2]


@dataclass(slots=True)
class _Parts:
    """Rows of parts as JSON: by the root row's ID, then by set."""

    rows: dict[str, dict[str, list[bytes]]]
    count: int = 0


async def _parts(session: Session, root: Root, rows: Sequence[Row[Any]], limit: int | None) -> _Parts | None:
    """Read all parts of ``rows``; None: there are more than ``limit``."""
    found = _Parts({})
    owners: dict[str, dict[str, str]] = {root.set_name: {row.id: row.id for row in rows}} if root.parts else {}
    for part in root.parts:
        above = owners.get(part.owner, {})
        mine = owners[part.set_name] = {}
        wires = _wires(part.set_name)
        for row in await _of_owners(session, part.set_name, part.column, list(above), limit):
            root_id = above[getattr(row, part.column)]
            mine[row.id] = root_id
            found.rows.setdefault(root_id, {}).setdefault(part.set_name, []).append(
                _encode(dict(zip(wires, row, strict=True)))
            )
            found.count += 1
        if limit is not None and found.count > limit:
            return None
    return found


async def _of_owners(
    session: Session, set_name: str, column: str, owners: Sequence[str], limit: int | None
) -> Sequence[Row[Any]]:
    rows = table(set_name)
    found: list[Row[Any]] = []
    for start in range(0, len(owners), _OWNERS_AT_ONCE):
        few = owners[start : start + _OWNERS_AT_ONCE]
        found += await session.execute(*among((rows.c[column],), few, _owned, set_name, limit))
        if limit is not None and len(found) > limit:
            break
    return found


def _owned(condition: ColumnElement[bool], set_name: str, limit: int | None) -> Select[Any]:
    wanted = select(*_columns(set_name)).where(condition)
    return wanted if limit is None else wanted.limit(limit + 1)


def _joined(root: Root, rows: Sequence[Row[Any]], parts: _Parts) -> list[Aggregate]:
    wires = _wires(root.set_name)
    found = []
    for row in rows:
        row_id = getattr(row, "id", "")  # the settings of a tenant have no ID
        own = {root.set_name: [_encode(dict(zip(wires, row, strict=True)))], **parts.rows.get(row_id, {})}
        found.append(Aggregate(row_id, own, sum(len(one) + 1 for each in own.values() for one in each)))
    return found


@cache
def _wires(set_name: str) -> tuple[str, ...]:
    return tuple(column.wire for column in columns_of(set_name))
