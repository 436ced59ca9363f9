"""Any number of values in one parameter, as JSON: one statement serves lists of every length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Integer, String, Text, bindparam, literal_column, select, tuple_
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

LISTED = "listed_values"
"""The name of the parameter."""


def can_be_listed(columns: Iterable[ColumnElement[Any]]) -> bool:
    """Whether values of these columns are the same in JSON: texts and integers."""
    return all(isinstance(one.type, String | Integer) for one in columns)


def listed(rows: Iterable[Sequence[Any]]) -> str:
    """Return tuples of values as the parameter."""
    return msgspec.json.encode(list(rows)).decode()


def one_of_listed(columns: Sequence[ColumnElement[Any]], dialect: str) -> ColumnElement[bool]:
    """Return the condition that the columns hold one of the tuples in the parameter, using an index of the columns."""
    rows = _Rows(bindparam(LISTED, None, type_=Text())).table_valued("value")
    parts = [_Part(rows.c.value, literal_column(str(at)), type_=one.type) for at, one in enumerate(columns)]
    if len(columns) > 1:
        return tuple_(*columns).in_(select(*parts))
    wanted = select(*parts)
    if dialect == "sqlite":
        return columns[0].in_(wanted)
    # The planner takes a list for a hundred rows, and reads all of a table to join it with them; an array it looks up.
    return columns[0] == _AnyOf(wanted.scalar_subquery(), type_=columns[0].type)


class _AnyOf(FunctionElement[Any]):
    """Any of the values that a query returns, as an array of PostgreSQL."""

    inherit_cache = True

    def __init__(self, *clauses: ColumnElement[Any], type_: Any) -> None:
        super().__init__(*clauses)
        self.type = type_


@compiles(_AnyOf, "postgresql")
def _any(element: _AnyOf, compiler: SQLCompiler, **kw: Any) -> str:
    (wanted,) = (compiler.process(one, **kw) for one in element.clauses)
    return f"ANY (ARRAY{wanted})"


class _Rows(FunctionElement[Any]):
    """The elements of the list, as rows."""

    inherit_cache = True


@compiles(_Rows)
def _json_each(element: _Rows, compiler: SQLCompiler, **kw: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **kw)})"


@compiles(_Rows, "postgresql")
def _json_array_elements(element: _Rows, compiler: SQLCompiler, **kw: Any) -> str:
    return f"json_array_elements(CAST({compiler.process(element.clauses, **kw)} AS JSON))"


class _Part(FunctionElement[Any]):
    """A value of a tuple: the tuple, and the place in it."""

    inherit_cache = True

    def __init__(self, *clauses: ColumnElement[Any], type_: Any) -> None:
        super().__init__(*clauses)
        self.type = type_


@compiles(_Part)
def _extracted(element: _Part, compiler: SQLCompiler, **kw: Any) -> str:
    value, place = (compiler.process(one, **kw) for one in element.clauses)
    return f"json_extract({value}, '$[{place}]')"


@compiles(_Part, "postgresql")
def _read(element: _Part, compiler: SQLCompiler, **kw: Any) -> str:
    value, place = (compiler.process(one, **kw) for one in element.clauses)
    read = f"({value} ->> {place})"
    return f"CAST({read} AS BIGINT)" if isinstance(element.type, Integer) else f'({read} COLLATE "C")'
