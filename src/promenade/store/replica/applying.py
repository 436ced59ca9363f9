"""Apply a download to a store's tables: compare first, then write the differences in bulk.

Nothing is written that exists already, so a download may be applied again from wherever it was interrupted. Rows keep
the cloud's IDs and versions; columns of `SHARES` remain the store's own. A natural key may move from one row to
another, or two rows may swap theirs: the row in the way first gets a temporary unique key.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import String, Table, func, select, update

from odata_server.sql.connection import Kept
from promenade.model import entity
from promenade.model.sync_sets import ROOTS, SHARES, Part, Root, Share
from promenade.store.authoring.statements import Columns, delete_rows, find_keys, insert_rows, read_ids, read_rows
from promenade.store.driver import schema
from promenade.store.driver.recurring import parameter
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import KINDS, record_change

IDS_MAX = 10_000  # values in one statement; both databases accept 32 766
_FORMS_MAX = 200
_ROOT_SETS = frozenset(root.set_name for root in ROOTS)
_PARTS = {part.set_name: part for root in ROOTS for part in root.parts}
# The status of a row that cannot be deleted because sales or codes refer to it, but must not be used any more.
_RETIRED: Mapping[str, Columns] = {"Budgets": {"status": "EXPIRED"}, "CouponTypes": {"status": "INACTIVE"}}


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The columns of a root row in the cloud, and the rows of its parts by set."""

    row: Columns
    parts: Mapping[str, Sequence[Columns]]


@dataclass(slots=True)
class Changes:
    """The changes to write to one root set; ``left_out``: IDs that refer to missing rows and remain unchanged."""

    root: Root
    inserts: list[Columns] = field(default_factory=list)
    updates: list[tuple[str, Columns]] = field(default_factory=list)
    parked: list[tuple[str, Columns]] = field(default_factory=list)  # keys that other rows get
    replaced: set[str] = field(default_factory=set)  # rows whose parts differ
    moved: dict[str, set[str]] = field(default_factory=dict)  # parts that belonged to other rows, by set
    parts: dict[str, list[Columns]] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.inserts or self.updates or self.parked or self.replaced)

    @property
    def ids(self) -> set[str]:
        """The IDs of the root rows that change, themselves or in their parts."""
        inserted = {row["id"] for row in self.inserts}
        return inserted | {row_id for row_id, _ in self.updates} | {one for one, _ in self.parked} | self.replaced


# --- finding ----------------------------------------------------------------------------------------------------------


async def find_changes(
    session: Session, root: Root, wanted: Mapping[str, Aggregate], coming: Mapping[str, Collection[str]]
) -> Changes:
    """Find the changes that turn root rows into ``wanted`` (by ID); ``coming``: IDs of other sets written before."""
    changes = Changes(root)
    held = {row["id"]: row for row in await read_rows(session, root.set_name, "id", wanted)}
    changes.left_out = await _without_what_they_name(session, root, wanted, coming)
    kept = {row_id: one for row_id, one in wanted.items() if row_id not in changes.left_out}
    for row_id, one in kept.items():
        if row_id not in held:
            changes.inserts.append(_as_new(root.set_name, one.row))
        elif different := _differences(root.set_name, held[row_id], one.row):
            changes.updates.append((row_id, different))
    await _find_parts(session, changes, kept)
    await _find_taken_keys(session, changes)
    return changes


def _as_new(set_name: str, row: Columns) -> Columns:
    """Return a row to insert: with nothing spent and no shares yet."""
    shares = SHARES.get(set_name, {})
    own = {name: 0 if share is Share.OWN or row.get(name) is not None else None for name, share in shares.items()}
    return {**row, **own}


def _differences(set_name: str, held: Columns, row: Columns) -> Columns:
    """Return the columns of an existing row that change, with their new values."""
    shares = SHARES.get(set_name, {})
    different: Columns = {}
    for name, value in row.items():
        share = shares.get(name)
        if share is Share.LIMIT and value is not None:
            if held[name] is None:
                different[name] = 0
        elif share is not Share.OWN and held[name] != value:
            different[name] = value
    return different


async def _without_what_they_name(
    session: Session, root: Root, wanted: Mapping[str, Aggregate], coming: Mapping[str, Collection[str]]
) -> set[str]:
    """Return the rows that refer, themselves or in their parts, to a row that neither exists nor is coming."""
    # target set, ID -> rows that refer to it
    named: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row_id, one in wanted.items():
        for target, named_id in _names(root.set_name, one):
            named[target][named_id].add(row_id)
    left_out: set[str] = set()
    for target, ids in named.items():
        unknown = ids.keys() - set(coming.get(target, ()))
        if target == root.set_name:
            unknown -= wanted.keys()
        for missing in unknown - await read_ids(session, target, unknown):
            left_out |= ids[missing]
    # Nothing can be added below a row that is left out.
    below = list(left_out)
    while below:
        more = named[root.set_name].get(below.pop(), set()) - left_out
        left_out |= more
        below += more
    return left_out


