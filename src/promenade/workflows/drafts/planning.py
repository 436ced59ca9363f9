"""Convert the rows of a request to writes of a draft: as `Authoring` plans them, applied to the draft's rows.

A draft may be incomplete, so rows only have to be storable; nothing else is checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from promenade.errors import Conflict, Detail
from promenade.model.declare import Kind
from promenade.store.authoring.statements import Columns
from promenade.store.authoring.statements import read_ids as read_active_ids
from promenade.store.drafts.ownership import Draft
from promenade.store.drafts.rows import read_below, read_ids
from promenade.workflows.authoring.checks import value_faults
from promenade.workflows.authoring.keys import already_exists
from promenade.workflows.authoring.planning import Plan
from promenade.workflows.authoring.shapes import Shape
from promenade.workflows.authoring.unit import Act, Delta, Row, Unit, Write

_NEVER_STORED = frozenset({"INVALID_CHARACTER", "TOO_LONG"})
_INTEGER_BOUND = 2**31


class DraftPlan(Plan):
    """Collects the writes of one call to one draft."""

    def __init__(self, unit: Unit, draft: Draft) -> None:
        super().__init__(unit)
        self._draft = draft

    def update(self, shape: Shape, before: Columns, row: Row, path: str, owner: tuple[str, str] | None = None) -> Write:
        """Return the row after the update; a removed row that is named again comes back as if it were new."""
        if not before["removed"]:
            return super().update(shape, before, row, path, owner)
        write = super().update(shape, before, self.replace(shape, row), path, owner)
        write.after["removed"] = False
        return write

    async def _empty(self, shape: Shape, column: str, parts: Sequence[Any]) -> list[Any]:
        return list(parts)  # copied rows must be read, to be marked as removed

    async def _there(self, shape: Shape, column: str, parts: Sequence[Any]) -> list[Columns]:
        """Return the rows that parts are merged with; removed rows only if they are named again."""
        owners = {part.parent.id for part in parts if not isinstance(part.value, Delta)}
        named = {key for part in parts for key in _named(part.value)}
        taken = {key.lower() for part in parts if isinstance(part.value, Delta) for key in part.value.removed}
        if not owners | named | taken:
            return []
        rows = await read_below(self._unit.session, self._draft, shape.set_name, column, owners, named | taken)
        return [row for row in rows if not row["removed"] or row["id"] in named]


def _named(value: Any) -> Iterable[str]:
    """Return the IDs in the rows of a composition, in whatever form it was sent."""
    rows = value.upserts if isinstance(value, Delta) else value
    listed = rows if isinstance(rows, list | tuple) else (rows,)
    return (str(row["ID"]).lower() for row in listed if isinstance(row, Mapping) and row.get("ID"))


def check_storable(unit: Unit, writes: Sequence[Write]) -> None:
    """Add a fault for every value that no database can store; all other rules are checked on activation."""
    for write in writes:
        if write.act is not Act.DELETE:
            for fault in value_faults(write):
                if fault.code in _NEVER_STORED or (fault.code == "OUT_OF_RANGE" and _is_beyond(write, fault)):
                    unit.faults.add(fault)


def _is_beyond(write: Write, fault: Detail) -> bool:
    """Whether an out-of-range value exceeds what its column can hold."""
    for field in write.shape.fields.values():
        if write.target(field.name) == fault.target:
            value = write.after[field.name]
            is_end_of_time = isinstance(value, datetime)
            return is_end_of_time or (field.kind is Kind.INTEGER and not -_INTEGER_BOUND <= value < _INTEGER_BOUND)
    return False


async def check_new_ids(unit: Unit, writes: Sequence[Write]) -> None:
    """Add ALREADY_EXISTS for every client-chosen ID that is taken by an active row or any draft."""
    by_set: dict[str, list[Write]] = {}
    for write in writes:
        if write.act is Act.CREATE and write.has_own_id:
            by_set.setdefault(write.set_name, []).append(write)
    for set_name, each in by_set.items():
        ids = {write.id for write in each}
        taken = await read_active_ids(unit.session, set_name, ids) | await read_ids(unit.session, set_name, ids)
        for write in each:
            if write.id in taken:
                fault: Conflict = already_exists(write, ("id",))
                unit.faults.add(fault)
            taken.add(write.id)
