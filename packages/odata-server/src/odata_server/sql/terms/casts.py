"""``cast`` between primitive types, and ``isof``.

Casts that are not exact on both databases raise 501; a value that the other type cannot hold is null.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Double, Numeric, String, Uuid, case, func, literal, type_coerce
from sqlalchemy import cast as sql_cast

from odata_server.edm import Edm, EnumType, Primitive
from odata_server.errors import ODataError, not_implemented
from odata_server.sql.terms.arithmetic import DIVISION_SCALE, as_double, scale_of
from odata_server.sql.terms.date_functions import date_of, time_of
from odata_server.sql.terms.storage import NATIVE, ScaledInteger
from odata_server.sql.terms.typed import FLOATS, INTEGERS, NULL, NUMBERS, Context, Term, materialised, mismatch
from odata_server.sql.terms.typed import type_name as shown_type
from odata_server.sql.terms.typed import whole as bound

__all__ = ["as_text", "cast_term", "is_of"]


def _named(type_name: str, edm: Edm) -> Primitive | EnumType:
    for primitive in Primitive:
        if type_name == primitive.value:
            return primitive
    enum: EnumType
    for name, enum in edm.enum_types.items():
        if type_name in {name, edm.qualified(name)}:
            return enum
    if type_name.startswith("Edm."):
        raise not_implemented(f"The type {type_name}")
    raise mismatch(f"There is no type {type_name}.")


def is_of(term: Term, type_name: str, edm: Edm) -> Term:
    """Return whether a value is of a type: known from the model, except for null, which is of no type."""
    wanted = _named(type_name, edm)
    if term.is_null or term.collection or term.type != wanted:
        return Term(Primitive.BOOLEAN, value=False, nullable=False)
    if term.is_literal or not term.nullable:
        return Term(Primitive.BOOLEAN, value=True, nullable=False)
    return Term(Primitive.BOOLEAN, term.element.is_not(None), nullable=False)


def cast_term(term: Term, type_name: str, edm: Edm, context: Context) -> Term:
    """Cast a value to another type. Raise 400 for an unknown type, 501 for an unsupported cast."""
    wanted = _named(type_name, edm)
    if term.is_null:
        return NULL
    if term.collection:
        raise mismatch(f"{term.name or 'A collection'} cannot be cast.", term)
    if term.type == wanted:
        return term
    term = materialised(term, context)
    if term.type in NUMBERS and wanted in NUMBERS:
        return _number(term, wanted, context)
    if wanted is Primitive.STRING:
        return Term(wanted, as_text(term, context), nullable=term.nullable)
    if term.type is Primitive.DATE_TIME_OFFSET and wanted in {Primitive.DATE, Primitive.TIME_OF_DAY}:
        return date_of(context, term) if wanted is Primitive.DATE else time_of(context, term)
    raise _refused(term, type_name)


def _refused(term: Term, type_name: str) -> ODataError:
    return not_implemented(f"A cast from {shown_type(term)} to {type_name}")


def _number(term: Term, wanted: Any, context: Context) -> Term:
    if wanted in FLOATS:
        return Term(wanted, as_double(term, context), NATIVE, term.nullable)
    if term.type in FLOATS:
        most = 2.0**63 if wanted in INTEGERS else inf
        held = func.abs(term.element) < literal(most, Double())
        term = replace(term, sql=type_coerce(case((held, term.element)), Double()), nullable=True)
    if not context.sqlite:
        number = sql_cast(term.element, Numeric())
        found: Any = func.trunc(number) if wanted in INTEGERS else number
        return Term(wanted, type_coerce(found, Numeric()), NATIVE, term.nullable)
    scale = scale_of(term)
    if wanted is Primitive.DECIMAL:
        if scale is not None:
            return Term(wanted, term.element, ScaledInteger(scale), term.nullable)
        scaled = sql_cast(func.round(term.element * literal(float(10**DIVISION_SCALE), Double())), BigInteger())
        return Term(wanted, scaled, ScaledInteger(DIVISION_SCALE), term.nullable)
    if scale is None:
        return Term(wanted, sql_cast(term.element, BigInteger()), NATIVE, term.nullable)
    whole = term.element // bound(10**scale) if scale else term.element
    return Term(wanted, type_coerce(whole, BigInteger()), NATIVE, term.nullable)


def as_text(term: Term, context: Context) -> ColumnElement[Any]:
    """Return a value of a column as text. Raise 501 for a type whose text is not the same on every database."""
    return type_coerce(_text(term, context), String())


def _text(term: Term, context: Context) -> ColumnElement[Any]:
    value = term.element
    if term.type is Primitive.BOOLEAN:
        return case((value, "true"), (value.is_(None), None), else_="false")
    if term.type in INTEGERS or isinstance(term.type, EnumType):
        return sql_cast(value, String())
    if term.type is Primitive.DECIMAL and (not context.sqlite or scale_of(term) is not None):
        return _decimal_text(value, scale_of(term) or 0) if context.sqlite else sql_cast(value, String())
    if term.type is Primitive.DATE:
        return value if context.sqlite else sql_cast(value, String())
    if term.type is Primitive.GUID:
        return _guid_text(value, context) if isinstance(value.type, Uuid) else value
    raise _refused(term, "Edm.String")


def _guid_text(value: ColumnElement[Any], context: Context) -> ColumnElement[Any]:
    """Format a value of a `Uuid` column, of which SQLite stores the hexadecimal digits only."""
    if not context.sqlite:
        return sql_cast(value, String())
    digits = type_coerce(value, String())
    text: ColumnElement[Any] = func.substr(digits, 1, 8)
    for start, length in ((9, 4), (13, 4), (17, 4), (21, 12)):
        text = text.concat("-").concat(func.substr(digits, start, length))
    return text


def _decimal_text(value: ColumnElement[Any], scale: int) -> ColumnElement[Any]:
    """Format a scaled integer with its decimal point, on SQLite."""
    if not scale:
        return sql_cast(value, String())
    unit = bound(10**scale)
    size = type_coerce(func.abs(value), BigInteger())
    sign = case((value < 0, "-"), (value.is_(None), None), else_="")
    return sign.concat(func.printf(f"%d.%0{scale}d", size // unit, size % unit))
