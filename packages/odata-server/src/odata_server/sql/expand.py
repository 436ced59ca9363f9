"""``$expand`` read against the model and carried out: one statement for every navigation and level, whatever the
number of parents.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Integer, Select, bindparam, func, select, tuple_

from odata_server.draft import IS_ACTIVE
from odata_server.edm import Edm, EntitySet, EntityType, NavigationProperty
from odata_server.errors import bad_request, not_implemented
from odata_server.sql.addresses import entity_key, next_address
from odata_server.sql.connection import Kept
from odata_server.sql.drafts import Which, pairs, reached, splits
from odata_server.sql.limits import EXPAND_MAX, LEVELS_MAX
from odata_server.sql.order import Ordered, in_order
from odata_server.sql.paging import Token, encode_token
from odata_server.sql.projection import Projection, Record
from odata_server.sql.selection import Request
from odata_server.syntax import ExpandItem, QueryOptions, SelectItem

__all__ = ["Branch", "Parents", "Way", "expand", "hidden_for"]

_NO_OPTIONS = QueryOptions()


@dataclass(frozen=True, slots=True)
class Branch:
    """A navigation to follow.

    ``kind`` is that of the `ExpandItem`. ``recursive``: it has ``$levels``, and is skipped if there are no parents.
    """

    navigation: NavigationProperty
    kind: str
    options: QueryOptions
    recursive: bool = False


def branches_of(edm: Edm, entity_type: EntityType, options: QueryOptions) -> list[Branch]:
    """Return the navigations of ``$expand``. Raise 400 UNKNOWN_PROPERTY, EXPAND_TOO_DEEP, EXPAND_TOO_BROAD."""
    found: dict[str, Branch] = {}
    stars: list[ExpandItem] = []
    if len(options.expand) > EXPAND_MAX:
        raise too_broad()
    for item in options.expand:
        if item.path == ("*",):
            stars.append(item)
            continue
        navigation = _navigation(entity_type, item)
        key = f"{navigation.name}{item.kind}"
        if key in found:
            raise bad_request("QUERY_SYNTAX", f"{navigation.name} is expanded twice.", "$expand")
        found[key] = _branch(edm, navigation, item, item, _selected(navigation.name, options.select))
    for star in stars:
        for navigation in entity_type.navigations:
            key = f"{navigation.name}{star.kind}"
            if key not in found:
                own = ExpandItem((navigation.name,), star.kind, star.options)
                found[key] = _branch(edm, navigation, own, star, _selected(navigation.name, options.select))
    return list(found.values())


def too_broad() -> Exception:
    """Return the error 400 EXPAND_TOO_BROAD."""
    message = f"$expand follows more than {EXPAND_MAX} navigations, nested ones and levels included."
    return bad_request("EXPAND_TOO_BROAD", message, "$expand")


def _navigation(entity_type: EntityType, item: ExpandItem) -> NavigationProperty:
    path = [part for part in item.path if "." not in part]
    if item.kind == "$value" or len(path) != 1:
        raise not_implemented(f"$expand={'/'.join((*item.path, item.kind))}")
    navigation = entity_type.navigation_by_name.get(path[0])
    if navigation is None:
        raise bad_request("UNKNOWN_PROPERTY", f"{entity_type.name} has no navigation property {path[0]}.", path[0])
    before = item.path.index(path[0])
    for at, part in enumerate(item.path):
        here = entity_type.name if at < before else navigation.target
        if "." in part and part.rpartition(".")[2] != here:
            raise bad_request("UNKNOWN_PROPERTY", f"{here} is not {part}.", part)
    if item.kind == "$count" and not navigation.collection:
        raise bad_request(
            "TYPE_MISMATCH", f"{navigation.name} is not a collection, so it cannot be counted.", navigation.name
        )
    return navigation


def _selected(name: str, select: Sequence[SelectItem]) -> tuple[SelectItem, ...]:
    """Return the part of ``$select=name/...`` that applies to the expanded entities."""
    return tuple(replace(one, path=one.path[1:]) for one in select if len(one.path) > 1 and one.path[0] == name)


def _branch(
    edm: Edm, navigation: NavigationProperty, item: ExpandItem, again: ExpandItem, selected: tuple[SelectItem, ...]
) -> Branch:
    options = item.options or _NO_OPTIONS
    if selected:
        options = replace(options, select=(*options.select, *selected))
    levels = options.levels
    if levels is None:
        return Branch(navigation, item.kind, options)
    if isinstance(levels, int) and levels > LEVELS_MAX:
        raise bad_request("EXPAND_TOO_DEEP", f"$levels goes up to {LEVELS_MAX}.", "$expand")
    deeper = (LEVELS_MAX if isinstance(levels, str) else levels) - 1
    nested = options.expand
    target = edm.entity_types[navigation.target]
    if deeper and (again.path == ("*",) or navigation.name in target.navigation_by_name):
        nested = (*nested, replace(again, options=replace(again.options or _NO_OPTIONS, levels=deeper)))
    return Branch(navigation, item.kind, replace(options, levels=None, expand=nested), recursive=True)


Link = tuple[Any, ...]
_LINKS_MAX = 16_384  # values bound in one statement; both databases allow 32 766
_KEPT_LINKS_MAX = 64  # parents in a reusable statement
_PLAIN_ROWS_MAX = 20_000  # children read without a limit per parent


@dataclass(slots=True)
class Parents:
    """Entities to which expanded entities are added: their records, and the rows they were read from."""

    entity_type: EntityType
    entity_set: EntitySet | None
    records: Sequence[Record]
    rows: Sequence[Sequence[Any]]
    projection: Projection
    address: Callable[[int], str]
    which: Which = Which.ACTIVE

    def links(self, way: Way) -> list[Link | None]:
        """Return for each parent the values to find its children by; None if it has no children."""
        at = [self.projection.hidden[here] for here in way.here]
        found = (tuple(row[index] for index in at) for row in self.rows)
        return [None if None in link else link for link in found]

    def followed_by(self, way: Way) -> Parents:
        """Return the parents that a way starts from."""
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
    """Return the join properties of the expands of these options."""
    found: set[str] = set()
    for branch in branches_of(edm, entity_type, options):
        target = edm.entity_types[branch.navigation.target]
        for start in _starts(branch, target, which):
            found |= {here for here, _ in pairs(branch.navigation, target, reached(start, branch.navigation, target))}
            found |= set() if start is which else {IS_ACTIVE}
    return found


def _starts(branch: Branch, target: EntityType, which: Which) -> tuple[Which, ...]:
    """Return the kinds of rows to follow a branch from, separately, so that each way reads only one table."""
    return (Which.ACTIVE, Which.DRAFT) if splits(branch.navigation, target, which) else (which,)


def _ways(request: Request, parents: Parents, options: QueryOptions) -> list[Way]:
    edm = request.model.edm
    return [
        Way(request, branch, parents.entity_set, start)
        for branch in branches_of(edm, parents.entity_type, options)
        for start in _starts(branch, edm.entity_types[branch.navigation.target], parents.which)
    ]


class Way:
    """A branch prepared for any parents; keeps its statements.

    ``start`` is the kind of rows that it is followed from, ``here`` and ``there`` are the join properties of these
    and of their children.
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
        """Return the columns to read of the entities."""
        if self._projection is None:
            nested = hidden_for(request.model.edm, self.entity_type, self.options, self.which)
            hidden = {*self.there, *nested}
            keys = tuple(SelectItem((name,)) for name in self.entity_type.key)
            only = keys if self.branch.kind == "$ref" else None
            self._projection = request.projection(self.selection, sorted(hidden), only)
        return self._projection

    def order(self) -> list[Ordered]:
        """Return the order of the children."""
        if self._order is None:
            self._order = self.selection.order()
        return self._order


