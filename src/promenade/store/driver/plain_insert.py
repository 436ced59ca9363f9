"""Inserts that bypass SQLAlchemy's compiler, with many rows in one statement.

A confirm writes dozens of rows, and SQLAlchemy takes longer than the database.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import msgspec
from sqlalchemy import Dialect, Insert, Table

from promenade.store.driver.sqlalchemy_private import Process, bind_process, is_plain
from promenade.store.driver.unit import Statement

Rows = Sequence[Mapping[str, Any]]
Values = tuple[Any, ...]
Run = tuple[str, Sequence[Values]]
"""A statement's text, and the values of each time that it is carried out."""

ROWS_MAX = {  # in one statement
    "sqlite": 32,  # each number of rows needs its own text
    "postgresql": 1000,  # a statement has a time limit, however many rows it inserts
}


# PostgreSQL's types that a value in JSON becomes without loss or detour.
_IN_JSON = {"VARCHAR", "TEXT", "NUMERIC", "INTEGER", "BIGINT", "BOOLEAN", "TIMESTAMP WITH TIME ZONE"}


@dataclass(frozen=True, slots=True)
class _Form:
    columns: tuple[tuple[str, Process | None], ...]  # the key of each value, and its conversion to the database's type
    constants: Values  # defaults of columns that the rows do not contain
    run: Callable[[Sequence[Values]], Run]  # what inserts these rows

    def values(self, row: Mapping[str, Any]) -> Values:
        return (
            *[row[key] if process is None else process(row[key]) for key, process in self.columns],
            *self.constants,
        )


class PlainInserts:
    """Converts inserts of rows with the same keys to text and tuples; each form is computed once."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._rows_max = ROWS_MAX[dialect.name]
        self._forms: dict[tuple[Table, tuple[str, ...]], _Form | None] = {}

    def of(self, statement: Statement, rows: Rows) -> list[Run] | None:
        """Return what inserts the rows; None: not a plain insert, SQLAlchemy has to run it."""
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
        try:
            values = [form.values(row) for row in rows]
        except KeyError:  # rows with different keys: SQLAlchemy reports the error
            return None
        return [form.run(part) for part in self._parts(values)]

    def _parts(self, values: Sequence[Values]) -> Iterator[Sequence[Values]]:
        return (values[start : start + self._rows_max] for start in range(0, len(values), self._rows_max))

    def _form(self, table: Table, keys: tuple[str, ...]) -> _Form | None:
        if not set(keys) <= set(table.c.keys()):
            return None
        given = [table.c[key] for key in keys]
        filled = [column for column in table.c if column.key not in keys and column.default is not None]
        defaults: list[Any] = [column.default for column in filled]
        if not all(default.is_scalar for default in defaults):
            return None
        columns = [*given, *filled]
        names = [self._dialect.identifier_preparer.format_column(column) for column in columns]
        into = f"INSERT INTO {self._dialect.identifier_preparer.format_table(table)} ({', '.join(names)})"
        processes = [bind_process(column.type, self._dialect) for column in columns]
        if self._dialect.name == "postgresql":
            run = _for_postgresql(into, names, [column.type.compile(dialect=self._dialect) for column in columns])
        else:
            run = _for_sqlite(into, len(columns))
        return _Form(
            columns=tuple(zip(keys, processes, strict=False)),
            constants=tuple(
                default.arg if process is None else process(default.arg)
                for default, process in zip(defaults, processes[len(given) :], strict=True)
            ),
            run=run,
        )


def _for_sqlite(into: str, columns: int) -> Callable[[Sequence[Values]], Run]:
    """A question mark for each value."""
    row = f"({', '.join('?' * columns)})"

    @cache
    def text(rows: int) -> str:
        return f"{into} VALUES {', '.join([row] * rows)}"

    return lambda rows: (text(len(rows)), [tuple(chain.from_iterable(rows))])


def _for_postgresql(into: str, names: Sequence[str], types: Sequence[str]) -> Callable[[Sequence[Values]], Run]:
    """Several rows are one parameter, in JSON: one text serves any number, and the driver takes longer for arrays."""
    one = f"{into} VALUES ({', '.join(f'${number}' for number in range(1, len(names) + 1))})"
    # Without lengths, which the columns check: a cast may cut off text.
    bare = [re.sub(r"\(.*\)| COLLATE .*", "", kind) for kind in types]
    keys = [f"v{number}" for number in range(len(names))]
    listed = ", ".join(f"{key} {kind}" for key, kind in zip(keys, bare, strict=True))
    many = f"{into} SELECT * FROM json_to_recordset($1::text::json) AS given ({listed})"  # noqa: S608 - our own names
    fits = _IN_JSON.issuperset(bare)

    def run(rows: Sequence[Values]) -> Run:
        if len(rows) == 1 or not fits:
            return one, rows
        return many, [(msgspec.json.encode([dict(zip(keys, row, strict=True)) for row in rows]).decode(),)]

    return run
