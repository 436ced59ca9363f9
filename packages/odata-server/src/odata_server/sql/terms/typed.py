"""Typed SQL expressions, and how to bind values of a request for comparisons and arithmetic with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from math import isnan
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Double,
    Numeric,
    String,
    Text,
    Uuid,
    and_,
    cast,
    literal,
    null,
    type_coerce,
)
from sqlalchemy.types import TypeEngine

from odata_server.edm import EnumType, Primitive, Property, Type
from odata_server.errors import ODataError, bad_request
from odata_server.sql.terms.storage import EPOCH_MICROSECONDS, NATIVE, ScaledInteger, Storage, storage_of

__all__ = [
    "DURATION_MAX",
    "FLOATS",
    "INTEGERS",
    "NULL",
    "NUMBERS",
    "Context",
    "Term",
    "bind",
    "check_text",
    "column_term",
    "decimals",
    "free",
    "literal_term",
    "materialised",
    "microseconds",
    "mismatch",
    "scaled",
    "type_name",
    "whole",
]

INTEGERS = frozenset({Primitive.BYTE, Primitive.SBYTE, Primitive.INT16, Primitive.INT32, Primitive.INT64})
FLOATS = frozenset({Primitive.DOUBLE, Primitive.SINGLE})
NUMBERS = INTEGERS | FLOATS | {Primitive.DECIMAL}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1)
DURATION_MAX = timedelta(days=1_461_000)  # keeps any timestamp plus a duration within the databases' calendars
_INT64_MAX = 2**63 - 1
_EXPONENT_MAX = 60  # beyond it a number is larger, or has more decimals, than any column holds


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a translation besides the model: database, current time, and features of the connection."""

    dialect: str
    now: datetime
    sqlite_functions: bool = False
    collation: str | None = None  # on PostgreSQL, one with Unicode case mapping
    moments: list[datetime] = field(default_factory=list, compare=False)  # records the uses of ``now``

    @property
    def sqlite(self) -> bool:
        return self.dialect == "sqlite"


@dataclass(frozen=True, slots=True)
class Finder:
    """What other columns know of a property that is computed: an index over them finds and sorts its rows.

    ``implied(operator, values)`` returns a condition on these columns that is true for every row whose property equals
    one of the values (eq) or is gt, ge, lt or le the only one; None: there is none. ``order(dialect, descending)``
    returns the columns that sort rows like the property does; empty: there are none.
    """

    implied: Callable[[str, Sequence[ColumnElement[Any]]], ColumnElement[bool] | None]
    order: Callable[[str, bool], Sequence[ColumnElement[Any]]] = lambda dialect, descending: ()

    def narrowed(
        self, condition: ColumnElement[bool], name: str, values: Sequence[ColumnElement[Any]]
    ) -> ColumnElement[bool]:
        """Return the condition ``property name values`` with the one that it implies."""
        implied = None if name == "ne" else self.implied(name, values)
        return condition if implied is None else and_(condition, implied)


@dataclass(frozen=True, slots=True)
class Term:
    """An expression with its type.

    ``sql`` None: a literal ``value``, bound once the other operand is known. ``type`` None: the literal null.
    ``by_bytes``: text that the database sorts by code point, so that a prefix is a range. ``indexed``: a column with
    an index. ``finder``: of a computed property that has one. ``presence``: a plain column that is null if this is
    null. ``name`` is for messages.
    """

    type: Type | None
    sql: ColumnElement[Any] | None = None
    storage: Storage = NATIVE
    nullable: bool = True
    value: Any = None
    name: str = ""
    collection: bool = False
    by_bytes: bool = False
    indexed: bool = False
    finder: Finder | None = None
    presence: ColumnElement[Any] | None = None

    @property
    def is_literal(self) -> bool:
        return self.sql is None

    @property
    def element(self) -> ColumnElement[Any]:
        """The expression of a term that is not a literal."""
        if self.sql is None:
            raise ValueError("a literal is no expression before it is bound")
        return self.sql

    @property
    def is_null(self) -> bool:
        return self.type is None


