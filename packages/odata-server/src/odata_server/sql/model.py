"""The mapping of entity types to tables and columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from sqlalchemy import (
    ColumnElement,
    False_,
    FromClause,
    Select,
    Table,
    True_,
    UniqueConstraint,
    false,
    not_,
    select,
    true,
    tuple_,
    union_all,
)

from odata_server.draft import HAS_ACTIVE, HAS_DRAFT, IS_ACTIVE, SIBLING_IS_ACTIVE
from odata_server.edm import ComplexType, Edm, EntityType, Property
from odata_server.sql.drafts import Which
from odata_server.sql.terms.typed import Finder

__all__ = ["Column", "EntityMap", "Needed", "Place", "SqlModel", "TextIndex", "has_own_draft"]

Column = str | Callable[[FromClause], ColumnElement[Any]]
"""The name of a column of the selectable, or a function from (an alias of) the selectable to an expression."""

Needed = Sequence[AbstractSet[str]]
"""Texts in lower case, of at least three characters of Latin-1 each: a row contains all texts of one of these sets."""


class TextIndex(Protocol):
    """An index that finds rows by parts of their texts."""

    @property
    def properties(self) -> frozenset[str]:
        """The properties whose texts it contains."""
        ...

    def candidates(self, dialect: str, needed: Needed, most: int) -> Select[Any]:
        """Return a SELECT of one value, the keys of all rows that may contain the texts, as an array in JSON.

        Each text may be in any of the properties, with letters in any case; the keys may be those of other rows too.
        The value is null if there are more than ``most``, or if the index cannot help.
        """
        ...


@dataclass(frozen=True, slots=True)
class EntityMap:
    """The mapping of an entity type to a table.

    ``columns`` maps property names to columns, ``etag`` is the column whose value changes with every write. A
    property of a complex type is one column of JSON, or a column per part (``address/street``).

    ``finders``: for properties that are computed, which other columns have an index that finds their rows.

    ``drafts``, for a type with edit drafts: the mapping of the caller's drafts only. Values that are known for a
    half need no columns: ``IsActiveEntity``, ``SiblingIsActiveEntity``, ``HasActiveEntity`` of active entities,
    ``HasDraftEntity`` of drafts; all other properties, including hidden ones, have columns in both.

    ``text_index``, for a table with a key of one column: what finds its rows for ``$search`` and ``contains``.
    """

    selectable: FromClause
    columns: Mapping[str, Column]
    etag: Column | None = None
    drafts: EntityMap | None = None
    finders: Mapping[str, Callable[[FromClause], Finder]] = field(default_factory=dict)
    text_index: TextIndex | None = None


class SqlModel:
    """A model with its tables. Raise ValueError for a readable property without a column."""

    def __init__(self, edm: Edm, maps: Mapping[str, EntityMap]) -> None:
        self.edm = edm
        self.maps = {name: _whole(edm.entity_types[name], one) for name, one in maps.items()}
        self._places: dict[tuple[str, int, Which], Place] = {}
        self._united: dict[tuple[str, Which], EntityMap] = {}

    def place(self, entity_type: EntityType, number: int, which: Which = Which.ACTIVE) -> Place:
        """Return the ``number``-th use of a type's table in a statement, for this kind of rows."""
        key = (entity_type.name, number, which)
        found = self._places.get(key)
        if found is None:
            mapped = self._mapped(entity_type, which)
            # An anonymous alias is numbered by its position in the statement.
            made = Place(entity_type, mapped, mapped.selectable.alias(), _indexed(mapped), which)
            found = self._places.setdefault(key, made)
        return found

    def _mapped(self, entity_type: EntityType, which: Which) -> EntityMap:
        active = self.maps[entity_type.name]
        if which is Which.ACTIVE or active.drafts is None:
            return active
        if which is Which.DRAFT:
            return active.drafts
        key = (entity_type.name, which)
        return self._united.setdefault(key, _united(entity_type, active, active.drafts, which))


_OF_ACTIVE: Mapping[str, Column] = {
    IS_ACTIVE: lambda _: true(),
    HAS_ACTIVE: lambda _: false(),
    SIBLING_IS_ACTIVE: lambda _: false(),
}
_OF_DRAFTS: Mapping[str, Column] = {
    IS_ACTIVE: lambda _: false(),
    HAS_DRAFT: lambda _: false(),
    SIBLING_IS_ACTIVE: lambda _: true(),
}


