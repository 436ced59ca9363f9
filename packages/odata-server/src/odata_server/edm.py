"""The entity data model of a service, as frozen values (OData CSDL 4.01).

::

    AUTHORS = EntityType(name="Author", key=("ID",), properties=(
        Property(name="ID", type=Primitive.GUID, nullable=False),
        Property(name="name", type=Primitive.STRING, nullable=False, max_length=100),
    ))
    EDM = Edm(Schema(namespace="Bookshop", entity_types=(AUTHORS, BOOKS), container=Container(entity_sets=(...))))

Values of properties are, in Python: str for String and Guid (lower case), bool, int, Decimal, float for Double and
Single, `datetime.date`, `datetime.time`, aware `datetime.datetime` in UTC for DateTimeOffset, `timedelta` for Duration,
bytes for Binary, list for collections, dict for complex values, str for members of an enumeration.

Annotations are what a model says about itself in the words of a vocabulary (CSDL 4.01, chapter 14).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any

__all__ = [
    "METHODS",
    "SAME",
    "Action",
    "ActionImport",
    "Annotation",
    "AnnotationPath",
    "AnnotationValue",
    "ComplexType",
    "Container",
    "DraftRole",
    "DraftWay",
    "Edm",
    "EntitySet",
    "EntityType",
    "EnumMember",
    "EnumMemberValue",
    "EnumType",
    "Expression",
    "Function",
    "FunctionImport",
    "NavigationProperty",
    "Operation",
    "Parameter",
    "Primitive",
    "Property",
    "Record",
    "Reference",
    "ReturnType",
    "Schema",
    "Singleton",
    "StructuredType",
    "Type",
]


_WHOLE = re.compile(r"-?\d{1,19}", re.ASCII)


@dataclass(frozen=True, slots=True)
class AnnotationPath:
    """A path expression: ``kind`` is Path, PropertyPath, NavigationPropertyPath or AnnotationPath."""

    path: str
    kind: str = "Path"


@dataclass(frozen=True, slots=True)
class EnumMemberValue:
    """Members of a vocabulary's enumeration, e.g. ``UI.TextArrangementType/TextOnly``; several: flags."""

    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a vocabulary: property -> value; ``type`` only if it differs from the term's own.

    A name that begins with ``@`` is a term applied to the record, e.g. ``@UI.Importance``.
    """

    values: Mapping[str, AnnotationValue] = field(default_factory=lambda: MappingProxyType({}))
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Expression:
    """A comparison or logical expression, evaluated over an entity by the client that reads the model.

    ``operator`` is And, Or, Eq, Ne, Gt, Ge, Lt or Le with two operands, or Not with one.
    """

    operator: str
    operands: tuple[AnnotationValue, ...]


AnnotationValue = (
    str | bool | int | Decimal | None | AnnotationPath | EnumMemberValue | Expression | Record | tuple[Any, ...]
)


@dataclass(frozen=True, slots=True)
class Annotation:
    """A term applied to a model element; ``term`` with the alias of its vocabulary, e.g. ``Core.Description``.

    ``annotations`` apply to this annotation itself, e.g. ``UI.TextArrangement`` to a ``Common.Text``.
    """

    term: str
    value: AnnotationValue = True
    qualifier: str | None = None
    annotations: tuple[Annotation, ...] = ()


class DraftRole(StrEnum):
    """The role of an entity type in edit drafts, see `odata_server.draft`."""

    ROOT = "root"
    """Drafts are begun, activated and discarded here."""
    NODE = "node"
    """Part of a root, edited with its draft."""


class DraftWay(StrEnum):
    """The rows reached by a navigation from or to an entity with drafts."""

    ACTIVE = "active"
    """To the active entity, wherever it starts."""
    SAME = "same"
    """From a draft to what belongs to the draft, from an active entity to what is active."""
    SIBLING = "sibling"
    """From a draft to the active entity that it will replace, and back."""


class Primitive(StrEnum):
    """The primitive types of properties; the value is the qualified name."""

    BINARY = "Edm.Binary"
    BOOLEAN = "Edm.Boolean"
    BYTE = "Edm.Byte"
    DATE = "Edm.Date"
    DATE_TIME_OFFSET = "Edm.DateTimeOffset"
    DECIMAL = "Edm.Decimal"
    DOUBLE = "Edm.Double"
    DURATION = "Edm.Duration"
    GUID = "Edm.Guid"
    INT16 = "Edm.Int16"
    INT32 = "Edm.Int32"
    INT64 = "Edm.Int64"
    SBYTE = "Edm.SByte"
    SINGLE = "Edm.Single"
    STRING = "Edm.String"
    TIME_OF_DAY = "Edm.TimeOfDay"


# ---- types --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumMember:
    """One member of an enumeration."""

    name: str
    value: int
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumType:
    """An enumeration; values are transferred as member names.

    ``is_flags``: a value combines members: their names with commas between them, those with the least values first; it
    is stored like this, too, and each combination has one such form. ``numbers``: clients may write a bare number,
    which only quoted ones are otherwise.
    """

    name: str
    members: tuple[EnumMember, ...]
    is_flags: bool = False
    numbers: bool = False
    annotations: tuple[Annotation, ...] = ()

    def value_of(self, written: str | int) -> str | None:
        """Return the value that a client wrote as names or numbers, in any order; None: there is none such."""
        of = {one.name: one.value for one in self.members}
        parts = str(written).split(",", len(of)) if self.is_flags else [str(written)]
        numbers = [_number_of(part.strip(), of) for part in parts]
        number = 0
        for one in numbers:
            if one is None:
                return None
            number |= one
        if not self.is_flags:
            name = parts[0].strip()
            return name if name in of else next((one for one in of if of[one] == number), None)
        return self._combined(number)

    def number_of(self, value: str) -> int:
        """Return the number of a value in the form of `value_of`, by which values are compared and sorted."""
        of = {one.name: one.value for one in self.members}
        return sum(of[name] for name in value.split(","))

    def _combined(self, number: int) -> str | None:
        """Return the form of a combination of flags: members of several bits in place of those that they contain."""
        exactly = next((one.name for one in self.members if one.value == number), None)
        if exactly is not None:
            return exactly
        left, found = number, []
        for one in sorted(self.members, key=lambda one: one.value, reverse=True):
            if one.value > 0 and left & one.value == one.value:
                left -= one.value
                found.append(one.name)
        return ",".join(reversed(found)) if not left and number > 0 else None


def _number_of(written: str, of: Mapping[str, int]) -> int | None:
    known = of.get(written)
    return int(written) if known is None and _WHOLE.fullmatch(written) else known


METHODS = frozenset({"sum", "min", "max", "average", "countdistinct"})
"""The standard methods of aggregation (Aggregation 4.0, 3.2.1.4)."""
SAME = "same"
"""The aggregate that is the value of all rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """A structural property.

    ``computed``: set by the service; a client's value is ignored. ``immutable``: accepted on create only.
    ``write_only``: accepted, but never returned, filtered or ordered by. ``filterable``: False for a value that is
    computed from a row after it was read, so that it can be neither filtered nor ordered by. ``searchable``: whether
    ``$search`` looks at it; None: only if it looks at no other property of the type, see `EntityType.searched`.
    ``default``: the value that a create without it stores. ``aggregate``: the property is also a custom aggregate of
    its type: ``aggregate(price)`` is the sum, min, max, average or countdistinct; `SAME` the value that all rows have,
    null if they differ. An amount in several currencies is null, like any aggregate of one (``Measures.ISOCurrency``).
    """

    name: str
    type: Type
    collection: bool = False
    nullable: bool = True
    max_length: int | None = None
    precision: int | None = None
    scale: int | None = None
    default: Any = None
    computed: bool = False
    immutable: bool = False
    write_only: bool = False
    searchable: bool | None = None
    filterable: bool = True
    aggregate: str | None = None
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationProperty:
    """A navigation to other entities.

    ``on`` pairs own properties with the target's: rows are related when each pair is equal. ``composition``: the
    target is written through this entity and deleted with it. ``writable``: may be bound, linked and deep-inserted.
    """

    name: str
    target: str  # name of the entity type in this schema
    collection: bool = False
    nullable: bool = True
    on: tuple[tuple[str, str], ...] = ()
    partner: str | None = None
    composition: bool = False
    writable: bool = True
    draft_way: DraftWay = DraftWay.ACTIVE
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, kw_only=True)
class StructuredType:
    """The common part of entity types and complex types."""

    name: str
    properties: tuple[Property, ...]
    navigations: tuple[NavigationProperty, ...] = ()
    annotations: tuple[Annotation, ...] = ()

    @cached_property
    def property_by_name(self) -> Mapping[str, Property]:
        return {one.name: one for one in self.properties}

    @cached_property
    def navigation_by_name(self) -> Mapping[str, NavigationProperty]:
        return {one.name: one for one in self.navigations}