async def expand(request: Request, parents: Parents, options: QueryOptions, ways: list[Way]) -> None:
    """Add the entities of ``$expand`` to the records; the first call fills ``ways``."""
    found = list(ways)
    if not found:
        found = _ways(request, parents, options)
        ways[:] = found
    for way in found:
        if way.branch.recursive and not parents.records:
            continue
        # a branch followed from both kinds counts once
        if way.start is not Which.DRAFT or parents.which is Which.DRAFT:
            request.expands_left -= 1
        if request.expands_left < 0:
            raise too_broad()
        starting = parents.followed_by(way)
        await _Expansion(request, starting, way).run()


class _Expansion:
    """The expansion of one branch for all of its parents."""

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
        """Split the parents into chunks that each fit into one statement."""
        size = _LINKS_MAX // len(self.columns)
        return [links[start : start + size] for start in range(0, len(links), size)]

    def _padded(self, links: Sequence[Link]) -> list[Link]:
        """Pad the links to a power of two, to limit the number of different statements."""
        return [*links, *[links[-1]] * ((1 << (len(links) - 1).bit_length()) - len(links))]

    def _among(self, links: Sequence[Link]) -> ColumnElement[bool]:
        """Return the condition for the children of these parents."""
        padded = self._padded(links)
        if len(self.columns) == 1:
            column = self.columns[0]
            values = bindparam(None, [link[0] for link in padded], type_=column.type, expanding=True, unique=True)
            return column.in_(values)
        return tuple_(*self.columns).in_(padded)

    async def _run(
        self, form: str, links: Sequence[Link], most: int, build: Callable[[ColumnElement[bool], Any], Select[Any]]
    ) -> Sequence[Sequence[Any]]:
        """Return at most ``most`` rows of a statement about these parents, without counting them yet.

        The statement is kept for the same number of parents: the links and the limit are named parameters.
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
        """Return the maximum number of children per parent, and whether there may be more."""
        top, size = self.options.top, self.request.page_size
        return (size, True) if top is None else (min(top, size), top > size)

    async def _rows(
        self, columns: Sequence[ColumnElement[Any]], order: Sequence[Ordered], chunk: Sequence[Link], parents: int
    ) -> Sequence[Sequence[Any]]:
        page, more = self._page()
        skip = self.options.skip or 0
        limit = self.request.rows_left + 1
        clauses = in_order(order, self.request.context)

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
        """Return the same statement with a limit on the rows of each parent."""
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
