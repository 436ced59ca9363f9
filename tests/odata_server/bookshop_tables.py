"""The tables of the bookshop; see `tests.odata_server.bookshop`.

Most types are plain SQLAlchemy types. `Amount` and `Moment` are integers on SQLite, which has neither exact decimals
nor timestamps, and declare that to the library by ``odata_storage``.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Dialect,
    Double,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Numeric,
    SmallInteger,
    String,
    Table,
    Text,
    Time,
    Uuid,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import TypeDecorator, TypeEngine

from odata_server.sql.terms.storage import EPOCH_MICROSECONDS, NATIVE, ScaledInteger, Storage

__all__ = [
    "AUTHORS",
    "BLURBS",
    "BOOKS",
    "CHAPTERS",
    "COUNTRIES",
    "GENRES",
    "METADATA",
    "ORDERS",
    "ORDER_ITEMS",
    "PROFILES",
    "REVIEWS",
    "SECTIONS",
    "SHOPS",
    "TRANSLATIONS",
    "Amount",
    "Json",
    "Moment",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Moment(TypeDecorator[datetime]):
    """A timestamp in UTC; on SQLite microseconds since 1970."""

    impl = BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        native = postgresql.TIMESTAMP(timezone=True) if dialect.name == "postgresql" else BigInteger()
        return dialect.type_descriptor(native)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        if value is None or dialect.name == "postgresql":
            return value
        return (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.astimezone(UTC) if isinstance(value, datetime) else _EPOCH + timedelta(microseconds=value)

    def odata_storage(self, dialect: str) -> Storage:

        return EPOCH_MICROSECONDS if dialect == "sqlite" else NATIVE


class Amount(TypeDecorator[Decimal]):
    """A decimal; on SQLite an integer, scaled by 10^scale."""

    impl = Numeric
    cache_ok = True

    def __init__(self, precision: int, scale: int) -> None:
        super().__init__(precision, scale)
        self.precision = precision
        self.scale = scale

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        native = Numeric(self.precision, self.scale) if dialect.name == "postgresql" else BigInteger()
        return dialect.type_descriptor(native)

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> Any:
        if value is None or dialect.name == "postgresql":
            return value
        scaled = Decimal(value).scaleb(self.scale)
        if scaled != int(scaled):
            raise ValueError(f"{value} has more than {self.scale} decimals")
        return int(scaled)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Decimal | None:
        if value is None:
            return None
        return Decimal(value).scaleb(-self.scale) if isinstance(value, int) else value

    def odata_storage(self, dialect: str) -> Storage:

        return ScaledInteger(self.scale) if dialect == "sqlite" else NATIVE


class Json(TypeDecorator[Any]):
    """A list or an object, stored as JSON text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any | None, dialect: Dialect) -> str | None:
        return None if value is None else json.dumps(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


def _string(length: int) -> TypeEngine[str]:
    """Return a string type that sorts by code point on both databases."""
    return String(length).with_variant(postgresql.VARCHAR(length, collation="C"), "postgresql")


def _now() -> datetime:
    return datetime.now(UTC)


def _id(name: str = "id") -> Column[str]:
    return Column(name, String(36), primary_key=True)


METADATA = MetaData()

COUNTRIES = Table("countries", METADATA, Column("code", _string(2), primary_key=True), Column("name", _string(60)))
AUTHORS = Table(
    "authors",
    METADATA,
    _id(),
    Column("name", _string(100), nullable=False),
    Column("born", Date),
    Column("died", Date),
    Column("email", _string(200)),
    Column("country_code", ForeignKey(COUNTRIES.c.code)),
    Column("created_at", Moment, default=_now),
    Column("private_note", _string(500)),
)
GENRES = Table(
    "genres",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("name", _string(60), nullable=False),
    Column("parent_id", ForeignKey("genres.id")),
)
BOOKS = Table(
    "books",
    METADATA,
    _id(),
    Column("isbn", _string(13), nullable=False, unique=True),
    Column("title", _string(200), nullable=False),
    Column("description", _string(2000)),
    Column("price", Amount(9, 2), nullable=False),
    Column("purchase_price", Amount(9, 2)),
    Column("stock", Integer, nullable=False),
    Column("sold", BigInteger, nullable=False),
    Column("rating", Double),
    Column("published", Moment),
    Column("language", _string(2), nullable=False),
    Column("format", _string(20), nullable=False),
    Column("available", Boolean, nullable=False),
    Column("tags", Json, nullable=False),
    Column("thumbnail", LargeBinary),
    Column("author_id", ForeignKey(AUTHORS.c.id)),
    Column("genre_id", ForeignKey(GENRES.c.id)),
    Column("created_at", Moment, default=_now),
    Column("modified_at", Moment, onupdate=_now),
    Column("version", Integer, nullable=False),
)
CHAPTERS = Table(
    "chapters",
    METADATA,
    _id(),
    Column("book_id", ForeignKey(BOOKS.c.id), nullable=False, index=True),
    Column("number", Integer, nullable=False),
    Column("title", _string(100), nullable=False),
    Column("pages", Integer, nullable=False),
)
SECTIONS = Table(
    "sections",
    METADATA,
    _id(),
    Column("chapter_id", ForeignKey(CHAPTERS.c.id), nullable=False, index=True),
    Column("heading", _string(100), nullable=False),
)
TRANSLATIONS = Table(
    "translations",
    METADATA,
    Column("book_id", ForeignKey(BOOKS.c.id), primary_key=True),
    Column("language", _string(2), primary_key=True),
    Column("title", _string(200), nullable=False),
)
BLURBS = Table(
    "blurbs",
    METADATA,
    _id(),
    Column("book_id", ForeignKey(BOOKS.c.id), nullable=False, unique=True),
    Column("text", _string(500), nullable=False),
)
REVIEWS = Table(
    "reviews",
    METADATA,
    Column("id", Uuid(as_uuid=False), primary_key=True),
    Column("book_id", ForeignKey(BOOKS.c.id), index=True),
    Column("stars", SmallInteger, nullable=False),
    Column("text", _string(1000)),
    Column("reviewer", _string(60), nullable=False),
    Column("posted_at", DateTime(timezone=True)),
)
SHOPS = Table(
    "shops",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("name", _string(60), nullable=False),
    Column("opening_time", Time),
    Column("closing_time", Time),
    Column("country_code", ForeignKey(COUNTRIES.c.code)),
    Column("street", _string(100)),
    Column("city", _string(60), nullable=False),
    Column("open", _string(60)),
)
PROFILES = Table(
    "profiles",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("motto", _string(100), nullable=False),
    Column("currency", _string(3)),
)
ORDERS = Table(
    "orders",
    METADATA,
    _id(),
    Column("number", BigInteger, nullable=False, unique=True),
    Column("customer", _string(100), nullable=False),
    Column("placed_at", Moment),
    Column("status", _string(20), nullable=False),
    Column("note", _string(500)),
    Column("ship_to", Json),
    Column("version", Integer, nullable=False),
)
ORDER_ITEMS = Table(
    "order_items",
    METADATA,
    Column("order_id", ForeignKey(ORDERS.c.id), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("book_id", ForeignKey(BOOKS.c.id), nullable=False, index=True),
    Column("quantity", Integer, nullable=False),
    Column("price", Amount(9, 2)),
)
