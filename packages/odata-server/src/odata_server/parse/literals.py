"""Literals at a cursor, JSON included; and from the text of a primitive value to its Python value.

Every function of texts answers None for a text that is no such value: the caller knows what to name in its error. Dates
outside of the years 1 to 9999 are well-formed and not representable: they raise 501.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from odata_server.edm import Primitive
from odata_server.errors import not_implemented
from odata_server.expressions import EnumLiteral, Expression, Literal
from odata_server.parse.cursor import Cursor
from odata_server.parse.geo import geo_shape

__all__ = ["LITERALS", "enum_members", "is_literal", "json_text", "literal", "parse_value", "quoted"]

_DIGITS_MAX = 100
_DATE = re.compile(r"(-?)([0-9]{4,})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])")
_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]|60)(?:\.([0-9]{1,12}))?)?")
_ZONE = re.compile(r"[Zz]|([+-])([01][0-9]|2[0-3]):([0-5][0-9])")
_DURATION = re.compile(
    r"(-?)P(?:([0-9]{1,9})D)?(?:T(?:([0-9]{1,9})H)?(?:([0-9]{1,9})M)?(?:([0-9]{1,9})(?:\.([0-9]{1,12}))?S)?)?"
)
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_GUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_BASE64 = re.compile(r"(?:[\w-]{4})*(?:[\w-]{2}[AEIMQUYcgkosw048]=?|[\w-][AQgw](?:==)?)?", re.ASCII)
_ENUM_MEMBER = re.compile(r"[^\W\d]\w{0,127}|[+-]?[0-9]{1,19}")
_NOT_FINITE = {"INF": float("inf"), "-INF": float("-inf"), "NaN": float("nan")}


def to_date(text: str) -> date | None:
    """Parse ``2026-01-31``."""
    found = _DATE.fullmatch(text)
    return None if found is None else _date(found)


def _date(found: re.Match[str]) -> date | None:
    sign, year, month, day = found.groups()
    if (len(year) > 4 and year[0] == "0") or len(year) > _DIGITS_MAX:
        return None
    if sign or len(year) > 4 or year == "0000":
        raise not_implemented("A date outside of the years 1 to 9999")
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def to_time(text: str) -> time | None:
    """Parse ``23:59`` with optional seconds and up to 12 fractional digits, of which 6 are used.

    A leap second becomes the last microsecond of its minute.
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    hour, minute, second, fraction = found.groups()
    micros = int((fraction or "0").ljust(6, "0")[:6])
    if second == "60":
        return time(int(hour), int(minute), 59, 999_999)
    return time(int(hour), int(minute), int(second or 0), micros)


def to_date_time(text: str) -> datetime | None:
    """Parse ``2026-01-31T23:59:59.5+01:00`` to UTC; a leap second is the first moment of the next minute."""
    day_found = _DATE.match(text)
    if day_found is None or text[day_found.end() : day_found.end() + 1] not in {"T", "t"}:
        return None
    time_found = _TIME.match(text, day_found.end() + 1)
    zone = None if time_found is None else _ZONE.fullmatch(text, time_found.end())
    if time_found is None or zone is None:
        return None
    day = _date(day_found)
    clock = to_time(time_found[0])
    if day is None or clock is None:
        return None
    moment = datetime.combine(day, clock, UTC)
    try:
        if time_found[3] == "60":
            moment += timedelta(microseconds=1)
        if zone[1]:
            offset = timedelta(hours=int(zone[2]), minutes=int(zone[3]))
            return moment.replace(tzinfo=timezone(-offset if zone[1] == "-" else offset)).astimezone(UTC)
    except OverflowError:
        raise not_implemented("A date outside of the years 1 to 9999") from None
    return moment


def to_duration(text: str) -> timedelta | None:
    """Parse ``P1DT2H3M4.5S``; years and months are not allowed."""
    found = _DURATION.fullmatch(text)
    if found is None or text.endswith(("P", "T")):
        return None
    sign, days, hours, minutes, seconds, fraction = found.groups()
    try:
        span = timedelta(
            days=int(days or 0),
            hours=int(hours or 0),
            minutes=int(minutes or 0),
            seconds=int(seconds or 0),
            microseconds=int((fraction or "0").ljust(6, "0")[:6]),
        )
        return -span if sign else span
    except OverflowError:
        return None


def to_number(text: str) -> Literal | None:
    """Parse a number to Int32, Int64 or Decimal by size; to Double with an exponent, INF, -INF and NaN."""
    if text in _NOT_FINITE:
        return Literal(_NOT_FINITE[text], Primitive.DOUBLE)
    found = _NUMBER.fullmatch(text)
    if found is None or len(text) > _DIGITS_MAX:
        return None
    if found[2]:
        return Literal(float(text), Primitive.DOUBLE)
    if found[1] or len(text) > 20:
        return Literal(Decimal(text), Primitive.DECIMAL)
    number = int(text)
    if -(2**31) <= number < 2**31:
        return Literal(number, Primitive.INT32)
    if -(2**63) <= number < 2**63:
        return Literal(number, Primitive.INT64)
    return Literal(Decimal(text), Primitive.DECIMAL)


