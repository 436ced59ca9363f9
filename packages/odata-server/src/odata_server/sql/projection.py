"""``$select``: which columns to read, and how to convert their rows to the dicts of a response."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Select, String, Text, Uuid, select

from odata_server.edm import ComplexType, EntityType, Primitive, Property, Type
from odata_server.errors import bad_request
from odata_server.sql.model import Place
from odata_server.sql.terms.storage import EPOCH_MICROSECONDS, ScaledInteger, Storage
from odata_server.sql.terms.typed import FLOATS, INTEGERS, Term
from odata_server.syntax import SelectItem

__all__ = ["Projection", "Shape", "chosen_names", "project"]

Convert = Callable[[Any], Any]
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """The format of responses, see `odata_server.source.Query`."""

    prefix: str = "@"
    quoted_numbers: bool = False
    etags: bool = True


@dataclass(slots=True)
class Projection:
    """Columns and their conversion: the first columns are ``names``, the others are only accessible by `hidden`."""

    names: tuple[str, ...]
    columns: list[ColumnElement[Any]]
    converters: tuple[tuple[int, Convert], ...]
    structures: tuple[tuple[str, tuple[str, ...]], ...] = ()
    hidden: dict[str, int] = field(default_factory=dict)
    _select: Select[Any] | None = None

    def select(self, more: Sequence[ColumnElement[Any]] = ()) -> Select[Any]:
        """Return the SELECT of the columns followed by ``more``, without a FROM; built once for all requests."""
        if self._select is None:
            self._select = select(*self.columns)
        return self._select.add_columns(*more) if more else self._select

    def records(self, rows: Iterable[Sequence[Any]]) -> list[Record]:
        """Return the dicts of a response, in the order of the rows."""
        if self.converters:
            columns = list(zip(*rows, strict=True))
            for index, convert in self.converters if columns else ():
                columns[index] = tuple(None if value is None else convert(value) for value in columns[index])
            rows = zip(*columns, strict=True)
        names = self.names
        found = [dict(zip(names, row, strict=False)) for row in rows]
        for name, parts in self.structures:
            for record in found:
                _assemble(record, name, parts)
        return found

    def with_hidden(self, place: Place, names: Iterable[str]) -> Projection:
        """Return a projection that also reads properties that are not part of the response."""
        wanted = [name for name in names if name not in self.hidden]
        if not wanted:
            return self
        columns, hidden = list(self.columns), dict(self.hidden)
        for name in wanted:
            if name not in hidden:
                hidden[name] = len(columns)
                columns.append(place.column(name))
        return Projection(self.names, columns, self.converters, self.structures, hidden)

    def with_computed(self, computed: Mapping[str, Term], shape: Shape) -> Projection:
        """Return a projection with the values of ``$compute`` after the properties."""
        if not computed:
            return self
        made = [(name, *computed_column(term, shape)) for name, term in computed.items()]
        count = len(self.names)
        columns = [*self.columns[:count], *(column for _, column, _ in made), *self.columns[count:]]
        converters = (
            *self.converters,
            *((count + at, convert) for at, (_, _, convert) in enumerate(made) if convert is not None),
        )
        hidden = {name: at + len(made) if at >= count else at for name, at in self.hidden.items()}
        return Projection((*self.names, *(name for name, _, _ in made)), columns, converters, self.structures, hidden)


def _assemble(record: Record, name: str, parts: tuple[str, ...]) -> None:
    values = {part: record.pop(f"{name}/{part}") for part in parts}
    record[name] = None if all(value is None for value in values.values()) else values


def chosen_names(
    select: Sequence[SelectItem], entity_type: EntityType, computed: Iterable[str]
) -> frozenset[str] | None:
    """Return the properties (and computed ones) that ``$select`` names, with the keys; None for all of them.

    Raise 400 UNKNOWN_PROPERTY.
    """
    if not select:
        return None
    found = set(entity_type.key)
    known_computed = set(computed)
    for written in select:
        item = _uncast(written, entity_type)
        head = item.path[0]
        if head == "*":
            found |= {one.name for one in entity_type.properties}
        elif head in entity_type.property_by_name and not entity_type.property_by_name[head].write_only:
            _check_rest(entity_type.property_by_name[head], item)
            found.add(head)
        elif head in known_computed:
            found.add(head)
        elif head not in entity_type.navigation_by_name and "." not in head:
            raise bad_request("UNKNOWN_PROPERTY", f"{entity_type.name} has no property {head}.", head)
    return frozenset(found)


def _uncast(item: SelectItem, entity_type: EntityType) -> SelectItem:
    """Return the item without a cast to the type that it has anyway; a name with dots alone may be an operation."""
    head = item.path[0]
    if "." not in head or len(item.path) == 1:
        return item
    if head.rpartition(".")[2] != entity_type.name:
        raise bad_request("UNKNOWN_PROPERTY", f"{entity_type.name} is not {head}.", head)
    return replace(item, path=item.path[1:])


def _check_rest(of: Property, item: SelectItem) -> None:
    rest = item.path[1:]
    known = of.type.property_by_name if isinstance(of.type, ComplexType) else {}
    if rest and (len(rest) > 1 or rest[0] not in known):
        path = "/".join(item.path)
        raise bad_request("UNKNOWN_PROPERTY", f"{of.name} has no property {'/'.join(rest)}.", path)


def project(place: Place, chosen: frozenset[str] | None, shape: Shape) -> Projection:
    """Return the columns of an entity type, in the order of the model."""
    names: list[str] = []
    columns: list[ColumnElement[Any]] = []
    converters: list[tuple[int, Convert]] = []
    structures: list[tuple[str, tuple[str, ...]]] = []
    etag = place.etag() if shape.etags and place.entity_type.etag else None
    if etag is not None:
        names.append(f"{shape.prefix}etag")
        columns.append(etag)
        converters.append((0, _etag))
    for one in place.entity_type.properties:
        if one.write_only or (chosen is not None and one.name not in chosen):
            continue
        parts = _parts(one, place)
        if parts:
            structures.append((one.name, tuple(part.name for part in parts)))
        for name, part in [(f"{one.name}/{part.name}", part) for part in parts] or [(one.name, one)]:
            column = place.column(name)
            convert = _convert(part, column, shape)
            if convert is not None:
                converters.append((len(names), convert))
            names.append(name)
            columns.append(column)
    hidden = {name: at for at, name in enumerate(names)}
    return Projection(tuple(names), columns, tuple(converters), tuple(structures), hidden)


def _parts(one: Property, place: Place) -> tuple[Property, ...]:
    if isinstance(one.type, ComplexType) and one.name not in place.mapped.columns:
        return one.type.properties
    return ()


def _etag(value: Any) -> str:
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    return f'W/"{text.replace(chr(34), "%22")}"'


def _convert(of: Property, column: ColumnElement[Any], shape: Shape) -> Convert | None:
    """Return the conversion that values of the column's type need, if any."""
    if (of.collection or isinstance(of.type, ComplexType)) and isinstance(column.type, Text | String):
        return json.loads
    if of.collection:
        return None
    if shape.quoted_numbers and of.type in {Primitive.INT64, Primitive.DECIMAL}:
        return _number_text
    if of.type is Primitive.DATE_TIME_OFFSET and not hasattr(column.type, "odata_storage"):
        return _aware
    if of.type is Primitive.GUID and isinstance(column.type, Uuid):
        return _guid_text
    return None