def _whole(entity_type: EntityType, mapped: EntityMap) -> EntityMap:
    """Add the constant columns of both halves to a mapping. Raise ValueError."""
    if entity_type.draft is not None:
        if mapped.drafts is None:
            raise ValueError(f"{entity_type.name} has drafts, and no map of them")
        drafts = replace(mapped.drafts, columns={**_OF_DRAFTS, **mapped.drafts.columns})
        mapped = replace(mapped, columns={**_OF_ACTIVE, **mapped.columns}, drafts=drafts)
        _check(entity_type, drafts)
    _check(entity_type, mapped)
    return mapped


def _united(entity_type: EntityType, active: EntityMap, drafts: EntityMap, which: Which) -> EntityMap:
    """Return both halves as rows of one query; MERGED excludes active rows that have a draft."""
    names = list(active.columns)
    halves = []
    for mapped, half in ((active, Which.ACTIVE), (drafts, Which.DRAFT)):
        place = Place(entity_type, mapped, mapped.selectable.alias(), which=half)
        columns = [place.column(name).label(f"c{at}") for at, name in enumerate(names)]
        etag = place.etag()
        query = select(*columns, *(() if etag is None else (etag.label("etag"),))).select_from(place.table)
        if half is Which.ACTIVE and which is Which.MERGED:
            query = query.where(not_(has_own_draft(place)))
        halves.append(query)
    columns_of = {name: f"c{at}" for at, name in enumerate(names)}
    return EntityMap(union_all(*halves).subquery(), columns_of, None if active.etag is None else "etag")


def has_own_draft(active: Place) -> ColumnElement[bool]:
    """Return whether the caller has a draft of an active row.

    A user has few drafts, so they are listed in a sub-query that is evaluated once.
    """
    drafts = active.mapped.drafts
    if drafts is None:
        return false()
    own = Place(active.entity_type, drafts, drafts.selectable.alias(), which=Which.DRAFT)
    names = [name for name in active.entity_type.key if name != IS_ACTIVE]
    here, there = ([place.column(name) for name in names] for place in (active, own))
    drafted = select(*there).select_from(own.table).correlate(None)
    return (here[0] if len(here) == 1 else tuple_(*here)).in_(drafted)


def _check(entity_type: EntityType, mapped: EntityMap) -> None:
    for one in (*entity_type.properties, *entity_type.hidden):
        if one.name in mapped.columns or one.write_only:
            continue
        if isinstance(one.type, ComplexType) and not one.collection:
            parts = {f"{one.name}/{part.name}" for part in one.type.properties}
            if parts <= mapped.columns.keys():
                continue
        raise ValueError(f"{entity_type.name}/{one.name} has no column")


def _indexed(mapped: EntityMap) -> frozenset[str]:
    """Return the properties with a finder, or whose column is the first or second of an index (the first may be the
    tenant).
    """
    if not isinstance(mapped.selectable, Table):
        return frozenset(mapped.finders)
    unique = (one for one in mapped.selectable.constraints if isinstance(one, UniqueConstraint))
    indexes: list[Any] = [*mapped.selectable.indexes, *unique]
    leading = {column.name for one in indexes for column in list(one.columns)[:2]}
    return frozenset(name for name, column in mapped.columns.items() if column in leading)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One use of an entity type's table in a statement, with its own alias."""

    entity_type: EntityType
    mapped: EntityMap
    table: FromClause
    indexed: frozenset[str] = frozenset()
    which: Which = Which.ACTIVE
    _columns: dict[str, ColumnElement[Any]] = field(default_factory=dict)

    def column(self, name: str) -> ColumnElement[Any]:
        """Return the expression for a property (``name`` or ``complex/part``)."""
        found = self._columns.get(name)
        if found is None:
            found = self._columns[name] = self._made(self.mapped.columns[name])
        return found

    def finder(self, name: str) -> Finder | None:
        """Return the finder of a property, if it has one."""
        found = self.mapped.finders.get(name)
        return None if found is None else found(self.table)

    def is_constant(self, name: str) -> bool:
        """Return whether a property is constant because of the kind of rows."""
        return name in self.mapped.columns and isinstance(self.column(name), True_ | False_)

    def etag(self) -> ColumnElement[Any] | None:
        """Return the expression for the value of the ETag."""
        return None if self.mapped.etag is None else self._made(self.mapped.etag)

    def readable(self, name: str) -> Property | None:
        """Return the property of this name if it may be read."""
        found = self.entity_type.property_by_name.get(name)
        return None if found is None or found.write_only else found

    def _made(self, column: Column) -> ColumnElement[Any]:
        return self.table.c[column] if isinstance(column, str) else column(self.table)