@dataclass(frozen=True, kw_only=True)
class ComplexType(StructuredType):
    """A value with properties and no identity."""


@dataclass(frozen=True, kw_only=True)
class EntityType(StructuredType):
    """A type with identity. ``key`` names properties; ``etag`` says whether its entities have an ETag.

    ``alternate_keys`` name properties that identify an entity as well, if they have values: they address it, and a
    PATCH or PUT of one that does not exist creates it.
    ``hidden`` are properties that navigations join on and that no client sees; ``draft`` is its role in edit drafts,
    if any.
    """

    key: tuple[str, ...]
    etag: bool = False
    hidden: tuple[Property, ...] = ()
    alternate_keys: tuple[tuple[str, ...], ...] = ()
    draft: DraftRole | None = None

    @cached_property
    def key_properties(self) -> tuple[Property, ...]:
        return tuple(self.property_by_name[name] for name in self.key)

    @cached_property
    def searched(self) -> tuple[Property, ...]:
        """The properties that ``$search`` looks at.

        They are those that the model marks; if there are none, the texts; if there are none either, as texts, the key
        of the entity and those of the entities that it refers to.
        """
        open_to = [
            one
            for one in self.properties
            if one.filterable and not one.write_only and not one.collection and one.searchable is not False
        ]
        marked = tuple(one for one in open_to if one.searchable)
        texts = tuple(one for one in open_to if one.type is Primitive.STRING)
        references = {own for one in self.navigations if not one.collection for own, _ in one.on}
        keys = tuple(one for one in open_to if one.name in references.union(self.key) and one.type in _WRITTEN_ALIKE)
        return marked or texts or keys