def _names(set_name: str, one: Aggregate) -> Iterator[tuple[str, str]]:
    """Yield (set, ID) of every root row that an aggregate refers to."""
    for of, rows in ((set_name, (one.row,)), *one.parts.items()):
        for target, column in _references(of):
            for row in rows:
                if row[column] is not None:
                    yield target, row[column]


@cache
def _references(set_name: str) -> tuple[tuple[str, str], ...]:
    """Return (root set, column) of every hard reference of a set, except to its own root."""
    part = _PARTS.get(set_name)
    return tuple(
        (link.target, link.column)
        for link in entity(set_name).links
        if not link.soft and link.target in _ROOT_SETS and (part is None or link.column != part.column)
    )


async def _find_parts(session: Session, changes: Changes, wanted: Mapping[str, Aggregate]) -> None:
    """Find the aggregates whose parts differ; all parts of such an aggregate are replaced."""
    root = changes.root
    if not root.parts:
        return
    held = await _read_parts(session, root, wanted)
    for row_id, one in wanted.items():
        should = {(of, row["id"]): row for of, rows in one.parts.items() for row in rows}
        there = held.get(row_id, {})
        if should.keys() != there.keys() or any(_is_different(row, there[at]) for at, row in should.items()):
            changes.replaced.add(row_id)
            for of, rows in one.parts.items():
                changes.parts.setdefault(of, []).extend(rows)
    leaving = {at for row_id in changes.replaced for at in held.get(row_id, {})}
    for of, rows in changes.parts.items():
        coming = {row["id"] for row in rows if (of, row["id"]) not in leaving}
        if moved := await read_ids(session, of, coming):
            changes.moved[of] = moved


def _is_different(row: Columns, held: Columns) -> bool:
    return any(held[name] != value for name, value in row.items())


async def _read_parts(session: Session, root: Root, ids: Collection[str]) -> dict[str, dict[tuple[str, str], Columns]]:
    """Return the existing rows of the parts, by the root's ID, then by set and ID."""
    found: dict[str, dict[tuple[str, str], Columns]] = defaultdict(dict)
    root_of: dict[str, dict[str, str]] = {root.set_name: {row_id: row_id for row_id in ids}}
    for part in root.parts:
        owners = root_of[part.owner]
        of_part = root_of.setdefault(part.set_name, {})
        for row in await read_rows(session, part.set_name, part.column, owners):
            root_id = of_part[row["id"]] = owners[row[part.column]]
            found[root_id][part.set_name, row["id"]] = row
    return found


async def _find_taken_keys(session: Session, changes: Changes) -> None:
    """Park the keys of rows whose key another row gets; if two new rows have the same key, the later one gets it."""
    set_name = changes.root.set_name
    for column in _keys(set_name):
        owners: dict[str, str] = {}
        given = [(row["id"], row) for row in changes.inserts] + changes.updates
        for row_id, row in given:
            if row.get(column) is not None:
                if (other := owners.get(row[column])) is not None:
                    dict(given)[other][column] = _parked(set_name, column, other)
                owners[row[column]] = row_id
        holders = await find_keys(session, set_name, (column,), [(key,) for key in owners]) if owners else []
        for row_id, (key,) in holders:
            if owners[key] != row_id:
                changes.parked.append((row_id, {column: _parked(set_name, column, row_id)}))


@cache
def _keys(set_name: str) -> tuple[str, ...]:
    """Return the unique columns of a root."""
    one = entity(set_name)
    return tuple(name for columns in (one.natural_key, *one.unique) for name in columns if columns)


def _parked(set_name: str, column: str, row_id: str) -> str | None:
    """Return the temporary key of a row that must give up its own: null where that is allowed."""
    keys = table(set_name).c[column]
    if keys.nullable:
        return None
    length = keys.type.length if isinstance(keys.type, String) and keys.type.length is not None else 64
    return ("~" + hashlib.sha256(row_id.encode()).hexdigest())[:length]


async def find_unnamed(session: Session, set_name: str, named: Collection[str]) -> set[str]:
    """Return the rows of a set that a full download did not contain."""
    rows = table(set_name)
    return {row[0] for row in await session.execute(select(rows.c.id))} - set(named)


# --- writing ----------------------------------------------------------------------------------------------------------


async def count_roots(session: Session) -> dict[str, int]:
    """Count the rows that a full download replaces or deletes, by entity set; sets without any are left out."""
    found: dict[str, int] = {}
    for root in ROOTS:
        if root.set_name != "Tenants":
            ((number,),) = await session.execute(select(func.count()).select_from(table(root.set_name)))
            found |= {root.set_name: int(number)} if number else {}
    return found


async def write_tenant(session: Session, row: Columns, *, at: datetime) -> None:
    """Update the session's tenant to its settings in the cloud."""
    tenants = table("Tenants")
    names = [name for name in row if name != "version"]
    columns = [tenants.c[name] for name in names]
    own = tenants.c.tenant_id == session.tenant
    held = await session.execute(select(*columns).where(own))
    if held and tuple(held[0]) != tuple(row[name] for name in names):
        await session.rowcount(update(tenants).where(own).values({name: row[name] for name in names}))
        await record_change(session, "Tenants", str(session.tenant), at=at)


