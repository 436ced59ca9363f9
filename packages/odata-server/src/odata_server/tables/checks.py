"""Check rows before they are written; all faults are reported together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select

from odata_server.edm import NavigationProperty
from odata_server.errors import Fault, ODataError
from odata_server.source import Key
from odata_server.sql.connection import SqlConnection
from odata_server.tables.places import Place, Places, chunks

__all__ = ["Gone", "RowChange", "check_rows", "check_unused", "refuse"]

Gone = dict[str, list[Key]]
"""Entity type -> keys of the rows that go in the same unit."""


@dataclass(slots=True, eq=False)
class RowChange:
    """A row to insert (``before`` is None) or update. ``values`` are the new values by property.

    ``path`` is its path from the request's entity and ends in a slash, unless it is empty. ``first`` are rows that
    this one refers to and that are written before it, ``then`` rows that refer to this one; ``filled`` are its
    properties whose values come from such a row.
    """

    place: Place
    values: dict[str, Any]
    path: str
    before: dict[str, Any] | None = None
    filled: set[str] = field(default_factory=set)
    first: list[tuple[NavigationProperty, RowChange]] = field(default_factory=list)
    then: list[tuple[NavigationProperty, RowChange]] = field(default_factory=list)

    @property
    def after(self) -> dict[str, Any]:
        """The values of the row after the change, as far as they are known."""
        return {**(self.before or {}), **self.values}

    def every(self) -> Iterator[RowChange]:
        """Iterate over this row and its dependent rows, in the order of the body."""
        yield self
        for _, child in (*self.first, *self.then):
            yield from child.every()


def refuse(status: int, faults: Sequence[Fault]) -> None:
    """Raise one error for the faults, with ``details`` if there are several; do nothing if there are none."""
    if len(faults) == 1:
        raise ODataError(status, faults[0].code, faults[0].message, faults[0].target)
    if faults:
        code = faults[0].code if len({fault.code for fault in faults}) == 1 else "MULTIPLE_ERRORS"
        raise ODataError(status, code, f"{len(faults)} values are wrong.", None, tuple(faults))


async def check_rows(connection: SqlConnection, places: Places, rows: Sequence[RowChange], gone: Gone) -> None:
    """Raise `ODataError` 400 REQUIRED or UNKNOWN_REFERENCE, or 409 ALREADY_EXISTS for invalid rows."""
    faults = [fault for row in rows for fault in _missing(row)]
    faults += await _dangling(connection, places, rows, gone)
    refuse(400, faults)
    refuse(409, await _duplicates(connection, rows, gone))


def _missing(row: RowChange) -> Iterable[Fault]:
    after = row.after
    for prop in row.place.entity_type.properties:
        optional = prop.collection or (prop.nullable and prop.name not in row.place.entity_type.key)
        if optional or prop.name in row.filled or after.get(prop.name) is not None:
            continue
        if row.before is not None and prop.name not in row.values:
            continue
        if not row.place.fills(prop.name):
            yield Fault("REQUIRED", f"{row.path}{prop.name} is required.", f"{row.path}{prop.name}")


# ---- references ---------------------------------------------------------------------------------------------------


async def _dangling(connection: SqlConnection, places: Places, rows: Sequence[RowChange], gone: Gone) -> list[Fault]:
    wanted: dict[tuple[str, tuple[str, ...]], list[tuple[tuple[Any, ...], RowChange, str]]] = defaultdict(list)
    for row in rows:
        owner = row.place.entity_type
        for navigation in owner.navigations:
            names = [own for own, _ in navigation.on]
            if not places.refers(owner, navigation) or not row.values.keys() & set(names) or row.filled & set(names):
                continue
            after = row.after
            values = tuple(after.get(name) for name in names)
            if None not in values:
                others = tuple(other for _, other in navigation.on)
                wanted[navigation.target, others].append((values, row, names[-1]))
    faults = []
    for (target, others), uses in wanted.items():
        place = places.of(places.model.edm.entity_types[target])
        known = await _existing(connection, place, others, [values for values, _, _ in uses])
        known -= {tuple(key.get(name) for name in others) for key in gone.get(target, ())}
        known |= {tuple(one.after.get(name) for name in others) for one in rows if one.place is place}
        for values, row, name in uses:
            if values not in known:
                message = f"{row.path}{name}: there is no {target} {', '.join(map(str, values))}."
                faults.append(Fault("UNKNOWN_REFERENCE", message, f"{row.path}{name}"))
    return faults


async def _existing(
    connection: SqlConnection, place: Place, names: Sequence[str], tuples: Sequence[tuple[Any, ...]]
) -> set[tuple[Any, ...]]:
    found: set[tuple[Any, ...]] = set()
    for some in chunks(list(dict.fromkeys(tuples))):
        rows = await connection.execute(select(*place.selected).where(place.among(names, some)))
        found |= {tuple(place.loaded(row)[name] for name in names) for row in rows}
    return found


# ---- uniqueness ---------------------------------------------------------------------------------------------------


async def _duplicates(connection: SqlConnection, rows: Sequence[RowChange], gone: Gone) -> list[Fault]:
    faults: dict[tuple[int, str], Fault] = {}
    by_place: dict[Place, list[RowChange]] = defaultdict(list)
    for row in rows:
        by_place[row.place].append(row)
    for place, some in by_place.items():
        for names in place.unique:
            for row in await _taken(connection, place, names, some, gone):
                target = f"{row.path}{names[-1]}"
                message = f"{target}: another {place.entity_type.name} already has this {' and '.join(names)}."
                faults.setdefault((id(row), target), Fault("ALREADY_EXISTS", message, target))
    return list(faults.values())


async def _taken(
    connection: SqlConnection, place: Place, names: Sequence[str], rows: Sequence[RowChange], gone: Gone
) -> list[RowChange]:
    """Return the rows whose values of ``names`` are already taken by another row."""
    claims: dict[tuple[Any, ...], list[RowChange]] = defaultdict(list)
    for row in rows:
        after = row.after
        values = tuple(after.get(name) for name in names)
        changed = row.before is None or any(row.before[name] != after.get(name) for name in names)
        if changed and None not in values:
            claims[values].append(row)
    taken = [row for claimants in claims.values() for row in claimants[1:]]
    changing = {_frozen(place, row.before): row for row in rows if row.before is not None}
    going = {tuple(key[name] for name in place.entity_type.key) for key in gone.get(place.entity_type.name, ())}
    for some in chunks(list(claims)):
        for found in await connection.execute(select(*place.selected).where(place.among(names, some))):
            held = place.loaded(found)
            values = tuple(held[name] for name in names)
            holder = changing.get(_frozen(place, held))
            moves = holder is not None and tuple(holder.after[name] for name in names) != values
            if not moves and _frozen(place, held) not in going:
                taken.append(claims[values][0])
    return taken


def _frozen(place: Place, values: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(values[name] for name in place.entity_type.key)


# ---- deletion -----------------------------------------------------------------------------------------------------


async def check_unused(
    connection: SqlConnection, places: Places, removals: Sequence[tuple[Place, Sequence[dict[str, Any]]]]
) -> None:
    """Raise `ODataError` 409 IN_USE if a remaining row refers to a row to be deleted."""
    going = {(place.entity_type.name, _frozen(place, row)) for place, rows in removals for row in rows}
    for place, rows in removals:
        own_type = place.entity_type.name
        for other, navigation in places.referring(place.entity_type):
            names = [own for own, _ in navigation.on]
            for some in chunks([tuple(row[name] for _, name in navigation.on) for row in rows]):
                for found in await connection.execute(select(*other.selected).where(other.among(names, some))):
                    user = other.entity_type.name
                    if (user, _frozen(other, other.loaded(found))) not in going:
                        message = f"This {own_type} is in use by {navigation.name} of a {user}."
                        raise ODataError(409, "IN_USE", message)
