"""A bookshop: the model, tables, rows and operations that every test of the library uses.

`EDM` is the model, `sql_model()` the model with its tables, `ROWS` their contents; the functions `author`, `book`,
... return the IDs of the rows. `source(database)` is a complete source with the operations; it generates the keys
``00000000-0000-4000-8000-000000000001`` and so on. Fixtures (see conftest), both an `EngineDatabase` on SQLite, then
on PostgreSQL: `bookshop` has fresh rows for each test, `library` is read-only and cheaper.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Engine, Executable, event
from sqlalchemy.ext.asyncio import AsyncEngine

from odata_server.engines import EngineDatabase
from odata_server.sql.model import EntityMap, SqlModel
from odata_server.sql_source import SqlSource
from tests.odata_server.bookshop_edm import EDM
from tests.odata_server.bookshop_operations import HANDLERS
from tests.odata_server.bookshop_rows import ROWS, author, book, chapter, order, review, section
from tests.odata_server.bookshop_tables import METADATA

__all__ = [
    "EDM",
    "METADATA",
    "ROWS",
    "author",
    "book",
    "chapter",
    "check_foreign_keys",
    "columns",
    "fill",
    "order",
    "review",
    "section",
    "source",
    "sql_model",
]

_TABLES = {
    "Author": "authors",
    "Blurb": "blurbs",
    "Book": "books",
    "Chapter": "chapters",
    "Country": "countries",
    "Genre": "genres",
    "Order": "orders",
    "OrderItem": "order_items",
    "Profile": "profiles",
    "Review": "reviews",
    "Section": "sections",
    "Shop": "shops",
    "Translation": "translations",
}


def columns(entity_type: str) -> dict[str, str]:
    """Map properties to columns: ``postedAt`` is ``posted_at``, ``author_ID`` is ``author_id``."""
    names = {name: _snake(name) for name in EDM.entity_types[entity_type].property_by_name}
    if entity_type == "Shop":  # its complex value has columns of its own; an order's is one JSON column
        del names["address"]
        names |= {"address/street": "street", "address/city": "city"}
    return names


def _snake(name: str) -> str:
    if name.endswith("ID"):
        return name.lower()
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def sql_model() -> SqlModel:
    """Return the model with its tables, as the library's SQL part takes it."""
    return SqlModel(
        EDM,
        {
            name: EntityMap(
                METADATA.tables[table],
                columns(name),
                etag="version" if EDM.entity_types[name].etag else None,
            )
            for name, table in _TABLES.items()
        },
    )


def source(database: EngineDatabase) -> SqlSource:
    """Return the bookshop as the source of a service."""
    numbers = itertools.count(1)
    return SqlSource(sql_model(), database, HANDLERS, new_id=lambda: f"00000000-0000-4000-8000-{next(numbers):012d}")


def _statements() -> Iterable[tuple[Executable, list[dict[str, Any]]]]:
    for table in reversed(METADATA.sorted_tables):
        yield table.delete(), []
    for table in METADATA.sorted_tables:
        yield table.insert(), [dict(row) for row in ROWS[table]]


async def fill(engine: Engine | AsyncEngine) -> None:
    """Create the tables if needed, empty them, and insert the rows."""
    if isinstance(engine, AsyncEngine):
        async with engine.begin() as waiting:
            await waiting.run_sync(METADATA.create_all)
            for statement, rows in _statements():
                await waiting.execute(statement, rows or None)
        return
    with engine.begin() as connection:
        METADATA.create_all(connection)
        for statement, rows in _statements():
            connection.execute(statement, rows or None)


def check_foreign_keys(engine: Engine) -> None:
    """Make SQLite enforce foreign keys."""

    @event.listens_for(engine, "connect")
    def connect(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA foreign_keys = ON")
