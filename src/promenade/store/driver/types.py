"""Column types with the same meaning on SQLite and PostgreSQL.

| type           | Python                         | PostgreSQL               | SQLite                         |
|----------------|--------------------------------|--------------------------|--------------------------------|
| `string`       | str                            | VARCHAR(n) COLLATE "C"   | VARCHAR(n), compared as bytes  |
| `Timestamp`    | datetime, aware, UTC           | TIMESTAMPTZ              | INTEGER, microseconds of 1970  |
| `ExactDecimal` | Decimal (int is accepted)      | NUMERIC(p, s)            | INTEGER, scaled by 10^s        |
| `Json`         | what msgspec reads from JSON   | TEXT                     | TEXT                           |
| `PackedJson`   | what msgspec reads from JSON   | TEXT, which it compresses | BLOB, JSON compressed by zlib |

UUIDs are `string(36)`, in lower case: the raw drivers then return the same value as SQLAlchemy, and a malformed one
from a client finds nothing instead of causing a database error. ``COLLATE "C"`` makes both databases sort alike, lets
prefix searches use indexes and keeps indexes independent of the system's locale.

Sums and comparisons in SQL are exact as long as both sides have the same scale; a product of two `ExactDecimal` columns
is not, on SQLite.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from typing import Any

import msgspec
from sqlalchemy import TEXT, VARCHAR, BigInteger, DateTime, Dialect, LargeBinary, Numeric, String, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

from odata_server.sql.terms.storage import EPOCH_MICROSECONDS, NATIVE, ScaledInteger, Storage

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Raises an error rather than lose a digit.
_EXACT = Context(prec=60, traps=[Inexact, InvalidOperation, Overflow])
_MICROSECOND = timedelta(microseconds=1)
_REMEMBERED_MAX, _REMEMBERED_LENGTH = 20_000, 20  # amounts of a column, characters of one


def to_microseconds(moment: datetime) -> int:
    """Return microseconds since 1970-01-01T00:00Z. Raises ValueError for a naive datetime."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} has no time zone")
    return (moment - _EPOCH) // _MICROSECOND


def from_microseconds(microseconds: int) -> datetime:
    """Return the time in UTC, the inverse of `to_microseconds`."""
    return _EPOCH + timedelta(0, 0, microseconds)


def maybe_moment(microseconds: int | None) -> datetime | None:
    """Apply `from_microseconds` to a column that may be null."""
    return None if microseconds is None else from_microseconds(microseconds)


def _moment(value: Any) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, int):
        return _EPOCH + timedelta(0, 0, value)
    moment: datetime = value
    if moment.tzinfo is UTC:
        return moment
    # The driver treats the first and last datetime as infinities and returns them without a time zone.
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def string(length: int | None) -> TypeEngine[str]:
    """Return the type for text of at most ``length`` characters; None: unlimited."""
    if length is None:
        return Text().with_variant(TEXT(collation="C"), "postgresql")
    return String(length).with_variant(VARCHAR(length, collation="C"), "postgresql")


class Timestamp(TypeDecorator[datetime]):
    """A time stamp in UTC."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(DateTime(timezone=True))
        return dialect.type_descriptor(BigInteger())

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> object:
        if value is None:
            return None
        microseconds = to_microseconds(value)  # refuses naive ones on both dialects
        return value if dialect.name == "postgresql" else microseconds

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        """Skip the base class's wrappers: a sale stores dozens of values."""
        is_native = dialect.name == "postgresql"

        def process(value: datetime | None) -> object:
            if value is None:
                return None
            microseconds = to_microseconds(value)
            return value if is_native else microseconds

        return process

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        return _moment(value)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:
        """Skip the base class's wrapper around `process_result_value`: results contain many time stamps."""
        return _moment

    def odata_storage(self, dialect: str) -> Storage:
        """What queries of clients compare with, see `odata_server.sql.terms.storage`."""
        return EPOCH_MICROSECONDS if dialect == "sqlite" else NATIVE


