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

from promenade.store.driver.hot import HOT
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
_IN_JSON = {
    "VARCHAR", "TEXT", "NUMERIC", "INTEGER", "BIGINT", "BOOLEAN", "DATE", "TIMESTAMP WITH TIME ZONE", "BYTEA",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Form:
    columns: tuple[tuple[str, Process | None], ...]  # the key of each value, and its conversion to the database's type
    constants: Values  # defaults of columns that the rows do not contain
    run: Callable[[Sequence[Values]], Run]  # what inserts these rows
    recordset: _Recordset | None  # on PostgreSQL

    def values(self, rows: Rows) -> list[Values]:
        """Return the rows as the driver takes them, converted column by column."""
        columns = [_converted([row[key] for row in rows], process) for key, process in self.columns]
        columns += [[value] * len(rows) for value in self.constants]
        return list(zip(*columns, strict=True))


def _converted(values: list[Any], process: Process | None) -> list[Any]:
    """Convert a column; one that holds the same object in every row, such as the time of a sale, only once."""
    if process is None:
        return values
    first = values[0]
    for value in values:
        if value is not first:
            return [process(value) for value in values]
    return [process(first)] * len(values)


class PlainInserts:
    """Converts inserts of rows with the same keys to text and tuples; each form is computed once."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._rows_max = ROWS_MAX[dialect.name]
        self._forms: dict[tuple[Table, tuple[str, ...]], _Form | None] = {}
        self._together: dict[tuple[_Recordset | str | None, ...], str] = {}

    def of(self, statement: Statement, rows: Rows) -> list[Run] | None:
        """Return what inserts the rows; None: not a plain insert, SQLAlchemy has to run it."""
        found = self._converted(statement, rows)
        if found is None:
            return None
        form, values = found
        return [form.run(part) for part in self._parts(values)]

    def together(
        self, parts: Sequence[tuple[Statement, Rows]], hot: tuple[str, tuple[Any, ...]] | None = None
    ) -> Run | None:
        """Return the one statement that inserts the rows of several tables; None: there is none.

        No part may be empty. ``hot`` is the name of a hot statement that inserts with them, and its parameters.
        """
        sets: list[_Recordset] = []
        given: list[Any] = []
        for statement, rows in parts:
            found = self._converted(statement, rows)
            if found is None or len(rows) > self._rows_max:
                return None
            form, values = found
            if form.recordset is None or not form.recordset.fits:
                return None
            sets.append(form.recordset)
            given.append(form.recordset.value(values))
        name, params = hot if hot is not None else (None, ())
        key = (*sets, name)
        text = self._together.get(key)
        if text is None:
            listed = [one.text(place) for place, one in enumerate(sets, 1)]
            if name is not None:
                listed.insert(0, _renumbered(HOT[name].postgresql, len(sets)))
            *first, last = listed
            named = ", ".join(f"part{place} AS ({one})" for place, one in enumerate(first, 1))
            text = self._together[key] = f"WITH {named} {last}" if first else last
        return text, [(*given, *params)]

    def _converted(self, statement: Statement, rows: Rows) -> tuple[_Form, list[Values]] | None:
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
            return form, form.values(rows)
        except KeyError:  # rows with different keys: SQLAlchemy reports the error
            return None

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
        recordset = None
        if self._dialect.name == "postgresql":
            recordset = _Recordset(into, names, [column.type.compile(dialect=self._dialect) for column in columns])
        return _Form(
            columns=tuple(zip(keys, processes, strict=False)),
            constants=tuple(
                default.arg if process is None else process(default.arg)
                for default, process in zip(defaults, processes[len(given) :], strict=True)
            ),
            run=_for_sqlite(into, len(columns)) if recordset is None else recordset.run,
            recordset=recordset,
        )


def _renumbered(text: str, before: int) -> str:
    """Return a statement whose parameters follow those of others."""
    return re.sub(r"\$(\d+)", lambda match: f"${int(match[1]) + before}", text)


def _for_sqlite(into: str, columns: int) -> Callable[[Sequence[Values]], Run]:
    """A question mark for each value."""
    row = f"({', '.join('?' * columns)})"

    @cache
    def text(rows: int) -> str:
        return f"{into} VALUES {', '.join([row] * rows)}"

    return lambda rows: (text(len(rows)), [tuple(chain.from_iterable(rows))])


class _Recordset:
    """Inserts rows on PostgreSQL: several are one parameter, in JSON, so that one text serves any number of rows.

    The driver takes longer for arrays.
    """

    def __init__(self, into: str, names: Sequence[str], types: Sequence[str], conflict: str = "") -> None:
        # Without lengths, which the columns check: a cast may cut off text.
        bare = [re.sub(r"\(.*\)| COLLATE .*", "", kind) for kind in types]
        self.fits = _IN_JSON.issuperset(bare)
        self._keys = [f"v{number}" for number in range(len(names))]
        self._one = f"{into} VALUES ({', '.join(f'${number}' for number in range(1, len(names) + 1))}){conflict}"
        read, listed = [], []
        for key, kind in zip(self._keys, bare, strict=True):
            is_bytes = kind == "BYTEA"  # in base64, as the encoder writes them
            read.append(f"decode({key}, 'base64')" if is_bytes else key)
            listed.append(f"{key} {'TEXT' if is_bytes else kind}")
        self._head = f"{into} SELECT {', '.join(read)} FROM json_to_recordset("  # noqa: S608 - our own names
        self._tail = f"::text::json) AS given ({', '.join(listed)}){conflict}"
        self._many = self.text(1)

    def text(self, parameter: int) -> str:
        """Return the insert of the rows in this parameter."""
        return f"{self._head}${parameter}{self._tail}"

    def value(self, rows: Sequence[Values]) -> str:
        """Return the rows as a parameter."""
        return msgspec.json.encode([dict(zip(self._keys, row, strict=True)) for row in rows]).decode()

    def run(self, rows: Sequence[Values]) -> Run:
        """Return what inserts these rows."""
        if len(rows) == 1 or not self.fits:
            return self._one, rows
        return self._many, [(self.value(rows),)]


# ---- upserts --------------------------------------------------------------------------------------------------------

_UPSERT = re.compile(r"(INSERT INTO \S+ \((.+?)\)) VALUES \((\$1::.+)\)( ON CONFLICT .+)", re.DOTALL)
_VALUE = re.compile(r"\$\d+::([A-Z ]+)(\([\d, ]+\))?")


_BETWEEN, _NULL = "\x1f", "\x1e"  # the values of a column in one text


class Upsert:
    """An upsert of one row on PostgreSQL, as the compiler wrote it, for many rows at once: `of` returns None if not.

    The rows must have different keys. They are locked in the order in which they are given. A column is one text, which
    the server takes apart in a third of the time that it takes to read rows in JSON.
    """

    def __init__(self, recordset: _Recordset, into: str, types: Sequence[str], conflict: str) -> None:
        self._recordset = recordset
        given = [f"string_to_array(${at}::text, E'\\x1f', E'\\x1e')" for at in range(1, len(types) + 1)]
        named = [f"v{at}" for at in range(len(types))]
        read = [f"CAST({name} AS {kind})" for name, kind in zip(named, types, strict=True)]
        rows = f"unnest({', '.join(given)}) AS given ({', '.join(named)})"
        self._many = f"{into} SELECT {', '.join(read)} FROM {rows}{conflict}"  # noqa: S608 - our own names

    @classmethod
    @cache
    def of(cls, text: str) -> Upsert | None:
        """Return the upsert of rows for the one of this text, whose values are its parameters in their order."""
        parts = _UPSERT.fullmatch(text)
        if parts is None or "$" in parts[4]:
            return None
        into, names, values, conflict = parts.groups()
        types = [one[0].strip() for one in _VALUE.findall(values)]
        recordset = _Recordset(into, names.split(", "), types, conflict)
        if not recordset.fits or len(types) != names.count(",") + 1:
            return None
        return cls(recordset, into, types, conflict)

    def runs(self, columns: Sequence[Sequence[Any]]) -> Iterator[Run]:
        """Yield what writes the rows, of which each column is given."""
        most = ROWS_MAX["postgresql"]
        for start in range(0, len(columns[0]), most):
            part = [column[start : start + most] for column in columns]
            texts = [_joined(column) for column in part] if len(part[0]) > 1 else [None]
            if None in texts:
                yield self._recordset.run(list(zip(*part, strict=True)))
            else:
                yield self._many, [tuple(texts)]


def _joined(column: Sequence[Any]) -> str | None:
    """Return the values of a column as one text; None: it would not be read as the same values."""
    if bytes in {*map(type, column)}:
        return None
    joined = _BETWEEN.join([_NULL if value is None else str(value) for value in column])
    is_same = joined.count(_BETWEEN) == len(column) - 1 and joined.count(_NULL) == column.count(None)
    return joined if is_same else None
