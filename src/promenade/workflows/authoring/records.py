"""What a unit leaves behind besides its rows: the audit trail, and word of what decides prices."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from promenade.model.declare import Service
from promenade.store.authored import Columns, insert_rows
from promenade.store.changes import record_change
from promenade.workflows.authoring.shapes import Shape
from promenade.workflows.authoring.unit import Act, Unit, Write

__all__ = ["name_of", "write_audit", "write_changes"]

_NAME_MAX = 255
_NOTE_MAX = 2000


async def write_changes(unit: Unit) -> None:
    """Tell every process what decides prices otherwise from now on, once per kind."""
    for kind in sorted({kind for kind, _ in unit.subjects}):
        await record_change(unit.session, kind, *unit.ids_of(kind), at=unit.at)


async def write_audit(unit: Unit) -> None:
    """One AuditLogs row for each row that was named, of an updated budget one for each field."""
    rows = [row for write in unit.written if write.is_named for row in _audit_rows(unit, write)]
    await insert_rows(unit.session, "AuditLogs", rows)


def _audit_rows(unit: Unit, write: Write) -> Iterable[Columns]:
    for note in _notes(write):
        yield {
            "id": unit.new_id(),
            "timestamp": unit.at,
            "actor": unit.user[:_NAME_MAX],
            "action": write.verb_code,
            "entity_type": write.set_name,
            "entity_id": write.id,
            "entity_name": name_of(write.shape, write.after or write.before or {})[:_NAME_MAX],
            "note": None if note is None else note[:_NOTE_MAX],
        }


def _notes(write: Write) -> Iterable[str | None]:
    """Of a changed budget: every field with its old and new value. Of others the names of what changed."""
    shown = [name for name in write.changed if _is_shown(write.shape, name)]
    if write.act is not Act.UPDATE:
        return (None,)
    before = write.before or {}
    if write.set_name == "Budgets" and shown:
        return [f"{write.shape.wires[name]}: {_text(before[name])} -> {_text(write.after[name])}" for name in shown]
    return (", ".join(write.shape.wires[name] for name in shown) or None,)


def _text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, Decimal):
        return format(value.normalize(), "f")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _is_shown(shape: Shape, column: str) -> bool:
    """Whether the audit trail may speak of a column: not of what a service hides."""
    field = next((one for one in shape.fields.values() if one.name == column), None)
    return field is None or field.shown_in(Service.PUBLIC)


def name_of(shape: Shape, row: Columns) -> str:
    """What a row is called: its name, else its code, else its ID; never a secret."""
    for column in ("name", *shape.entity.natural_key):
        if row.get(column) and isinstance(row[column], str) and _is_shown(shape, column):
            return str(row[column])
    return str(row.get("id", ""))
