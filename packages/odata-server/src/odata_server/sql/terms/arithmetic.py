"""Arithmetic on typed terms: exact for integers and decimals on both databases.

SQLite stores decimals as scaled integers: addition aligns scales, multiplication adds them, division has
`DIVISION_SCALE` decimals, truncated. On PostgreSQL integer arithmetic uses NUMERIC, which does not overflow. A division
by zero is null.

Floating-point numbers are calculated with as IEEE 754 says, except that what would be NaN is null, and that sizes of
1e150 or more are null and of less than 1e-150 are zero before they are used: PostgreSQL raises errors on overflow.
"mod", which never overflows, leaves the small ones as they are, and is null of an infinity.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from math import inf, nan
from sys import float_info
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Double, Numeric, and_, case, cast, func, literal, not_, type_coerce
from sqlalchemy import Interval as IntervalType
from sqlalchemy.types import BigInteger

from odata_server.edm import Primitive
from odata_server.sql.terms.date_functions import date_of, midnight_of
from odata_server.sql.terms.storage import EPOCH_MICROSECONDS, NATIVE, ScaledInteger
from odata_server.sql.terms.typed import (
    DURATION_MAX,
    FLOATS,
    INTEGERS,
    NULL,
    NUMBERS,
    Context,
    Term,
    literal_term,
    materialised,
    microseconds,
    mismatch,
    type_name,
    whole,
)

__all__ = ["DIVISION_SCALE", "aligned", "as_double", "calculate", "negated", "scale_of"]

DIVISION_SCALE = 6
_DOUBLE_MAX = float_info.max
_FIRST = datetime(1, 1, 2, tzinfo=UTC)
_LAST = datetime(9999, 12, 30, tzinfo=UTC)
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}


def scale_of(term: Term) -> int | None:
    """Return the scale of the integer that represents a number on SQLite; None for a floating-point number."""
    if isinstance(term.storage, ScaledInteger):
        return term.storage.scale
    return 0 if term.type in INTEGERS else None


def _rescaled(term: Term, scale: int) -> ColumnElement[Any]:
    own = scale_of(term) or 0
    return term.element if own == scale else term.element * whole(10 ** (scale - own))


def as_double(term: Term, context: Context) -> ColumnElement[Any]:
    """Convert a number to floating point."""
    scale = scale_of(term) if context.sqlite else None
    if scale is not None:
        return cast(term.element, Double()) / _double(float(10**scale))
    return term.element if term.type in FLOATS else cast(term.element, Double())


def aligned(left: Term, right: Term, context: Context) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    """Convert two numbers to the same form, to compare or add them."""
    left, right = materialised(left, context), materialised(right, context)
    if not context.sqlite:
        return left.element, right.element
    scales = scale_of(left), scale_of(right)
    if scales[0] is None or scales[1] is None:
        return as_double(left, context), as_double(right, context)
    scale = max(scales[0], scales[1])
    return _rescaled(left, scale), _rescaled(right, scale)


def calculate(name: str, left: Term, right: Term, context: Context) -> Term:
    """Return ``left name right`` where ``name`` is add, sub, mul, div, divby or mod. Raise 400 TYPE_MISMATCH."""
    if left.is_null or right.is_null:
        return NULL
    if left.type in NUMBERS and right.type in NUMBERS and not left.collection and not right.collection:
        left, right = materialised(left, context), materialised(right, context)
        if left.type in FLOATS or right.type in FLOATS or (context.sqlite and _inexact(left, right)):
            return _floating(name, left, right, context)
        return _on_sqlite(name, left, right, context) if context.sqlite else _on_postgresql(name, left, right)
    moved = _in_time(name, left, right, context)
    if moved is None:
        raise mismatch(f"{type_name(left)} {name} {type_name(right)} is not defined.", left, right)
    return moved


def _inexact(left: Term, right: Term) -> bool:
    return scale_of(left) is None or scale_of(right) is None


def _floating(name: str, left: Term, right: Term, context: Context) -> Term:
    most = inf if name == "mod" else _DOUBLE_MAX
    one, other = (_tame(as_double(term, context), most) for term in (left, right))
    divisor: ColumnElement[float] = func.nullif(other, _double(0.0), type_=Double())
    if name == "mod":
        result: Any = None
        if context.sqlite:
            result = one - other * cast(cast(one / divisor, BigInteger()), Double())
        else:
            result = cast(func.mod(cast(one, Numeric()), cast(divisor, Numeric())), Double())
    else:
        result = one / divisor if name.startswith("div") else _OPERATORS[name](one, other)
    if not context.sqlite:  # SQLite has no NaN
        result = func.nullif(result, _double(nan), type_=Double())
    return Term(Primitive.DOUBLE, result)


def _tame(value: ColumnElement[Any], most: float) -> ColumnElement[Any]:
    """Return null for sizes from 1e150 to ``most``, with which an operation might overflow, and 0 for tiny ones.

    With ``most`` infinite, tiny numbers stay as they are.
    """
    if isinstance(value, BindParameter) and 1e-150 <= abs(value.value or 0) < 1e150:
        return value
    size = func.abs(value)
    if most == inf:  # nested calculations repeat the value again and again: twice is enough here
        return case((size < _double(1e150), value))
    too_small, too_large = size < _double(1e-150), size.between(_double(1e150), _double(most))
    return case((too_small, _double(0.0)), (not_(too_large), value))


def _double(value: float) -> ColumnElement[float]:
    return literal(value, Double())


def _divisor(value: ColumnElement[Any]) -> ColumnElement[Any]:
    return type_coerce(func.nullif(value, whole(0)), BigInteger())


def _both_whole(left: Term, right: Term) -> bool:
    return left.type in INTEGERS and right.type in INTEGERS


def _on_sqlite(name: str, left: Term, right: Term, context: Context) -> Term:
    nullable = left.nullable or right.nullable or name in {"div", "divby", "mod"}
    if name == "mul":
        scale = (scale_of(left) or 0) + (scale_of(right) or 0)
        result = left.element * right.element
    elif name in {"div", "divby"}:
        one, other = aligned(left, right, context)
        scale = 0 if name == "div" and _both_whole(left, right) else DIVISION_SCALE
        result = (one * whole(10**scale) if scale else one) // _divisor(other)
    else:
        one, other = aligned(left, right, context)
        scale = max(scale_of(left) or 0, scale_of(right) or 0)
        result = one % _divisor(other) if name == "mod" else _OPERATORS[name](one, other)
    result = type_coerce(result, BigInteger())
    if _both_whole(left, right) and name != "divby":
        return Term(Primitive.INT64, result, NATIVE, nullable)
    return Term(Primitive.DECIMAL, result, ScaledInteger(scale), nullable)


def _on_postgresql(name: str, left: Term, right: Term) -> Term:
    one, other = (cast(term.element, Numeric()) if term.type in INTEGERS else term.element for term in (left, right))
    divisor = func.nullif(other, literal(Decimal(0), Numeric()))
    nullable = left.nullable or right.nullable or name in {"div", "divby", "mod"}
    both_whole = _both_whole(left, right)
    if name == "div" and both_whole:
        result: Any = func.div(one, divisor)
    elif name in {"div", "divby"}:
        result = func.trunc(one / divisor, DIVISION_SCALE)
    elif name == "mod":
        result = func.mod(one, divisor)
    else:
        result = _OPERATORS[name](one, other)
    result = type_coerce(result, Numeric())
    return Term(Primitive.INT64 if both_whole and name != "divby" else Primitive.DECIMAL, result, NATIVE, nullable)


def negated(term: Term, context: Context) -> Term:
    """Return ``-term``. Raise 400 TYPE_MISMATCH."""
    if term.is_null:
        return NULL
    if term.collection or (term.type not in NUMBERS and term.type is not Primitive.DURATION):
        raise mismatch(f"{term.name or 'A value'} ({type_name(term)}) cannot be negated.", term)
    if term.is_literal:
        return Term(term.type, value=-term.value, nullable=False)
    sql = term.element
    if not context.sqlite and term.type in INTEGERS:
        sql = cast(sql, Numeric())
    return Term(term.type, -sql, term.storage, term.nullable, name=term.name)


def _in_time(name: str, left: Term, right: Term, context: Context) -> Term | None:
    """Add or subtract timestamps, dates and durations; a date counts from its midnight on."""
    kinds = (left.type, right.type)
    if kinds == (Primitive.DATE, Primitive.DURATION) and not left.collection:
        moved = _in_time(name, midnight_of(context, left), right, context)
        return None if moved is None else date_of(context, moved)
    if kinds == (Primitive.DATE, Primitive.DATE) and not left.collection and not right.collection:
        return _in_time(name, midnight_of(context, left), midnight_of(context, right), context)
    moment, duration = Primitive.DATE_TIME_OFFSET, Primitive.DURATION
    if left.collection or right.collection or name not in {"add", "sub"}:
        return None
    if kinds == (moment, moment) and name == "sub":
        result = duration
    elif kinds == (moment, duration):
        result = moment
    elif kinds == (duration, duration):
        result = duration
    else:
        return None
    if left.is_literal and right.is_literal:
        return _literals_in_time(name, left, right, result)
    left, right = materialised(left, context), materialised(right, context)
    if context.sqlite and (left.storage is not EPOCH_MICROSECONDS or right.storage is not EPOCH_MICROSECONDS):
        return None
    other = right.element if result is duration else _limited(right.element, -DURATION_MAX, DURATION_MAX, context)
    sql = left.element + other if name == "add" else left.element - other
    storage = EPOCH_MICROSECONDS if context.sqlite else NATIVE
    if context.sqlite:
        sql = type_coerce(sql, BigInteger())
    else:
        sql = type_coerce(sql, IntervalType() if result is duration else left.element.type)
    return Term(result, sql if result is duration else _limited(sql, _FIRST, _LAST, context), storage)


def _limited(value: ColumnElement[Any], least: Any, most: Any, context: Context) -> ColumnElement[Any]:
    """Return a timestamp or duration, or null outside of the range that clients and calculations support."""
    low, high = (
        literal(microseconds(one), BigInteger()) if context.sqlite else literal(one, value.type)
        for one in (least, most)
    )
    return type_coerce(case((and_(value >= low, value <= high), value)), value.type)


def _literals_in_time(name: str, left: Term, right: Term, result: Primitive) -> Term:
    try:
        value = left.value + right.value if name == "add" else left.value - right.value
    except OverflowError:
        raise mismatch("A point in time lies outside of the years 1 to 9999.") from None
    return literal_term(value, result)
