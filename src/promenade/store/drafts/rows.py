"""The rows of edit drafts, set-wise: the number of statements depends on the declaration, not on the rows.

If a user deletes a row that was copied from an active one, it stays in the draft as ``removed``, so that activation
knows what to delete; rows that the draft itself has added are deleted at once.
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
from promenade.store.authoring.statements import Columns
from promenade.store.drafts.ownership import Draft
from promenade.store.driver.recurring import among, parameter, updating
from promenade.store.driver.schema import draft_table, table
from promenade.store.driver.unit import Session

_OF_DRAFTS = ("draft_uuid", "draft_owner", "changed", "removed")


@dataclass(frozen=True, slots=True)
class Part:
    """A composition of the entity set ``parent``: rows of ``set_name`` that refer to their parent in ``column``."""

    parent: str
    set_name: str
    column: str
    composition: Composition


@cache
def parts_of(set_name: str) -> tuple[Part, ...]:
    """Return all compositions below ``set_name``, to any depth, parents before their children."""
    found: list[Part] = []
    parents = [set_name]
    for parent in parents:
        for one in model.entity(parent).collections:
            if one.composition:
                found.append(Part(parent, one.target, model.entity(one.target).link(one.by).column, one))
                parents.append(one.target)
    return tuple(found)


async def copy_rows(session: Session, draft: Draft, part: Part | None, rows_max: int) -> int:
    """Copy the active root of a draft into it, or the rows of ``part`` whose parents it contains; return how many.

    At most ``rows_max`` rows are copied.
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
    """Count the rows of a draft, including removed ones."""
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
    """Return a row of a draft; None: it does not exist or is removed."""
    rows = draft_table(set_name)
    found = await session.execute(*among((rows.c.id,), (row_id,), _remaining, rows))
    return dict(found[0]._mapping) if found and found[0].draft_uuid == draft.uuid else None


def _remaining(condition: ColumnElement[bool], rows: Table) -> Select[Any]:
    return select(rows).where(condition, rows.c.removed.is_(False))


async def read_rows(session: Session, draft: Draft, set_name: str) -> list[Columns]:
    """Return all rows of one set in a draft, including removed ones, ordered by sequence and ID."""
    return [dict(row._mapping) for row in await session.execute(_all_rows(set_name), {"uuid": draft.uuid})]


@cache
def _all_rows(set_name: str) -> Kept:
    rows = draft_table(set_name)
    order = [rows.c[name] for name in ("sequence", "id") if name in rows.c]
    return Kept(select(rows).where(_is_of_draft(rows)).order_by(*order))


async def read_below(
    session: Session, draft: Draft, set_name: str, column: str, owners: Collection[str], ids: Collection[str] = ()
) -> list[Columns]:
    """Return the rows of a set, including removed ones, with ``column`` among ``owners``, and those with ``ids``."""
    rows = draft_table(set_name)
    among: ColumnElement[bool] = rows.c[column].in_(sorted(owners))
    if ids:
        among |= rows.c.id.in_(sorted(ids))
    wanted = select(rows).where(rows.c.draft_uuid == draft.uuid, among).order_by(rows.c.id)
    return [dict(row._mapping) for row in await session.execute(wanted)]


async def read_ids(session: Session, set_name: str, ids: Collection[str]) -> set[str]:
    """Return those of ``ids`` for which any draft of the tenant has a row."""
    rows = draft_table(set_name)
    return {row.id for row in await session.execute(*among((rows.c.id,), sorted(ids), _ids, rows))} if ids else set()


def _ids(condition: ColumnElement[bool], rows: Table) -> Select[Any]:
    return select(rows.c.id).where(condition)


async def insert_rows(session: Session, draft: Draft, set_name: str, rows: Sequence[Columns]) -> None:
    """Insert new rows into a draft; all have the same columns."""
    own = {"draft_uuid": draft.uuid, "draft_owner": draft.user, "changed": None, "removed": False}
    await session.execute_many(insert(draft_table(set_name)), [row | own for row in rows])


async def update_rows(session: Session, set_name: str, changes: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Update rows of a draft by their IDs and raise the ``version`` of each; one statement per set of columns."""
    rows = draft_table(set_name)
    shapes: dict[tuple[str, ...], list[Columns]] = {}
    for row_id, values in changes:
        shape = tuple(sorted(values))
        shapes.setdefault(shape, []).append({"key": row_id, **{f"new_{name}": values[name] for name in shape}})
    for shape, params in shapes.items():
        await session.execute_many(updating(rows, shape), params)


async def remove_rows(session: Session, draft: Draft, gone: Mapping[str, Collection[str]]) -> None:
    """Remove rows from a draft, by set and ID, with all their children."""
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
