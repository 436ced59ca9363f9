"""Resolve a path with a model to a resource (URL Conventions 4.01, chapter 4), without reading data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from odata_server.constants import key_of
from odata_server.edm import (
    ComplexType,
    Edm,
    EntitySet,
    Function,
    NavigationProperty,
    Operation,
    Property,
)
from odata_server.errors import ODataError, not_found, not_implemented
from odata_server.expressions import Expression, ResourcePath, Segment
from odata_server.source import ByFilter, ByKey, ByNavigation, Key, Step, Target

__all__ = ["Kind", "Resource", "resolve"]


class Kind(StrEnum):
    """The kinds of resources."""

    SERVICE = "service"
    METADATA = "metadata"
    BATCH = "batch"
    ID = "id"  # $entity: $id identifies the entity
    ENTITIES = "entities"
    ENTITY = "entity"
    PROPERTY = "property"
    OPERATION = "operation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """The resource that a path addresses.

    ``target`` are the last entities on the path. ``suffix`` is ``$count``, ``$value``, ``$ref`` or empty;
    ``properties`` are the path from the entity into its values. ``navigation`` is the last navigation of the path,
    starting at ``parent``, and ``linked_key`` the key after it. ``sets`` are all sets on the path, ``arguments`` the
    parameters of an operation as written.
    """

    kind: Kind
    target: Target | None = None
    suffix: str = ""
    properties: tuple[Property, ...] = ()
    navigation: NavigationProperty | None = None
    parent: Target | None = None
    linked_key: Key | None = None
    operation: Operation | None = None
    result_set: EntitySet | None = None
    arguments: Mapping[str, Expression] = field(default_factory=lambda: MappingProxyType({}))
    sets: tuple[EntitySet, ...] = ()


_WHOLE = {"$metadata": Kind.METADATA, "$batch": Kind.BATCH, "$entity": Kind.ID}
_NOT_OFFERED = {"$all", "$crossjoin", "$each", "$root"}
_SUFFIXES = {"$count", "$value", "$ref"}


def resolve(edm: Edm, path: ResourcePath, aliases: Mapping[str, Expression]) -> Resource:
    """Return the resource at a path.

    Raise ODataError 404 for an unknown resource, 400 for an invalid key, 501 for an unsupported path.
    """
    segments = path.segments
    if not segments:
        return Resource(kind=Kind.SERVICE)
    whole = _WHOLE.get(segments[0].name)
    if whole is not None and len(segments) == 1 and not segments[0].predicates:
        return Resource(kind=whole)
    walk = _Walk(edm, aliases)
    walk.start(segments[0])
    for segment in segments[1:]:
        walk.step(segment)
    return walk.resource()


class _Walk:
    """The state of resolving a path segment by segment."""

    def __init__(self, edm: Edm, aliases: Mapping[str, Expression]) -> None:
        self._edm = edm
        self._aliases = aliases
        self._target: Target | None = None
        self._suffix = ""
        self._properties: tuple[Property, ...] = ()
        self._navigation: NavigationProperty | None = None
        self._parent: Target | None = None
        self._linked_key: Key | None = None
        self._operation: Operation | None = None
        self._result_set: EntitySet | None = None
        self._arguments: dict[str, Expression] = {}
        self._sets: list[EntitySet] = []

    def resource(self) -> Resource:
        """Return the resource resolved so far."""
        return Resource(
            kind=self._kind(),
            target=self._target,
            suffix=self._suffix,
            properties=self._properties,
            navigation=self._navigation,
            parent=self._parent,
            linked_key=self._linked_key,
            operation=self._operation,
            result_set=self._result_set,
            arguments=self._arguments,
            sets=tuple(self._sets),
        )

    def _kind(self) -> Kind:
        if self._operation is not None:
            return Kind.OPERATION
        if self._properties:
            return Kind.PROPERTY
        return Kind.ENTITY if self._target is not None and self._target.single else Kind.ENTITIES

    # ---- the first segment ----

    def start(self, segment: Segment) -> None:
        """Resolve the first segment: a set, a singleton or an operation of the container."""
        name = segment.name.removeprefix(f"{self._edm.namespace}.{self._edm.schema.container.name}/")
        if name in _NOT_OFFERED:
            raise not_implemented(name)
        entity_set = self._edm.entity_sets.get(name)
        if entity_set is not None:
            self._at_set(entity_set, segment)
        elif name in self._edm.singletons:
            self._refuse_parentheses(segment)
            singleton = self._edm.singletons[name]
            stand_in = EntitySet(name=name, entity_type=singleton.entity_type, insertable=False, deletable=False)
            self._sets.append(stand_in)
            self._target = Target(
                root=stand_in,
                entity_type=self._edm.entity_types[singleton.entity_type],
                entity_set=stand_in,
                single=True,
            )
        else:
            self._import(name, segment)

    def _at_set(self, entity_set: EntitySet, segment: Segment) -> None:
        self._sets.append(entity_set)
        entity_type = self._edm.entity_types[entity_set.entity_type]
        self._target = Target(root=entity_set, entity_type=entity_type, entity_set=entity_set)
        self._key(segment)

    def _import(self, name: str, segment: Segment) -> None:
        edm = self._edm
        action, function = edm.action_imports.get(name), edm.function_imports.get(name)
        found: str | None = action.action if action else function.function if function else None
        if found is None:
            raise not_found(f"There is no {name[:80]} in this service.", "NOT_FOUND")
        entity_set = (action or function).entity_set  # type: ignore[union-attr]
        self._result_set = edm.entity_sets[entity_set] if entity_set else None
        for operation in edm.operations.get(found, ()):
            if operation.binding is None:
                self._call(operation, segment)
                return
        raise not_found()

    # ---- further segments ----

    def step(self, segment: Segment) -> None:
        """Resolve one more segment."""
        name = segment.name
        if self._suffix:
            raise not_found(f"Nothing may follow {self._suffix}.")
        if name in _NOT_OFFERED:
            raise not_implemented(name)
        if self._operation is not None:
            if isinstance(self._operation, Function) and name in _SUFFIXES:
                raise not_implemented(f"{name} of the result of an operation")
            raise not_found("Nothing may follow the call of an operation.")
        target = self._target
        if target is None:
            raise not_found()
        if self._properties:
            self._step_into_value(segment)
        elif name in _SUFFIXES:
            self._at_suffix(name, target, segment)
        elif name == "$filter" and not target.single and segment.expression is not None:
            self._go(ByFilter(segment.expression))
        elif "." in name:
            self._qualified(name, target, segment)
        elif target.single and name in target.entity_type.property_by_name:
            self._refuse_parentheses(segment)
            self._properties = (self._readable(target.entity_type.property_by_name[name]),)
        elif target.single and name in target.entity_type.navigation_by_name:
            self._navigate(target.entity_type.navigation_by_name[name], target, segment)
        else:
            self._bound(name, target, segment)

    def _at_suffix(self, name: str, target: Target, segment: Segment) -> None:
        self._refuse_parentheses(segment)
        if (name == "$count" and target.single) or name == "$value":
            raise not_found(f"There is no {name} here.")
        self._suffix = name

    def _step_into_value(self, segment: Segment) -> None:
        self._refuse_parentheses(segment)
        last, name = self._properties[-1], segment.name
        inside = last.type if isinstance(last.type, ComplexType) and not last.collection else None
        if inside is not None and name in inside.property_by_name:
            self._properties = (*self._properties, self._readable(inside.property_by_name[name]))
        elif last.collection if name == "$count" else name == "$value" and not isinstance(last.type, ComplexType):
            if name == "$value" and last.collection:
                raise not_found("A list has no $value.")
            self._suffix = name
        else:
            raise not_found(f"There is no {name[:80]} in {last.name}.")

    def _qualified(self, name: str, target: Target, segment: Segment) -> None:
        namespace, _, own = name.rpartition(".")
        if namespace != self._edm.namespace:
            raise not_found(f"There is no {name[:80]} here.")
        if own == target.entity_type.name and not self._edm.operations.get(own):
            self._key(segment)  # a cast to the entity's own type has no effect
            return
        self._bound(own, target, segment)

    def _bound(self, name: str, target: Target, segment: Segment) -> None:
        operation = self._edm.bound_operation(name, target.entity_type.name, collection=not target.single)
        if operation is None:
            raise not_found(f"{target.entity_type.name} has no {name[:80]}.")
        self._call(operation, segment)

    def _navigate(self, navigation: NavigationProperty, target: Target, segment: Segment) -> None:
        entity_type = self._edm.entity_types[navigation.target]
        entity_set = self._edm.set_of(entity_type.name, source=target.entity_set, path=navigation.name)
        self._parent, self._navigation, self._linked_key = target, navigation, None
        if entity_set is not None:
            self._sets.append(entity_set)
        self._target = Target(
            root=target.root,
            entity_type=entity_type,
            entity_set=entity_set,
            steps=(*target.steps, ByNavigation(navigation, entity_type)),
            single=not navigation.collection,
        )
        self._key(segment)

    def _call(self, operation: Operation, segment: Segment) -> None:
        if len(segment.predicates) > 1:
            raise not_found()
        for predicate in segment.predicates:
            for name, expression in predicate.values:
                if name is None or name in self._arguments:
                    raise ODataError(400, "URI_SYNTAX", f"Give the parameters of {operation.name} by name, each once.")
                self._arguments[name] = expression
        self._operation = operation

    # ---- what parentheses mean ----

    def _key(self, segment: Segment) -> None:
        target = self._target
        if not segment.predicates or target is None:
            return
        if target.single or len(segment.predicates) > 1 or not segment.predicates[0].values:
            raise not_found(f"{segment.name} must be followed by one key in parentheses, or by none.")
        before = target.steps[-1] if target.steps else None
        implied = _implied(before, self._parent) if isinstance(before, ByNavigation) else {}
        key = key_of(target.entity_type, segment.predicates[0], self._aliases, implied)
        if isinstance(before, ByNavigation):
            self._linked_key = key
        self._go(ByKey(key), single=True)

    def _go(self, step: Step, *, single: bool = False) -> None:
        target = self._target
        if target is None:
            raise not_found()
        self._target = Target(
            root=target.root,
            entity_type=target.entity_type,
            entity_set=target.entity_set,
            steps=(*target.steps, step),
            single=target.single or single,
        )

    def _refuse_parentheses(self, segment: Segment) -> None:
        if segment.predicates:
            raise not_found(f"{segment.name[:80]} cannot have parentheses.")

    def _readable(self, prop: Property) -> Property:
        if prop.write_only:
            raise not_found(f"{prop.name} can only be written, not read.")
        return prop


def _implied(step: ByNavigation, parent: Target | None) -> dict[str, Any]:
    """Return the values that the key in the path determines for the entities of a navigation."""
    before = parent.steps[-1] if parent is not None and parent.steps else None
    if not isinstance(before, ByKey):
        return {}
    return {
        other: before.key[own]
        for own, other in step.navigation.on
        if own in before.key and other in step.entity_type.key
    }
