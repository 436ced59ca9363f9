"""Queries carried out: one statement for the rows, one for their count, one for every expanded navigation and level.

A `Plan` is what a query takes, worked out, and kept for requests that are alike. Queries are alike when they ask for
the same by the same options and differ in nothing but the keys in their paths.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, cast

from sqlalchemy import Integer, Select, String, column, func, select, table

from odata_server.source import ByFilter, ByKey, Query, Rows
from odata_server.sql.addresses import entity_key
from odata_server.sql.apply import applied
from odata_server.sql.connection import Keeping, Kept, SqlConnection
from odata_server.sql.drafts import Which, meant
from odata_server.sql.expand import Parents, Way, expand, hidden_for
from odata_server.sql.few import Looking, looking_for_few
from odata_server.sql.halves import counting, page, selections
from odata_server.sql.limits import ROWS_MAX
from odata_server.sql.model import SqlModel
from odata_server.sql.order import Ordered
from odata_server.sql.paging import Token, decode_token, encode_token
from odata_server.sql.projection import Projection, Record, Shape
from odata_server.sql.scopes import Uses
from odata_server.sql.selection import Prepared, Request, Selection
from odata_server.sql.targets import KeyParameters, scope_of
from odata_server.sql.terms.sqlite_functions import MATCHES
from odata_server.sql.terms.typed import Context
from odata_server.syntax import QueryOptions

__all__ = ["Plan", "SqlReader", "form_of"]

# PostgreSQL collations with Unicode case mapping, best first; which of them exist depends on its version and build.
_WITH_CASES = ("und-x-icu", "pg_unicode_fast", "pg_c_utf8", "C.utf8", "C.UTF-8", "en_US.utf8")
_COLLATION = table("pg_collation", column("collname", String), column("collencoding", Integer))
_COLLATIONS = select(_COLLATION.c.collname).where(
    _COLLATION.c.collname.in_(_WITH_CASES),
    _COLLATION.c.collencoding.in_([-1, 6]),  # any encoding, UTF-8
)
_FUNCTION = table("pragma_function_list", column("name", String))
_FUNCTIONS = select(_FUNCTION.c.name).where(_FUNCTION.c.name == MATCHES)


class SqlReader:
    """Reads the entities of a model; its only state are caches, and it may be shared by threads.

    A response has at most ``rows_max`` rows, including expanded ones.
    """

    def __init__(self, model: SqlModel, *, rows_max: int = ROWS_MAX) -> None:
        self.model = model
        self._rows_max = rows_max
        self._able: dict[str, set[str]] = {}  # optional features of the database, by dialect
        self._prepared: Prepared = {}
        self._plans = Plans()

    async def read(self, connection: SqlConnection, query: Query) -> Rows:
        """Return a page of entities. Raise `ODataError` 400 or 501 for a query that is not possible."""
        request = await self._request(connection, query)
        if query.options.apply:
            return await self._applied(request, query)
        form = form_of(query) if hasattr(connection, "run_kept") else None
        if form is None:
            return await self._carried_out(request, query, Plan(request, query), {})
        return await self._planned(request, query, cast("Keeping", connection), form)

    async def _planned(self, request: Request, query: Query, connection: Keeping, form: Hashable) -> Rows:
        key = request.context.dialect, form
        plan = self._plans.get(key, query)
        if plan is None:
            plan = Plan(request, query)
            if not plan.keys.complete or self._plans.is_new(key, query.options):
                return await self._carried_out(request, query, plan, {})
            self._plans.put(key, plan)
        request.keeping = connection
        try:
            return await self._carried_out(request, query, plan, plan.keys.values(query.target, request.context))
        finally:
            if request.context.moments:
                self._plans.drop(key)

    async def count(self, connection: SqlConnection, query: Query) -> int:
        """Return the number of entities, considering only ``$filter`` and ``$search``."""
        request = await self._request(connection, query)
        found = selections(request, query)
        few = await self._few(request, looking_for_few(found[0]), {})
        rows = await connection.execute(counting(found if few is None else selections(request, query, few=few)))
        return int(rows[0][0])

    async def _few(self, request: Request, looking: Looking | None, keys: Mapping[str, Any]) -> str | None:
        """Return the keys of the only rows that may match; None: there are many."""
        if looking is None:
            return None
        ((is_soon_read,),) = await request.run(looking.is_soon_read, keys)
        if is_soon_read:
            return None
        for kept in looking.keys:
            ((few,),) = await request.run(kept, keys)
            if few is not None:
                return str(few)
        return None

    async def _carried_out(self, request: Request, query: Query, plan: Plan, keys: Mapping[str, Any]) -> Rows:
        few = await self._few(request, plan.looking, keys)
        if few is not None:
            plan, keys = Plan(request, query, few), {}
            request.keeping = None  # a statement for these rows alone
        rows = await request.run(plan.reading, keys) if plan.wanted else ()
        count = None
        if plan.counting is not None:
            count = int(rows[0][-1] if rows else (await request.run(plan.counting, keys))[0][0])
        request.spend(len(rows))
        records = await self._records(request, query, plan, rows[: plan.wanted])
        return Rows(records, count, plan.following(rows) if len(rows) > plan.wanted else None)

    async def _applied(self, request: Request, query: Query) -> Rows:
        options = query.options
        plain = replace(options, filter=None)
        which, _ = meant(query, self.model.edm.entity_types[query.target.root.entity_type])
        uses = Uses(self.model, request.context)
        scope, conditions = scope_of(query.target, uses, request.aliases, which=which)
        found = applied(
            request.selection(scope, conditions, replace(plain, search=None, compute=())).with_options(options)
        )
        token = Token(options.top, None, options.skip or 0)
        if options.skiptoken is not None:
            token = decode_token(options.skiptoken, ())
        count = None
        if options.count:
            counted = select(func.count()).select_from(found.statement().order_by(None).subquery())
            count = int((await request.fetch(counted))[0][0])
        found.order += [term.element.asc() for term in found.terms.values()]  # the same order for every page
        wanted = query.page_size if token.left is None else min(token.left, query.page_size)
        most = wanted + 1 if token.left is None or token.left > wanted else wanted
        found.limit = most if found.limit is None else max(0, min(most, found.limit - token.offset))
        found.offset += token.offset
        rows = await request.fetch(found.statement()) if wanted else ()
        records = found.records(rows[:wanted], request.shape)
        if len(rows) <= wanted:
            return Rows(records, count)
        left = None if token.left is None else token.left - wanted
        return Rows(records, count, encode_token(Token(left, None, token.offset + wanted), ()))

    async def _records(self, request: Request, query: Query, plan: Plan, rows: Sequence[Sequence[Any]]) -> list[Record]:
        records = plan.projection.records(rows)
        if query.options.expand:
            entity_type, entity_set = query.target.entity_type, query.target.entity_set
            name = "" if entity_set is None else entity_set.name

            def address(at: int) -> str:
                return f"{name}{entity_key(self.model.edm, entity_type, records[at])}"

            parents = Parents(entity_type, entity_set, records, rows, plan.projection, address, plan.which)
            await expand(request, parents, query.options, plan.ways)
        return records

    async def _request(self, connection: SqlConnection, query: Query) -> Request:
        aliases = [part for part in query.options.text.split("&") if part.startswith(("@", "%40"))]
        return Request(
            connection=connection,
            model=self.model,
            context=await self._context(connection, query),
            shape=Shape(query.prefix, query.quoted_numbers, query.etags),
            page_size=query.page_size,
            aliases=query.options.aliases,
            prepared=self._prepared,
            alias_text="&".join(aliases),
            rows_left=self._rows_max,
        )

    async def _context(self, connection: SqlConnection, query: Query) -> Context:
        able = self._able.get(connection.dialect)
        if able is None:
            asked = await connection.execute(_FUNCTIONS if connection.dialect == "sqlite" else _COLLATIONS)
            able = self._able[connection.dialect] = {row[0] for row in asked}
        if connection.dialect == "sqlite":
            return Context("sqlite", query.now, sqlite_functions=bool(able))
        collation = next((one for one in _WITH_CASES if one in able), None)
        return Context(connection.dialect, query.now, collation=collation)


_PLANS_MAX = 500
_MET_MAX = 2_000
_TEXT_MAX = 2_000  # length of the options up to which a plan is cached


class Plan:
    """The statements of a query. Raise `ODataError` 400 or 501 for a query that is not possible.

    ``looking`` may find that few rows match; they are then read by a plan for their keys, ``few``.
    """

    def __init__(self, request: Request, query: Query, few: str | None = None) -> None:
        options = query.options
        self.options = options
        self.keys = KeyParameters()
        self.ways: list[Way] = []
        found = selections(request, query, self.keys, few)
        self.looking = None if query.target.single else looking_for_few(found[0])
        # The kind of the resulting rows: with two halves there are rows of both.
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
            self.counting = Kept(counting(selections(request, query, self.keys, few)))
        self.wanted = query.page_size
        self.reading = Kept(_locked(self._page(query, found, projections), found, query))

    def _page(self, query: Query, found: Sequence[Selection], projections: Sequence[Projection]) -> Select[Any]:
        options = query.options
        orders = [one.order() for one in found]
        token = Token(options.top, None, options.skip or 0)
        if options.skiptoken is not None:
            token = decode_token(options.skiptoken, orders[0])
        # The count is read with the rows to save a round trip; separately if there are no rows.
        counted = [] if self.counting is None else [self.counting.statement.correlate(None).scalar_subquery()]
        if token.left is not None:
            self.wanted = min(token.left, query.page_size)
        more_wanted = token.left is None or token.left > self.wanted
        made = page(found, projections, orders, token, self.wanted + 1 if more_wanted else self.wanted, counted)
        self._order, self._resumable, self._token = made.order, made.resumable, token
        return made.statement

    def following(self, rows: Sequence[Sequence[Any]]) -> str:
        """Return the token of the next page, from rows that include one more than wanted."""
        token, wanted = self._token, self.wanted
        left = None if token.left is None else token.left - wanted
        following = Token(left, None, token.offset + wanted)
        if self._resumable:
            start = len(self.projection.columns)
            following = Token(left, tuple(rows[wanted - 1][start : start + len(self._order)]))
        return encode_token(following, self._order)


def _locked(statement: Select[Any], found: Sequence[Selection], query: Query) -> Select[Any]:
    place = found[0].scope.place
    # On SQLite writing units are exclusive; rows of a union cannot be locked, and no caller asks for it.
    if not query.lock or found[0].context.sqlite or len(found) > 1 or not place.which.fixed:
        return statement
    return statement.with_for_update(of=place.table)


def form_of(query: Query) -> Hashable | None:
    """Return the cache key of the plan for a query; None if its plan is not worth caching.

    Options are compared by identity: callers that cache parsed options also reuse their plans.
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
            # A string is a parameter; true and false need different statements.
            steps.append(tuple((name, value if type(value) is bool else None) for name, value in step.key.items()))
        else:
            return None
    how = (query.page_size, query.prefix, query.quoted_numbers, query.etags, query.lock, query.target.single)
    return query.target.root.name, tuple(steps), id(options), how


