"""The few statements that every till waits for, written by hand and run on the raw driver.

On PostgreSQL each is one statement, so that a whole transaction is one round trip. On SQLite a function on the
writer's connection does the same thing inside the group commit. They name their tenant in their parameters, and say in
which: on its own, a statement is carried out behind the wall of `store.driver.row_security`, for that tenant.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

SqliteForm = Callable[[sqlite3.Connection, tuple[Any, ...]], Sequence[Sequence[Any]]]


class RolledBack(Exception):
    """Raised when a hot statement cannot be carried out; all its changes are rolled back."""


@dataclass(frozen=True, slots=True)
class HotStatement:
    """``sql`` is for PostgreSQL, with $1, $2 ..., or makes it; ``sqlite`` does the same on the writer's connection.

    ``tenant`` is the number of the parameter that names the tenant, 1 for $1; None: it touches no tenant's rows.
    ``across`` says that it looks at the rows of all tenants, which only the specification can ask for.

    To undo itself, it divides by zero on PostgreSQL and raises `RolledBack` on SQLite; both reach callers as that.
    """

    sql: str | Callable[[], str]
    sqlite: SqliteForm
    tenant: int | None = 1
    across: bool = False

    @property
    def postgresql(self) -> str:
        """The text for PostgreSQL."""
        return self.sql if isinstance(self.sql, str) else self.sql()


HOT: dict[str, HotStatement] = {}


def hot_statement(
    name: str, *, postgresql: str | Callable[[], str], tenant: int | None = 1, across: bool = False
) -> Callable[[SqliteForm], SqliteForm]:
    """Register a hot statement under ``name``; the decorated function is its SQLite form. See `HotStatement`.

    Where ``postgresql`` is a function, it is called once, when the text is first asked for.
    """
    text = postgresql if isinstance(postgresql, str) else cache(postgresql)

    def register(function: SqliteForm) -> SqliteForm:
        if name in HOT:
            raise ValueError(f"two hot statements are named {name}")
        HOT[name] = HotStatement(text, function, tenant, across)
        return function

    return register


def as_json(values: Collection[str]) -> str:
    """Encode a list as one SQLite parameter, so that lists of every length share one prepared statement."""
    return msgspec.json.encode(values).decode()


@hot_statement("ping", postgresql="SELECT 1", tenant=None)
def _ping(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    return connection.execute("SELECT 1").fetchall()
