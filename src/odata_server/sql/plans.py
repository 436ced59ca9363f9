"""What a query takes, worked out: its statements and what becomes of their rows; kept for requests that are alike.

Queries are alike when they ask for the same by the same options and differ in nothing but the keys in their paths.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from threading import Lock
from typing import Any

from sqlalchemy import Select

from odata_server.source import ByFilter, ByKey, Query
from odata_server.sql.connection import Kept
from odata_server.sql.drafts import Which
from odata_server.sql.expand import Way, hidden_for
from odata_server.sql.halves import counting, page, selections
from odata_server.sql.order import Ordered
from odata_server.sql.paging import Token, decode_token, encode_token
from odata_server.sql.projection import Projection
from odata_server.sql.selection import Request, Selection
from odata_server.sql.targets import KeyParameters
from odata_server.syntax import QueryOptions

__all__ = ["Plan", "Plans", "form_of"]

_PLANS_MAX = 500
_MET_MAX = 2_000
_TEXT_MAX = 2_000  # of the options whose plan is worth keeping


class Plan:
    """A query's statements. Raises `ODataError` 400 or 501 for what cannot be asked."""

    def __init__(self, request: Request, query: Query) -> None:
        options = query.options
        self.options = options
        self.keys = KeyParameters()
        self.ways: list[Way] = []
        found = selections(request, query, self.keys)
        # Which rows it ends with: of two halves some of both.
        self.which = found[0].scope.place.which if len(found) == 1 else Which.MERGED
        hidden = hidden_for(request.model.edm, query.target.entity_type, options, self.which)
        projections = [request.projection(one, hidden) for one in found]
        self.projection = projections[0]
        self.counting: Kept | None = None
        self._order: list[Ordered] = []
        self._resumable = False
        self._token = Token(None, None, 0)
        if query.target.single:
            self.wanted = 1
            self.reading = Kept(_locked(found[0].reading(self.projection), found, query))
            return
        if options.count:
            self.counting = Kept(counting(selections(request, query, self.keys)))
        self.wanted = query.page_size
        self.reading = Kept(_locked(self._page(query, found, projections), found, query))

    def _page(self, query: Query, found: Sequence[Selection], projections: Sequence[Projection]) -> Select[Any]:
        options = query.options
        orders = [one.order() for one in found]
        token = Token(options.top, None, options.skip or 0)
        if options.skiptoken is not None:
            token = decode_token(options.skiptoken, orders[0])
        # With the rows, for a round trip less; alone where there are none.
        counted = [] if self.counting is None else [self.counting.statement.correlate(None).scalar_subquery()]
        if token.left is not None:
            self.wanted = min(token.left, query.page_size)
        more_wanted = token.left is None or token.left > self.wanted
        made = page(found, projections, orders, token, self.wanted + 1 if more_wanted else self.wanted, counted)
        self._order, self._resumable, self._token = made.order, made.resumable, token
        return made.statement

    def following(self, rows: Sequence[Sequence[Any]]) -> str:
        """The token of the page after the one that these rows, more than are wanted, begin with."""
        token, wanted = self._token, self.wanted
        left = None if token.left is None else token.left - wanted
        following = Token(left, None, token.offset + wanted)
        if self._resumable:
            start = len(self.projection.columns)
            following = Token(left, tuple(rows[wanted - 1][start : start + len(self._order)]))
        return encode_token(following, self._order)


def _locked(statement: Select[Any], found: Sequence[Selection], query: Query) -> Select[Any]:
    place = found[0].scope.place
    # On SQLite a unit that writes is alone; rows of a union cannot be locked, and nobody asks to.
    if not query.lock or found[0].context.sqlite or len(found) > 1 or not place.which.fixed:
        return statement
    return statement.with_for_update(of=place.table)


def form_of(query: Query) -> Hashable | None:
    """What queries have in common that one plan serves; None: this one is not worth a plan that stays.

    Options are told apart by identity: who parses a text once and keeps the outcome has its plans kept as well.
    """
    options = query.options
    if options.skiptoken is not None or options.aliases or len(options.text) > _TEXT_MAX:
        return None
    steps: list[Hashable] = []
    for step in query.target.steps:
        if isinstance(step, ByFilter):
            return None
        if not isinstance(step, ByKey):
            steps.append(step.navigation.name)
        elif all(type(value) in (str, bool) for value in step.key.values()):
            # A text is a parameter; true and false are different statements.
            steps.append(tuple((name, value if type(value) is bool else None) for name, value in step.key.items()))
        else:
            return None
    how = (query.page_size, query.prefix, query.quoted_numbers, query.etags, query.lock, query.target.single)
    return query.target.root.name, tuple(steps), id(options), how


class Plans:
    """The plans used last; may be shared by threads."""

    def __init__(self) -> None:
        self._plans: OrderedDict[Hashable, Plan] = OrderedDict()
        self._met: OrderedDict[Hashable, QueryOptions] = OrderedDict()
        self._lock = Lock()

    def is_new(self, form: Hashable, options: QueryOptions) -> bool:
        """Whether a query is met for the first time: what never comes again is not worth a plan that stays."""
        with self._lock:
            if self._met.get(form) is options:
                return False
            self._met[form] = options
            if len(self._met) > _MET_MAX:
                self._met.popitem(last=False)
            return True

    def get(self, form: Hashable, query: Query) -> Plan | None:
        """The plan for a query."""
        with self._lock:
            found = self._plans.get(form)
            if found is None or found.options is not query.options:
                return None
            self._plans.move_to_end(form)
            return found

    def drop(self, form: Hashable) -> None:
        """Forget a plan: it holds what is true of one request alone."""
        with self._lock:
            self._plans.pop(form, None)

    def put(self, form: Hashable, plan: Plan) -> None:
        """Keep a plan; it holds its options, so that no others have their identity."""
        with self._lock:
            self._plans[form] = plan
            if len(self._plans) > _PLANS_MAX:
                self._plans.popitem(last=False)
