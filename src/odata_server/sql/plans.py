"""What a query takes, worked out: its statements and what becomes of their rows; kept for requests that are alike.

Queries are alike when they ask for the same by the same options and differ in nothing but the keys in their paths.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from threading import Lock
from typing import Any

from sqlalchemy import Select, func

from odata_server.source import ByFilter, ByKey, Query
from odata_server.sql.connection import Kept
from odata_server.sql.drafts import meant
from odata_server.sql.expand import Way, hidden_for
from odata_server.sql.order import Ordered
from odata_server.sql.paging import Token, after, decode_token, encode_token
from odata_server.sql.scopes import Uses
from odata_server.sql.selection import Request, Selection
from odata_server.sql.targets import KeyParameters, scope_of
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
        self.which, self.asked = meant(query, request.model.edm.entity_types[query.target.root.entity_type])
        self.counting: Kept | None = None
        selection = self._selection(request, query)
        hidden = hidden_for(request.model.edm, query.target.entity_type, options, selection.scope.place.which)
        self.projection = request.projection(selection, hidden)
        self.reached = selection.scope.place.which
        self._order: list[Ordered] = []
        self._resumable = False
        self._token = Token(None, None, 0)
        if query.target.single:
            self.wanted = 1
            self.reading = Kept(_locked(selection.reading(self.projection), selection, query))
            return
        if options.count:
            self.counting = Kept(self._selection(request, query).statement([func.count()]))
        self.wanted = query.page_size
        self.reading = Kept(_locked(self._page(request, query, selection), selection, query))

    def _selection(self, request: Request, query: Query) -> Selection:
        uses = Uses(request.model, request.context)
        scope, conditions = scope_of(query.target, uses, request.aliases, self.keys, which=self.which)
        selection = request.selection(scope, conditions, self.asked)
        selection.narrowed = len(query.target.steps) > 0
        return selection

    def _page(self, request: Request, query: Query, selection: Selection) -> Select[Any]:
        options = query.options
        self._order = order = selection.order()
        token = Token(options.top, None, options.skip or 0)
        if options.skiptoken is not None:
            token = decode_token(options.skiptoken, order)
        self._token = token
        self._resumable = all(one.resumable for one in order)
        if token.values is not None:
            selection.conditions.append(after(order, token.values))
        places = [one.term.element for one in order] if self._resumable else []
        if self.counting is not None:
            # With the rows, for a round trip less; alone where there are none.
            places.append(self.counting.statement.correlate(None).scalar_subquery())
        if token.left is not None:
            self.wanted = min(token.left, query.page_size)
        more_wanted = token.left is None or token.left > self.wanted
        statement = selection.reading(self.projection, places)
        statement = statement.order_by(*(one.clause(request.context) for one in order))
        statement = statement.limit(self.wanted + 1 if more_wanted else self.wanted)
        return statement.offset(token.offset) if token.offset else statement

    def following(self, rows: Sequence[Sequence[Any]]) -> str:
        """The token of the page after the one that these rows, more than are wanted, begin with."""
        token, wanted = self._token, self.wanted
        left = None if token.left is None else token.left - wanted
        following = Token(left, None, token.offset + wanted)
        if self._resumable:
            start = len(self.projection.columns)
            following = Token(left, tuple(rows[wanted - 1][start : start + len(self._order)]))
        return encode_token(following, self._order)


def _locked(statement: Select[Any], selection: Selection, query: Query) -> Select[Any]:
    # On SQLite a unit that writes is alone; rows of a union cannot be locked, and nobody asks to.
    if not query.lock or selection.context.sqlite or not selection.scope.place.which.fixed:
        return statement
    return statement.with_for_update(of=selection.scope.place.table)


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
