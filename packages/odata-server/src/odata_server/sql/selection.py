"""The common parts of the statements of a request: rows, columns, and the remaining limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, select
from sqlalchemy.exc import DBAPIError

from odata_server.edm import EntityType
from odata_server.errors import bad_request
from odata_server.expressions import Expression, Member
from odata_server.sql.connection import Keeping, Kept, SqlConnection
from odata_server.sql.drafts import Which
from odata_server.sql.limits import COMPUTE_MAX, EXPAND_MAX
from odata_server.sql.model import Place, SqlModel
from odata_server.sql.narrowing import narrows
from odata_server.sql.order import Ordered, order_of, present
from odata_server.sql.projection import Projection, Shape, chosen_names, project
from odata_server.sql.scopes import Scope, Uses
from odata_server.sql.search import search_condition
from odata_server.sql.terms.typed import Context, materialised
from odata_server.sql.translate import Translator
from odata_server.syntax import QueryOptions, SelectItem

__all__ = ["Prepared", "Request", "Selection"]

Prepared = dict[tuple[Place, frozenset[str] | None, Shape], Projection]
"""Projections by what they depend on, kept from request to request."""

_PREPARED_MAX = 1000


@dataclass(slots=True)
class Selection:
    """A statement under construction: entities of ``scope`` that meet ``conditions``, with ``options``."""

    scope: Scope
    translator: Translator
    conditions: list[ColumnElement[bool]]
    options: QueryOptions
    narrowed: bool = False  # whether an index finds the rows, independent of the filter

    @property
    def context(self) -> Context:
        return self.translator.context

    def with_options(self, options: QueryOptions) -> Selection:
        """Return the same entities with other options."""
        return Selection(self.scope, self.translator, self.conditions, options)

    def statement(self, columns: Sequence[Any]) -> Select[Any]:
        """Return an unordered SELECT of these columns."""
        return select(*columns).select_from(self.scope.source).where(*self.conditions)

    def reading(self, projection: Projection, more: Sequence[ColumnElement[Any]] = ()) -> Select[Any]:
        """Return an unordered SELECT of a projection followed by ``more``."""
        return projection.select(more).select_from(self.scope.source).where(*self.conditions)

    def order(self) -> list[Ordered]:
        """Return ``$orderby`` followed by the key."""
        orderby, condition = self.options.orderby, self.options.filter
        first = orderby[0].expression if orderby else None
        leading = first.name if isinstance(first, Member) and first.source is None else None
        narrowed = self.narrowed or narrows(condition, self.scope.place, leading)
        return order_of(orderby, self.translator, present(condition), narrowed=narrowed)


@dataclass(slots=True)
class Request:
    """One request being executed. ``rows_left`` and ``expands_left`` limit what it may still read."""

    connection: SqlConnection
    model: SqlModel
    context: Context
    shape: Shape
    page_size: int
    aliases: Mapping[str, Expression]
    prepared: Prepared
    rows_left: int
    alias_text: str = ""
    expands_left: int = EXPAND_MAX
    keeping: Keeping | None = None  # the connection, if it caches statements for later requests

    def scope(self, entity_type: str, which: Which) -> Scope:
        """Return a scope for a separate statement."""
        uses = Uses(self.model, self.context)
        return Scope(uses, uses.place(entity_type, which))

    def selection(self, scope: Scope, conditions: list[ColumnElement[bool]], options: QueryOptions) -> Selection:
        """Return the entities that match ``$filter`` and ``$search``."""
        translator = Translator(
            scope, {**self.aliases, **options.aliases}, computed=_computed(options, scope.place.entity_type)
        )
        if options.filter is not None:
            conditions.append(translator.condition(options.filter))
        if options.search is not None:
            conditions.append(search_condition(options.search, scope.place, self.context))
        return Selection(scope, translator, conditions, options)

    def projection(
        self, selection: Selection, hidden: Iterable[str], select_items: Sequence[SelectItem] | None = None
    ) -> Projection:
        """Return the columns of ``$select`` and ``$compute``, and ``hidden`` properties."""
        place = selection.scope.place
        computed = _computed(selection.options, place.entity_type)
        wanted = selection.options.select if select_items is None else select_items
        chosen = chosen_names(wanted, place.entity_type, computed)
        key = (place, chosen, self.shape)
        found = self.prepared.get(key)
        if found is None:
            found = project(place, chosen, self.shape)
            if len(self.prepared) < _PREPARED_MAX:
                self.prepared[key] = found
        terms = {
            name: materialised(selection.translator.term(one), self.context)
            for name, one in computed.items()
            if chosen is None or name in chosen
        }
        return found.with_computed(terms, self.shape).with_hidden(place, hidden)

    async def fetch(self, statement: Select[Any]) -> Sequence[Row[Any]]:
        """Run a statement and count its rows. Raise 400 RESPONSE_TOO_LARGE, NUMBER_OUT_OF_RANGE."""
        try:
            rows = await self.connection.execute(statement)
        except DBAPIError as error:
            if str(error.orig) != "integer overflow":  # from sums on SQLite
                raise
            message = "A sum is larger than a number of 64 bits."
            raise bad_request("NUMBER_OUT_OF_RANGE", message, "$apply") from error
        self.spend(len(rows))
        return rows

    async def run(self, kept: Kept, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """Run a reusable statement without counting its rows."""
        if self.keeping is None:
            return await self.connection.execute(kept.statement)
        return await self.keeping.run_kept(kept, values)

    def spend(self, rows: int) -> None:
        """Count rows towards the limit of one response. Raise 400 RESPONSE_TOO_LARGE."""
        self.rows_left -= rows
        if self.rows_left < 0:
            raise bad_request(
                "RESPONSE_TOO_LARGE",
                "The answer would have too many rows, expanded ones included; ask for less at a time.",
            )


def _computed(options: QueryOptions, entity_type: EntityType) -> Mapping[str, Expression]:
    if len(options.compute) > COMPUTE_MAX:
        raise bad_request("EXPRESSION_TOO_LARGE", f"$compute takes {COMPUTE_MAX} items at most.", "$compute")
    for item in options.compute:
        if item.alias in entity_type.property_by_name or item.alias in entity_type.navigation_by_name:
            message = f"{entity_type.name} has a property {item.alias}; give the computed one another name."
            raise bad_request("QUERY_SYNTAX", message, "$compute")
    return {item.alias: item.expression for item in options.compute}
