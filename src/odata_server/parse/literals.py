"""Literals at a cursor, JSON included."""

from __future__ import annotations

import json
import re
from types import MappingProxyType

from odata_server.edm import Primitive
from odata_server.expressions import EnumLiteral, Expression, Literal
from odata_server.parse.cursor import Cursor
from odata_server.parse.values import prefixed_literal, to_date, to_date_time, to_number, to_time

__all__ = ["LITERALS", "is_literal", "json_text", "literal", "quoted"]

_TEMPORAL = MappingProxyType(
    {
        "date": (to_date, Primitive.DATE, "a day that exists"),
        "time": (to_time, Primitive.TIME_OF_DAY, "a time of day"),
        "stamp": (to_date_time, Primitive.DATE_TIME_OFFSET, "a moment that exists"),
    }
)
_SURROGATE = re.compile("[\ud800-\udfff]")

# Kinds of tokens that are literals by themselves.
LITERALS = frozenset({"string", "number", "guid", *_TEMPORAL})


def literal(cursor: Cursor) -> Expression:
    """The literal that is the next token: a kind of `LITERALS`, or the name null, INF or NaN."""
    kind, text = cursor.kind, cursor.value
    found: Literal | None
    if kind == "string":
        found = Literal(text[1:-1].replace("''", "'"), Primitive.STRING)
    elif kind == "guid":
        found = Literal(text.lower(), Primitive.GUID)
    elif text == "null":
        found = Literal(None)
    elif kind in {"number", "name"}:
        found = to_number(text)
        if found is None:
            cursor.fail("a number of fewer digits")
    else:
        convert, primitive, expected = _TEMPORAL[kind]
        value = convert(text)
        if value is None:
            cursor.fail(expected)
        found = Literal(value, primitive)
    cursor.advance()
    return found


def quoted(cursor: Cursor, prefix: str) -> Expression:
    """``duration'P1D'`` and its kin: the next token is the prefix, directly followed by a quote."""
    start = cursor.start
    cursor.advance()
    if cursor.kind != "string":
        cursor.fail("a closing quote")
    found = prefixed_literal(prefix, cursor.value[1:-1].replace("''", "'"))
    if found is None:
        cursor.fail("a literal with a prefix", start)
    cursor.advance()
    return found


def is_literal(expression: Expression) -> bool:
    """Whether this may stand in a list."""
    return isinstance(expression, Literal | EnumLiteral)


def json_text(cursor: Cursor) -> str:
    """The string in double quotes that is the next token."""
    text = cursor.value
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, str) or _SURROGATE.search(found):
        cursor.fail("a string as JSON writes it")
    cursor.advance()
    return found
