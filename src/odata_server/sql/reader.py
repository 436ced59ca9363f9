"""Queries carried out: one statement for the rows, one for their count, one for every expanded navigation and level."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from sqlalchemy import Integer, String, column, func, select, table

from odata_server.source import Query, Rows
from odata_server.sql.addresses import entity_key
from odata_server.sql.apply import applied
from odata_server.sql.connection import Keeping, SqlConnection
from odata_server.sql.drafts import meant
from odata_server.sql.expand import Parents, expand
from odata_server.sql.halves import counting, selections
from odata_server.sql.limits import ROWS_MAX
from odata_server.sql.model import SqlModel
from odata_server.sql.paging import Token, decode_token, encode_token
from odata_server.sql.plans import Plan, Plans, form_of
from odata_server.sql.projection import Record, Shape
from odata_server.sql.scopes import Uses
from odata_server.sql.selection import Prepared, Request
from odata_server.sql.sqlite_functions import MATCHES
from odata_server.sql.targets import scope_of
from odata_server.sql.terms import Context

__all__ = ["SqlReader"]


# Collations of PostgreSQL in which upper and lower case are those of Unicode, best first; which of them there are
# depends on its version and on how it was built.
_WITH_CASES = ("und-x-icu", "pg_unicode_fast", "pg_c_utf8", "C.utf8", "C.UTF-8", "en_US.utf8")
_COLLATION = table("pg_collation", column("collname", String), column("collencoding", Integer))
_COLLATIONS = select(_COLLATION.c.collname).where(
    _COLLATION.c.collname.in_(_WITH_CASES),
    _COLLATION.c.collencoding.in_([-1, 6]),  # any, UTF-8
)
_FUNCTION = table("pragma_function_list", column("name", String))
_FUNCTIONS = select(_FUNCTION.c.name).where(_FUNCTION.c.name == MATCHES)


class SqlReader:
    """Reads the entities of a model; holds nothing but what it has prepared, and may be shared by threads.

    An answer has ``rows_max`` rows at most, expanded ones included.
    """

    def __init__(self, model: SqlModel, *, rows_max: int = ROWS_MAX) -> None:
        self.model = model
        self._rows_max = rows_max
        self._able: dict[str, set[str]] = {}  # what this database can do beyond the rest of its kind
        self._prepared: Prepared = {}
        self._plans = Plans()

    async def read(self, connection: SqlConnection, query: Query) -> Rows:
        """A page of entities. Raises `ODataError` 400 or 501 for what cannot be asked."""
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
        """How many entities there are, heeding ``$filter`` and ``$search`` only."""
        request = await self._request(connection, query)
        rows = await connection.execute(counting(selections(request, query)))
        return int(rows[0][0])

    async def _carried_out(self, request: Request, query: Query, plan: Plan, keys: Mapping[str, Any]) -> Rows:
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
