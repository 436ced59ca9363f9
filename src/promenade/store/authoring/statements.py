"""Set-wise reads and writes of authored rows of any entity.

The number of statements does not grow with the number of rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from sqlalchemy import ColumnElement, Delete, Select, String, Table, delete, func, insert, select

from odata_server.sql.connection import Kept
from promenade.store.driver.hot import hot_statement
from promenade.store.driver.recurring import among, parameter, updating
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

Columns = dict[str, Any]
"""A row by its columns."""

Row = Mapping[str, Any]
"""A row by its wire names: typed values, compositions as lists of rows or `Delta`, a to-one composition as a row."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A partial change of a composition: rows by their ID, and IDs to remove; all other rows stay as they are."""

    upserts: tuple[Row, ...] = ()
    removed: tuple[str, ...] = ()


Lock = Literal["update", "share"] | None

IDS_MAX = 10_000  # values in one statement; both databases accept 32 766
KEYS_MAX = 1000  # tuples in one statement: PostgreSQL nests them, and its stack is limited


def _parts(values: Collection[Any], size: int = IDS_MAX) -> Iterable[list[Any]]:
    listed = list(values)
    return (listed[start : start + size] for start in range(0, len(listed), size))


async def read_rows(
    session: Session,
    set_name: str,
    column: str,
    values: Collection[str],
    *,
    lock: Lock = None,
    limit: int | None = None,
) -> list[Columns]:
    """Read whole rows whose ``column`` is among ``values``, by ID; ``lock`` locks them until the unit of work ends.

    ``limit``: return at most this many rows (per 10 000 values).
    """
    rows = table(set_name)
    names = rows.c.keys()
    found: list[Columns] = []
    # SQLite has one writer at a time, so there is nothing to lock.
    held = None if session.dialect == "sqlite" else lock
    for part in _parts(sorted(values)):
        there = await session.execute(*among((rows.c[column],), part, _whole, rows, held, limit))
        found += [dict(zip(names, row, strict=True)) for row in there]
    return found


def _whole(condition: ColumnElement[bool], rows: Table, lock: Lock, limit: int | None) -> Select[Any]:
    statement = select(rows).where(condition).order_by(rows.c.id).limit(limit)
    return statement if lock is None else statement.with_for_update(read=lock == "share")


async def read_ids(session: Session, set_name: str, ids: Collection[str]) -> set[str]:
    """Return those of ``ids`` for which the tenant has a row."""
    rows = table(set_name)
    found: set[str] = set()
    for part in _parts(sorted(ids)):
        found.update([row[0] for row in await session.execute(*among((rows.c.id,), part, _listed, rows.c.id))])
    return found


def _listed(condition: ColumnElement[bool], *columns: ColumnElement[Any]) -> Select[Any]:
    return select(*columns).where(condition)


async def find_keys(
    session: Session, set_name: str, columns: Sequence[str], values: Collection[tuple[Any, ...]]
) -> list[tuple[str, tuple[Any, ...]]]:
    """Return (ID, values) of the rows that have one of these values in ``columns``."""
    rows = table(set_name)
    wanted = [rows.c[name] for name in columns]
    found: list[tuple[str, tuple[Any, ...]]] = []
    for part in _parts(values, IDS_MAX if len(wanted) == 1 else KEYS_MAX):
        sought = [one for (one,) in part] if len(wanted) == 1 else part
        there = await session.execute(*among(wanted, sought, _listed, rows.c.id, *wanted))
        found += [(row[0], tuple(row[1:])) for row in there]
    return found


async def insert_rows(session: Session, set_name: str, rows: Sequence[Columns]) -> None:
    """Insert rows that all have the same columns."""
    await session.execute_many(insert(table(set_name)), rows)


async def update_rows(session: Session, set_name: str, changes: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Update rows by their IDs and raise the ``version`` of each; one statement per set of columns."""
    rows = table(set_name)
    shapes: dict[tuple[str, ...], list[Columns]] = {}
    for row_id, values in changes:
        shape = tuple(sorted(values))
        shapes.setdefault(shape, []).append({"key": row_id, **{f"new_{name}": values[name] for name in shape}})
    for shape, params in shapes.items():
        await session.execute_many(updating(rows, shape), params)


async def delete_rows(session: Session, set_name: str, values: Collection[str], *, column: str = "id") -> None:
    """Delete the rows whose ``column`` is among ``values``, together with their children."""
    rows = table(set_name)
    for part in _parts(sorted(values)):
        await session.rowcount(*among((rows.c[column],), part, _deleting, rows))


def _deleting(condition: ColumnElement[bool], rows: Table) -> Delete:
    return delete(rows).where(condition)


async def read_referred(session: Session, set_name: str, column: str, ids: Collection[str]) -> set[str]:
    """Return those of ``ids`` that at least one row of ``set_name`` refers to in ``column``."""
    rows = table(set_name)
    found: set[str] = set()
    for part in _parts(sorted(ids)):
        there = await session.execute(*among((rows.c[column],), part, _distinct, rows.c[column]))
        found.update([row[0] for row in there])
    return found


def _distinct(condition: ColumnElement[bool], column: ColumnElement[Any]) -> Select[Any]:
    return select(column).where(condition).distinct()


async def read_ancestors(session: Session, set_name: str, ids: Collection[str]) -> dict[str, str | None]:
    """Return ``parent_id`` by ID for the rows in ``ids`` and all their ancestors."""
    rows = table(set_name)
    found: dict[str, str | None] = {}
    for part in _parts(sorted(ids)):
        above = select(rows.c.id, rows.c.parent_id).where(rows.c.id.in_(part)).cte("above", recursive=True)
        # UNION, not UNION ALL: it terminates even if the rows form a cycle.
        above = above.union(select(rows.c.id, rows.c.parent_id).where(rows.c.id == above.c.parent_id))
        found |= {row.id: row.parent_id for row in await session.execute(select(above.c.id, above.c.parent_id))}
    return found


async def hold(session: Session, matter: str, *, shared: bool = False) -> None:
    """Acquire the tenant's lock on ``matter`` until this unit of work ends, waiting for other holders.

    For rules over rows that cannot be locked one by one, such as a tree without cycles. A ``shared`` lock waits only
    for exclusive holders.
    """
    if session.dialect == "postgresql":
        await session.execute(_holding(shared), {"matter": f"{session.tenant}/{matter}"})


@cache
def _holding(shared: bool) -> Kept:
    lock = func.pg_advisory_xact_lock_shared if shared else func.pg_advisory_xact_lock
    return Kept(select(lock(func.hashtextextended(parameter("matter", String()), 0))))


@hot_statement(
    "pilot config anywhere",
    postgresql="SELECT 1 FROM promotion_pilot_configs WHERE promotion_id = $1::varchar LIMIT 1",
    tenant=None,
    across=True,
)
def _pilot_config_anywhere(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    return connection.execute("SELECT 1 FROM promotion_pilot_configs WHERE promotion_id = ? LIMIT 1", params).fetchall()


async def has_pilot_config_anywhere(session: Session, promotion_id: str) -> bool:
    """Return whether a promotion of any tenant has a pilot config: the only cross-tenant read that is specified.

    It returns only yes or no, and only for an ID that the caller already knows.
    """
    return bool(await session.hot("pilot config anywhere", (promotion_id,)))