async def write_changes(session: Session, changes: Changes, *, at: datetime) -> None:
    """Write the changes and record them for the next evaluation."""
    if not changes:
        return
    set_name = changes.root.set_name
    await _set(session, set_name, changes.parked)
    trees = _trees(set_name)
    await insert_rows(session, set_name, [{**row, **dict.fromkeys(trees)} for row in _complete(changes.inserts, at)])
    above = [(row["id"], {name: row[name]}) for row in changes.inserts for name in trees if row[name] is not None]
    await _set(session, set_name, [*above, *changes.updates])
    await _replace_parts(session, changes, at)
    await _record(session, set_name, changes.ids, at)


async def _replace_parts(session: Session, changes: Changes, at: datetime) -> None:
    for part in changes.root.parts:
        if part.owner == changes.root.set_name and changes.replaced:
            await _delete_part(session, part, changes.replaced)
    for of, ids in changes.moved.items():
        await delete_rows(session, of, ids)
    for part in changes.root.parts:  # owners come before what they own
        await insert_rows(session, part.set_name, _complete(changes.parts.get(part.set_name, ()), at))


async def _delete_part(session: Session, part: Part, owners: Collection[str]) -> None:
    await delete_rows(session, part.set_name, owners, column=part.column)


def _complete(rows: Iterable[Columns], at: datetime) -> list[Columns]:
    """Fill missing time stamps, which a cloud of another version may not send."""
    stamps = ("created_at", "modified_at")
    return [{**row, **{name: at for name in stamps if name in row and row[name] is None}} for row in rows]


@cache
def _trees(set_name: str) -> tuple[str, ...]:
    """Return the columns of a root that refer to its own set."""
    return tuple(link.column for link in entity(set_name).links if link.target == set_name)


async def _set(session: Session, set_name: str, changes: Sequence[tuple[str, Columns]]) -> None:
    """Update columns of rows by ID, without touching the version, which is the cloud's."""
    rows = table(set_name)
    shapes: dict[tuple[str, ...], list[Columns]] = {}
    for row_id, values in changes:
        shape = tuple(sorted(values))
        shapes.setdefault(shape, []).append({"key": row_id, **{f"new_{name}": values[name] for name in shape}})
    for shape, params in shapes.items():
        await session.execute_many(_setting(rows, shape), params)


@lru_cache(_FORMS_MAX)
def _setting(rows: Table, names: tuple[str, ...]) -> Kept:
    named: dict[str, Any] = {name: parameter(f"new_{name}", rows.c[name].type) for name in names}
    return Kept(update(rows).where(rows.c.id == parameter("key", rows.c.id.type)).values(**named))


async def delete_roots(session: Session, root: Root, ids: Collection[str], *, at: datetime) -> set[str]:
    """Delete root rows with their parts; return those that remain because others refer to them.

    Sales, codes, and rows that the store's own users created may do so; a budget or coupon type that remains is closed.
    """
    there = await read_ids(session, root.set_name, ids)
    if not there:
        return set()
    await _set(session, root.set_name, [(one, {name: None}) for one in sorted(there) for name in _trees(root.set_name)])
    for part in root.parts:
        if part.owner == root.set_name:
            await _delete_part(session, part, there)
    stay: set[str] = set()
    for rows, column in _referrers(root.set_name):
        stay |= await _named_in(session, rows, column, there)
    await delete_rows(session, root.set_name, there - stay)
    retired = _RETIRED.get(root.set_name)
    if retired is not None:
        await _set(session, root.set_name, [(one, retired) for one in sorted(stay)])
    await _record(session, root.set_name, there, at)
    return stay


@cache
def _referrers(set_name: str) -> tuple[tuple[Table, str], ...]:
    """Return (table, column) of every reference that prevents the deletion of rows of the set."""
    wanted = table(set_name)
    return tuple(
        (rows, constraint.column_keys[-1])
        for rows in schema.metadata.sorted_tables
        for constraint in rows.foreign_key_constraints
        if constraint.referred_table is wanted and constraint.ondelete != "CASCADE"
    )


async def _named_in(session: Session, rows: Table, column: str, ids: Collection[str]) -> set[str]:
    """Return those of ``ids`` that occur in a column."""
    found: set[str] = set()
    listed = sorted(ids)
    for start in range(0, len(listed), IDS_MAX):
        wanted = rows.c[column].in_(listed[start : start + IDS_MAX])
        found.update(row[0] for row in await session.execute(select(rows.c[column]).where(wanted).distinct()))
    return found


async def _record(session: Session, set_name: str, ids: Collection[str], at: datetime) -> None:
    if set_name in KINDS and ids:
        await record_change(session, set_name, *sorted(ids), at=at)
