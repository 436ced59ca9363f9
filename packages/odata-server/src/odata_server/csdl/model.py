"""Decisions shared by both CSDL renderings: type names, facets, bindings, constraints, default values."""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Protocol

from odata_server.edm import (
    ComplexType,
    Edm,
    EntitySet,
    EntityType,
    EnumType,
    NavigationProperty,
    Operation,
    Primitive,
    Property,
    Singleton,
    StructuredType,
    Type,
)

__all__ = [
    "BINDING_PARAMETER",
    "bindings",
    "constraints",
    "default_text",
    "entity_set_path",
    "facets",
    "is_contained",
    "is_nullable",
    "partner",
    "type_name",
    "underlying_type",
    "value_text",
]

BINDING_PARAMETER = "in"

_TEMPORAL = (Primitive.DATE_TIME_OFFSET, Primitive.DURATION, Primitive.TIME_OF_DAY)


class _Typed(Protocol):
    """A property, parameter or return type."""

    @property
    def type(self) -> Type | None: ...
    @property
    def max_length(self) -> int | None: ...
    @property
    def precision(self) -> int | None: ...
    @property
    def scale(self) -> int | None: ...


def type_name(edm: Edm, kind: Type | str) -> str:
    """Return the qualified name of a type; a str is the name of an entity type of this schema."""
    if isinstance(kind, Primitive):
        return kind.value
    return edm.qualified(kind.name if isinstance(kind, EnumType | ComplexType) else kind)


def facets(typed: _Typed) -> Mapping[str, int | str]:
    """Return MaxLength, Precision and Scale, if the type has them."""
    found: dict[str, int | str] = {}
    if typed.type in (Primitive.STRING, Primitive.BINARY) and typed.max_length is not None:
        found["MaxLength"] = typed.max_length
    if typed.type in (Primitive.DECIMAL, *_TEMPORAL) and typed.precision is not None:
        found["Precision"] = typed.precision
    if typed.type is Primitive.DECIMAL:
        # without Scale the value would have no decimal places
        found["Scale"] = "variable" if typed.scale is None else typed.scale
    return found


def underlying_type(enum_type: EnumType) -> str:
    """Return Edm.Int32 if it holds all members, else Edm.Int64."""
    fits = all(-(2**31) <= member.value < 2**31 for member in enum_type.members)
    return "Edm.Int32" if fits else "Edm.Int64"


def default_text(prop: Property) -> str | None:
    """Return the default value of a property as in a URL, without quotes; None if it has none that can be expressed."""
    if prop.default is None or prop.collection or isinstance(prop.type, ComplexType):
        return None
    return value_text(prop.default)


def value_text(value: Any) -> str:
    """Return a primitive value as in a URL, without quotes."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return base64.urlsafe_b64encode(value).decode()
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        sign = "-" if value < dt.timedelta() else ""
        length = abs(value)
        fraction = f".{length.microseconds:06d}".rstrip("0").rstrip(".")
        return f"{sign}P{length.days}DT{length.seconds}{fraction}S"
    return str(value)


# ---- navigations --------------------------------------------------------------------------------------------------


def partner(edm: Edm, owner: StructuredType, navigation: NavigationProperty) -> str | None:
    """Return the partner of a navigation. Raise ValueError if the partner does not exist."""
    if navigation.partner is None:
        return None
    back = edm.entity_types[navigation.target].navigation_by_name.get(navigation.partner)
    if back is None or back.target != owner.name:
        raise ValueError(f"{owner.name}/{navigation.name} has a partner that does not lead back: {navigation.partner}")
    return navigation.partner


def constraints(edm: Edm, owner: StructuredType, navigation: NavigationProperty) -> Mapping[str, str]:
    """Return the referential constraints: own property -> key property of the target entity.

    None if the pairs are not exactly the target's key, or if only some of the own properties are nullable.
    """
    if navigation.collection or not navigation.on:
        return {}
    target = edm.entity_types[navigation.target]
    own_properties = [owner.property_by_name.get(own) for own, _ in navigation.on]
    nullable = {one is None or one.nullable for one in own_properties}
    if None in own_properties or sorted(other for _, other in navigation.on) != sorted(target.key) or len(nullable) > 1:
        return {}
    return dict(navigation.on)


def is_nullable(edm: Edm, owner: StructuredType, navigation: NavigationProperty) -> bool:
    """Return whether a single-valued navigation can be null; with constraints its own properties decide."""
    dependent = constraints(edm, owner, navigation)
    if dependent:
        return owner.property_by_name[next(iter(dependent))].nullable
    return navigation.nullable


def is_contained(edm: Edm, navigation: NavigationProperty) -> bool:
    """Return whether the target has no entity set of its own but is contained in the owner of the navigation."""
    return navigation.composition and edm.set_of(navigation.target) is None


def bindings(edm: Edm, source: EntitySet | Singleton) -> Mapping[str, str]:
    """Return the navigation property bindings of a set: path -> name of the set that holds the targets."""
    entity_type = edm.entity_types[source.entity_type]
    entity_set = source if isinstance(source, EntitySet) else None
    found = dict(_bindings(edm, entity_set, entity_type, "", (entity_type.name,)))
    if entity_set is not None:
        for path, target in entity_set.bindings.items():
            if target not in edm.entity_sets:
                raise ValueError(f"{source.name} binds {path} to a set that does not exist: {target}")
            found.setdefault(path, target)
    return found


def _bindings(
    edm: Edm, source: EntitySet | None, owner: StructuredType, prefix: str, seen: tuple[str, ...]
) -> Iterator[tuple[str, str]]:
    for navigation in owner.navigations:
        path = prefix + navigation.name
        target = edm.set_of(navigation.target, source=source, path=path)
        if target is not None:
            yield path, target.name
        elif is_contained(edm, navigation) and navigation.target not in seen:
            inner: EntityType = edm.entity_types[navigation.target]
            yield from _bindings(edm, source, inner, f"{path}/", (*seen, inner.name))
    for prop in owner.properties:
        if isinstance(prop.type, ComplexType) and prop.type.name not in seen:
            yield from _bindings(edm, source, prop.type, f"{prefix}{prop.name}/", (*seen, prop.type.name))


def entity_set_path(operation: Operation) -> str | None:
    """Return the path from the binding parameter to the set of the returned entities, if they have the same type."""
    if operation.binding is None or operation.returns is None or operation.returns.entity_type != operation.binding:
        return None
    return BINDING_PARAMETER
