"""Amounts whose currency is in another property: an aggregate of amounts in different currencies is null.

A property says where its currency is with the annotation ``Measures.ISOCurrency``. The result of ``$apply`` keeps the
currency of each amount: in the value that it is grouped by, or in a value of its own that is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, and_, case, func, null, type_coerce

from odata_server.edm import AnnotationPath, Edm, EntityType, Property
from odata_server.expressions import Expression, Member
from odata_server.sql.terms.typed import Term

CURRENCY = "Measures.ISOCurrency"
HIDDEN = "\0"
"""How the names of values begin that are not shown; no name of a client does."""

Units = Mapping[str, tuple[Expression, ...]]
"""By name of a value: the currencies of the amounts in it."""


def units_of(
    expression: Expression, edm: Edm, entity_type: EntityType, computed: Mapping[str, Expression]
) -> list[Any]:
    """Return where the currencies of an expression about entities are; ``computed`` are its computed names."""
    found: dict[Expression, None] = {}
    for names in _paths(expression):
        if len(names) == 1 and names[0] in computed:
            found |= dict.fromkeys(units_of(computed[names[0]], edm, entity_type, computed))
            continue
        owner: EntityType | None = entity_type
        for name in names[:-1]:
            link = None if owner is None else owner.navigation_by_name.get(name)
            owner = None if link is None or link.collection else edm.entity_types[link.target]
        unit = None if owner is None else unit_path(owner.property_by_name.get(names[-1]))
        if unit is not None:
            found[member(names[:-1] + unit)] = None
    return list(found)


def units_of_named(expression: Expression, units: Units) -> list[Expression]:
    """Return the same of an expression about named values."""
    found = [unit for names in _paths(expression) for unit in units.get("/".join(names), ())]
    return list(dict.fromkeys(found))


def unit_path(found: Property | None) -> tuple[str, ...] | None:
    """Return the path to the currency of a property; None: it is no amount."""
    for one in found.annotations if found is not None else ():
        if one.term == CURRENCY and isinstance(one.value, AnnotationPath):
            return tuple(one.value.path.split("/"))
    return None


def member(path: tuple[str, ...]) -> Expression:
    """Return the expression that names a path."""
    found: Expression = Member(path[0])
    for name in path[1:]:
        found = Member(name, found)
    return found


def in_one(total: Term, units: list[Term], amount: Term) -> Term:
    """Return an aggregate of ``amount`` that is null if the currencies of its rows differ, or one is not known."""
    same = and_(*(func.min(one.element) == func.max(one.element) for one in units))
    known = and_(*(func.count(one.element) >= func.count(amount.element) for one in units))
    return replace(total, sql=_only_if(and_(same, known), total.element), nullable=True)


def the_one(unit: Term) -> Term:
    """Return the currency of the rows; null if they have several."""
    least = func.min(unit.element)
    return replace(unit, sql=_only_if(least == func.max(unit.element), least), nullable=True, indexed=False)


def _only_if(condition: ColumnElement[bool], value: ColumnElement[Any]) -> ColumnElement[Any]:
    return type_coerce(case((condition, value), else_=null()), value.type)


def _paths(expression: Any) -> Iterator[tuple[str, ...]]:
    """Yield the paths that an expression names."""
    path = _path(expression)
    if path is not None:
        yield path
    elif is_dataclass(expression) and not isinstance(expression, type):
        for one in fields(expression):
            yield from _paths(getattr(expression, one.name))
    elif isinstance(expression, tuple):
        for part in expression:
            yield from _paths(part)


def _path(expression: Any) -> tuple[str, ...] | None:
    names: list[str] = []
    while isinstance(expression, Member):
        names.append(expression.name)
        expression = expression.source
    return tuple(reversed(names)) if names and expression is None else None
