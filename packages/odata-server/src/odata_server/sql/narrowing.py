"""Detect selective conditions, so that SQLite is told to find the rows by an index and to sort them.

Without statistics SQLite considers all indexes equally good, and prefers to scan all rows in the requested order over
looking up the few matching ones and sorting them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from sqlalchemy import ColumnElement
from sqlalchemy.sql.expression import UnaryExpression
from sqlalchemy.sql.operators import custom_op

from odata_server.edm import Primitive
from odata_server.expressions import Binary, Call, Expression, In, Literal, Member, ParameterAlias
from odata_server.sql.model import Place
from odata_server.sql.operands import chain_of

__all__ = ["narrows", "unindexed"]

T = TypeVar("T")

_RANGES = {"gt", "ge", "lt", "le"}
_SELECTIVE = {Primitive.STRING, Primitive.GUID, Primitive.INT64, Primitive.INT32}
_MOMENTS = {Primitive.DATE_TIME_OFFSET, Primitive.DATE}
_VALUES = Literal | ParameterAlias
_PLUS = custom_op[object]("+")


def narrows(condition: Expression | None, place: Place, first: str | None) -> bool:
    """Return whether an index finds the rows of a condition.

    ``first`` is the first property of the order: a range of it needs no sorting.
    """
    return condition is not None and any(_narrows(one, place, first) for one in chain_of("and", condition))


def _narrows(one: Expression, place: Place, first: str | None) -> bool:
    if isinstance(one, In):
        return _is_served(one.left, place, _SELECTIVE)
    if isinstance(one, Call):
        return one.name == "startswith" and _begins(one.arguments, place, first)
    if not isinstance(one, Binary):
        return False
    for side, other in ((one.left, one.right), (one.right, one.left)):
        if not isinstance(other, _VALUES) or (isinstance(other, Literal) and other.value is None):
            continue
        if one.operator == "eq" and _is_served(side, place, _SELECTIVE):
            return True
        if one.operator in _RANGES and _is_served(side, place, _MOMENTS, first):
            return True
    return False


def _begins(arguments: Sequence[Expression], place: Place, first: str | None) -> bool:
    text = arguments[1] if len(arguments) == 2 else None
    return isinstance(text, Literal) and bool(text.value) and _is_served(arguments[0], place, _SELECTIVE, first)


def _is_served(side: Expression, place: Place, types: set[Primitive], first: str | None = None) -> bool:
    if not isinstance(side, Member) or side.source is not None or side.name == first:
        return False
    found = place.entity_type.property_by_name.get(side.name)
    return found is not None and found.type in types and side.name in place.indexed


def unindexed(element: ColumnElement[T]) -> ColumnElement[T]:
    """Return the same value in a form for which SQLite uses no index."""
    return UnaryExpression(element, operator=_PLUS, type_=element.type)
