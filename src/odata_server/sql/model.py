"""Which tables and columns hold which entities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Table, UniqueConstraint

from odata_server.edm import ComplexType, Edm, EntityType, Property

__all__ = ["Column", "EntityMap", "Place", "SqlModel"]

Column = str | Callable[[FromClause], ColumnElement[Any]]
"""The name of a column of the selectable, or a function from (an alias of) the selectable to an expression."""


@dataclass(frozen=True, slots=True)
class EntityMap:
    """Where the entities of a type are: ``columns`` by property name, ``etag`` the column whose value changes with
    every write. A property of a complex type is one column of JSON, or a column per part (``address/street``)."""

    selectable: FromClause
    columns: Mapping[str, Column]
    etag: Column | None = None


class SqlModel:
    """An EDM with its tables. Raises ValueError for a readable property without a column."""

    def __init__(self, edm: Edm, maps: Mapping[str, EntityMap]) -> None:
        self.edm = edm
        self.maps = maps
        self._places: dict[tuple[str, int], Place] = {}
        for name, one in maps.items():
            _check(edm.entity_types[name], one)

    def place(self, entity_type: EntityType, number: int) -> Place:
        """The ``number``-th use of a type's table in a statement."""
        key = (entity_type.name, number)
        found = self._places.get(key)
        if found is None:
            mapped = self.maps[entity_type.name]
            # Without a name of its own: an anonymous alias is numbered by where it stands in its statement.
            made = Place(entity_type, mapped, mapped.selectable.alias(), _indexed(mapped))
            found = self._places.setdefault(key, made)
        return found


def _check(entity_type: EntityType, mapped: EntityMap) -> None:
    for one in entity_type.properties:
        if one.name in mapped.columns or one.write_only:
            continue
        if isinstance(one.type, ComplexType) and not one.collection:
            parts = {f"{one.name}/{part.name}" for part in one.type.properties}
            if parts <= mapped.columns.keys():
                continue
        raise ValueError(f"{entity_type.name}/{one.name} has no column")


def _indexed(mapped: EntityMap) -> frozenset[str]:
    """The properties whose column begins an index, or follows the first column of one (that of the tenant, say)."""
    if not isinstance(mapped.selectable, Table):
        return frozenset()
    unique = (one for one in mapped.selectable.constraints if isinstance(one, UniqueConstraint))
    indexes: list[Any] = [*mapped.selectable.indexes, *unique]
    leading = {column.name for one in indexes for column in list(one.columns)[:2]}
    return frozenset(name for name, column in mapped.columns.items() if column in leading)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One use of an entity type's table in a statement, under an alias of its own."""

    entity_type: EntityType
    mapped: EntityMap
    table: FromClause
    indexed: frozenset[str] = frozenset()
    _columns: dict[str, ColumnElement[Any]] = field(default_factory=dict)

    def column(self, name: str) -> ColumnElement[Any]:
        """The expression for a property (``name`` or ``complex/part``)."""
        found = self._columns.get(name)
        if found is None:
            found = self._columns[name] = self._made(self.mapped.columns[name])
        return found

    def etag(self) -> ColumnElement[Any] | None:
        """The expression for the ETag's value."""
        return None if self.mapped.etag is None else self._made(self.mapped.etag)

    def readable(self, name: str) -> Property | None:
        """The property of this name that may be read."""
        found = self.entity_type.property_by_name.get(name)
        return None if found is None or found.write_only else found

    def _made(self, column: Column) -> ColumnElement[Any]:
        return self.table.c[column] if isinstance(column, str) else column(self.table)
