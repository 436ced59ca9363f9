"""Bulk statements for article imports: find, insert and update hundreds at a time without SQLAlchemy's compiler.

The values of an article are passed as a tuple in the order of `COLUMNS`; decimals are passed as integers in units of
their last decimal place (a price in hundredths), on both databases.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import compress
from operator import ne
from typing import Any

import msgspec

from promenade import model
from promenade.model.declare import Field, Kind
from promenade.store.driver.hot import hot_statement
from promenade.store.driver.types import to_microseconds
from promenade.store.driver.unit import Session

Values = tuple[Any, ...]

_KINDS = {Kind.TEXT: "varchar", Kind.BOOLEAN: "boolean", Kind.DECIMAL: "bigint"}

COLUMNS: tuple[Field, ...] = tuple(
    field
    for field in model.entity("Articles").fields
    if field.kind in _KINDS and not (field.read_only or field.virtual or field.name == "id")
)
"""What an import writes of an article, its number first."""

_NAMES = tuple(field.name for field in COLUMNS)
_LISTED = ", ".join(_NAMES)
_KEYS = ("id", "version", *_NAMES)


@dataclass(frozen=True, slots=True)
class HeldArticle:
    """An existing article, locked until the unit of work ends."""

    id: str
    values: Values


@dataclass(frozen=True, slots=True)
class ChangedArticle:
    """The values of an article before and after the change; ``changes`` is how many changes this combines."""

    id: str
    before: Values
    after: Values
    changes: int = 1


async def find_articles(session: Session, numbers: Collection[str]) -> dict[str, HeldArticle]:
    """Return the tenant's articles with these numbers, by number, locked until the unit of work ends."""
    if session.dialect == "postgresql":
        await session.hot("sort", ("off",))
    # Sorted, so that all writers lock in the same order and cannot deadlock.
    rows = await session.hot("find articles", (session.tenant, sorted(numbers)))
    if session.dialect == "postgresql":
        await session.hot("sort", ("on",))
    return {row[1]: HeldArticle(row[0], tuple(row[1:])) for row in rows}


async def insert_articles(session: Session, articles: Sequence[Values], *, at: datetime, by: str) -> int:
    """Insert articles and return how many were added; ``at`` and ``by`` are the time and the user of the creation.

    Each row is its ID, its version and its values. A row whose number is taken is skipped.
    """
    ((count,),) = await session.hot("insert articles", _params(session, articles, at, by))
    return int(count)


async def update_articles(session: Session, articles: Sequence[ChangedArticle], *, at: datetime, by: str) -> None:
    """Update locked articles; ``at`` and ``by`` are the time and the user. Every change raises the version."""
    if session.dialect == "sqlite":
        await session.hot("update articles", (session.tenant, to_microseconds(at), by, articles))
    else:
        rows = [(one.id, one.changes, *one.after) for one in articles]
        await session.hot("update articles", _params(session, rows, at, by))


def _params(session: Session, rows: Sequence[Values], at: datetime, by: str) -> tuple[Any, ...]:
    """Convert rows of ID, version and `COLUMNS` to the statement's parameters."""
    if session.dialect == "sqlite":
        return session.tenant, to_microseconds(at), by, rows
    members = [dict(zip(_KEYS, row, strict=True)) for row in sorted(rows, key=_number)]
    return session.tenant, at, by, msgspec.json.encode(members).decode()


def _number(row: Values) -> str:
    number: str = row[2]
    return number


# ---- statements ---------------------------------------------------------------------------------------------------
# PostgreSQL receives all rows as one JSON text, which costs the driver and the server less time than arrays or single
# rows. The articles must be found by the index on their numbers. But for a tenant without statistics the planner
# considers every index that begins with the tenant equally good, and keeps its plan for minutes: each lookup would scan
# all articles of the tenant. With a range condition (which it does not recognize as an equality), ORDER BY number and
# sorting disabled, only that index can deliver the rows.


