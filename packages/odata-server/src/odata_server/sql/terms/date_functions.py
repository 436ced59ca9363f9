"""Functions of dates, times, timestamps and durations. Timestamps are in UTC, whatever their original offset."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Date,
    DateTime,
    Integer,
    Numeric,
    Time,
    case,
    cast,
    extract,
    func,
    type_coerce,
)

from odata_server.edm import Primitive
from odata_server.sql.terms.functions import CALENDAR, CLOCK, DURATION, MOMENT, Kind, function
from odata_server.sql.terms.storage import EPOCH_MICROSECONDS, NATIVE, ScaledInteger
from odata_server.sql.terms.typed import Context, Term, materialised, whole

__all__ = ["date_of", "midnight_of", "part_of", "time_of"]

# Position of each part in SQLite's text "2026-01-31 23:59:59.000000"; a time alone begins at the 12th character.
_PARTS: dict[str, tuple[int, int, Kind]] = {
    "year": (1, 4, CALENDAR),
    "month": (6, 2, CALENDAR),
    "day": (9, 2, CALENDAR),
    "hour": (12, 2, CLOCK),
    "minute": (15, 2, CLOCK),
    "second": (18, 2, CLOCK),
}
_TIME_START, _FRACTION_START = 12, 21
_SECOND = 1_000_000


def part_of(name: str) -> Callable[..., Term]:
    """Register and return the function that extracts a part."""
    start, length, kind = _PARTS[name]

    @function(name, kind)
    def part(context: Context, term: Term) -> Term:
        """Extract this part of a date, a time or a timestamp."""
        term = materialised(term, context)
        if context.sqlite:
            found: Any = func.substr(_text(term), start - _shift(term), length)
        else:
            found = func.floor(extract(name, _plain(term)))
        return Term(Primitive.INT32, cast(found, Integer()), nullable=term.nullable)

    return part


YEAR, MONTH, DAY, HOUR, MINUTE, SECOND = map(part_of, _PARTS)


def _shift(term: Term) -> int:
    return _TIME_START - 1 if term.type is Primitive.TIME_OF_DAY else 0


def _fraction(term: Term) -> ColumnElement[Any]:
    """Return the microseconds within the second, on SQLite."""
    if term.storage is not EPOCH_MICROSECONDS:
        return cast(func.substr(term.element, _FRACTION_START - _shift(term), 6), BigInteger())
    # SQLite's remainder is negative before 1970.
    return type_coerce((term.element % whole(_SECOND) + whole(_SECOND)) % whole(_SECOND), BigInteger())


def _text(term: Term) -> ColumnElement[Any]:
    """Return the value as SQLite's native text."""
    if term.storage is not EPOCH_MICROSECONDS:
        return term.element
    fraction = _fraction(term)
    seconds = (term.element - fraction) // whole(_SECOND)
    text = func.strftime("%Y-%m-%d %H:%M:%S", seconds, "unixepoch")
    return text.concat(func.printf(".%06d", fraction))


def _plain(term: Term) -> ColumnElement[Any]:
    """Return a timestamp without time zone in UTC, on PostgreSQL."""
    return func.timezone("UTC", term.element) if term.type is Primitive.DATE_TIME_OFFSET else term.element


@function("fractionalseconds", CLOCK)
def fractional_seconds(context: Context, term: Term) -> Term:
    """Return the fractional part of the seconds."""
    term = materialised(term, context)
    if context.sqlite:
        return Term(Primitive.DECIMAL, _fraction(term), ScaledInteger(6), term.nullable)
    micro = func.mod(cast(extract("microseconds", _plain(term)), Numeric()), _SECOND)
    return Term(Primitive.DECIMAL, type_coerce(micro / _SECOND, Numeric()), NATIVE, term.nullable)


@function("date", CALENDAR)
def date_of(context: Context, term: Term) -> Term:
    """Return the date of a timestamp."""
    term = materialised(term, context)
    if term.type is Primitive.DATE:
        return term
    found = func.substr(_text(term), 1, 10) if context.sqlite else cast(_plain(term), Date())
    return Term(Primitive.DATE, type_coerce(found, Date()), nullable=term.nullable)


def midnight_of(context: Context, term: Term) -> Term:
    """Return the timestamp at which a date begins in UTC."""
    term = materialised(term, context)
    if context.sqlite:
        seconds = cast(func.strftime("%s", term.element), BigInteger())
        found = type_coerce(seconds * whole(_SECOND), BigInteger())
        return Term(Primitive.DATE_TIME_OFFSET, found, EPOCH_MICROSECONDS, term.nullable)
    midnight = type_coerce(func.timezone("UTC", cast(term.element, DateTime())), DateTime(timezone=True))
    return Term(Primitive.DATE_TIME_OFFSET, midnight, nullable=term.nullable)


@function("time", CLOCK)
def time_of(context: Context, term: Term) -> Term:
    """Return the time of day of a timestamp."""
    term = materialised(term, context)
    if term.type is Primitive.TIME_OF_DAY:
        return term
    found = func.substr(_text(term), _TIME_START) if context.sqlite else cast(_plain(term), Time())
    return Term(Primitive.TIME_OF_DAY, type_coerce(found, Time()), nullable=term.nullable)


@function("totaloffsetminutes", MOMENT)
def total_offset_minutes(context: Context, term: Term) -> Term:
    """Return the UTC offset of the timestamp in minutes: always 0."""
    term = materialised(term, context)
    return Term(Primitive.INT32, case((term.element.is_(None), None), else_=whole(0)), nullable=term.nullable)


@function("totalseconds", DURATION)
def total_seconds(context: Context, term: Term) -> Term:
    """Return a duration in seconds."""
    term = materialised(term, context)
    if context.sqlite:
        return Term(Primitive.DECIMAL, term.element, ScaledInteger(6), term.nullable)
    seconds = cast(extract("epoch", term.element), Numeric())
    return Term(Primitive.DECIMAL, seconds, NATIVE, term.nullable)


@function("now")
def now(context: Context) -> Term:
    """Return the time of the request."""
    context.moments.append(context.now)
    return Term(Primitive.DATE_TIME_OFFSET, value=context.now.astimezone(UTC), nullable=False)


@function("mindatetime")
def min_date_time(_context: Context) -> Term:
    """Return the earliest timestamp."""
    return Term(Primitive.DATE_TIME_OFFSET, value=datetime.min.replace(tzinfo=UTC), nullable=False)


@function("maxdatetime")
def max_date_time(_context: Context) -> Term:
    """Return the latest timestamp."""
    return Term(Primitive.DATE_TIME_OFFSET, value=datetime.max.replace(tzinfo=UTC), nullable=False)
