"""``$expand`` carried out: one statement for every navigation and level, whatever the number of parents."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Integer, Select, bindparam, func, select, tuple_

from odata_server.draft import IS_ACTIVE
from odata_server.edm import Edm, EntitySet, EntityType
from odata_server.sql.addresses import entity_key, next_address
from odata_server.sql.branches import Branch, branches_of, too_broad
from odata_server.sql.connection import Kept
from odata_server.sql.drafts import Which, pairs, reached, splits
from odata_server.sql.order import Ordered
from odata_server.sql.paging import Token, encode_token
from odata_server.sql.projection import Projection, Record
from odata_server.sql.selection import Request
from odata_server.syntax import QueryOptions, SelectItem

__all__ = ["Parents", "Way", "expand", "hidden_for"]

Link = tuple[Any, ...]
_LINKS_MAX = 16_384  # values bound in one statement; both databases take 32 766
_KEPT_LINKS_MAX = 64  # parents of a statement that is kept
_PLAIN_ROWS_MAX = 20_000  # children read without counting them per parent


@dataclass(slots=True)
class Parents:
    """Entities that expanded ones are added to: their records, and the rows they came from."""

    entity_type: EntityType
    entity_set: EntitySet | None
    records: Sequence[Record]
    rows: Sequence[Sequence[Any]]
    projection: Projection
    address: Callable[[int], str]
    which: Which = Which.ACTIVE

    def links(self, way: Way) -> list[Link | None]:
        """For each, the values that its children are found by; None: it has none."""
        at = [self.projection.hidden[here] for here in way.here]
        found = (tuple(row[index] for index in at) for row in self.rows)
        return [None if None in link else link for link in found]

    def followed_by(self, way: Way) -> Parents:
        """Those that a way starts from."""
        if way.start is self.which:
            return self
        flag = self.projection.hidden[IS_ACTIVE]
        at = [place for place, row in enumerate(self.rows) if bool(row[flag]) == (way.start is Which.ACTIVE)]
        return replace(
            self,
            records=[self.records[place] for place in at],
            rows=[self.rows[place] for place in at],
            address=lambda place: self.address(at[place]),
            which=way.start,
        )


def hidden_for(edm: Edm, entity_type: EntityType, options: QueryOptions, which: Which) -> set[str]:
    """The properties that the expands of these options are joined by."""
    found: set[str] = set()
    for branch in branches_of(edm, entity_type, options):
        target = edm.entity_types[branch.navigation.target]
        for start in _starts(branch, target, which):
            found |= {here for here, _ in pairs(branch.navigation, target, reached(start, branch.navigation, target))}
            found |= set() if start is which else {IS_ACTIVE}
    return found


def _starts(branch: Branch, target: EntityType, which: Which) -> tuple[Which, ...]:
    """The kinds of rows that a branch is followed from, each on its own, so that each way reads one table."""
    return (Which.ACTIVE, Which.DRAFT) if splits(branch.navigation, target, which) else (which,)


def _ways(request: Request, parents: Parents, options: QueryOptions) -> list[Way]:
    edm = request.model.edm
    return [
        Way(request, branch, parents.entity_set, start)
        for branch in branches_of(edm, parents.entity_type, options)
        for start in _starts(branch, edm.entity_types[branch.navigation.target], parents.which)
    ]


class Way:
    """One branch, worked out for whatever parents it is followed from; keeps its statements.

    ``start`` are the rows that it is followed from, ``here`` and ``there`` what they and their children are joined by.
    """

    def __init__(self, request: Request, branch: Branch, source_set: EntitySet | None, start: Which) -> None:
        edm = request.model.edm
        self.branch = branch
        self.start = start
        self.options = branch.options
        self.entity_type = edm.entity_types[branch.navigation.target]
        self.entity_set = edm.set_of(self.entity_type.name, source=source_set, path=branch.navigation.name)
        self.which = reached(start, branch.navigation, self.entity_type)
        self.selection = request.selection(request.scope(self.entity_type.name, self.which), [], self.options)
        self.selection.narrowed = True
        on = pairs(branch.navigation, self.entity_type, self.which)
        self.here = [here for here, _ in on]
        self.there = [there for _, there in on]
        place = self.selection.scope.place
        self.columns = [place.column(name) for name in self.there]
        self.nested: list[Way] = []
        self.kept: dict[Hashable, Kept] = {}
        self._projection: Projection | None = None
        self._order: list[Ordered] | None = None

    def projection(self, request: Request) -> Projection:
        """What is read of the entities."""
        if self._projection is None:
            nested = hidden_for(request.model.edm, self.entity_type, self.options, self.which)
            hidden = {*self.there, *nested}
            keys = tuple(SelectItem((name,)) for name in self.entity_type.key)
            only = keys if self.branch.kind == "$ref" else None
            self._projection = request.projection(self.selection, sorted(hidden), only)
        return self._projection

    def order(self) -> list[Ordered]:
        """In which order children are read."""
        if self._order is None:
            self._order = self.selection.order()
        return self._order


async def expand(request: Request, parents: Parents, options: QueryOptions, ways: list[Way]) -> None:
    """Add to the records what ``$expand`` names; ``ways`` are filled when that is followed for the first time."""
    found = list(ways)
    if not found:
        found = _ways(request, parents, options)
        ways[:] = found
    for way in found:
        if way.branch.recursive and not parents.records:
            continue
        if way.start is not Which.DRAFT or parents.which is Which.DRAFT:  # a branch of both kinds counts once
            request.expands_left -= 1
        if request.expands_left < 0:
            raise too_broad()
        starting = parents.followed_by(way)
        await _Expansion(request, starting, way).run()


class _Expansion:
    """One branch for all of its parents."""

    def __init__(self, request: Request, parents: Parents, way: Way) -> None:
        self.request = request
        self.parents = parents
        self.way = way
        self.branch = way.branch
        self.name = way.branch.navigation.name
        self.options = way.options
        self.entity_type = way.entity_type
        self.entity_set = way.entity_set
        self.selection = way.selection
        self.there = way.there
        self.columns = way.columns

    async def run(self) -> None:
        links = self.parents.links(self.way)
        distinct = list(dict.fromkeys(link for link in links if link is not None))
        shape = self.request.shape
        if self.branch.kind == "$count" or self.options.count:
            counts = await self._counts(distinct)
            for record, link in zip(self.parents.records, links, strict=True):
                number = counts.get(link, 0) if link is not None else 0
                record[f"{self.name}{shape.prefix}count"] = str(number) if shape.quoted_numbers else number
            if self.branch.kind == "$count":
                return
        projection = self.way.projection(self.request)
        if self.branch.navigation.collection:
            await self._many(links, distinct, projection)
        else:
            await self._one(links, distinct, projection)

    # ---- statements ----

    def _chunks(self, links: Sequence[Link]) -> list[Sequence[Link]]:
        """As many parents as one statement takes, in each."""
        size = _LINKS_MAX // len(self.columns)
        return [links[start : start + size] for start in range(0, len(links), size)]

    def _padded(self, links: Sequence[Link]) -> list[Link]:
        """Filled up to a power of two: as many forms of a statement as there are such, not one for every number."""
        return [*links, *[links[-1]] * ((1 << (len(links) - 1).bit_length()) - len(links))]

    def _among(self, links: Sequence[Link]) -> ColumnElement[bool]:
        """The condition for the children of these parents."""
        padded = self._padded(links)
        if len(self.columns) == 1:
            column = self.columns[0]
            values = bindparam(None, [link[0] for link in padded], type_=column.type, expanding=True, unique=True)
            return column.in_(values)
        return tuple_(*self.columns).in_(padded)

    async def _run(
        self, form: str, links: Sequence[Link], most: int, build: Callable[[ColumnElement[bool], Any], Select[Any]]
    ) -> Sequence[Sequence[Any]]:
        """The rows of a statement about these parents, ``most`` of them; they are not counted yet.

        It is kept for as many parents again: their links and the limit are parameters with names.
        """
        padded = self._padded(links)
        if self.request.keeping is None or len(self.columns) > 1 or len(padded) > _KEPT_LINKS_MAX:
            return await self.request.connection.execute(build(self._among(links), most))
        column = self.columns[0]
        key = form, len(padded)
        kept = self.way.kept.get(key)
        if kept is None:
            named = [bindparam(f"link{at}", None, type_=column.type) for at in range(len(padded))]
            kept = Kept(build(column.in_(named), bindparam("most", 1, type_=Integer())))
            self.way.kept[key] = kept
        values: dict[str, Any] = {f"link{at}": link[0] for at, link in enumerate(padded)}
        values["most"] = most
        return await self.request.run(kept, values)

    async def _counts(self, links: Sequence[Link]) -> dict[Link, int]:
        found: dict[Link, int] = {}
        for chunk in self._chunks(links):
            statement = self.selection.statement([*self.columns, func.count()])
            rows = await self.request.connection.execute(statement.where(self._among(chunk)).group_by(*self.columns))
            found |= {tuple(row[:-1]): row[-1] for row in rows}
        return found

    async def _one(self, links: Sequence[Link | None], distinct: Sequence[Link], projection: Projection) -> None:
        def build(among: ColumnElement[bool], most: Any) -> Select[Any]:
            return self.selection.reading(projection).where(among).limit(most)

        rows: list[Sequence[Any]] = []
        for chunk in self._chunks(distinct):
            found = await self._run("one", chunk, self.request.rows_left + 1, build)
            self.request.spend(len(found))
            rows += found
        records = projection.records(rows)
        at = [projection.hidden[name] for name in self.there]
        by_link = {tuple(row[index] for index in at): record for row, record in zip(rows, records, strict=True)}
        await self._nested(records, rows, projection)
        self._references(records)
        for record, link in zip(self.parents.records, links, strict=True):
            record[self.name] = by_link.get(link) if link is not None else None

    async def _many(self, links: Sequence[Link | None], distinct: Sequence[Link], projection: Projection) -> None:
        order = self.way.order()
        rows: list[Sequence[Any]] = []
        columns = [*projection.columns, *(one.term.element for one in order)]
        for chunk in self._chunks(distinct):
            rows += await self._rows(columns, order, chunk, len(distinct))
        at = [projection.hidden[name] for name in self.there]
        groups: dict[Link, list[Sequence[Any]]] = {}
        for row in rows:
            groups.setdefault(tuple(row[index] for index in at), []).append(row)
        page, _ = self._page()
        tokens = {
            link: self._token(order, group[page - 1], len(projection.columns))
            for link, group in groups.items()
            if len(group) > page
        }
        kept = [row for group in groups.values() for row in group[:page]]
        records = projection.records(kept)
        await self._nested(records, kept, projection)
        self._references(records)
        self._hand_out(links, groups, records, tokens)

    def _page(self) -> tuple[int, bool]:
        """How many children a parent gets at most, and whether there may be more than those."""
        top, size = self.options.top, self.request.page_size
        return (size, True) if top is None else (min(top, size), top > size)

    async def _rows(
        self, columns: Sequence[ColumnElement[Any]], order: Sequence[Ordered], chunk: Sequence[Link], parents: int
    ) -> Sequence[Sequence[Any]]:
        page, more = self._page()
        skip = self.options.skip or 0
        limit = self.request.rows_left + 1
        clauses = [one.clause(self.request.context) for one in order]

        def plain(among: ColumnElement[bool], most: Any) -> Select[Any]:
            return self.selection.statement(columns).where(among).order_by(*clauses).limit(most)

        def skipping(among: ColumnElement[bool], most: Any) -> Select[Any]:
            return plain(among, most).offset(skip)

        def ranked(among: ColumnElement[bool], most: Any) -> Select[Any]:
            return self._ranked(columns, clauses, among, skip, page + more).limit(most)

        if page == 0:
            return ()
        if parents == 1:
            build = skipping if skip else plain
            return self._spent(await self._run("skipping" if skip else "plain", chunk, min(page + more, limit), build))
        if self.options.top is None and not skip:
            most = min(_PLAIN_ROWS_MAX, limit)
            rows = await self._run("plain", chunk, most, plain)
            if len(rows) < most:
                return self._spent(rows)
        return self._spent(await self._run("ranked", chunk, limit, ranked))

    def _spent(self, rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
        self.request.spend(len(rows))
        return rows

    def _ranked(
        self,
        columns: Sequence[ColumnElement[Any]],
        clauses: Sequence[ColumnElement[Any]],
        among: ColumnElement[bool],
        skip: int,
        wanted: int,
    ) -> Select[Any]:
        """The same rows, as many of each parent as are wanted."""
        rank = func.row_number().over(partition_by=self.columns, order_by=clauses)
        named = [column.label(f"c{at}") for at, column in enumerate(columns)]
        inner = self.selection.statement([*named, rank.label("rank")]).where(among).subquery()
        outer = select(*(inner.c[f"c{at}"] for at in range(len(columns))))
        return outer.where(inner.c["rank"] > skip, inner.c["rank"] <= skip + wanted).order_by(inner.c["rank"])

    # ---- records ----

    def _token(self, order: Sequence[Ordered], last: Sequence[Any], start: int) -> str:
        page, _ = self._page()
        left = None if self.options.top is None else self.options.top - page
        values = tuple(last[start : start + len(order)]) if all(one.resumable for one in order) else None
        return encode_token(Token(left, values, 0 if values else (self.options.skip or 0) + page), order)

    async def _nested(self, records: list[Record], rows: Sequence[Sequence[Any]], projection: Projection) -> None:
        if not self.options.expand:
            return
        edm, entity_type = self.request.model.edm, self.entity_type

        def address(at: int) -> str:
            key = entity_key(edm, entity_type, records[at])
            return f"{'' if self.entity_set is None else self.entity_set.name}{key}"

        parents = Parents(entity_type, self.entity_set, records, rows, projection, address, self.way.which)
        await expand(self.request, parents, self.options, self.way.nested)

    def _references(self, records: Sequence[Record]) -> None:
        if self.branch.kind != "$ref":
            return
        for record in records:
            key = entity_key(self.request.model.edm, self.entity_type, record)
            record.clear()
            record[f"{self.request.shape.prefix}id"] = f"{self.entity_set.name if self.entity_set else ''}{key}"

    def _hand_out(
        self,
        links: Sequence[Link | None],
        groups: dict[Link, list[Sequence[Any]]],
        records: Sequence[Record],
        tokens: dict[Link, str],
    ) -> None:
        page, _ = self._page()
        shares: dict[Link, list[Record]] = {}
        start = 0
        for link, group in groups.items():
            shares[link] = list(records[start : start + min(len(group), page)])
            start += len(shares[link])
        prefix = self.request.shape.prefix
        for at, (record, parent_link) in enumerate(zip(self.parents.records, links, strict=True)):
            link = parent_link or ()
            if link in tokens:
                path = f"{self.parents.address(at)}/{self.name}" + ("/$ref" if self.branch.kind else "")
                record[f"{self.name}{prefix}nextLink"] = next_address(
                    path, self.options.text, self.request.alias_text, tokens[link]
                )
            record[self.name] = shares.get(link, [])
