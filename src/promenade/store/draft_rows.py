"""The rows of edit drafts, set-wise: the number of statements follows from the declaration, not from the rows.

The rows of a draft that its user has taken away stay there as ``removed`` when they were copied from active ones, so
that activating it knows what to delete; what the draft itself has added is deleted at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    Table,
    delete,
    func,
    insert,
    literal,
    select,
    union_all,
    update,
)

from odata_server.sql.connection import Kept
from promenade import model
from promenade.model.declare import Collection as Composition
from promenade.store.authored import Columns
from promenade.store.drafts import Draft
from promenade.store.recurring import among, parameter, updating
from promenade.store.schema import draft_table, table
from promenade.store.unit import Session

__all__ = [
    "Part",
    "copy_rows",
    "count_rows",
    "insert_rows",
    "parts_of",
    "read_below",
    "read_ids",
    "read_row",
    "read_rows",
    "remove_rows",
    "update_rows",
]

_OF_DRAFTS = ("draft_uuid", "draft_owner", "changed", "removed")


@dataclass(frozen=True, slots=True)
class Part:
    """A composition of a row of ``parent``: rows of ``set_name`` whose ``column`` names it."""

    parent: str
    set_name: str
    column: str
    composition: Composition


@cache
def parts_of(set_name: str) -> tuple[Part, ...]:
    """All that rows of ``set_name`` own, to any depth, parents before their children."""
    found: list[Part] = []
    parents = [set_name]
    for parent in parents:
        for one in model.entity(parent).collections:
            if one.composition:
                found.append(Part(parent, one.target, model.entity(one.target).link(one.by).column, one))
                parents.append(one.target)
    return tuple(found)


async def copy_rows(session: Session, draft: Draft, part: Part | None, rows_max: int) -> int:
    """Copy the active root of a draft into it, or those rows of ``part`` whose parents it has; how many there were.

    No more than ``rows_max`` of them.
    """
    values = {"uuid": draft.uuid, "user": draft.user, "root_id": draft.root_id, "most": rows_max}
    return await session.rowcount(_copying(draft.set_name, part), values)


@cache
def _copying(root_set: str, part: Part | None) -> Kept:
    set_name = root_set if part is None else part.set_name
    rows, copies = table(set_name), draft_table(set_name)
    uuid = parameter("uuid", copies.c.draft_uuid.type)
    own: dict[str, Any] = {
        "version": literal(1),
        "draft_uuid": uuid,
        "draft_owner": parameter("user", copies.c.draft_owner.type),
        "changed": literal([], copies.c.changed.type),
        "removed": literal(False),
    }
    names = [column.name for column in copies.c]
    wanted = select(*(own[name].label(name) if name in own else rows.c[name] for name in names))
    if part is None:
        wanted = wanted.where(rows.c.id == parameter("root_id", rows.c.id.type))
    else:
        parents = draft_table(part.parent)
        wanted = wanted.where(rows.c[part.column].in_(select(parents.c.id).where(parents.c.draft_uuid == uuid)))
    wanted = wanted.limit(parameter("most", Integer()))
    return Kept(insert(copies).from_select(names, wanted, include_defaults=False))


async def count_rows(session: Session, draft: Draft) -> int:
    """How many rows a draft has, removed ones among them."""
    return sum([row[0] for row in await session.execute(_counting(draft.set_name), {"uuid": draft.uuid})])


@cache
def _counting(root_set: str) -> Kept:
    each: list[Select[Any]] = []
    for set_name in (root_set, *(part.set_name for part in parts_of(root_set))):
        rows = draft_table(set_name)
        each.append(select(func.count().label("rows")).select_from(rows).where(_is_of_draft(rows)))
    return Kept(union_all(*each))


def _is_of_draft(rows: Table) -> ColumnElement[bool]:
    return rows.c.draft_uuid == parameter("uuid", rows.c.draft_uuid.type)


async def read_row(session: Session, draft: Draft, set_name: str, row_id: str) -> Columns | None:
    """A row of a draft; None: it has none, or has removed it."""
    rows = draft_table(set_name)
    found = await session.execute(*among((rows.c.id,), (row_id,), _remaining, rows))
    return dict(found[0]._mapping) if found and found[0].draft_uuid == draft.uuid else None


def _remaining(condition: ColumnElement[bool], rows: Table) -> Select[Any]:
    return select(rows).where(condition, rows.c.removed.is_(False))


async def read_rows(session: Session, draft: Draft, set_name: str) -> list[Columns]:
    """All rows of one set that a draft has, removed ones among them, in the order of sequence and ID."""
    return [dict(row._mapping) for row in await session.execute(_all_rows(set_name), {"uuid": draft.uuid})]


@cache
def _all_rows(set_name: str) -> Kept:
    rows = draft_table(set_name)
    order = [rows.c[name] for name in ("sequence", "id") if name in rows.c]
    return Kept(select(rows).where(_is_of_draft(rows)).order_by(*order))


async def read_below(
    session: Session, draft: Draft, set_name: str, column: str, owners: Collection[str], ids: Collection[str] = ()
) -> list[Columns]:
    """The rows of a set, removed ones among them, whose ``column`` names one of ``owners``, and those of ``ids``."""
    rows = draft_table(set_name)
    among: ColumnElement[bool] = rows.c[column].in_(sorted(owners))
    if ids:
        among |= rows.c.id.in_(sorted(ids))
    wanted = select(rows).where(rows.c.draft_uuid == draft.uuid, among).order_by(rows.c.id)
    return [dict(row._mapping) for row in await session.execute(wanted)]


async def read_ids(session: Session, set_name: str, ids: Collection[str]) -> set[str]:
    """Those of ``ids`` that any draft of the tenant has a row of."""
    rows = draft_table(set_name)
    return {row.id for row in await session.execute(*among((rows.c.id,), sorted(ids), _ids, rows))} if ids else set()


def _ids(condition: ColumnElement[bool], rows: Table) -> Select[Any]:
    return select(rows.c.id).where(condition)


async def insert_rows(session: Session, draft: Draft, set_name: str, rows: Sequence[Columns]) -> None:
    """Add new rows to a draft; all have the same columns."""
    own = {"draft_uuid": draft.uuid, "draft_owner": draft.user, "changed": None, "removed": False}
    await session.execute_many(insert(draft_table(set_name)), [row | own for row in rows])


async def update_rows(session: Session, set_name: str, changes: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Change rows of a draft by their IDs and count the write in each ``version``; one statement per set of columns."""
    rows = draft_table(set_name)
    shapes: dict[tuple[str, ...], list[Columns]] = {}
    for row_id, values in changes:
        shape = tuple(sorted(values))
        shapes.setdefault(shape, []).append({"key": row_id, **{f"new_{name}": values[name] for name in shape}})
    for shape, params in shapes.items():
        await session.execute_many(updating(rows, shape), params)


async def remove_rows(session: Session, draft: Draft, gone: Mapping[str, Collection[str]]) -> None:
    """Take rows out of a draft, by set and ID, with all that they own."""
    ids: dict[str, set[str]] = {set_name: set(each) for set_name, each in gone.items() if each}
    for part in parts_of(draft.set_name):
        if ids.get(part.parent):
            rows = draft_table(part.set_name)
            below = select(rows.c.id).where(
                rows.c.draft_uuid == draft.uuid, rows.c[part.column].in_(sorted(ids[part.parent]))
            )
            ids.setdefault(part.set_name, set()).update([row.id for row in await session.execute(below)])
    for set_name, each in ids.items():
        rows = draft_table(set_name)
        among = (rows.c.draft_uuid == draft.uuid) & rows.c.id.in_(sorted(each))
        if each:
            await session.rowcount(delete(rows).where(among, rows.c.changed.is_(None)))
            await session.rowcount(update(rows).where(among, rows.c.removed.is_(False)).values(removed=True))
