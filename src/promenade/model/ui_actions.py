"""Annotations of bound actions for user interfaces: what they are called, when they are offered, what they change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from odata_server.annotations import Annotation, AnnotationPath, AnnotationValue, Expression, Record
from odata_server.draft import IS_ACTIVE
from odata_server.edm import Operation
from promenade.model.ui_fields import annotated_parameter, labelled
from promenade.model.ui_hints import AVAILABLE, CRITICAL_ACTIONS, LOCKED_BY
from promenade.model.ui_sight import Sight, with_terms
from promenade.model.ui_words import label_of_action

__all__ = ["annotated_operation"]

_ENTITY = "in"  # what the binding parameter is called
_OF_LOCKS = {"lock": False, "unlock": True}
_MOVES_TO = {"activate": "ACTIVE", "deactivate": "INACTIVE"}
_WITHOUT_CHANGE = frozenset({"check", "forecast"})
_IDS = re.compile("([a-z]+)Ids?")


def annotated_operation(sight: Sight, operation: Operation) -> Operation:
    """An operation with its label, its parameters' value lists, and when it can be called."""
    if operation.binding is None:
        return operation
    parameters = tuple(annotated_parameter(sight, one, _target(sight, one.name)) for one in operation.parameters)
    made = (*labelled(label_of_action(operation.name)), *_of_bound(sight, operation, operation.binding))
    return replace(operation, parameters=parameters, annotations=with_terms(operation.annotations, made))


def _target(sight: Sight, parameter: str) -> str | None:
    """``promotionIds`` takes IDs of Promotions."""
    found = _IDS.fullmatch(parameter)
    target = f"{found.group(1).capitalize()}s" if found else ""
    return target if sight.is_served(target) else None


def _of_bound(sight: Sight, operation: Operation, binding: str) -> Iterator[Annotation]:
    if operation not in sight.bound.get(binding, ()):
        return
    available = _conjunction(tuple(_conditions(sight, operation.name, binding)))
    if available is not None:
        yield Annotation("Core.OperationAvailable", available)
    if operation.name in CRITICAL_ACTIONS:
        yield Annotation("Common.IsActionCritical")
    if operation.returns is not None and operation.returns.entity_type == binding and operation.name != "copy":
        entities = tuple(
            AnnotationPath(f"{_ENTITY}/{one.name}", "NavigationPropertyPath")
            for one in sight.types[binding].navigations
            if one.name in ("statusText", "promotions")
        )
        values: dict[str, AnnotationValue] = {"TargetProperties": (f"{_ENTITY}/*",)}
        values |= {"TargetEntities": entities} if entities else {}
        yield Annotation("Common.SideEffects", Record(values, "Common.SideEffectsType"))


def _conditions(sight: Sight, name: str, binding: str) -> Iterator[AnnotationValue]:
    properties = sight.types[binding].property_by_name
    if IS_ACTIVE in properties:
        yield _in(IS_ACTIVE)
    states = AVAILABLE.get((binding, name))
    if states is not None:
        yield _disjunction(tuple(Expression("Eq", (_in("status"), code)) for code in states.split()))
    elif name in _MOVES_TO and "status" in properties:
        yield Expression("Ne", (_in("status"), _MOVES_TO[name]))
    if binding in LOCKED_BY and name not in _WITHOUT_CHANGE:
        # Compared and not negated: what is null is not locked.
        locked = Expression("Ne", (_in(LOCKED_BY[binding]), True))
        yield _in(LOCKED_BY[binding]) if _OF_LOCKS.get(name, False) else locked


def _in(to: str) -> AnnotationPath:
    return AnnotationPath(f"{_ENTITY}/{to}")


def _conjunction(values: tuple[AnnotationValue, ...]) -> AnnotationValue:
    return _joined("And", values)


def _disjunction(values: tuple[AnnotationValue, ...]) -> AnnotationValue:
    return _joined("Or", values)


def _joined(operator: str, values: tuple[AnnotationValue, ...]) -> AnnotationValue:
    """Expressions of two operands each, which is what they take in 4.0."""
    if not values:
        return None
    first, *rest = values
    joined = first
    for one in rest:
        joined = Expression(operator, (joined, one))
    return joined