NULL = Term(None)


def type_name(term: Term) -> str:
    """Return the name of a term's type for messages."""
    if term.type is None:
        return "null"
    name = str(term.type.value) if isinstance(term.type, Primitive) else term.type.name
    return f"a collection of {name}" if term.collection else name


def mismatch(message: str, *terms: Term) -> ODataError:
    """Return the error 400 TYPE_MISMATCH; its target is the first named term."""
    return bad_request("TYPE_MISMATCH", message, next((one.name for one in terms if one.name), None))


def column_term(
    column: ColumnElement[Any], of: Property, name: str, dialect: str, *, nullable: bool, indexed: bool = False
) -> Term:
    """Return the term of a property's column."""
    storage = storage_of(column.type, dialect)
    by_bytes = dialect == "sqlite" or _collation(column.type) == "C"
    return Term(
        of.type,
        type_coerce(column, Text() if of.collection else _plain(of.type, storage, column.type, dialect)),
        storage,
        nullable,
        name=name,
        collection=of.collection,
        by_bytes=by_bytes,
        indexed=indexed,
    )


def _collation(column_type: TypeEngine[Any]) -> str | None:
    variants: Mapping[str, TypeEngine[Any]] = getattr(column_type, "_variant_mapping", {})
    return getattr(variants.get("postgresql", column_type), "collation", None)


def _plain(type_: Type, storage: Storage, column_type: TypeEngine[Any], dialect: str) -> TypeEngine[Any]:
    """Return the SQL type for expressions over a column, and for literals to compare with it."""
    if storage is EPOCH_MICROSECONDS or isinstance(storage, ScaledInteger) or type_ in INTEGERS:
        return BigInteger()
    if type_ is Primitive.DECIMAL:
        return Double() if dialect == "sqlite" else Numeric()
    if type_ in FLOATS:
        return Double()
    if type_ is Primitive.BOOLEAN:
        return Boolean()
    if type_ is Primitive.STRING or isinstance(type_, EnumType):
        return String()
    if type_ is Primitive.GUID and not isinstance(column_type, Uuid):
        return String()
    return column_type


def literal_term(value: Any, type_: Primitive | str | None) -> Term:
    """Return the term of a literal.

    Raise 400 for a number or string that no database can store, 501 for geographic values.
    """
    if value is None:
        return NULL
    if isinstance(type_, str) and not isinstance(type_, Primitive):
        raise ODataError(501, "NOT_IMPLEMENTED", f"Values of {type_} are not supported by this service.")
    if isinstance(value, Decimal):
        _check_number(value)
    elif isinstance(value, str):
        check_text(value)
    elif isinstance(value, datetime):
        value = _utc(value)
    elif isinstance(value, timedelta) and abs(value) > DURATION_MAX:
        raise bad_request("NUMBER_OUT_OF_RANGE", "A duration is longer than 4000 years.")
    return Term(type_ or _TYPE_OF[type(value)], value=value, nullable=False)


_TYPE_OF: dict[type, Primitive] = {
    bool: Primitive.BOOLEAN,
    int: Primitive.INT64,
    Decimal: Primitive.DECIMAL,
    float: Primitive.DOUBLE,
    str: Primitive.STRING,
    bytes: Primitive.BINARY,
    date: Primitive.DATE,
    datetime: Primitive.DATE_TIME_OFFSET,
    time: Primitive.TIME_OF_DAY,
    timedelta: Primitive.DURATION,
}


def _check_number(value: Decimal) -> None:
    exponent = value.as_tuple().exponent
    if value and (value.adjusted() > _EXPONENT_MAX or (isinstance(exponent, int) and exponent < -_EXPONENT_MAX)):
        raise bad_request("NUMBER_OUT_OF_RANGE", "A number has more than 60 digits before or after its point.")


