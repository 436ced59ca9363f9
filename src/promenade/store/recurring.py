"""Statements that differ in nothing but their values: each made once, and kept (`store.kept`) for all who come after.

Lists of values are filled up to a power of two, so that there are a few forms of a statement and not one for every
length. Long lists are rare, and are left to the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import BindParameter, ColumnElement, Delete, Select, Table, bindparam, column, select, tuple_, update
from sqlalchemy import values as listing
from sqlalchemy.types import TypeEngine

from odata_server.sql.connection import Kept
from promenade.store.tenancy import Params
from promenade.store.unit import Statement

__all__ = ["among", "one_of", "parameter", "updating"]

LISTED_MAX = 64
FORMS_MAX = 2000  # which columns clients change together is up to them

S = TypeVar("S", Select[Any], Delete)


def parameter(name: str, kind: TypeEngine[Any]) -> BindParameter[Any]:
    """What varies in a kept statement."""
    return bindparam(name, None, type_=kind)


def one_of(columns: Sequence[ColumnElement[Any]], rows: Sequence[Sequence[Any]]) -> ColumnElement[bool]:
    """Whether the columns hold one of some tuples of values, found by an index that begins with the columns.

    For ``(a, b) IN (VALUES ...)`` of more than one row, and for many conditions joined by OR, SQLite goes through the
    whole table or all of a tenant; for what is selected from the same values it goes by the index.
    """
    named = [column(f"value{place}", one.type) for place, one in enumerate(columns)]
    # Inside of the condition: of a statement that begins with WITH, SQLite's driver does not count the rows.
    listed = listing(*named).data([tuple(row) for row in rows]).cte(nesting=True)
    return tuple_(*columns).in_(select(*listed.c))


def among(
    columns: Sequence[ColumnElement[Any]], values: Sequence[Any], build: Callable[..., S], *of: Hashable
) -> tuple[Statement, Params]:
    """``build(condition, *of)`` for rows that hold one of ``values`` in ``columns`` (of several: tuples); not for none.

    The answer is what a session takes: the statement and its parameters.
    """
    if len(values) > LISTED_MAX:
        return build(columns[0].in_(values) if len(columns) == 1 else one_of(columns, values), *of), {}
    padded = [*values, *[values[-1]] * ((1 << (len(values) - 1).bit_length()) - len(values))]
    kept = _among(tuple(columns), len(padded), build, of)
    if len(columns) == 1:
        return kept, {f"value{at}": value for at, value in enumerate(padded)}
    return kept, {f"value{at}_{place}": one for at, value in enumerate(padded) for place, one in enumerate(value)}


@lru_cache(FORMS_MAX)
def _among(
    columns: tuple[ColumnElement[Any], ...], size: int, build: Callable[..., S], of: tuple[Hashable, ...]
) -> Kept:
    if len(columns) == 1:
        condition = columns[0].in_([parameter(f"value{at}", columns[0].type) for at in range(size)])
        return Kept(build(condition, *of))
    rows = [[parameter(f"value{at}_{place}", one.type) for place, one in enumerate(columns)] for at in range(size)]
    return Kept(build(one_of(columns, rows), *of))


@lru_cache(FORMS_MAX)
def updating(rows: Table, names: tuple[str, ...]) -> Kept:
    """Sets the columns ``names`` of the row whose ID is ``key`` to ``new_<name>``, and counts the write in its version.

    By the key alone: a planner that is given more, such as the draft of a row, may go through all rows of that.
    """
    named: dict[str, Any] = {name: parameter(f"new_{name}", rows.c[name].type) for name in names}
    return Kept(
        update(rows).where(rows.c.id == parameter("key", rows.c.id.type)).values(**named, version=rows.c.version + 1)
    )