_WRITTEN_ALIKE = frozenset(
    {
        Primitive.GUID,
        Primitive.STRING,
        Primitive.BYTE,
        Primitive.SBYTE,
        Primitive.INT16,
        Primitive.INT32,
        Primitive.INT64,
    }
)
"""Types of keys that are the same text on every database."""

Type = Primitive | EnumType | ComplexType


# ---- operations ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of an operation; ``entity_type`` instead of ``type`` for one that takes an entity."""

    name: str
    type: Type | None = None
    entity_type: str | None = None
    collection: bool = False
    nullable: bool = True
    max_length: int | None = None
    precision: int | None = None
    scale: int | None = None
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnType:
    """What an operation returns: a value of ``type`` or an entity (or entities) of ``entity_type``.

    ``media_type``: a client that accepts it gets the bare text instead of JSON.
    """

    type: Type | None = None
    entity_type: str | None = None
    collection: bool = False
    nullable: bool = True
    max_length: int | None = None
    precision: int | None = None
    scale: int | None = None
    media_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """An action or function. ``binding`` names the entity type it is bound to; None if it is unbound."""

    name: str
    binding: str | None = None
    binding_collection: bool = False
    parameters: tuple[Parameter, ...] = ()
    returns: ReturnType | None = None
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Action(Operation):
    """An operation that may have side effects, called by POST."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function(Operation):
    """An operation without side effects, called by GET."""

    composable: bool = False


# ---- container ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class EntitySet:
    """An addressable collection.

    ``bindings`` names the set of a navigation's targets, if it is not the only set of their type.
    """

    name: str
    entity_type: str
    insertable: bool = True
    updatable: bool = True
    deletable: bool = True
    readable: bool = True
    bindings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    in_service_document: bool = True
    annotations: tuple[Annotation, ...] = ()

    @property
    def read_only(self) -> bool:
        return not (self.insertable or self.updatable or self.deletable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Singleton:
    """A single addressable entity."""

    name: str
    entity_type: str
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionImport:
    """An unbound action at the service root."""

    name: str
    action: str
    entity_set: str | None = None
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionImport:
    """An unbound function at the service root."""

    name: str
    function: str
    entity_set: str | None = None
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """The sets, singletons and imports that are addressable at the service root."""

    name: str = "EntityContainer"
    entity_sets: tuple[EntitySet, ...] = ()
    singletons: tuple[Singleton, ...] = ()
    action_imports: tuple[ActionImport, ...] = ()
    function_imports: tuple[FunctionImport, ...] = ()
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A vocabulary that annotations use."""

    uri: str
    namespace: str
    alias: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """One namespace with everything in it."""

    namespace: str
    entity_types: tuple[EntityType, ...]
    container: Container
    complex_types: tuple[ComplexType, ...] = ()
    enum_types: tuple[EnumType, ...] = ()
    operations: tuple[Operation, ...] = ()
    references: tuple[Reference, ...] = ()
    annotations: tuple[Annotation, ...] = ()


