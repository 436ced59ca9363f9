"""Where the properties of an entity type are stored, and in which form a column takes their values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from sqlalchemy import Column, ColumnElement, DateTime, Index, Integer, Table, UniqueConstraint, and_, or_

from odata_server.edm import ComplexType, EntityType, NavigationProperty, Property
from odata_server.source import Key
from odata_server.sql.model import SqlModel

__all__ = ["Place", "Places", "chunks"]

_CHUNK = 500  # values in one statement; databases limit their number


def chunks(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Split ``values`` into chunks that fit into one statement."""
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]


class Place:
    """The table of one entity type. Raise ValueError for a type that is not mapped to a table."""

    def __init__(self, model: SqlModel, entity_type: EntityType) -> None:
        mapped = model.maps[entity_type.name]
        if not isinstance(mapped.selectable, Table):
            raise ValueError(f"{entity_type.name} is not mapped to a table, so it cannot be written")
        self.entity_type = entity_type
        self.table = mapped.selectable
        self.columns: Mapping[str, Column[Any]] = {
            name: self.table.c[column] for name, column in mapped.columns.items() if isinstance(column, str)
        }
        etag = mapped.etag
        version = self.table.c[etag] if isinstance(etag, str) else None
        # Any other tag is maintained by `default` and `onupdate` of its column.
        self.version = version if version is not None and isinstance(version.type, Integer) else None

    # ---- values ----

    def writes(self, name: str) -> bool:
        """Return whether a property has a column, or a complex property has columns for its parts."""
        return name in self.columns or any(one.startswith(f"{name}/") for one in self.columns)

    def fills(self, name: str) -> bool:
        """Return whether the table supplies a value for a property that is missing in an insert."""
        column = self.columns.get(name)
        if column is None:
            return not self.writes(name)
        own = column is self.table.autoincrement_column
        return own or column.default is not None or column.server_default is not None

    def stored(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Convert values of properties to values of columns."""
        found: dict[str, Any] = {}
        for name, value in values.items():
            column = self.columns.get(name)
            if column is not None:
                found[column.name] = _bindable(column, value)
                continue
            prop = self.entity_type.property_by_name[name]
            if isinstance(prop.type, ComplexType):
                for part in prop.type.properties:
                    inner = self.columns.get(f"{name}/{part.name}")
                    if inner is not None and (value is None or part.name in value):
                        found[inner.name] = _bindable(inner, None if value is None else value[part.name])
        return found

    def loaded(self, row: Any) -> dict[str, Any]:
        """Return the properties of a row that was selected with `selected`."""
        return {name: _plain(value) for name, value in zip(self.columns, row, strict=True)}

    @cached_property
    def selected(self) -> tuple[Column[Any], ...]:
        return tuple(self.columns.values())

    def key_of(self, values: Mapping[str, Any]) -> Key:
        """Return the key from the values of a row."""
        return {name: values[name] for name in self.entity_type.key}

    # ---- conditions ----

    def among(self, names: Sequence[str], tuples: Iterable[Sequence[Any]]) -> ColumnElement[bool]:
        """Return the condition that the properties ``names`` have the values of one of ``tuples``."""
        columns = [self.columns[name] for name in names]
        if len(columns) == 1:
            return columns[0].in_([_bindable(columns[0], one[0]) for one in tuples])
        return or_(
            *(
                and_(*(column == _bindable(column, value) for column, value in zip(columns, one, strict=True)))
                for one in tuples
            )
        )

    def is_key(self, key: Key) -> ColumnElement[bool]:
        """Return the condition for the row with a key."""
        names = self.entity_type.key
        return and_(*(self.columns[name] == _bindable(self.columns[name], key[name]) for name in names))

    @cached_property
    def unique(self) -> tuple[tuple[str, ...], ...]:
        """The unique combinations of properties, starting with the key."""
        names = {column.name: name for name, column in self.columns.items()}
        every = [tuple(self.table.primary_key.columns)]
        every += [tuple(one.columns) for one in self.table.constraints if isinstance(one, UniqueConstraint)]
        every += [tuple(one.columns) for one in self.table.indexes if one.unique and _is_whole(one)]
        found = [tuple(names.get(column.name, "") for column in columns) for columns in every]
        return tuple(dict.fromkeys(one for one in [self.entity_type.key, *found] if one and all(one)))


def _is_whole(index: Index) -> bool:
    """Return whether an index covers only columns, and all rows."""
    partial = any(options.get("where") is not None for options in index.dialect_options.values())
    return not partial and all(isinstance(one, Column) for one in index.expressions)


def _bindable(column: Column[Any], value: Any) -> Any:
    if isinstance(value, datetime) and isinstance(column.type, DateTime) and not column.type.timezone:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return value


class Places:
    """The tables of a model, each inspected once."""

    def __init__(self, model: SqlModel) -> None:
        self.model = model
        self._places: dict[str, Place] = {}

    def of(self, entity_type: EntityType) -> Place:
        found = self._places.get(entity_type.name)
        if found is None:
            found = self._places[entity_type.name] = Place(self.model, entity_type)
        return found

    def target(self, navigation: NavigationProperty) -> Place:
        """Return the target table of a navigation."""
        return self.of(self.model.edm.entity_types[navigation.target])

    def refers(self, owner: EntityType, navigation: NavigationProperty) -> bool:
        """Return whether the rows of ``owner`` hold the reference, and not those of the target."""
        if navigation.collection or navigation.composition or not navigation.on:
            return False
        others = {other for _, other in navigation.on}
        target = self.model.edm.entity_types[navigation.target]
        return others == set(target.key) or not all(own in owner.key for own, _ in navigation.on)

    def within(self, entity_type: EntityType, prop: Property) -> bool:
        """Return whether a property refers to the parent of a composition, which a row cannot leave."""
        for navigation in entity_type.navigations:
            if navigation.partner is None or all(own != prop.name for own, _ in navigation.on):
                continue
            target = self.model.edm.entity_types[navigation.target]
            if target.navigation_by_name[navigation.partner].composition:
                return True
        return False

    def referring(self, entity_type: EntityType) -> Iterator[tuple[Place, NavigationProperty]]:
        """Return the tables and navigations that refer to rows of a type."""
        for name, mapped in self.model.maps.items():
            other = self.model.edm.entity_types[name]
            if isinstance(mapped.selectable, Table):
                for navigation in other.navigations:
                    if navigation.target == entity_type.name and self.refers(other, navigation):
                        yield self.of(other), navigation
