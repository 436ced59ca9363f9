"""Convert JSON values to values of the model, checking type and facets (JSON Format 4.01, chapter 7).

Numbers are exact.
"""

from __future__ import annotations

import binascii
import re
from base64 import urlsafe_b64decode
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from math import isinf
from typing import Any, Protocol

from odata_server.edm import ComplexType, EnumType, Primitive, Type

__all__ = ["Facets", "Read", "Wrong", "reader"]

Read = Callable[[Any], Any]
"""A value of JSON (or of a literal) to the value of the model; raises `Wrong`. Null is the caller's matter."""


class Wrong(Exception):
    """A value that its property cannot hold.

    ``message`` refers to the value as "it", so that the caller can name the property.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Facets(Protocol):
    """The constraints of a value: those of a property, a parameter or a return type."""

    @property
    def max_length(self) -> int | None: ...
    @property
    def precision(self) -> int | None: ...
    @property
    def scale(self) -> int | None: ...


_SHOWN_MAX = 40
_GUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
_CLOCK = r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,12}))?)?"
_TIME = re.compile(_CLOCK, re.ASCII)
_DATE_TIME = re.compile(rf"(\d{{4}})-(\d\d)-(\d\d)[Tt]{_CLOCK}(?:([Zz])|([+-])(\d\d):(\d\d))", re.ASCII)
_DURATION = re.compile(
    r"(-)?P(?:(\d{1,9})D)?(?:T(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,12})(?:\.(\d{1,12}))?S)?)?", re.ASCII
)
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d{1,4})?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,30}", re.ASCII)
_NUMBER_LENGTH_MAX = 400
# Values that do not fit are refused, never rounded: 60 digits hold every Decimal that a database column can.
_EXACT = Context(prec=60, Emax=400, Emin=-400, traps=[Inexact, InvalidOperation, Overflow])
_WHOLE_RANGES = {
    Primitive.BYTE: (0, 2**8 - 1),
    Primitive.SBYTE: (-(2**7), 2**7 - 1),
    Primitive.INT16: (-(2**15), 2**15 - 1),
    Primitive.INT32: (-(2**31), 2**31 - 1),
    Primitive.INT64: (-(2**63), 2**63 - 1),
}
_NOT_FINITE = {"NaN": float("nan"), "INF": float("inf"), "-INF": float("-inf")}


def reader(type_: Type, facets: Facets) -> Read:
    """Return the function that reads values of a type and checks its facets.

    Complex values are composed of these by `odata_server.decoding`; a complex type raises ValueError here.
    """
    if isinstance(type_, EnumType):
        return _enum(type_)
    if isinstance(type_, ComplexType):
        raise ValueError(f"{type_.name} is complex")
    if type_ in _WHOLE_RANGES:
        return _whole(type_, *_WHOLE_RANGES[type_])
    make = _MAKERS.get(type_)
    return make(facets) if make is not None else _PLAIN[type_]


def mismatch(value: Any, wanted: str) -> Wrong:
    """Return the error for a value that is not of type ``wanted``."""
    return Wrong("TYPE_MISMATCH", f"{shown(value)} is not {wanted}.")


def shown(value: Any) -> str:
    """Return a value shortened for a message."""
    if isinstance(value, dict | list):
        return "An object" if isinstance(value, dict) else "A list"
    text = {True: "true", False: "false"}.get(value, "") if isinstance(value, bool) else str(value)
    if len(text) > _SHOWN_MAX:
        text = f"{text[:_SHOWN_MAX]}…"
    return f"'{text}'" if isinstance(value, str) else text


# ---- texts --------------------------------------------------------------------------------------------------------


def _string(facets: Facets) -> Read:
    length_max = facets.max_length

    def read(value: Any) -> str:
        if not isinstance(value, str):
            raise mismatch(value, "a text")
        if length_max is not None and len(value) > length_max:
            raise Wrong("TOO_LONG", f"It has {len(value)} characters, at most {length_max} are allowed.")
        if not value.isprintable():  # fast path: only unusual text is examined in detail
            check_characters(value)
        return value

    return read


def check_characters(value: str) -> None:
    """Refuse characters that databases cannot store: NUL and lone surrogates."""
    if "\0" in value:
        raise Wrong("ILLEGAL_CHARACTER", "It contains the character U+0000.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Wrong("ILLEGAL_CHARACTER", "It contains half of a character (a lone surrogate).") from None


def _guid(value: Any) -> str:
    if not isinstance(value, str) or _GUID.fullmatch(value) is None:
        raise mismatch(value, "a GUID such as 01234567-89ab-cdef-0123-456789abcdef")
    return value.lower()


def _enum(type_: EnumType) -> Read:
    def read(value: Any) -> str:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        found = type_.value_of(value) if isinstance(value, str) or (type_.numbers and is_number) else None
        if found is not None:
            return found
        raise mismatch(value, f"a member of {type_.name}")

    return read


def _binary(facets: Facets) -> Read:
    length_max = facets.max_length

    def read(value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        try:
            text = value.replace("+", "-").replace("/", "_").rstrip("=")
            if not text.replace("-", "").replace("_", "").isalnum() and text:
                raise ValueError
            data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        except (AttributeError, ValueError, binascii.Error):
            raise mismatch(value, "binary data in base64url") from None
        if length_max is not None and len(data) > length_max:
            raise Wrong("TOO_LONG", f"It has {len(data)} bytes, at most {length_max} are allowed.")
        return data

    return read


# ---- numbers ------------------------------------------------------------------------------------------------------


def _boolean(value: Any) -> bool:
    if value is True or value is False:
        return bool(value)
    raise mismatch(value, "true or false")


def _whole(type_: Primitive, lowest: int, highest: int) -> Read:
    quoted = type_ is Primitive.INT64

    def read(value: Any) -> int:
        number = value
        if isinstance(value, str) and quoted and _WHOLE.fullmatch(value) is not None:
            number = int(value)
        elif isinstance(value, Decimal | float):
            number = _integral(value)
        if not isinstance(number, int) or isinstance(number, bool):
            raise mismatch(value, "a whole number")
        if not lowest <= number <= highest:
            raise Wrong("TYPE_MISMATCH", f"It must be from {lowest} to {highest}.")
        return number

    return read


def _integral(value: Decimal | float) -> int | None:
    """Convert a number such as 1.0 to an integer, without expanding a large exponent; None if it is not integral."""
    exact = value if isinstance(value, Decimal) else Decimal(repr(value))
    if not exact.is_finite() or exact.adjusted() > 20 or exact.adjusted() < -20:
        return 0 if exact.is_finite() and not exact else None
    return int(exact) if exact == int(exact) else None


def _decimal(facets: Facets) -> Read:
    precision, scale = facets.precision, facets.scale
    fraction_max = scale if scale is not None else precision
    whole_max = None if precision is None else precision - (scale or 0)

    def read(value: Any) -> Decimal:
        number = _exact(value)
        parts = number.as_tuple()
        digits, exponent = len(parts.digits), int(parts.exponent)
        if number and fraction_max is not None and -exponent > fraction_max:
            raise Wrong("TOO_MANY_DIGITS", f"At most {fraction_max} decimals are allowed.")
        if number and whole_max is not None and digits + exponent > whole_max:
            raise Wrong("TOO_MANY_DIGITS", f"At most {whole_max} digits are allowed before the decimal point.")
        if precision is not None and digits > precision:
            raise Wrong("TOO_MANY_DIGITS", f"At most {precision} digits are allowed.")
        return number

    return read


def _exact(value: Any) -> Decimal:
    """Return the shortest exact form: 1.500 is 1.5, 1E+2 is 100."""
    if isinstance(value, str):
        if len(value) > _NUMBER_LENGTH_MAX or _NUMBER.fullmatch(value) is None:
            raise mismatch(value, "a number")
        value = Decimal(value)
    elif isinstance(value, float):
        value = Decimal(repr(value))
    elif isinstance(value, int) and not isinstance(value, bool):
        if value.bit_length() > _NUMBER_LENGTH_MAX:
            raise Wrong("TOO_MANY_DIGITS", "It has too many digits.")
        value = Decimal(value)
    if not isinstance(value, Decimal) or not value.is_finite():
        raise mismatch(value, "a number")
    if not value:
        return Decimal(0)
    try:
        number = value.normalize(_EXACT)
        return number.quantize(Decimal(1), context=_EXACT) if int(number.as_tuple().exponent) > 0 else number
    except (Inexact, InvalidOperation, Overflow):
        raise Wrong("TOO_MANY_DIGITS", "It has too many digits.") from None


def _double(value: Any) -> float:
    if isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = float("inf")
        if not isinf(number) or (isinstance(value, float) and isinf(value)):
            return number
    raise mismatch(value, "a number of type Double")


# ---- time ---------------------------------------------------------------------------------------------------------


def _date(value: Any) -> date:
    if isinstance(value, str) and (match := _DATE.fullmatch(value)) is not None:
        try:
            return date(*map(int, match.groups()))
        except ValueError:
            pass
    elif isinstance(value, date) and not isinstance(value, datetime):
        return value
    raise mismatch(value, "a date such as 2026-12-31")


def _time_of_day(facets: Facets) -> Read:
    digits_max = _fraction_digits(facets)

    def read(value: Any) -> time:
        if isinstance(value, str) and (match := _TIME.fullmatch(value)) is not None:
            hour, minute, second, fraction = match.groups()
            microsecond = _microsecond(fraction, digits_max)
            try:
                return time(int(hour), int(minute), int(second or 0), microsecond)
            except ValueError:
                pass
        elif isinstance(value, time):
            return value
        raise mismatch(value, "a time such as 23:59:59")

    return read


def _date_time_offset(facets: Facets) -> Read:
    digits_max = _fraction_digits(facets)

    def read(value: Any) -> datetime:
        if isinstance(value, str) and (match := _DATE_TIME.fullmatch(value)) is not None:
            return _moment(value, match, digits_max)
        if isinstance(value, datetime) and value.tzinfo is not None:
            return value.astimezone(UTC)
        raise mismatch(value, "a date with time and offset such as 2026-12-31T23:59:59Z")

    return read


def _moment(value: str, match: re.Match[str], digits_max: int) -> datetime:
    year, month, day, hour, minute, second, fraction, zulu, sign, offset_hours, offset_minutes = match.groups()
    microsecond = _microsecond(fraction, digits_max)
    try:
        at = datetime(
            int(year), int(month), int(day), int(hour), int(minute), int(second or 0), microsecond, tzinfo=UTC
        )
        if zulu is None:
            if int(offset_minutes) > 59:
                raise ValueError
            offset = timedelta(hours=int(offset_hours), minutes=int(offset_minutes))
            at = at.replace(tzinfo=timezone(-offset if sign == "-" else offset)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise mismatch(value, "a date and time that exists") from None
    return at


def _duration(value: Any) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str) and value[-1:] in "DHMS" and (match := _DURATION.fullmatch(value)) is not None:
        sign, days, hours, minutes, seconds, fraction = match.groups()
        try:
            length = timedelta(
                days=int(days or 0),
                hours=int(hours or 0),
                minutes=int(minutes or 0),
                seconds=int(seconds or 0),
                microseconds=_microsecond(fraction, 6),
            )
        except OverflowError:
            raise mismatch(value, "a duration of less than a billion days") from None
        return -length if sign else length
    raise mismatch(value, "a duration such as PT15M")


def _fraction_digits(facets: Facets) -> int:
    return 6 if facets.precision is None else min(facets.precision, 6)


def _microsecond(fraction: str | None, digits_max: int) -> int:
    digits = (fraction or "").rstrip("0")
    if len(digits) > digits_max:
        raise Wrong("TOO_MANY_DIGITS", f"At most {digits_max} digits of a second are allowed.")
    return int(digits.ljust(6, "0")) if digits else 0


_PLAIN: dict[Primitive, Read] = {
    Primitive.BOOLEAN: _boolean,
    Primitive.DATE: _date,
    Primitive.DOUBLE: _double,
    Primitive.DURATION: _duration,
    Primitive.GUID: _guid,
    Primitive.SINGLE: _double,
}
_MAKERS: dict[Primitive, Callable[[Facets], Read]] = {
    Primitive.BINARY: _binary,
    Primitive.DATE_TIME_OFFSET: _date_time_offset,
    Primitive.DECIMAL: _decimal,
    Primitive.STRING: _string,
    Primitive.TIME_OF_DAY: _time_of_day,
}