# ---- literals with a prefix ---------------------------------------------------------------------------------------


def prefixed_literal(prefix: str, content: str) -> Expression | None:
    """Parse ``duration'P1D'``, ``binary'Zg=='``, ``geography'...'``, ``Sales.Pattern'Red'``.

    ``content`` is the text without quotes.
    """
    lower = prefix.lower()
    if lower == "duration":
        span = to_duration(content)
        return None if span is None else Literal(span, Primitive.DURATION)
    if lower == "binary":
        data = to_bytes(content)
        return None if data is None else Literal(data, Primitive.BINARY)
    if lower in {"geography", "geometry"}:
        shape = geo_shape(content)
        return None if shape is None else Literal(content, f"Edm.{lower.capitalize()}{shape}")
    members = enum_members(content)
    return EnumLiteral(prefix, members) if "." in prefix and members is not None else None


def to_bytes(text: str) -> bytes | None:
    """Decode base64url, with or without padding."""
    if _BASE64.fullmatch(text) is None:
        return None
    bare = text.rstrip("=")
    try:
        return base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
    except binascii.Error:
        return None


def enum_members(text: str) -> tuple[str, ...] | None:
    """Parse ``Red,Blue``: names or numbers of members."""
    members = tuple(text.split(","))
    return members if all(_ENUM_MEMBER.fullmatch(one) for one in members) else None


# ---- values without quotes, as in bodies --------------------------------------------------------------------------


def _boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text)


def _integer(low: int, high: int) -> Callable[[str], int | None]:
    def convert(text: str) -> int | None:
        if _INTEGER.fullmatch(text) is None:
            return None
        number = int(text)
        return number if low <= number <= high else None

    return convert


def _decimal(text: str) -> Decimal | None:
    if len(text) > _DIGITS_MAX or text in _NOT_FINITE or _NUMBER.fullmatch(text) is None:
        return None
    return Decimal(text)


def _double(text: str) -> float | None:
    if text in _NOT_FINITE:
        return _NOT_FINITE[text]
    return float(text) if len(text) <= _DIGITS_MAX and _NUMBER.fullmatch(text) else None


def _guid(text: str) -> str | None:
    return text.lower() if _GUID.fullmatch(text) else None


def _string(text: str) -> str | None:
    return text


_VALUES: Mapping[Primitive, Callable[[str], Any]] = MappingProxyType(
    {
        Primitive.BINARY: to_bytes,
        Primitive.BOOLEAN: _boolean,
        Primitive.BYTE: _integer(0, 255),
        Primitive.DATE: to_date,
        Primitive.DATE_TIME_OFFSET: to_date_time,
        Primitive.DECIMAL: _decimal,
        Primitive.DOUBLE: _double,
        Primitive.DURATION: to_duration,
        Primitive.GUID: _guid,
        Primitive.INT16: _integer(-(2**15), 2**15 - 1),
        Primitive.INT32: _integer(-(2**31), 2**31 - 1),
        Primitive.INT64: _integer(-(2**63), 2**63 - 1),
        Primitive.SBYTE: _integer(-128, 127),
        Primitive.SINGLE: _double,
        Primitive.STRING: _string,
        Primitive.TIME_OF_DAY: to_time,
    }
)


def parse_value(text: str, kind: Primitive) -> Any:
    """Parse a primitive value as written in bodies and key segments, without quotes; None if it is invalid."""
    return _VALUES[kind](text)


_TEMPORAL = MappingProxyType(
    {
        "date": (to_date, Primitive.DATE, "a day that exists"),
        "time": (to_time, Primitive.TIME_OF_DAY, "a time of day"),
        "stamp": (to_date_time, Primitive.DATE_TIME_OFFSET, "a moment that exists"),
    }
)
_SURROGATE = re.compile("[\ud800-\udfff]")

# Kinds of tokens that are literals on their own.
LITERALS = frozenset({"string", "number", "guid", *_TEMPORAL})


def literal(cursor: Cursor) -> Expression:
    """Return the literal at the next token: a kind of `LITERALS`, or the name null, INF or NaN."""
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
    """Parse ``duration'P1D'`` and similar literals: the next token is the prefix, directly followed by a quote."""
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
    """Return whether an expression is allowed in a list."""
    return isinstance(expression, Literal | EnumLiteral)


def json_text(cursor: Cursor) -> str:
    """Parse the next token as a string in double quotes."""
    text = cursor.value
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, str) or _SURROGATE.search(found):
        cursor.fail("a string as JSON writes it")
    cursor.advance()
    return found
