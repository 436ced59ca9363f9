"""The owners of a row: the rows above it, and the promotions and campaigns that it is part of.

Everything is derived from the declarations: a row's owner is the target of its owning link, up to a row without one. If
that topmost row has a link to Promotions (a pilot config, a link to a budget), changing it changes the promotion.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from promenade.errors import Detail
from promenade.store.authoring.statements import Columns, read_rows
from promenade.store.pricing.changes import KINDS
from promenade.workflows.authoring.shapes import Shape, shape_of
from promenade.workflows.authoring.unit import Act, Unit, Write

Subject = tuple[str, str]
"""Entity set and ID of what decides prices, see `store.pricing.changes.KINDS`."""


async def hold_upwards(unit: Unit, wanted: Mapping[str, set[str]]) -> dict[tuple[str, str], Columns]:
    """Lock and return rows by entity set and ID, with all rows that own them.

    Every unit locks the topmost rows first, so that nobody waits for a lower row while holding a higher one.
    """
    levels: list[Mapping[str, set[str]]] = []
    level = wanted
    while level:
        levels.append(level)
        above: dict[str, set[str]] = {}
        for set_name, ids in level.items():
            owner = shape_of(set_name).owner
            if owner is not None:
                rows = await read_rows(unit.session, set_name, "id", ids)
                above.setdefault(owner.target, set()).update([row[owner.column] for row in rows])
        level = {set_name: ids for set_name, ids in above.items() if ids}
    held: dict[tuple[str, str], Columns] = {}
    for level in reversed(levels):
        for set_name, ids in sorted(level.items()):
            for row in await read_rows(unit.session, set_name, "id", ids, lock="update"):
                held[set_name, row["id"]] = row
    return held


class Owners:
    """The rows above the writes of one call, locked until the unit ends, which serializes changes of one owner."""

    def __init__(self, unit: Unit, writes: Sequence[Write]) -> None:
        self._unit = unit
        self._writes = writes
        self._by_key = {(write.set_name, write.id): write for write in writes}
        self._read: dict[tuple[str, str], Columns] = {}

    async def climb(self) -> list[Write]:
        """Read and touch all rows above; return the writes of those that the call did not name itself.

        A write whose owner does not exist is a fault: UNKNOWN_REFERENCE.
        """
        frontier = [write for write in self._writes if write.is_effective]
        touched: list[Write] = []
        while frontier:
            wanted = self._wanted(frontier)
            self._read |= await hold_upwards(self._unit, wanted)
            frontier = self._touch(frontier, touched)
        return touched

    def _wanted(self, writes: Iterable[Write]) -> dict[str, set[str]]:
        wanted: dict[str, set[str]] = {}
        for write in writes:
            for set_name, key in self._owner_keys(write):
                if (set_name, key) not in self._by_key and (set_name, key) not in self._read:
                    wanted.setdefault(set_name, set()).add(key)
        return wanted

    def _owner_keys(self, write: Write) -> list[tuple[str, str]]:
        owner, column = write.shape.owner, write.shape.owner_column
        if owner is None or column is None:
            return []
        keys = [row[column] for row in (write.before, write.after) if row and row[column]]
        return [(owner.target, key) for key in dict.fromkeys(keys)]

    def _touch(self, writes: Iterable[Write], touched: list[Write]) -> list[Write]:
        """Touch the owners of ``writes``; return those not touched before."""
        above: list[Write] = []
        for write in writes:
            for key in self._owner_keys(write):
                owner = self._by_key.get(key)
                row = self._read.get(key)
                if owner is None and row is not None:
                    owner = Write(shape_of(key[0]), Act.UPDATE, key[1], "", row, dict(row))
                    self._by_key[key] = owner
                    touched.append(owner)
                if owner is None:
                    self._miss(write)
                elif owner.act is Act.UPDATE and not owner.is_touched:
                    owner.is_touched = True
                    above.append(owner)
        return above

    def _miss(self, write: Write) -> None:
        owner = write.shape.owner
        if owner is not None and write.act is not Act.DELETE:
            message = f"{write.target(owner.column)} names a row that does not exist."
            self._unit.faults.add(Detail("UNKNOWN_REFERENCE", message, write.target(owner.column)))

    def row(self, set_name: str, key: str) -> Columns | None:
        """Return an owning row as it was read; None: it was not read."""
        return self._read.get((set_name, key))

    def knows(self, set_name: str, key: str) -> bool:
        """Return whether this row is among the writes or their owners."""
        return (set_name, key) in self._read or (set_name, key) in self._by_key

    def subjects(self, write: Write) -> list[Subject]:
        """Return the subjects that a write changes, before and after the change."""
        rows = [row for row in (write.before, write.after) if row]
        if len(rows) == 1:
            return self._subjects_of(write.shape, rows[0])
        column = write.shape.owner_column
        if column is not None and len({row[column] for row in rows}) == 1:
            return self._subjects_of(write.shape, rows[0])  # its owner does not change
        return list(dict.fromkeys(subject for row in rows for subject in self._subjects_of(write.shape, row)))

    def _subjects_of(self, shape: Shape, row: Columns) -> list[Subject]:
        top = self._top(shape, row)
        if top is None:
            return []
        shape, row = top
        if shape.set_name in KINDS:
            return [(shape.set_name, row["id"])]
        return [("Promotions", key) for key in promotions_of(shape, row)]

    def top(self, write: Write) -> tuple[Shape, Columns] | None:
        """Return the topmost row that a write's row is part of, the row itself if it has no owner."""
        return self._top(write.shape, write.after or write.before or {})

    def _top(self, shape: Shape, row: Columns) -> tuple[Shape, Columns] | None:
        while shape.owner is not None and shape.owner_column is not None:
            key = (shape.owner.target, row[shape.owner_column] or "")
            above = self._by_key.get(key)
            found = self._read.get(key) if above is None else above.after or above.before
            if not found:
                return None
            shape, row = shape_of(shape.owner.target), found
        return shape, row


def promotions_of(shape: Shape, row: Columns) -> list[str]:
    """Return the promotions that a row without an owner is about: a pilot config, a link to a group."""
    links = [link for link in shape.entity.links if link.target == "Promotions" and not link.soft]
    return [row[link.column] for link in links if row[link.column]]