class Edm:
    """A schema with an index of its names. Raise ValueError for a name that is unknown or defined twice."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.namespace = schema.namespace
        container = schema.container
        self.entity_types = _by_name("entity type", schema.entity_types)
        self.complex_types = _by_name("complex type", schema.complex_types)
        self.enum_types = _by_name("enumeration", schema.enum_types)
        self.entity_sets = _by_name("entity set", container.entity_sets)
        self.singletons = _by_name("singleton", container.singletons)
        self.action_imports = _by_name("action import", container.action_imports)
        self.function_imports = _by_name("function import", container.function_imports)
        self.operations: dict[str, tuple[Operation, ...]] = {}
        for operation in schema.operations:
            self.operations[operation.name] = (*self.operations.get(operation.name, ()), operation)
        self._sets_of: dict[str, list[EntitySet]] = {}
        for entity_set in container.entity_sets:
            if entity_set.entity_type not in self.entity_types:
                raise ValueError(f"entity set {entity_set.name} is of unknown type {entity_set.entity_type}")
            self._sets_of.setdefault(entity_set.entity_type, []).append(entity_set)
        self._check_structures()
        self._check_operations()

    def _check_structures(self) -> None:
        for owner in (*self.entity_types.values(), *self.complex_types.values()):
            names = [one.name for one in (*owner.properties, *owner.navigations)]
            if len(names) != len(set(names)):
                raise ValueError(f"{owner.name} has a member twice")
            _check_aggregates(owner)
            for navigation in owner.navigations:
                target = self.entity_types.get(navigation.target)
                if target is None:
                    raise ValueError(f"{owner.name}/{navigation.name} leads to unknown type {navigation.target}")
                for own, other in navigation.on:
                    hidden = {one.name for one in owner.hidden} if isinstance(owner, EntityType) else set()
                    if not owner.property_by_name.keys() | hidden >= {own} or other not in target.property_by_name:
                        raise ValueError(f"{owner.name}/{navigation.name} joins unknown properties {own}, {other}")
        for enum in self.enum_types.values():
            if enum.is_flags and any(one.value < 0 for one in enum.members):
                raise ValueError(f"{enum.name} has flags, so its members cannot be negative")
        for entity_type in self.entity_types.values():
            for name in (*entity_type.key, *(name for key in entity_type.alternate_keys for name in key)):
                if name not in entity_type.property_by_name:
                    raise ValueError(f"{entity_type.name} has no key property {name}")

    def _check_operations(self) -> None:
        for named in self.operations.values():
            if len({isinstance(one, Action) for one in named}) > 1:
                raise ValueError(f"{named[0].name} is both an action and a function")
            for operation in named:
                _check_overloads(self.overloads(operation))

    def qualified(self, name: str) -> str:
        """Return the qualified name: ``Promotions`` -> ``PublicAPI.Promotions``."""
        return f"{self.namespace}.{name}"

    def set_of(self, entity_type: str, *, source: EntitySet | None = None, path: str = "") -> EntitySet | None:
        """Return the set of a type's entities; ``source`` and ``path`` name the navigation that leads there."""
        if source is not None and path in source.bindings:
            bound: EntitySet = self.entity_sets[source.bindings[path]]
            return bound
        sets = self._sets_of.get(entity_type, ())
        return sets[0] if sets else None

    def bound_operation(self, name: str, entity_type: str, *, collection: bool) -> Operation | None:
        """Return the operation of this name that is bound to an entity (or a collection) of this type."""
        for operation in self.operations.get(name, ()):
            if operation.binding == entity_type and operation.binding_collection == collection:
                return operation
        return None

    def overloads(self, operation: Operation) -> tuple[Operation, ...]:
        """Return the operations of a name that are bound alike; the names of their parameters tell them apart."""
        return tuple(
            one
            for one in self.operations[operation.name]
            if (one.binding, one.binding_collection) == (operation.binding, operation.binding_collection)
        )