class Plans:
    """A cache of the most recently used plans; may be shared by threads."""

    def __init__(self) -> None:
        self._plans: OrderedDict[Hashable, Plan] = OrderedDict()
        self._met: OrderedDict[Hashable, QueryOptions] = OrderedDict()
        self._lock = Lock()

    def is_new(self, form: Hashable, options: QueryOptions) -> bool:
        """Return whether a query is seen for the first time: a plan is only cached for queries that recur."""
        with self._lock:
            if self._met.get(form) is options:
                return False
            self._met[form] = options
            if len(self._met) > _MET_MAX:
                self._met.popitem(last=False)
            return True

    def get(self, form: Hashable, query: Query) -> Plan | None:
        """Return the cached plan for a query."""
        with self._lock:
            found = self._plans.get(form)
            if found is None or found.options is not query.options:
                return None
            self._plans.move_to_end(form)
            return found

    def drop(self, form: Hashable) -> None:
        """Remove a plan that contains values of a single request."""
        with self._lock:
            self._plans.pop(form, None)

    def put(self, form: Hashable, plan: Plan) -> None:
        """Cache a plan; it references its options, so their identity is not reused."""
        with self._lock:
            self._plans[form] = plan
            if len(self._plans) > _PLANS_MAX:
                self._plans.popitem(last=False)
