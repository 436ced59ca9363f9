"""Inserts that bypass SQLAlchemy's compiler.

A confirm writes dozens of rows, and SQLAlchemy takes longer than the database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Dialect, Insert, Table

from promenade.store.driver.sqlalchemy_private import Process, bind_process, is_plain
from promenade.store.driver.unit import Statement

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class _Form:
    sql: str
    columns: tuple[tuple[str, Process | None], ...]  # the key of each value, and its conversion to the database's type
    constants: tuple[Any, ...]  # defaults of columns that the rows do not contain


class PlainInserts:
    """Converts inserts of rows with the same keys to text and tuples; each form is computed once."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._forms: dict[tuple[Table, tuple[str, ...]], _Form | None] = {}

    def of(self, statement: Statement, rows: Rows) -> tuple[str, list[tuple[Any, ...]]] | None:
        """Return the statement's text and its rows; None: not a plain insert, SQLAlchemy has to run it."""
        if type(statement) is not Insert or not is_plain(statement):
            return None
        keys = tuple(rows[0])
        table: Any = statement.table
        try:
            form = self._forms[table, keys]
        except KeyError:
            form = self._forms[table, keys] = self._form(table, keys)
        if form is None or any(len(row) != len(keys) for row in rows):
            return None
        columns, constants = form.columns, form.constants
        try:
            return form.sql, [
                (*[row[key] if process is None else process(row[key]) for key, process in columns], *constants)
                for row in rows
            ]
        except KeyError:  # rows with different keys: SQLAlchemy reports the error
            return None

    def _form(self, table: Table, keys: tuple[str, ...]) -> _Form | None:
        if not set(keys) <= set(table.c.keys()):
            return None
        given = [table.c[key] for key in keys]
        filled = [column for column in table.c if column.key not in keys and column.default is not None]
        defaults: list[Any] = [column.default for column in filled]
        if not all(default.is_scalar for default in defaults):
            return None
        names = [self._dialect.identifier_preparer.format_column(column) for column in [*given, *filled]]
        is_numbered = self._dialect.paramstyle == "numeric_dollar"
        marks = ", ".join(f"${number}" if is_numbered else "?" for number in range(1, len(names) + 1))
        into = self._dialect.identifier_preparer.format_table(table)
        processes = [bind_process(column.type, self._dialect) for column in [*given, *filled]]
        return _Form(
            sql=f"INSERT INTO {into} ({', '.join(names)}) VALUES ({marks})",  # noqa: S608 - quoted names, no values
            columns=tuple(zip(keys, processes, strict=False)),
            constants=tuple(
                default.arg if process is None else process(default.arg)
                for default, process in zip(defaults, processes[len(given) :], strict=True)
            ),
        )