_INTEGERS = frozenset({Primitive.BYTE, Primitive.SBYTE, Primitive.INT16, Primitive.INT32, Primitive.INT64})
_NUMBERS = _INTEGERS | {Primitive.DECIMAL, Primitive.DOUBLE, Primitive.SINGLE}


def _has_aggregate(prop: Property, method: str) -> bool:
    if prop.collection or not isinstance(prop.type, Primitive) or not prop.filterable or prop.write_only:
        return False
    if method in {"sum", "average"}:
        return prop.type in _NUMBERS
    if method in {"min", "max", SAME}:
        return prop.type not in {Primitive.BOOLEAN, Primitive.BINARY, Primitive.GUID}
    return method in METHODS


def _check_aggregates(owner: StructuredType) -> None:
    for prop in owner.properties:
        if prop.aggregate is not None and not _has_aggregate(prop, prop.aggregate):
            raise ValueError(f"{owner.name}/{prop.name} has no aggregate {prop.aggregate}")


def _check_overloads(overloads: tuple[Operation, ...]) -> None:
    """Refuse what no call could tell apart (CSDL 4.01, 12.2). Raise ValueError."""
    first = overloads[0]
    called = first.name if first.binding is None else f"{first.name} of {first.binding}"
    for one in overloads:
        names = [parameter.name for parameter in one.parameters]
        if len(names) != len(set(names)):
            raise ValueError(f"{called} has a parameter twice")
    if len(overloads) > 1 and isinstance(first, Action):
        raise ValueError(f"the action {called} is declared twice")
    if len({frozenset(parameter.name for parameter in one.parameters) for one in overloads}) < len(overloads):
        raise ValueError(f"two overloads of the function {called} have parameters of the same names")
    if any(one.returns != first.returns for one in overloads):
        raise ValueError(f"the overloads of the function {called} return different types")


def _by_name(kind: str, values: tuple[Any, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for value in values:
        if value.name in found:
            raise ValueError(f"{kind} {value.name} is declared twice")
        found[value.name] = value
    return found
