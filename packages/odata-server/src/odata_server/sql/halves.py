"""The entities at the start and at the end of a query; drafts and active entities are read from separate tables.

A list of both reads from each table only the rows that the page needs, using indexes, and merges them: a union of the
whole tables would be built and sorted for every page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Select, func, not_, select, union_all

from odata_server.source import Query
from odata_server.sql.drafts import Which, meant, speaks_of_flags
from odata_server.sql.few import keep_few
from odata_server.sql.model import has_own_draft
from odata_server.sql.order import Ordered, in_order
from odata_server.sql.paging import Token, after
from odata_server.sql.projection import Projection
from odata_server.sql.scopes import Uses
from odata_server.sql.selection import Request, Selection
from odata_server.sql.targets import KeyParameters, scope_of
from odata_server.syntax import QueryOptions

__all__ = ["Page", "counting", "page", "selections"]

_ROWS_MAX = 2**63 - 1


def selections(
    request: Request, query: Query, keys: KeyParameters | None = None, few: str | None = None
) -> list[Selection]:
    """Return the rows that a query means: one selection, or two to be merged. Raise `ODataError` 400 or 501.

    ``few`` are the keys of the only active rows that may match, see `few`.
    """
    which, options = meant(query, request.model.edm.entity_types[query.target.root.entity_type])
    halves = [which]
    if which is Which.MERGED and _can_be_merged(options):
        halves = [Which.ACTIVE, Which.DRAFT]
    found = [_selection(request, query, options, half, keys) for half in halves]
    if few is not None:
        keep_few(found[0], few)
    return found


def _can_be_merged(options: QueryOptions) -> bool:
    """Return whether both halves have the same sort order: the flags that distinguish them are constant in each."""
    return not options.compute and not speaks_of_flags([item.expression for item in options.orderby])


def _selection(
    request: Request, query: Query, options: QueryOptions, which: Which, keys: KeyParameters | None
) -> Selection:
    uses = Uses(request.model, request.context)
    scope, conditions = scope_of(query.target, uses, request.aliases, keys, which=which)
    selection = request.selection(scope, conditions, options)
    selection.narrowed = len(query.target.steps) > 0
    return selection


def counting(found: Sequence[Selection]) -> Select[Any]:
    """Return a SELECT of the number of rows."""
    counted = [one.statement([func.count()]) for one in found]
    if len(counted) == 1:
        return counted[0]
    active, drafts = counted
    # All active rows can be counted by an index alone; those with a draft are as few as the drafts.
    drafted = active.where(has_own_draft(found[0].scope.place))
    parts = [one.correlate(None).scalar_subquery() for one in (active, drafted, drafts)]
    return select(parts[0] - parts[1] + parts[2])


@dataclass(slots=True)
class Page:
    """A SELECT of a page's columns, followed (if ``resumable``) by the values that say where the next page begins."""

    statement: Select[Any]
    order: list[Ordered]
    resumable: bool


def page(
    found: Sequence[Selection],
    projections: Sequence[Projection],
    orders: Sequence[list[Ordered]],
    token: Token,
    most: int,
    more: Sequence[ColumnElement[Any]],
) -> Page:
    """Return a page of at most ``most`` rows, starting at ``token``; ``more`` columns come last."""
    resumable = all(one.resumable for one in orders[0])
    if token.values is not None:
        for selection, order in zip(found, orders, strict=True):
            selection.conditions.append(after(order, token.values))
    if len(found) == 1:
        selection, order = found[0], orders[0]
        places = [one.term.element for one in order] if resumable else []
        statement = selection.reading(projections[0], [*places, *more])
    else:
        statement, order = _merged(found, projections, orders, min(most + token.offset, _ROWS_MAX), more)
    statement = statement.order_by(*in_order(order, found[0].context)).limit(most)
    return Page(statement.offset(token.offset) if token.offset else statement, orders[0], resumable)


def _merged(
    found: Sequence[Selection],
    projections: Sequence[Projection],
    orders: Sequence[list[Ordered]],
    most: int,
    more: Sequence[ColumnElement[Any]],
) -> tuple[Select[Any], list[Ordered]]:
    halves = []
    found[0].conditions.append(not_(has_own_draft(found[0].scope.place)))
    for selection, projection, order in zip(found, projections, orders, strict=True):
        columns = [*projection.columns, *(one.term.element for one in order)]
        half = selection.statement([column.label(f"c{at}") for at, column in enumerate(columns)])
        half = half.order_by(*in_order(order, selection.context)).limit(most)
        halves.append(select(half.subquery()))
    both = union_all(*halves).subquery()
    start = len(projections[0].columns)
    order = [
        replace(one, term=replace(one.term, sql=both.c[f"c{at}"], indexed=False, finder=None))
        for at, one in enumerate(orders[0], start)
    ]
    return select(*both.c, *more), order
