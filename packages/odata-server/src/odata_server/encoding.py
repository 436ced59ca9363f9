"""Encode rows and values as JSON (JSON Format 4.01); rows of the reader are changed only where necessary."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite, isnan
from typing import Any

import msgspec

from odata_server.edm import (
    ComplexType,
    Edm,
    EntitySet,
    EntityType,
    EnumType,
    Operation,
    Primitive,
    StructuredType,
    Type,
)
from odata_server.links import Links
from odata_server.negotiation import Dialect

__all__ = ["Encoder", "to_json"]

_JSON = msgspec.json.Encoder(decimal_format="number")
_SPECIAL = {Primitive.BINARY, Primitive.DOUBLE, Primitive.SINGLE}
_INFERRED = {Primitive.STRING, Primitive.BOOLEAN, Primitive.DOUBLE}  # JSON implies these types


def to_json(value: Any) -> bytes:
    """Encode a value as JSON with decimals as exact numbers."""
    return _JSON.encode(value)


class Encoder:
    """Converts values without a JSON form and adds the annotations of ``metadata=full``; other rows pass unchanged."""

    def __init__(self, edm: Edm, links: Links) -> None:
        self._edm = edm
        self._links = links
        self._bound: dict[str, list[Operation]] = {}
        for operation in edm.schema.operations:
            if operation.binding is not None and not operation.binding_collection:
                self._bound.setdefault(operation.binding, []).append(operation)
        self._special = {
            owner.name
            for owner in (*edm.entity_types.values(), *edm.complex_types.values())
            if any(prop.type in _SPECIAL or isinstance(prop.type, ComplexType) for prop in owner.properties)
        }

    def rows(
        self, rows: list[dict[str, Any]], entity_type: EntityType, entity_set: EntitySet | None, dialect: Dialect
    ) -> list[dict[str, Any]]:
        """Return rows of a reader, ready for `to_json`."""
        if dialect.metadata == "minimal" and (not self._special or self._is_plain(rows, entity_type)):
            return rows
        return [self.row(row, entity_type, entity_set, dialect) for row in rows]

    def _is_plain(self, rows: list[dict[str, Any]], entity_type: EntityType) -> bool:
        """Return whether JSON has a form for every value in rows, which all have the same members."""
        expands = bool(rows) and not entity_type.navigation_by_name.keys().isdisjoint(rows[0])
        return entity_type.name not in self._special and not expands

    def row(
        self, row: dict[str, Any], entity_type: EntityType, entity_set: EntitySet | None, dialect: Dialect
    ) -> dict[str, Any]:
        """Return one row with its expanded rows."""
        found = self._controls(row, entity_type, entity_set, dialect) if dialect.metadata == "full" else {}
        if dialect.metadata == "none":
            row = {name: value for name, value in row.items() if name != f"{dialect.prefix}etag"}
        properties, navigations = entity_type.property_by_name, entity_type.navigation_by_name
        for name, value in row.items():
            navigation = navigations.get(name)
            if navigation is not None:
                found[name] = self._expanded(value, navigation.name, navigation.target, entity_set, dialect)
            elif value is not None and name in properties:
                prop = properties[name]
                found[name] = self.value(value, prop.type, collection=prop.collection)
            else:
                found[name] = value
        return found

    def _expanded(self, value: Any, name: str, target: str, entity_set: EntitySet | None, dialect: Dialect) -> Any:
        entity_type = self._edm.entity_types[target]
        inner_set = self._edm.set_of(target, source=entity_set, path=name)
        if isinstance(value, list):
            return [self.row(row, entity_type, inner_set, dialect) for row in value]
        return self.row(value, entity_type, inner_set, dialect) if isinstance(value, dict) else value

    def _controls(
        self, row: Mapping[str, Any], entity_type: EntityType, entity_set: EntitySet | None, dialect: Dialect
    ) -> dict[str, Any]:
        prefix = dialect.prefix
        found: dict[str, Any] = {f"{prefix}type": f"#{self._edm.qualified(entity_type.name)}"}
        if entity_set is not None and all(name in row for name in entity_type.key):
            address = self._links.entity(entity_set, row)
            found[f"{prefix}id"] = address
            if entity_set.updatable or entity_set.deletable:
                found[f"{prefix}editLink"] = address
            for navigation in entity_type.navigations:
                found[f"{navigation.name}{prefix}navigationLink"] = f"{address}/{navigation.name}"
                found[f"{navigation.name}{prefix}associationLink"] = f"{address}/{navigation.name}/$ref"
            for operation in self._bound.get(entity_type.name, ()):
                name = self._edm.qualified(operation.name)
                found[f"#{name}"] = {"title": operation.name, "target": f"{address}/{name}"}
        for name in row:
            prop = entity_type.property_by_name.get(name)
            if prop is not None and row[name] is not None and (prop.type not in _INFERRED or prop.collection):
                found[f"{name}{prefix}type"] = "#" + self._short(prop.type, prop.collection)
        return found

    def _short(self, type_: Type, collection: bool) -> str:
        return self._links.type_name(type_, collection=collection).replace("Edm.", "")

    # ---- values ----

    def value(self, value: Any, type_: Type, *, collection: bool = False, quoted_numbers: bool = False) -> Any:
        """Return one value (or list) of a type in the form that `to_json` writes as OData requires."""
        if value is None:
            return None
        if collection and isinstance(value, list | tuple):
            return [self.value(one, type_, quoted_numbers=quoted_numbers) for one in value]
        if isinstance(type_, ComplexType):
            return self._complex(value, type_, quoted_numbers)
        if isinstance(type_, EnumType):
            return value
        if isinstance(value, bytes):
            return urlsafe_b64encode(value).decode()
        if isinstance(value, float):
            return value if isfinite(value) else "NaN" if isnan(value) else "INF" if value > 0 else "-INF"
        if quoted_numbers and type_ in {Primitive.INT64, Primitive.DECIMAL}:
            return format(value, "f") if isinstance(value, Decimal) else str(value)
        return value

    def _complex(self, value: Any, type_: StructuredType, quoted_numbers: bool) -> Any:
        if not isinstance(value, Mapping):
            return value
        found: dict[str, Any] = {}
        for name, one in value.items():
            prop = type_.property_by_name.get(name)
            found[name] = (
                one
                if prop is None
                else self.value(one, prop.type, collection=prop.collection, quoted_numbers=quoted_numbers)
            )
        return found
