"""The few statements that every till waits for, written by hand and run on the raw driver.

On PostgreSQL each is one statement, so that a whole transaction is one round trip. On SQLite a function on the
writer's connection does the same thing inside the group commit. They name their tenant in their parameters, and say in
which: on its own, a statement is carried out behind the wall of `store.row_security`, for that tenant.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["HOT", "HotStatement", "Undone", "hot_statement"]

SqliteForm = Callable[[sqlite3.Connection, tuple[Any, ...]], Sequence[Sequence[Any]]]


class Undone(Exception):
    """A hot statement found on its way that it cannot be carried out; nothing of it was, nor will be."""


@dataclass(frozen=True, slots=True)
class HotStatement:
    """``postgresql`` is SQL with $1, $2 ...; ``sqlite`` does the same on the writer's connection.

    ``tenant`` is the number of the parameter that names the tenant, 1 for $1; None: it touches no tenant's rows.
    ``across`` says that it looks at the rows of all tenants, which only the specification can ask for.

    What must undo itself divides by zero on PostgreSQL and raises `Undone` on SQLite: `Undone` comes out of both.
    """

    postgresql: str
    sqlite: SqliteForm
    tenant: int | None = 1
    across: bool = False


HOT: dict[str, HotStatement] = {}


def hot_statement(
    name: str, *, postgresql: str, tenant: int | None = 1, across: bool = False
) -> Callable[[SqliteForm], SqliteForm]:
    """Register a hot statement under ``name``; the decorated function is its SQLite form. See `HotStatement`."""

    def register(function: SqliteForm) -> SqliteForm:
        if name in HOT:
            raise ValueError(f"two hot statements are named {name}")
        HOT[name] = HotStatement(postgresql, function, tenant, across)
        return function

    return register


@hot_statement("ping", postgresql="SELECT 1", tenant=None)
def _ping(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    return connection.execute("SELECT 1").fetchall()
