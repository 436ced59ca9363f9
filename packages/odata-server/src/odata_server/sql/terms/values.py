"""Collections of values stored as JSON text: their elements as rows of a table, and parts of complex values."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    ColumnElement,
    Double,
    FromClause,
    Numeric,
    String,
    Text,
    cast,
    column,
    func,
    literal,
    type_coerce,
)

from odata_server.edm import EnumType, Primitive, Type
from odata_server.errors import not_implemented
from odata_server.sql.terms.storage import NATIVE
from odata_server.sql.terms.typed import FLOATS, INTEGERS, Context, Term

__all__ = ["elements", "part_of"]


def elements(collection: Term, context: Context) -> tuple[FromClause, Term]:
    """Return a table of the elements of a collection, and the element; null has no elements."""
    text = type_coerce(collection.element, Text())
    if context.sqlite:
        table = func.json_each(text).table_valued(column("value")).alias()
        return table, _typed(table.c.value, collection.type, collection.name, context)
    table = func.json_array_elements_text(cast(text, JSON())).table_valued(column("value", Text())).alias()
    return table, _typed(table.c.value, collection.type, collection.name, context)


def part_of(whole: ColumnElement[Any], name: str, of: Type, shown: str, context: Context) -> Term:
    """Return a member of an object that is stored as JSON text."""
    text = type_coerce(whole, Text())
    if context.sqlite:
        found = func.json_extract(text, literal(f'$."{name}"', String()))
    else:
        found = func.json_extract_path_text(cast(text, JSON()), literal(name, String()))
    return _typed(found, of, shown, context)


def _typed(value: ColumnElement[Any], of: Type | None, name: str, context: Context) -> Term:
    """Convert a JSON value to a type of the model; on PostgreSQL it is text."""
    if of in {Primitive.STRING, Primitive.GUID} or isinstance(of, EnumType):
        return Term(of, type_coerce(value, String()), NATIVE, name=name, by_bytes=False)
    if of in INTEGERS:
        return Term(of, _as(value, BigInteger(), context), NATIVE, name=name)
    if of is Primitive.BOOLEAN:
        return Term(of, _as(value, Boolean(), context), NATIVE, name=name)
    if of in FLOATS or of is Primitive.DECIMAL:
        exact = of is Primitive.DECIMAL and not context.sqlite
        return Term(of, _as(value, Numeric() if exact else Double(), context), NATIVE, name=name)
    raise not_implemented(f"To look into a collection like {name}")


def _as(value: ColumnElement[Any], column_type: Any, context: Context) -> ColumnElement[Any]:
    return type_coerce(value, column_type) if context.sqlite else cast(value, column_type)