class ExactDecimal(TypeDecorator[Decimal]):
    """A decimal with ``scale`` decimals. A value with more raises ValueError: rounding is the caller's decision."""

    impl = Numeric
    cache_ok = True

    def __init__(self, precision: int, scale: int) -> None:
        super().__init__(precision, scale)
        self.precision = precision
        self.scale = scale
        self._limit = 10**precision
        self._known: dict[str, int] = {}

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        if dialect.name == "postgresql":
            return dialect.type_descriptor(Numeric(self.precision, self.scale))
        return dialect.type_descriptor(BigInteger())

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> object:
        if value is None:
            return None
        scaled = self.scaled(value)
        return Decimal(value) if dialect.name == "postgresql" else scaled

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        """Skip the base class's wrappers: a sale stores more than a hundred amounts."""
        scaled = self.scaled
        if dialect.name != "postgresql":
            return lambda value: None if value is None else scaled(value)

        def process(value: Decimal | None) -> Decimal | None:
            if value is None:
                return None
            scaled(value)  # refuses what does not fit
            return Decimal(value)

        return process

    def process_literal_param(self, value: Decimal | None, dialect: Dialect) -> str:
        return str(self.process_bind_param(value, dialect))

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Decimal | None:
        if value is None:
            return None
        return Decimal(value).scaleb(-self.scale) if isinstance(value, int) else value

    def odata_storage(self, dialect: str) -> Storage:
        """What queries of clients compare and reckon with, see `odata_server.sql.terms.storage`."""
        return ScaledInteger(self.scale) if dialect == "sqlite" else NATIVE

    def scaled(self, value: Decimal | int) -> int:
        """Return the integer that SQLite stores. Raises ValueError for too many decimals or digits."""
        if isinstance(value, float):
            raise TypeError("a float is no exact amount")
        text = str(value)  # hashing a Decimal takes longer
        known = self._known.get(text)
        if known is not None:
            return known
        number = Decimal(value)
        try:
            exact = _EXACT.scaleb(number, self.scale)
            whole = int(exact)
            if whole == exact and -self._limit < whole < self._limit:
                return self._remember(text, whole)
        except (ArithmeticError, ValueError):  # too long, too large, not a number
            pass
        return self._scaled_slowly(number, value)

    def _remember(self, text: str, whole: int) -> int:
        """Keep a result: most amounts of a sale are those of others."""
        if len(self._known) >= _REMEMBERED_MAX:
            self._known.clear()
        if len(text) <= _REMEMBERED_LENGTH:
            self._known[text] = whole
        return whole

    def _scaled_slowly(self, number: Decimal, value: Decimal | int) -> int:
        """Do the same digit by digit, to report what is wrong with a number."""
        _, digits, exponent = number.as_tuple()
        if not isinstance(exponent, int):
            raise ValueError(f"{number} is not a number")
        whole = int("".join(map(str, digits)) or "0")
        shift = exponent + self.scale
        if shift < 0:
            whole, rest = divmod(whole, 10**-shift)
            if rest:
                raise ValueError(f"{value} has more than {self.scale} decimals")
        elif shift <= self.precision or not whole:
            whole *= 10**shift if whole else 1
        else:
            raise ValueError(f"{value} has more than {self.precision} digits")
        if whole >= 10**self.precision:
            raise ValueError(f"{value} has more than {self.precision} digits")
        return -whole if number.is_signed() else whole


class Json(TypeDecorator[Any]):
    """A value stored as JSON text, in the same form on both databases."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any | None, dialect: Dialect) -> str | None:
        return None if value is None else msgspec.json.encode(value).decode()

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Any:
        return None if value is None else msgspec.json.decode(value)


class PackedJson(TypeDecorator[Any]):
    """A value stored as JSON that takes little space.

    PostgreSQL compresses long texts itself. For SQLite it is done here, by zlib, which decompresses a thousand bytes in
    half the time that Zstandard takes. Statements read it as text on PostgreSQL, and by ``unpacked`` on SQLite.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(Text() if dialect.name == "postgresql" else LargeBinary())

    def process_bind_param(self, value: Any | None, dialect: Dialect) -> str | bytes | None:
        if value is None:
            return None
        text = msgspec.json.encode(value)
        return text.decode() if dialect.name == "postgresql" else zlib.compress(text, 1)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        return msgspec.json.decode(value if isinstance(value, str) else zlib.decompress(value))


def unpacked(frame: bytes | None) -> str | None:
    """Return the JSON of a `PackedJson` on SQLite."""
    return None if frame is None else zlib.decompress(frame).decode()
