"""Functions of strings. They are case-sensitive on both databases; positions start at 0."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Boolean, ColumnElement, Integer, String, and_, case, cast, func, literal, type_coerce

from odata_server.edm import Primitive
from odata_server.errors import not_implemented
from odata_server.sql.terms.functions import TEXT, WHOLE, function, sql
from odata_server.sql.terms.patterns import checked
from odata_server.sql.terms.typed import Context, Term, whole

__all__ = ["contains", "lowered"]

_BLANKS = " \t\n\r\f\v\u0085\u00a0"
_POSITION_MAX = 1_000_000_000
_LAST = "\U0010ffff"


def _truth(result: ColumnElement[Any], *arguments: Term) -> Term:
    return Term(Primitive.BOOLEAN, result, nullable=any(one.nullable for one in arguments))


def _text(result: Any, *arguments: Term) -> Term:
    nullable = any(one.nullable for one in arguments)
    return Term(Primitive.STRING, type_coerce(result, String()), nullable=nullable, by_bytes=False)


def _number(result: Any, *arguments: Term) -> Term:
    return Term(Primitive.INT32, type_coerce(result, Integer()), nullable=any(one.nullable for one in arguments))


def _position(text: Any, part: Any, context: Context) -> Any:
    return func.instr(text, part) if context.sqlite else func.strpos(text, part)


@function("contains", TEXT, TEXT)
def contains(context: Context, text: Term, part: Term) -> Term:
    """Return whether ``part`` occurs in ``text``."""
    return _truth(_position(sql(text, context), sql(part, context), context) > whole(0), text, part)


@function("startswith", TEXT, TEXT)
def starts_with(context: Context, text: Term, part: Term) -> Term:
    """Return whether ``text`` starts with ``part``; a literal becomes a range, for which an index can be used."""
    one = sql(text, context)
    if part.is_literal and text.by_bytes and not text.is_literal:
        if not part.value:
            return _truth(one.is_not(None), text)
        above = upper_bound(part.value)
        ranged = one >= literal(part.value, String())
        return _truth(ranged if above is None else and_(ranged, one < literal(above, String())), text)
    other = sql(part, context)
    return _truth(func.substr(one, 1, func.length(other)) == other, text, part)


def upper_bound(prefix: str) -> str | None:
    """Return the first text after all those with ``prefix``, by code point; None if there is none."""
    kept = prefix.rstrip(_LAST)
    if not kept:
        return None
    following = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if following == 0xD800 else following)


@function("endswith", TEXT, TEXT)
def ends_with(context: Context, text: Term, part: Term) -> Term:
    """Return whether ``text`` ends with ``part``."""
    one, other = sql(text, context), sql(part, context)
    # If the part is longer than the text, the start is negative, and the extracted text is too short to be equal.
    return _truth(func.substr(one, func.length(one) - func.length(other) + 1) == other, text, part)


@function("length", TEXT)
def length(context: Context, text: Term) -> Term:
    """Return the number of characters of ``text``."""
    return _number(func.length(sql(text, context)), text)


@function("indexof", TEXT, TEXT)
def index_of(context: Context, text: Term, part: Term) -> Term:
    """Return the position of ``part`` in ``text``; -1 if it does not occur."""
    return _number(_position(sql(text, context), sql(part, context), context) - 1, text, part)


def _bounded(term: Term, context: Context) -> ColumnElement[Any]:
    """Limit a position to a range that every database accepts: from 0 to the maximum length."""
    if term.is_literal:
        return literal(max(0, min(_POSITION_MAX, int(term.value))), Integer())
    value = sql(term, context)
    return cast(case((value < 0, 0), (value > _POSITION_MAX, _POSITION_MAX), else_=value), Integer())


@function("substring", TEXT, WHOLE)
def substring_from(context: Context, text: Term, start: Term) -> Term:
    """Return ``text`` from ``start`` on."""
    return _text(func.substr(sql(text, context), _bounded(start, context) + 1), text, start)


@function("substring", TEXT, WHOLE, WHOLE)
def substring(context: Context, text: Term, start: Term, count: Term) -> Term:
    """Return ``count`` characters of ``text`` from ``start`` on."""
    cut = func.substr(sql(text, context), _bounded(start, context) + 1, _bounded(count, context))
    return _text(cut, text, start, count)


@function("tolower", TEXT)
def to_lower(context: Context, text: Term) -> Term:
    """Return ``text`` in lower case."""
    if text.is_literal:
        return Term(Primitive.STRING, value=text.value.lower(), nullable=False)
    return _text(lowered(sql(text, context), context), text)


def lowered(text: ColumnElement[Any], context: Context) -> ColumnElement[Any]:
    """Return the Unicode lower case of a text; on SQLite without custom functions only for ASCII."""
    if context.sqlite:
        return func.odata_lower(text) if context.sqlite_functions else func.lower(text)
    return func.lower(_with_cases(text, context))


def _with_cases(text: ColumnElement[Any], context: Context) -> ColumnElement[Any]:
    return text if context.collation is None else text.collate(context.collation)


@function("toupper", TEXT)
def to_upper(context: Context, text: Term) -> Term:
    """Return ``text`` in upper case."""
    if text.is_literal:
        return Term(Primitive.STRING, value=text.value.upper(), nullable=False)
    value = sql(text, context)
    if context.sqlite:
        return _text(func.odata_upper(value) if context.sqlite_functions else func.upper(value), text)
    return _text(func.upper(_with_cases(value, context)), text)


@function("trim", TEXT)
def trim(context: Context, text: Term) -> Term:
    """Return ``text`` without leading and trailing spaces."""
    cut = func.trim if context.sqlite else func.btrim
    return _text(cut(sql(text, context), literal(_BLANKS, String())), text)


@function("concat", TEXT, TEXT)
def concat(context: Context, left: Term, right: Term) -> Term:
    """Concatenate two texts; null if one of them is null."""
    return _text(sql(left, context).concat(sql(right, context)), left, right)


@function("matchespattern", TEXT, TEXT)
def matches_pattern(context: Context, text: Term, pattern: Term) -> Term:
    """Return whether a regular expression matches in ``text``. Raise 400 PATTERN_NOT_SUPPORTED if it is expensive."""
    if not pattern.is_literal:
        raise not_implemented("matchesPattern with a pattern that is not a literal")
    written = checked(pattern.value)
    if not context.sqlite:
        return _truth(sql(text, context).regexp_match(literal(written, String())), text)
    if not context.sqlite_functions:
        raise not_implemented("matchesPattern")
    return _truth(
        type_coerce(func.odata_matches(sql(text, context), literal(pattern.value, String())), Boolean()), text
    )
