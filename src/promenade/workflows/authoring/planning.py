"""Turn the rows of a request into writes: new, changed and deleted rows at any depth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from promenade.errors import Detail, Forbidden, Invalid
from promenade.model.declare import Collection, Field
from promenade.store.authoring.statements import Columns, read_referred, read_rows
from promenade.workflows.authoring.machines import MACHINES
from promenade.workflows.authoring.shapes import MANAGED, Shape, referrers, shape_of
from promenade.workflows.authoring.unit import Act, Delta, Row, Unit, Write

ROWS_MAX = 10_000  # limits the time of one request
UNIT_ROWS_MAX = 20_000  # limits the time of a change set of many requests


@dataclass(frozen=True, slots=True)
class _Part:
    """A composition of a row, as contained in the request."""

    parent: Write
    collection: Collection
    value: Any


class Plan:
    """Collects the writes of one call, parents before their children."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self.writes: list[Write] = []
        self._parts: list[_Part] = []

    def create(self, shape: Shape, row: Row, path: str, owner: tuple[str, str] | None = None) -> Write:
        """Plan a new row; ``owner`` is the owning column and the owner's ID."""
        given = row.get("ID")
        write = Write(shape, Act.CREATE, str(given).lower() if given else self._unit.new_id(), path, None, {})
        write.after = self._unit.row_of(shape, write.id)
        write.has_own_id = bool(given)
        self._fill(write, row, owner)
        if owner is not None:
            write.after[owner[0]] = owner[1]
        self.writes.append(write)
        return write

    def update(self, shape: Shape, before: Columns, row: Row, path: str, owner: tuple[str, str] | None = None) -> Write:
        """Plan the change of a row."""
        write = Write(shape, Act.UPDATE, before["id"], path, before, dict(before))
        self._fill(write, row, owner)
        self.writes.append(write)
        return write

    def delete(self, shape: Shape, before: Columns, path: str) -> Write:
        """Plan the deletion of a row with everything it owns."""
        write = Write(shape, Act.DELETE, before["id"], path, before, {})
        self.writes.append(write)
        return write

    def replace(self, shape: Shape, row: Row) -> Row:
        """Return ``row`` with defaults for every writable property that it omits.

        A status that is omitted does not change: it only changes by a transition.
        """
        owner = shape.owner
        rest: dict[str, Any] = {
            wire: field.default for wire, field in shape.fields.items() if field.name != "id" and _is_writable(field)
        }
        # Write-only properties keep their values: a client cannot send back a secret that it never sees.
        rest = {wire: default for wire, default in rest.items() if not shape.fields[wire].write_only}
        if shape.set_name in MACHINES:
            del rest["status"]
        rest |= {wire: None for wire, link in shape.links.items() if not link.read_only and link is not owner}
        return {**rest, **row}

    def _fill(self, write: Write, row: Row, owner: tuple[str, str] | None) -> None:
        shape, unit = write.shape, self._unit
        given: set[str] = set()
        for wire, value in row.items():
            target = f"{write.path}{wire}"
            if wire in shape.compositions:
                self._parts.append(_Part(write, shape.compositions[wire], value))
            elif wire in shape.links:
                link = shape.links[wire]
                if owner is not None and link.column == owner[0]:
                    if value is not None and value != owner[1]:
                        message = f"{wire} must name the row that this one is part of."
                        unit.faults.add(Detail("OTHER_PARENT", message, target))
                elif not link.read_only:
                    write.after[link.column] = value
                    given.add(link.column)
            elif wire in shape.fields:
                self._give(write, shape.fields[wire], value, given)
            elif wire not in shape.ignored and "@" not in wire:
                unit.faults.add(Detail("UNKNOWN_PROPERTY", f"{shape.set_name} has no property {wire}.", target))
        write.given = frozenset(given)

    def _give(self, write: Write, field: Field, value: Any, given: set[str]) -> None:
        if field.name == "tenant_id":
            if value is not None and value != self._unit.tenant:
                message = "tenantId is taken from the token; a row of another tenant cannot be written."
                raise Forbidden("FOREIGN_TENANT", message, f"{write.path}tenantId")
        elif _is_writable(field) and field.name != "id":
            if field.refers_to is not None and isinstance(value, str):
                value = value.lower()  # IDs are stored in lower case
            write.after[field.name] = list(value) if isinstance(value, tuple) else value
            given.add(field.name)

    async def expand(self) -> None:
        """Plan the compositions, level by level: one statement reads all existing rows of a composition."""
        while self._parts:
            self._bound(len(self.writes) + sum(_count(part.value) for part in self._parts))
            parts, self._parts = self._parts, []
            wanted: dict[Collection, list[_Part]] = {}
            for part in parts:
                wanted.setdefault(part.collection, []).append(part)
            for collection, each in wanted.items():
                await self._expand(collection, each)
        self._bound_unit(0)
        self._unit.planned += len(self.writes)

    def _bound(self, rows: int) -> None:
        if rows > ROWS_MAX:
            raise Invalid("TOO_MANY_ROWS", f"One request can write at most {ROWS_MAX} rows, parts of rows included.")
        self._bound_unit(rows - len(self.writes))

    def _bound_unit(self, further: int) -> None:
        """Check the limit of the unit; an import has a limit of its own, and more time."""
        if self._unit.planned + len(self.writes) + further > UNIT_ROWS_MAX and not self._unit.importing:
            raise Invalid("TOO_MANY_ROWS", f"One change set can write at most {UNIT_ROWS_MAX} rows, parts included.")

    async def _expand(self, collection: Collection, parts: Sequence[_Part]) -> None:
        shape = shape_of(collection.target)
        column = shape.entity.link(collection.by).column
        parts = await self._empty(shape, column, parts)
        there: dict[str, dict[str, Columns]] = {}
        for row in await self._there(shape, column, [part for part in parts if part.parent.act is Act.UPDATE]):
            there.setdefault(row[column], {})[row["id"]] = row
        for part in parts:
            self._merge(part, shape, column, there.get(part.parent.id, {}))

    async def _empty(self, shape: Shape, column: str, parts: Sequence[_Part]) -> list[_Part]:
        """Mark compositions that become empty for deletion without reading them; return the others."""
        empty: list[_Part] = []
        rest: list[_Part] = []
        for part in parts:
            (empty if part.parent.act is Act.UPDATE and part.value in ([], ()) else rest).append(part)
        if not empty or referrers(shape.set_name):
            return list(parts)
        some = await read_referred(self._unit.session, shape.set_name, column, {part.parent.id for part in empty})
        for part in empty:
            if part.parent.id in some:
                part.parent.emptied.append((shape.set_name, column))
        return rest

    async def _there(self, shape: Shape, column: str, parts: Sequence[_Part]) -> list[Columns]:
        """Return the existing rows to merge with: all rows of a composition; for a delta those that it names."""
        whole = {part.parent.id for part in parts if not isinstance(part.value, Delta)}
        named = {key for part in parts if isinstance(part.value, Delta) for key in _named(part.value)}
        session, set_name = self._unit.session, shape.set_name
        rows = await read_rows(session, set_name, "id", named, lock="update") if named else []
        if whole:
            rows += await read_rows(session, set_name, column, whole, lock="update", limit=ROWS_MAX + 1)
            if len(rows) > ROWS_MAX:
                message = (
                    f"There are more than {ROWS_MAX} of {set_name}; change some with a delta, or empty the list first."
                )
                raise Invalid("TOO_MANY_ROWS", message, f"{parts[0].parent.path}{parts[0].collection.wire}")
        return rows

    def _merge(self, part: _Part, shape: Shape, column: str, there: dict[str, Columns]) -> None:
        """Update rows that exist, create those that do not, and delete those that are omitted or removed."""
        path, value = f"{part.parent.path}{part.collection.wire}", part.value
        upserts, removed = _wanted(value, part.collection.many, set(there))
        if upserts is None:
            self._unit.faults.add(Detail("INVALID_VALUE", f"{path} must be {_form(part.collection)}.", path))
            return
        owner = (column, part.parent.id)
        seen: set[str] = set()
        for place, row in enumerate(upserts):
            below = f"{path}/{place}/" if part.collection.many else f"{path}/"
            key = str(row.get("ID") or "").lower()
            if not part.collection.many and not key:
                key = next(iter(there), "")
            if key and key in seen:
                self._unit.faults.add(Detail("REPEATED_ID", f"{below}ID occurs twice.", f"{below}ID"))
                continue
            seen.add(key)
            if key in there:
                removed.discard(key)
                self.update(shape, there[key], row, below, owner)
            else:
                self.create(shape, row, below, owner)
        for key in sorted(removed):
            if key in there:
                self.delete(shape, there[key], f"{path}/")


