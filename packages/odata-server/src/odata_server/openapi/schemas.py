"""The schemas of an OpenAPI document: read, create and update schemas of each entity type; types; envelopes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from odata_server.csdl import model as csdl_model
from odata_server.edm import (
    ComplexType,
    Edm,
    EntityType,
    EnumType,
    NavigationProperty,
    Parameter,
    Primitive,
    Property,
    ReturnType,
    StructuredType,
)
from odata_server.openapi.values import Schema, described, is_union, nullable, ref, typed, union_name

__all__ = ["Schemas", "is_required"]

NESTING_MAX = 6
"""How deep compositions are spelled out in the bodies of creates and updates."""

_CONTROL = {"@": {"description": "Control information and annotations."}}


def is_required(entity_type: EntityType, prop: Property) -> bool:
    """Return whether a create must contain a property: not nullable, and no default in the model or the service."""
    if prop.nullable or prop.computed or prop.collection or prop.default is not None:
        return False
    if any(one.term == "Core.ComputedDefaultValue" for one in prop.annotations):
        return False
    # the service generates a GUID that is the only key property, unless the client supplies one
    return not (entity_type.key == (prop.name,) and prop.type == "Edm.Guid")


class Schemas:
    """Creates the component schemas of one model by name, on demand."""

    def __init__(
        self,
        edm: Edm,
        *,
        allowed_values: Mapping[str, Sequence[str]],
        enum_names: Mapping[str, str],
        required: Callable[[EntityType, Property], bool],
        changeable: Callable[[EntityType, Property], bool],
        extras: Mapping[str, Schema],
        told_once: Mapping[str, Collection[str]],
    ) -> None:
        self._edm = edm
        self._allowed = allowed_values
        self._enum_names = enum_names
        self._required = required
        self._changeable = changeable
        self.extras = extras
        self._told_once = told_once
        self.made: dict[str, Schema] = {}

    def add_types(self) -> None:
        """Add the schemas of everything that can be read, and of the complex types in both directions."""
        for complex_type in self._edm.complex_types.values():
            self.made[complex_type.name] = self._readable(complex_type)
            self.made[f"{complex_type.name}-input"] = self._complex_input(complex_type)
        for entity_type in self._edm.entity_types.values():
            self.made[entity_type.name] = self._readable(entity_type)

    # ---- answers ----

    def entity(self, name: str) -> Schema:
        """Return the schema of a response with one entity."""
        whole = ref(name)
        return {"allOf": [whole, {"required": list(self.extras)}]} if self.extras else whole

    def written(self, name: str) -> Schema:
        """Return the schema of the response to a create or update: the entity with the values sent only this once."""
        told = self._told_once.get(name)
        if not told:
            return self.entity(name)
        owner = self._edm.entity_types[name]
        properties = {one.name: self.readable_property(owner, one) for one in owner.properties if one.name in told}
        whole = self._readable(owner)
        self.made[f"{name}-written"] = whole | {
            "properties": whole["properties"] | properties,
            "required": list(self.extras),
        }
        return ref(f"{name}-written")

    def collection(self, item: Schema) -> Schema:
        """Return the schema of a collection response; a collection of entities is a component shared by many paths."""
        name = item.get("$ref", "").rpartition("/")[2]
        if name not in self._edm.entity_types:
            return self._page(item)
        if f"{name}-page" not in self.made:
            self.made[f"{name}-page"] = self._page(item)
        return ref(f"{name}-page")

    def _page(self, item: Schema) -> Schema:
        properties: Schema = {
            "@context": {"type": "string", "format": "uri-reference"},
            "@count": {"type": "integer", "minimum": 0, "description": "How many there are, with `$count=true`."},
            "@nextLink": {
                "type": "string",
                "format": "uri-reference",
                "description": "Where the next page is; absent on the last.",
            },
            "value": {"type": "array", "items": item},
        }
        return self._envelope(properties)

    def with_extras(self, schema: Schema) -> Schema:
        """Return the schema of an object response, with the extra members of the service."""
        properties = schema["properties"] | dict(self.extras)
        return schema | {"properties": properties, "required": [*schema["required"], *self.extras]}

    def single(self, value: Schema) -> Schema:
        """Return the schema of a response with one value."""
        return self._envelope({"@context": {"type": "string", "format": "uri-reference"}, "value": value})

    def returned(self, returns: ReturnType) -> Schema:
        """Return the schema of the response of an operation."""
        if returns.entity_type is not None:
            name = returns.entity_type
            return self.collection(ref(name)) if returns.collection else self.entity(name)
        schema = typed(returns, for_input=False, named=self._named("", returns))
        if isinstance(returns.type, ComplexType) and not returns.collection:
            return self.single(schema) if not self.extras else {"allOf": [schema, {"required": list(self.extras)}]}
        return self.single(schema)

    def _envelope(self, properties: Schema) -> Schema:
        return {
            "type": "object",
            "properties": properties | dict(self.extras),
            "required": ["value", *self.extras],
            "patternProperties": _CONTROL,
            "additionalProperties": False,
        }

    def _readable(self, owner: StructuredType) -> Schema:
        properties: Schema = {}
        for prop in owner.properties:
            if not prop.write_only:
                properties[prop.name] = self.readable_property(owner, prop)
        for navigation in owner.navigations:
            properties[navigation.name] = self._expanded(owner, navigation)
        for name, schema in self.extras.items():
            properties.setdefault(name, schema)
        return {
            "type": "object",
            **described(owner.annotations),
            "properties": properties,
            "patternProperties": _CONTROL,
            "additionalProperties": False,
        }

    def readable_property(self, owner: StructuredType, prop: Property) -> Schema:
        """Return the schema of a property in responses."""
        allowed = self._allowed.get(f"{owner.name}/{prop.name}")
        named = self._named(f"{owner.name}-{prop.name}", prop)
        schema = typed(prop, for_input=False, allowed=allowed, annotations=prop.annotations, named=named)
        read_only = {"readOnly": True} if prop.computed else {}
        return _beside(schema, described(prop.annotations) | read_only)

    def _expanded(self, owner: StructuredType, navigation: NavigationProperty) -> Schema:
        notes = described(navigation.annotations, fallback=f"With `$expand={navigation.name}`.")
        if navigation.collection:
            return {"type": "array", "items": ref(navigation.target), **notes}
        target = ref(navigation.target)
        maybe = csdl_model.is_nullable(self._edm, owner, navigation)
        return _beside(nullable(target) if maybe else target, notes)

    # ---- named values ----

    def parameter(self, operation: str, parameter: Parameter) -> Schema:
        """Return the schema of a parameter of an action that is not an entity."""
        named = self._named(f"{operation}-{parameter.name}", parameter)
        schema = typed(parameter, for_input=True, annotations=parameter.annotations, suffix="-input", named=named)
        return {**described(parameter.annotations), **schema}

    def names(self, name: str, names: Sequence[str]) -> Schema:
        """Return a reference to the names that a query option takes, as a component."""
        self.made.setdefault(name, {"type": "string", "enum": list(names)})
        return ref(name)

    def _named(self, name: str, typed_: Property | Parameter | ReturnType) -> Callable[[Schema], Schema]:
        """Return a function that makes codes, and values of several types, components: generators name classes so.

        ``name``: of a property's own codes, if the host has none for them and they are not an enumeration.
        """

        def hoisted(schema: Schema) -> Schema:
            kind = typed_.type
            if isinstance(kind, EnumType):
                return self._enumeration(kind, schema)
            if "enum" in schema:
                codes = self._enum_names.get(name.replace("-", "/", 1), name)
                self.made.setdefault(codes, {member: schema[member] for member in ("type", "enum")})
                return ref(codes)
            if "oneOf" in schema and isinstance(kind, Primitive):
                union = union_name(typed_, schema)
                self.made.setdefault(union, schema)
                return ref(union)
            return schema

        return hoisted

    def _enumeration(self, kind: EnumType, schema: Schema) -> Schema:
        union = "oneOf" in schema
        self.made.setdefault(kind.name, {**described(kind.annotations), **(schema["oneOf"][0] if union else schema)})
        if not union:
            return ref(kind.name)
        self.made.setdefault(f"{kind.name}-input", {"oneOf": [ref(kind.name), *schema["oneOf"][1:]]})
        return ref(f"{kind.name}-input")

    # ---- bodies ----

    def create(self, entity_type: EntityType) -> Schema:
        """Return the schema of the body of a create, including entities that may be created with it."""
        name = f"{entity_type.name}-create"
        if name not in self.made:
            self.made[name] = {}  # a type that contains itself refers to this
            self.made[name] = self._body(entity_type, name, creating=True, path=(entity_type.name,))
        return ref(name)

    def update(self, entity_type: EntityType, *, replace: bool = False) -> Schema:
        """Return the schema of an update body.

        With ``replace`` omitted properties get their default, so some are required.
        """
        name = f"{entity_type.name}-update"
        if name not in self.made:
            self.made[name] = {}
            self.made[name] = self._body(entity_type, name, creating=False, path=(entity_type.name,))
        given = self.made[name]["properties"]
        needed = [p.name for p in entity_type.properties if p.name in given and self._required(entity_type, p)]
        return {"allOf": [ref(name), {"required": needed}]} if replace and needed else ref(name)

    def created_along(self, owner: EntityType, navigation: NavigationProperty) -> Schema:
        """Return the schema of a create through a navigation.

        The properties that join the new entity to its owner are known.
        """
        return self._nested(f"{owner.name}-create", navigation, creating=True, path=(owner.name,))

    def _nested(self, prefix: str, navigation: NavigationProperty, *, creating: bool, path: tuple[str, ...]) -> Schema:
        base, _, kind = prefix.rpartition("-")
        name = f"{base}.{navigation.name}-{kind}"
        if name not in self.made:
            self.made[name] = {}
            target = self._edm.entity_types[navigation.target]
            joined = {other for _, other in navigation.on}
            self.made[name] = self._body(
                target, name, creating=creating, path=(*path, target.name), without=joined, nested=True
            )
        return ref(name)

    def _body(
        self,
        entity_type: EntityType,
        name: str,
        *,
        creating: bool,
        path: tuple[str, ...],
        without: Collection[str] = (),
        nested: bool = False,
    ) -> Schema:
        given = [
            p
            for p in entity_type.properties
            if p.name not in without and self._accepts(entity_type, p, creating, nested)
        ]
        properties = {prop.name: self._acceptable_property(entity_type, prop, creating) for prop in given}
        for navigation in entity_type.navigations:
            if navigation.composition and navigation.writable and len(path) < NESTING_MAX:
                inner = self._nested(name, navigation, creating=creating, path=path)
                notes = described(navigation.annotations)
                properties[navigation.name] = (
                    {"type": "array", "items": inner, **notes}
                    if navigation.collection
                    else _beside(nullable(inner), notes)
                )
        required = [prop.name for prop in given if self._required(entity_type, prop)] if creating else []
        return {
            "type": "object",
            **described(entity_type.annotations),
            "properties": properties,
            **({"required": required} if required else {}),
            "patternProperties": _CONTROL,
            "additionalProperties": False,
        }

    def _accepts(self, entity_type: EntityType, prop: Property, creating: bool, nested: bool) -> bool:
        if prop.name in entity_type.key:
            return nested or (creating and not prop.computed)
        if prop.computed:
            return False
        return creating or ((nested or not prop.immutable) and self._changeable(entity_type, prop))

    def _acceptable_property(self, owner: StructuredType, prop: Property, creating: bool) -> Schema:
        allowed = self._allowed.get(f"{owner.name}/{prop.name}")
        named = self._named(f"{owner.name}-{prop.name}", prop)
        schema = typed(
            prop, for_input=True, allowed=allowed, annotations=prop.annotations, suffix="-input", named=named
        )
        notes = described(prop.annotations, default=prop.default if creating else None)
        if "default" in notes and is_union(prop):  # a class of several types has no number as its default
            notes["description"] = " ".join(
                [*notes.get("description", "").split(), f"Default: {notes.pop('default')}."]
            )
        return _beside(schema, notes | ({"writeOnly": True} if prop.write_only else {}))

    def _complex_input(self, complex_type: ComplexType) -> Schema:
        return {
            "type": "object",
            **described(complex_type.annotations),
            "properties": {p.name: self._acceptable_property(complex_type, p, True) for p in complex_type.properties},
            "required": [p.name for p in complex_type.properties if not p.nullable and p.default is None],
            "patternProperties": _CONTROL,
            "additionalProperties": False,
        }


def _beside(schema: Schema, notes: Schema) -> Schema:
    """Add notes to a schema; its own, more specific description takes precedence."""
    return {**notes, **schema}
