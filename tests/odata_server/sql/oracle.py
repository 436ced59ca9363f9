"""A slow second implementation of ``$filter``: directly from the specification, in Python, over the bookshop's rows.

It shares nothing with the library but the nodes of the syntax tree. Null is None; a condition is true, false or null.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from typing import Any

from odata_server.expressions import (
    AllOf,
    AnyOf,
    Binary,
    Call,
    CountOf,
    Expression,
    In,
    ListExpression,
    Literal,
    Member,
    Unary,
)
from tests.odata_server.bookshop import EDM, ROWS, columns
from tests.odata_server.bookshop_tables import METADATA

__all__ = ["matching"]

_TABLES = {"Author": "authors", "Book": "books", "Chapter": "chapters", "Genre": "genres", "Review": "reviews"}
Entity = Mapping[str, Any]


def _entities(type_name: str) -> list[Entity]:
    names = columns(type_name)
    rows = ROWS[METADATA.tables[_TABLES[type_name]]]
    return [{"@type": type_name, **{name: row[column] for name, column in names.items()}} for row in rows]


def matching(condition: Expression, type_name: str) -> list[Entity]:
    """Return the entities for which a condition is true, in key order."""
    kept = [one for one in _entities(type_name) if _value(condition, one, {}) is True]
    return sorted(kept, key=lambda one: one["ID"])


def _related(entity: Entity, name: str) -> Any:
    navigation = EDM.entity_types[entity["@type"]].navigation_by_name[name]
    found = [
        other
        for other in _entities(navigation.target)
        if all(entity[here] is not None and entity[here] == other[there] for here, there in navigation.on)
    ]
    if navigation.collection:
        return found
    return found[0] if found else None


def _member(source: Any, name: str) -> Any:
    if source is None:
        return None
    return source[name] if name in source else _related(source, name)


def _value(e: Expression, it: Entity, variables: Mapping[str, Any]) -> Any:
    match e:
        case Literal():
            return e.value
        case Member(source=None):
            return variables[e.name] if e.name in variables else _member(it, e.name)
        case Member():
            assert e.source is not None
            return _member(_value(e.source, it, variables), e.name)
        case Binary(operator="and"):
            both = {_value(e.left, it, variables), _value(e.right, it, variables)}
            return False if False in both else None if None in both else True
        case Binary(operator="or"):
            both = {_value(e.left, it, variables), _value(e.right, it, variables)}
            return True if True in both else None if None in both else False
        case Binary():
            return _binary(e.operator, _value(e.left, it, variables), _value(e.right, it, variables))
        case Unary(operator="not"):
            found = _value(e.operand, it, variables)
            return None if found is None else not found
        case Unary():
            found = _value(e.operand, it, variables)
            return None if found is None else -found
        case In():
            assert isinstance(e.right, ListExpression)
            left = _value(e.left, it, variables)
            return any(_binary("eq", left, _value(one, it, variables)) for one in e.right.items)
        case AnyOf() | AllOf():
            values = [
                _value(e.predicate, it, {**variables, str(e.variable): one}) is True
                if e.predicate is not None
                else True
                for one in _value(e.source, it, variables) or []
            ]
            return any(values) if isinstance(e, AnyOf) else all(values)
        case CountOf():
            assert e.source is not None
            return len(_value(e.source, it, variables) or [])
        case Call():
            arguments = [_value(one, it, variables) for one in e.arguments]
            return None if None in arguments else _call(e.name, arguments)
    raise TypeError(f"the second reading does not know {type(e).__name__}")


def _number(value: Any) -> Any:
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value) if is_number else value


def _binary(name: str, left: Any, right: Any) -> Any:
    left, right = _number(left), _number(right)
    if any(isinstance(one, Decimal) and one.is_nan() for one in (left, right)):
        return name == "ne"
    if name == "eq":
        return left == right
    if name == "ne":
        return left != right
    if left is None or right is None:
        if name in {"add", "sub", "mul", "div", "mod"}:
            return None
        return name in {"ge", "le"} and left is right
    if name in {"gt", "ge", "lt", "le"}:
        return {"gt": left > right, "ge": left >= right, "lt": left < right, "le": left <= right}[name]
    return left + right if name == "add" else left - right if name == "sub" else left * right


def _call(name: str, arguments: list[Any]) -> Any:
    first = arguments[0]
    rest = arguments[1:]
    if name in {"year", "month", "day", "hour", "minute", "second"}:
        return getattr(first, name)
    if name == "date":
        return first.date() if isinstance(first, datetime) else first
    if name in {"round", "floor", "ceiling"}:
        way = {"round": ROUND_HALF_UP, "floor": ROUND_FLOOR, "ceiling": ROUND_CEILING}[name]
        return _number(first).quantize(Decimal(1), way)
    if name == "substring":
        return first[rest[0] :] if len(rest) == 1 else first[rest[0] : rest[0] + rest[1]]
    return {
        "contains": lambda: rest[0] in first,
        "startswith": lambda: first.startswith(rest[0]),
        "endswith": lambda: first.endswith(rest[0]),
        "length": lambda: len(first),
        "indexof": lambda: first.find(rest[0]),
        "concat": lambda: first + rest[0],
        "trim": first.strip,
        "tolower": first.lower,
    }[name]()
