"""Functions of numbers."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Double, Numeric, case, cast, func, literal, not_, type_coerce

from odata_server.edm import Primitive
from odata_server.sql.terms.arithmetic import as_double, scale_of
from odata_server.sql.terms.functions import NUMBER, function
from odata_server.sql.terms.storage import NATIVE, ScaledInteger
from odata_server.sql.terms.typed import FLOATS, INTEGERS, Context, Term, materialised, whole

__all__ = ["ceiling", "floor"]

_WHOLE_FROM = 2.0**53
"""From here on floating-point numbers have no fraction."""


def _whole(name: str, term: Term, context: Context) -> Term:
    term = materialised(term, context)
    if term.type in INTEGERS:
        return term
    if not context.sqlite:
        # PostgreSQL rounds halves of floating-point numbers to even, but halves of NUMERIC away from zero, as OData
        # requires.
        number = cast(term.element, Numeric())
        result: Any = {"round": func.round, "floor": func.floor, "ceiling": func.ceil}[name](number)
        if term.type in FLOATS:
            return Term(term.type, cast(result, Double()), NATIVE, term.nullable)
        return Term(term.type, type_coerce(result, Numeric()), NATIVE, term.nullable)
    scale = scale_of(term)
    if scale is None:
        return _of_real(name, term, context)
    unit = 10**scale
    value = term.element
    if name == "round":
        half = unit // 2
        rounded: Any = case(
            (value < 0, -((whole(half) - value) // whole(unit))), else_=(value + whole(half)) // whole(unit)
        )
    elif name == "floor":
        rounded = _floor(value, unit)
    else:
        rounded = -_floor(-value, unit)
    return Term(Primitive.DECIMAL, type_coerce(rounded, BigInteger()), ScaledInteger(0), term.nullable)


def _floor(value: ColumnElement[Any], unit: int) -> ColumnElement[Any]:
    """Divide and round down; SQLite's division truncates towards zero."""
    rest = (value % whole(unit) + whole(unit)) % whole(unit)
    return (value - rest) // whole(unit)


def _of_real(name: str, term: Term, context: Context) -> Term:
    """Round a floating-point number on SQLite; those without a fraction may be more than an integer can hold."""
    value = as_double(term, context)
    has_fraction = func.abs(value) < literal(_WHOLE_FROM, Double())
    cut: Any = cast(cast(value, BigInteger()), Double())
    if name == "round":
        result: Any = func.round(value)
    elif name == "floor":
        result = case((not_(has_fraction), value), (value < cut, cut - 1.0), else_=cut)
    else:
        result = case((not_(has_fraction), value), (value > cut, cut + 1.0), else_=cut)
    return Term(term.type, type_coerce(result, Double()), NATIVE, term.nullable)


@function("round", NUMBER)
def round_half_up(context: Context, number: Term) -> Term:
    """Round to the nearest integer; halves are rounded away from zero."""
    return _whole("round", number, context)


@function("floor", NUMBER)
def floor(context: Context, number: Term) -> Term:
    """Round down to an integer."""
    return _whole("floor", number, context)


@function("ceiling", NUMBER)
def ceiling(context: Context, number: Term) -> Term:
    """Round up to an integer."""
    return _whole("ceiling", number, context)
