"""Where each property of an OData service is read: a table and its columns, by their names on the wire.

What a service does not show has no column here, so that no query, however it is put, can tell anything of it: not by
its result, nor by what it filters or orders by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from odata_server.sql.model import Column
from promenade import model
from promenade.model.codelists import Code
from promenade.model.declare import PUBLIC, EntityType, Field, Service
from promenade.model.edm import MINOR_VERSION
from promenade.store import advice_reports, arm_reports, money_reports, usage_reports
from promenade.store.calendar import promotions_calendar
from promenade.store.odata_computed import COMPUTED
from promenade.store.schema import column_type, table
from promenade.store.types import ExactDecimal, string

__all__ = ["CODE_LIST_COLUMNS", "code_list_rows", "columns_of", "rows_of"]


def rows_of(entity: EntityType) -> sa.FromClause:
    """What the rows of an entity are read of: its table, or the query that stands in for one."""
    return table(entity.set_name) if entity.stored else _QUERIES[entity.set_name]()


def columns_of(entity: EntityType, service: Service) -> dict[str, Column]:
    """The columns of what a service shows of an entity."""
    columns: dict[str, Column] = {}
    for field in entity.fields:
        if field.shown_in(service):
            columns[field.wire] = _column(entity, field)
    for link in entity.links:
        if service not in link.hidden_from:
            columns[link.property_wire] = link.column
    if service is PUBLIC:
        columns["minorVersion"] = _minor_version
    return columns


def _column(entity: EntityType, field: Field) -> Column:
    if field.virtual:
        return COMPUTED[entity.set_name, field.name]
    if field.stored_scale is not None and field.stored_scale != field.scale:
        return _at_face_value(field)
    return field.name


def _minor_version(source: sa.FromClause) -> sa.ColumnElement[Any]:
    # Cast, because a bare number in ORDER BY is a column's place.
    return sa.cast(sa.literal_column(str(MINOR_VERSION)), sa.Integer())


# ---- read otherwise than stored -----------------------------------------------------------------------------------


_QUERIES: Mapping[str, Callable[[], sa.FromClause]] = {
    "PromotionsCalendar": promotions_calendar,
    **usage_reports.QUERIES,
    **money_reports.QUERIES,
    **arm_reports.QUERIES,
    **advice_reports.QUERIES,
}


class _FaceValue(ExactDecimal):
    """A decimal that is kept with more decimals than it is written with: read with as many as it is written with."""

    cache_ok = True

    def __init__(self, precision: int, scale: int, shown: int) -> None:
        super().__init__(precision, scale)
        self.shown = shown

    def process_result_value(self, value: Any | None, dialect: sa.Dialect) -> Any:
        number = super().process_result_value(value, dialect)
        return None if number is None else round(number, self.shown)


def _at_face_value(field: Field) -> Column:
    stored = column_type(field)
    assert isinstance(stored, ExactDecimal)  # noqa: S101 - only decimals have a scale
    kind = _FaceValue(stored.precision, stored.scale, field.scale or 0)
    return lambda source: sa.type_coerce(source.c[field.name], kind)


# ---- code lists ---------------------------------------------------------------------------------------------------


@cache
def code_list_rows(set_name: str) -> sa.FromClause:
    """The values of a code list as rows of a query: code, name, description and sequence.

    They are written out, as a constant of the program, once for a query.
    """
    rows = ", ".join(_written(code) for code in model.code_list(set_name).values)
    # The cast and the limit let SQLite index the list by code for a join; it would go through all of it for each row.
    names = "CAST(column1 AS TEXT) AS code, column2 AS name, column3 AS description, column4 AS sequence"
    written = (
        sa.text(f"SELECT {names} FROM (VALUES {rows}) AS written LIMIT 1000")  # noqa: S608 - nothing in it comes from outside
        .columns(
            sa.column("code", string(30)),
            sa.column("name", string(255)),
            sa.column("description", string(1000)),
            sa.column("sequence", sa.Integer()),
        )
        .subquery("written")
    )
    texts = (_by_bytes(written.c[name]) for name in ("code", "name", "description"))
    return sa.select(*texts, written.c.sequence).subquery(set_name.lower())


CODE_LIST_COLUMNS: Mapping[str, Column] = {name: name for name in ("code", "name", "description", "sequence")}
"""The columns of every code list."""


def _written(code: Code) -> str:
    texts = (_quoted(text) for text in (code.code, code.name, code.description))
    return f"({', '.join(texts)}, {code.sequence})"


def _quoted(text: str) -> str:
    """A text as a literal of SQL; a colon would begin a parameter."""
    return "'" + text.replace("'", "''").replace(":", "\\:") + "'"


class _ByBytes(FunctionElement[str]):
    """A text that is compared and sorted by its bytes, as every column of the tables is.

    Said of a column inside a query, so that outside it is that column's nature and gives way to what an expression
    says of it.
    """

    inherit_cache = True


@compiles(_ByBytes)
def _plain(element: _ByBytes, compiler: SQLCompiler, **kw: Any) -> str:
    return compiler.process(element.clauses, **kw)


@compiles(_ByBytes, "postgresql")
def _collated(element: _ByBytes, compiler: SQLCompiler, **kw: Any) -> str:
    return f'({compiler.process(element.clauses, **kw)} COLLATE "C")'


def _by_bytes(column: sa.ColumnElement[Any]) -> sa.Label[Any]:
    return sa.type_coerce(_ByBytes(column), column.type).label(column.key)
