"""What a service lets its callers do with an entity set (specification, catalogue and modes)."""

from __future__ import annotations

from promenade.errors import Detail, Invalid, NotAllowed
from promenade.model.declare import NONE, RO, RW_RESTRICTED
from promenade.workflows.authoring.rules import registered
from promenade.workflows.authoring.shapes import Shape
from promenade.workflows.authoring.unit import Row, Unit

__all__ = ["admit_create", "admit_remove", "admit_update"]

_HARMLESS = frozenset({"ID", "tenantId", "minorVersion"})


def admit_create(unit: Unit, shape: Shape, row: Row) -> None:
    """Raises NotAllowed where the service does not let rows be created."""
    if unit.importing and shape.entity.importable:
        _admit_by_rule(unit, shape, row, is_new=True)
        return
    _refuse_read_only(unit, shape)
    if shape.entity.mode(unit.service) is RW_RESTRICTED:
        message = f"{shape.set_name} cannot be created directly."
        raise NotAllowed("NOT_INSERTABLE", message, ("GET",))
    _admit_by_rule(unit, shape, row, is_new=True)


def admit_update(unit: Unit, shape: Shape, changes: Row) -> Row:
    """The changes that the service takes.

    Raises NotAllowed where it takes none, and Invalid (NOT_CHANGEABLE) for what a restricted set does not let change.
    """
    _refuse_read_only(unit, shape)
    _admit_by_rule(unit, shape, changes, is_new=False)
    entity = shape.entity
    if entity.mode(unit.service) is RW_RESTRICTED:
        allowed = {shape.wires[name] for name in entity.patchable}
        names = [wire for wire in changes if wire not in allowed and wire not in _HARMLESS and "@" not in wire]
        faults = [
            Detail("NOT_CHANGEABLE", f"Of {entity.set_name} only {', '.join(sorted(allowed))} can be changed.", wire)
            for wire in names
        ]
        if faults:
            first = faults[0]
            raise Invalid(first.code, first.message, first.target, faults if len(faults) > 1 else ())
    return changes


def admit_remove(unit: Unit, shape: Shape) -> None:
    """Raises NotAllowed where the service does not let rows be deleted."""
    _refuse_read_only(unit, shape)
    if not shape.entity.deletable:
        raise NotAllowed("NOT_DELETABLE", f"{shape.set_name} cannot be deleted directly.", ("GET", "PATCH"))


def _refuse_read_only(unit: Unit, shape: Shape) -> None:
    if shape.entity.mode(unit.service) in (NONE, RO):
        raise NotAllowed("READ_ONLY", f"{shape.set_name} can only be read.", ("GET",))


def _admit_by_rule(unit: Unit, shape: Shape, row: Row, *, is_new: bool) -> None:
    rule = registered().get(shape.set_name)
    if rule is not None:
        rule.admit(unit, row, is_new=is_new)
