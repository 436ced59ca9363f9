"""Queries carried out: one statement for the rows, one for their count, one for every expanded navigation and level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Integer, Select, String, column, func, select, table

from odata_server.errors import bad_request, not_implemented
from odata_server.expressions import Expression
from odata_server.source import Query, Rows
from odata_server.sql.connection import SqlConnection
from odata_server.sql.limits import COMPUTE_MAX
from odata_server.sql.model import Place, SqlModel
from odata_server.sql.order import order_of
from odata_server.sql.paging import Token, after, decode_token, encode_token
from odata_server.sql.projection import Projection, Shape, chosen_names, project
from odata_server.sql.scopes import Scope, Uses
from odata_server.sql.search import search_condition
from odata_server.sql.targets import scope_of
from odata_server.sql.terms import Context, materialised
from odata_server.sql.translate import Translator
from odata_server.syntax import QueryOptions

__all__ = ["SqlReader"]


# Collations of PostgreSQL in which upper and lower case are those of Unicode, best first; which of them there are
# depends on its version and on how it was built.
_WITH_CASES = ("und-x-icu", "pg_unicode_fast", "pg_c_utf8", "C.utf8", "C.UTF-8", "en_US.utf8")
_COLLATION = table("pg_collation", column("collname", String), column("collencoding", Integer))
_COLLATIONS = select(_COLLATION.c.collname).where(
    _COLLATION.c.collname.in_(_WITH_CASES),
    _COLLATION.c.collencoding.in_([-1, 6]),  # any, UTF-8
)


@dataclass(slots=True)
class _Selection:
    """A statement in the making."""

    scope: Scope
    translator: Translator
    conditions: list[ColumnElement[bool]]


class SqlReader:
    """Reads the entities of a model; holds nothing but what it has prepared, and may be shared by threads."""

    def __init__(self, model: SqlModel) -> None:
        self.model = model
        self._collation: str | None = ""  # not looked up yet
        self._projections: dict[tuple[Place, frozenset[str] | None, Shape], Projection] = {}

    async def read(self, connection: SqlConnection, query: Query) -> Rows:
        """A page of entities. Raises `ODataError` 400 or 501 for what cannot be asked."""
        options = query.options
        if options.apply:
            raise not_implemented("$apply")
        if options.expand:
            raise not_implemented("$expand")
        selection = self._selection(await self._context(connection, query), query)
        shape = Shape(query.prefix, query.quoted_numbers, query.etags)
        projection = self._projection(selection, options, shape)
        count = await self.count(connection, query) if options.count and not query.target.single else None
        if query.target.single:
            rows = await connection.execute(_locked(self._statement(selection, projection.columns), selection, query))
            return Rows(projection.records(rows), count)
        return await self._page(connection, query, selection, projection, count)

    async def count(self, connection: SqlConnection, query: Query) -> int:
        """How many entities there are, heeding ``$filter`` and ``$search`` only."""
        selection = self._selection(await self._context(connection, query), query)
        rows = await connection.execute(self._statement(selection, [func.count()]))
        return int(rows[0][0])

    async def _page(
        self,
        connection: SqlConnection,
        query: Query,
        selection: _Selection,
        projection: Projection,
        count: int | None,
    ) -> Rows:
        options = query.options
        order = order_of(options.orderby, selection.translator)
        token = Token(options.top, None, options.skip or 0)
        if options.skiptoken is not None:
            token = decode_token(options.skiptoken, order)
        if token.left == 0:
            return Rows([], count)
        resumable = all(one.resumable for one in order)
        if token.values is not None:
            selection.conditions.append(after(order, token.values))
        columns = [*projection.columns, *(one.term.element for one in order)] if resumable else projection.columns
        wanted = query.page_size if token.left is None else min(token.left, query.page_size)
        more_wanted = token.left is None or token.left > wanted
        statement = self._statement(selection, columns)
        statement = statement.order_by(*(one.clause(selection.translator.context) for one in order))
        statement = statement.limit(wanted + 1 if more_wanted else wanted)
        if token.offset and token.values is None:
            statement = statement.offset(token.offset)
        rows = await connection.execute(_locked(statement, selection, query))
        if len(rows) <= wanted:
            return Rows(projection.records(rows), count)
        left = None if token.left is None else token.left - wanted
        following = Token(left, None, token.offset + wanted)
        if resumable:
            following = Token(left, tuple(rows[wanted - 1][len(projection.columns) :]))
        return Rows(projection.records(rows[:wanted]), count, encode_token(following, order))

    # ---- statements ----

    async def _context(self, connection: SqlConnection, query: Query) -> Context:
        if connection.dialect == "sqlite":
            return Context("sqlite", query.now, self.model.sqlite_functions)
        if self._collation == "":
            found = {row[0] for row in await connection.execute(_COLLATIONS)}
            self._collation = next((one for one in _WITH_CASES if one in found), None)
        return Context(connection.dialect, query.now, collation=self._collation)

    def _selection(self, context: Context, query: Query) -> _Selection:
        options = query.options
        scope, conditions = scope_of(query.target, Uses(self.model, context), options.aliases)
        translator = Translator(scope, options.aliases, computed=_computed(options))
        if options.filter is not None:
            conditions.append(translator.condition(options.filter))
        if options.search is not None:
            conditions.append(search_condition(options.search, scope.place, context))
        return _Selection(scope, translator, conditions)

    def _statement(self, selection: _Selection, columns: Sequence[Any]) -> Select[Any]:
        return select(*columns).select_from(selection.scope.source).where(*selection.conditions)

    def _projection(self, selection: _Selection, options: QueryOptions, shape: Shape) -> Projection:
        place = selection.scope.place
        computed = _computed(options)
        chosen = chosen_names(options.select, place.entity_type, computed)
        key = (place, chosen, shape)
        found = self._projections.get(key)
        if found is None:
            found = project(place, chosen, shape)
            if len(self._projections) < 1000:
                self._projections[key] = found
        terms = {
            name: materialised(selection.translator.term(one), selection.translator.context)
            for name, one in computed.items()
            if chosen is None or name in chosen
        }
        return found.with_computed(terms, shape)


def _locked(statement: Select[Any], selection: _Selection, query: Query) -> Select[Any]:
    if not query.lock or selection.translator.context.sqlite:  # on SQLite a unit that writes is alone
        return statement
    return statement.with_for_update(of=selection.scope.place.table)


def _computed(options: QueryOptions) -> Mapping[str, Expression]:
    if len(options.compute) > COMPUTE_MAX:
        raise bad_request("EXPRESSION_TOO_LARGE", f"$compute takes {COMPUTE_MAX} items at most.", "$compute")
    return {item.alias: item.expression for item in options.compute}
