"""What activating a draft writes: everything of a new entity, the user's changes of an existing one.

Changes that others have made meanwhile in other columns and other rows are preserved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from promenade.store.authoring.statements import Columns, read_ids
from promenade.store.drafts.ownership import Draft
from promenade.store.drafts.rows import Part, parts_of, read_rows
from promenade.store.driver.unit import Session
from promenade.workflows.authoring.machines import MACHINES
from promenade.workflows.authoring.shapes import MANAGED, Shape, shape_of
from promenade.workflows.authoring.unit import Delta

Row = dict[str, Any]


class DraftTree:
    """The rows of a draft as a tree."""

    def __init__(self, draft: Draft, rows: Mapping[str, Sequence[Columns]]) -> None:
        self._set_name = draft.set_name
        self.root = next(row for row in rows[draft.set_name] if row["id"] == draft.root_id)
        self._parts: dict[str, list[Part]] = {}
        self._below: dict[tuple[str, str], list[Columns]] = {}
        for part in parts_of(draft.set_name):
            self._parts.setdefault(part.parent, []).append(part)
            for row in rows[part.set_name]:
                self._below.setdefault((part.set_name, row[part.column]), []).append(row)
        self._touched: dict[str, set[str]] = {set_name: set() for set_name in rows}
        self._note_touched(draft.set_name, self.root)
        self._there: dict[str, set[str]] = {}

    @property
    def is_new(self) -> bool:
        """Whether the draft does not come from an active row."""
        return self.root["changed"] is None

    @property
    def is_touched(self) -> bool:
        """Whether anything in it differs from the copied rows."""
        return self.root["id"] in self._touched[self._set_name]

    def whole(self) -> Row:
        """Return everything as a new row, keeping the IDs."""
        return self._whole(shape_of(self._set_name), self.root)

    async def changes(self, session: Session) -> Row:
        """Return the changes to the active row; ``session`` is used to look up which of its parts still exist."""
        copied = {
            part.set_name: {row["id"] for row in self._rows_of(part) if row["changed"] is not None}
            & self._touched[part.set_name]
            for part in parts_of(self._set_name)
        }
        for set_name, ids in copied.items():
            self._there[set_name] = await read_ids(session, set_name, ids) if ids else set()
        changes = self._changes(shape_of(self._set_name), self.root)
        del changes["ID"]
        return changes

    def _rows_of(self, part: Part) -> list[Columns]:
        return [row for (set_name, _), rows in self._below.items() if set_name == part.set_name for row in rows]

    def _note_touched(self, set_name: str, row: Columns) -> bool:
        """Note which rows are new, changed or removed, or have such a row below them."""
        is_touched = row["changed"] is None or bool(row["changed"]) or row["removed"]
        for part in self._parts.get(set_name, ()):
            for below in self._below.get((part.set_name, row["id"]), ()):
                is_touched = self._note_touched(part.set_name, below) or is_touched
        if is_touched:
            self._touched[set_name].add(row["id"])
        return bool(is_touched)

    def _whole(self, shape: Shape, row: Columns) -> Row:
        made = _writable(shape, row)
        if row["changed"] is not None and "status" not in row["changed"] and shape.set_name in MACHINES:
            # the active row was deleted meanwhile: it starts in the initial status and does not go live by itself
            made.pop("status", None)
        for part in self._parts.get(shape.set_name, ()):
            rows = [one for one in self._below.get((part.set_name, row["id"]), ()) if not one["removed"]]
            inner = [self._whole(shape_of(part.set_name), one) for one in rows]
            if inner:
                made[part.composition.wire] = inner if part.composition.many else inner[0]
        return made

    def _changes(self, shape: Shape, row: Columns) -> Row:
        made = {"ID": row["id"]} | {
            wire: value for wire, value in _writable(shape, row, frozenset(row["changed"])).items() if wire != "ID"
        }
        for part in self._parts.get(shape.set_name, ()):
            touched = self._touched[part.set_name]
            rows = [one for one in self._below.get((part.set_name, row["id"]), ()) if one["id"] in touched]
            upserts = tuple([self._upsert(part, one) for one in rows if not one["removed"]])
            removed = tuple([one["id"] for one in rows if one["removed"]])
            if part.composition.many and rows:
                made[part.composition.wire] = Delta(upserts, removed)
            elif rows:
                made[part.composition.wire] = upserts[0] if upserts else None
        return made

    def _upsert(self, part: Part, row: Columns) -> Row:
        shape = shape_of(part.set_name)
        is_there = row["changed"] is not None and row["id"] in self._there[part.set_name]
        return self._changes(shape, row) if is_there else self._whole(shape, row)


def _writable(shape: Shape, row: Columns, columns: frozenset[str] | None = None) -> Row:
    """Return the properties of a row that a client may write, all or those of ``columns``, and its ID."""
    made: Row = {"ID": row["id"]}
    for wire, field in shape.fields.items():
        if not field.read_only and field.name not in MANAGED and (columns is None or field.name in columns):
            made[wire] = row[field.name]
    for wire, link in shape.links.items():
        if not link.read_only and link is not shape.owner and (columns is None or link.column in columns):
            made[wire] = row[link.column]
    return made


async def read_draft(session: Session, draft: Draft) -> DraftTree:
    """Read a whole draft, with one statement per entity set in it."""
    sets = (draft.set_name, *(part.set_name for part in parts_of(draft.set_name)))
    return DraftTree(draft, {set_name: await read_rows(session, draft, set_name) for set_name in sets})


def located(row: Mapping[str, Any], target: str | None) -> str | None:
    """Replace the indices in an error's target path by the keys of the draft's rows.

    ``posGroups/0/posGroup_ID`` becomes ``posGroups(ID=...,IsActiveEntity=false)/posGroup_ID``: this identifies the row
    whatever was sent, and user interfaces can find it.
    """
    if target is None:
        return None
    found: list[str] = []
    below: Any = row
    for step in target.split("/"):
        if isinstance(below, Mapping):
            inner = below.get(step)
            found.append(step)
            below = inner.upserts if isinstance(inner, Delta) else inner
        elif isinstance(below, list | tuple) and step.isdecimal() and int(step) < len(below):
            below = below[int(step)]
            found[-1] += f"(ID={below['ID']},IsActiveEntity=false)"
        else:
            found.append(step)
    return "/".join(found)