def _read(field: Field) -> str:
    """Return the SQL expression that reads a column on PostgreSQL."""
    return f"(a.{field.name} * {10**field.scale})::bigint" if field.scale else f"a.{field.name}"


def _written(field: Field) -> str:
    """Return the SQL expression that writes a column of ``given`` on PostgreSQL."""
    return f"given.{field.name} * {10**-field.scale:.{field.scale}f}" if field.scale else f"given.{field.name}"


_INTO = f"tenant_id, id, version, {_LISTED}, created_at, created_by, modified_at, modified_by"
_INSERT = f"""
    INSERT INTO articles AS a ({_INTO})
    SELECT $1::varchar, given.id, given.version, {", ".join(map(_written, COLUMNS))},
        $2::timestamptz, $3::varchar, $2::timestamptz, $3::varchar
    FROM json_to_recordset($4::json) AS given
        (id varchar, version integer, {", ".join(f"{field.name} {_KINDS[field.kind]}" for field in COLUMNS)})
    ON CONFLICT (tenant_id, article_number)
"""  # noqa: S608 - names of columns


@hot_statement("sort", postgresql="SELECT set_config('enable_sort', $1, true)", tenant=None)
def _sort(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    """Switch sorting on or off for the planner until the unit of work ends; not needed on SQLite."""
    return ()


@hot_statement(
    "find articles",
    postgresql=f"""
        SELECT found.* FROM unnest($2::varchar[]) AS wanted (number) CROSS JOIN LATERAL (
            SELECT a.id, {", ".join(map(_read, COLUMNS))} FROM articles AS a
            WHERE a.tenant_id = $1::varchar AND a.article_number >= wanted.number AND a.article_number <= wanted.number
            ORDER BY a.article_number LIMIT 1 FOR UPDATE
        ) AS found
    """,  # noqa: S608 - names of columns
)
def _find(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant, numbers = params
    return connection.execute(
        f"SELECT id, {_LISTED} FROM articles"  # noqa: S608 - names of columns
        " WHERE tenant_id = ? AND article_number IN (SELECT value FROM json_each(?))",
        (tenant, msgspec.json.encode(numbers).decode()),
    ).fetchall()


@hot_statement(
    "insert articles",
    postgresql=f"WITH stored AS ({_INSERT} DO NOTHING RETURNING 1) SELECT count(*) FROM stored",  # noqa: S608
)
def _insert(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    tenant, at, by, rows = params
    marks = ", ".join("?" * (len(_KEYS) + 5))
    into = f"INSERT INTO articles ({_INTO}) VALUES ({marks}) ON CONFLICT (tenant_id, article_number) DO NOTHING"  # noqa: S608
    added = connection.executemany(into, [(tenant, *row, at, by, at, by) for row in rows])
    return [(added.rowcount,)]


@hot_statement(
    "update articles",
    postgresql=f"""
        {_INSERT} DO UPDATE SET
            {", ".join(f"{name} = excluded.{name}" for name in _NAMES[1:])},
            modified_at = excluded.modified_at, modified_by = excluded.modified_by,
            version = a.version + excluded.version
    """,
)
def _update(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    """Name only the columns that change: SQLite writes every index of a named column, even if its value is the same."""
    tenant, at, by, articles = params
    shapes: dict[tuple[bool, ...], list[Values]] = {}
    for one in articles:
        shape = tuple(map(ne, one.before, one.after))
        values = (*compress(one.after, shape), at, by, one.changes, tenant, one.id)
        shapes.setdefault(shape, []).append(values)
    for shape, rows in shapes.items():
        connection.executemany(_updating(shape), rows)
    return ()


@lru_cache(500)
def _updating(shape: tuple[bool, ...]) -> str:
    columns = "".join(f"{name} = ?, " for name in compress(_NAMES, shape))
    return (
        f"UPDATE articles SET {columns}modified_at = ?, modified_by = ?, version = version + ?"  # noqa: S608
        " WHERE tenant_id = ? AND id = ?"
    )