def _aware(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _guid_text(value: Any) -> str:
    return str(value).lower()


def _number_text(value: Any) -> str:
    return format(value, "f") if isinstance(value, Decimal) else str(value)


# ---- computed -----------------------------------------------------------------------------------------------------


def computed_column(term: Term, shape: Shape) -> tuple[ColumnElement[Any], Convert | None]:
    """Return the column of a computed value, and its conversion to a value of the model."""
    column = term.element
    convert = _from_storage(term.type, term.storage)
    if not shape.quoted_numbers or term.type not in {Primitive.INT64, Primitive.DECIMAL}:
        return column, convert
    inner = convert
    return column, (lambda value: _number_text(value if inner is None else inner(value)))


def _from_storage(of: Type | None, storage: Storage) -> Convert | None:
    if isinstance(storage, ScaledInteger):
        scale = storage.scale
        return lambda value: Decimal(value).scaleb(-scale)
    if storage is EPOCH_MICROSECONDS:
        return _from_microseconds if of is Primitive.DATE_TIME_OFFSET else _duration
    if of in INTEGERS:
        return int
    if of in FLOATS:
        return float
    if of is Primitive.DECIMAL:
        return _decimal
    if of is Primitive.BOOLEAN:
        return bool
    return _aware if of is Primitive.DATE_TIME_OFFSET else None


def _decimal(value: Any) -> Decimal:
    return value if isinstance(value, Decimal) else Decimal(repr(value))


def _from_microseconds(value: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)


def _duration(value: int) -> Any:
    return timedelta(microseconds=value)