def _named(delta: Delta) -> Iterable[str]:
    """Return the IDs of the rows that a delta changes or removes."""
    rows = delta.upserts if _are_rows(delta.upserts) else ()
    return (str(key).lower() for key in (*(row.get("ID") for row in rows), *delta.removed) if key)


def _count(value: Any) -> int:
    if isinstance(value, Delta):
        return len(value.upserts) + len(value.removed)
    return len(value) if isinstance(value, list | tuple) else 1


def _is_writable(field: Field) -> bool:
    return not field.read_only and not field.virtual and field.name not in MANAGED


def _form(collection: Collection) -> str:
    return "a list of objects" if collection.many else "an object or null"


def _wanted(value: Any, many: bool, there: set[str]) -> tuple[Sequence[Row] | None, set[str]]:
    """Return the rows wanted, and the IDs to delete unless among them; None: not a composition."""
    if isinstance(value, Delta) and many:
        return (value.upserts if _are_rows(value.upserts) else None), {one.lower() for one in value.removed}
    if many:
        return (value if isinstance(value, list | tuple) and _are_rows(value) else None), set(there)
    if value is None:
        return (), set(there)
    return ((value,) if _are_rows((value,)) else None), set(there)


def _are_rows(rows: Iterable[Any]) -> bool:
    return all(hasattr(row, "items") for row in rows)