def check_text(value: str) -> None:
    """Refuse characters that databases cannot store: NUL and lone surrogates."""
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise bad_request("TYPE_MISMATCH", "A text holds a character that no database can store.")


def _utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC) if value.tzinfo is not None else value.replace(tzinfo=UTC)
    except OverflowError:
        raise bad_request("TYPE_MISMATCH", "A point in time lies outside of the years 1 to 9999.") from None


def decimals(value: Decimal) -> int:
    """Return the number of decimals of a number without trailing zeros."""
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or exponent >= 0:
        return 0
    zeros = 0
    for digit in reversed(digits):
        if digit or zeros == -exponent:
            break
        zeros += 1
    return -exponent - zeros


def scaled(value: Decimal, scale: int) -> tuple[int, bool]:
    """Return ``value`` times 10 to the power of ``scale``, rounded down to an integer, and whether that is exact."""
    over, under = value.as_integer_ratio()
    number, rest = divmod(over * 10**scale, under)
    return number, rest == 0


def whole(value: int) -> ColumnElement[Any]:
    """Bind an integer; beyond 64 bits it is clamped to a value that no column reaches."""
    return literal(max(-_INT64_MAX, min(_INT64_MAX, value)), BigInteger())


def bind(term: Term, like: Term, context: Context) -> ColumnElement[Any]:
    """Return a non-numeric term as SQL, with a literal in the form of ``like``."""
    if term.sql is not None:
        return term.sql
    value = term.value
    if like.storage is EPOCH_MICROSECONDS:
        return literal(microseconds(value), BigInteger())
    if like.sql is not None and like.type not in NUMBERS and not like.collection:
        return literal(value, like.sql.type)
    return free(term, context)


def microseconds(value: datetime | timedelta) -> int:
    """Return the integer for `EPOCH_MICROSECONDS`."""
    return (value - _EPOCH if isinstance(value, datetime) else value) // _MICROSECOND


def free(term: Term, context: Context) -> ColumnElement[Any]:
    """Bind a literal on its own; a number stays exact, in the storage form that `materialised` declares."""
    value = term.value
    if isinstance(value, bool):
        return literal(value, Boolean())
    if isinstance(value, int):
        return whole(value)
    if isinstance(value, Decimal):
        return whole(scaled(value, decimals(value))[0]) if context.sqlite else literal(value, Numeric())
    if isinstance(value, float):
        return literal(value, Double())
    if isinstance(value, str):
        return literal(value, String())
    if isinstance(value, datetime | timedelta) and context.sqlite:
        return literal(microseconds(value), BigInteger())
    return literal(value)


def materialised(term: Term, context: Context) -> Term:
    """Return the term as SQL, with a literal in the default form of its type; NaN becomes null, as in calculations."""
    if term.sql is not None:
        return term
    if isinstance(term.value, float) and isnan(term.value):
        return Term(term.type, cast(null(), Double()))
    storage = NATIVE
    if context.sqlite and isinstance(term.value, Decimal):
        storage = ScaledInteger(decimals(term.value))
    elif context.sqlite and isinstance(term.value, datetime | timedelta):
        storage = EPOCH_MICROSECONDS
    if not context.sqlite:
        term = _finite(term)
    return Term(term.type, free(term, context), storage, nullable=False, name=term.name, by_bytes=context.sqlite)


def _finite(term: Term) -> Term:
    """Shift the first and last timestamp by one unit: PostgreSQL's driver treats them as infinities, without a year."""
    value = term.value
    if isinstance(value, datetime):
        bounds = {datetime.min.replace(tzinfo=UTC): _MICROSECOND, datetime.max.replace(tzinfo=UTC): -_MICROSECOND}
        return replace(term, value=value + bounds.get(value, timedelta()))
    if isinstance(value, date):
        return replace(term, value=value + {date.min: _DAY, date.max: -_DAY}.get(value, timedelta()))
    return term
