"""Statements that differ in nothing but their values: each made once, and kept (`driver.kept`) for all who come after.

Lists of values are filled up to a power of two, so that there are a few forms of a statement and not one for every
length. Long lists are one parameter where they can be (`driver.listed`); others are rare, and left to the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from sqlalchemy import BindParameter, ColumnElement, Delete, Select, Table, bindparam, column, select, tuple_, update
from sqlalchemy import values as listing
from sqlalchemy.types import TypeEngine

from odata_server.sql.connection import Kept
from promenade.store.driver.listed import LISTED, can_be_listed, listed, one_of_listed
from promenade.store.driver.tenancy import Params
from promenade.store.driver.unit import Session, Statement

LISTED_MAX = 64
IN_JSON_MAX = 1000  # values in one parameter
FORMS_MAX = 2000  # clients decide which columns they change together

S = TypeVar("S", Select[Any], Delete)


def parameter(name: str, kind: TypeEngine[Any]) -> BindParameter[Any]:
    """Return a parameter of a kept statement."""
    return bindparam(name, None, type_=kind)


def one_of(columns: Sequence[ColumnElement[Any]], rows: Sequence[Sequence[Any]]) -> ColumnElement[bool]:
    """Return the condition that the columns hold one of these tuples, using an index that begins with the columns.

    For ``(a, b) IN (VALUES ...)`` with more than one row, and for many conditions joined by OR, SQLite scans the whole
    table or all rows of a tenant; for a SELECT from the same values it uses the index.
    """
    named = [column(f"value{place}", one.type) for place, one in enumerate(columns)]
    # Nested in the condition: if a statement begins with WITH, SQLite's driver does not count the rows.
    listed = listing(*named).data([tuple(row) for row in rows]).cte(nesting=True)
    return tuple_(*columns).in_(select(*listed.c))


def among(
    columns: Sequence[ColumnElement[Any]], values: Sequence[Any], build: Callable[..., S], *of: Hashable
) -> tuple[Statement, Params]:
    """Build ``build(condition, *of)`` for rows with one of ``values`` in ``columns`` (tuples if there are several).

    ``values`` must not be empty. Returns the statement and its parameters, as a session takes them.
    """
    if len(values) > LISTED_MAX:
        return build(columns[0].in_(values) if len(columns) == 1 else one_of(columns, values), *of), {}
    padded = [*values, *[values[-1]] * ((1 << (len(values) - 1).bit_length()) - len(values))]
    kept = _among(tuple(columns), len(padded), build, of)
    if len(columns) == 1:
        return kept, {f"value{at}": value for at, value in enumerate(padded)}
    return kept, {f"value{at}_{place}": one for at, value in enumerate(padded) for place, one in enumerate(value)}


async def read_among(
    session: Session,
    columns: Sequence[ColumnElement[Any]],
    values: Sequence[Any],
    build: Callable[..., S],
    **given: Any,
) -> list[Any]:
    """Read the rows of `among` for any number of values, some at a time; ``given`` are the statement's parameters."""
    found: list[Any] = []
    if len(values) > LISTED_MAX and can_be_listed(columns):
        rows = values if len(columns) > 1 else [(value,) for value in values]
        kept = _among_many(tuple(columns), session.dialect, build)
        for start in range(0, len(rows), IN_JSON_MAX):
            found += await session.execute(kept, {LISTED: listed(rows[start : start + IN_JSON_MAX]), **given})
        return found
    for start in range(0, len(values), LISTED_MAX):
        statement, params = among(columns, values[start : start + LISTED_MAX], build)
        found += await session.execute(statement, {**params, **given})
    return found


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
def _among_many(columns: tuple[ColumnElement[Any], ...], dialect: str, build: Callable[..., S]) -> Kept:
    return Kept(build(one_of_listed(columns, dialect)))


@lru_cache(FORMS_MAX)
def updating(rows: Table, names: tuple[str, ...]) -> Kept:
    """Return an update that sets the columns ``names`` of row ``key`` to ``new_<name>`` and raises its version.

    By the key alone: with more conditions, such as the draft of a row, the planner may scan all rows that match those.
    """
    named: dict[str, Any] = {name: parameter(f"new_{name}", rows.c[name].type) for name in names}
    return Kept(
        update(rows).where(rows.c.id == parameter("key", rows.c.id.type)).values(**named, version=rows.c.version + 1)
    )
