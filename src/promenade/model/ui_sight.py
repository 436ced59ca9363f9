"""What the rules for user interfaces look up: entities by their sets, titles, natural keys, the words for them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from odata_server.annotations import Annotation, AnnotationPath
from odata_server.edm import EntityType as OdataType
from odata_server.edm import Operation, Primitive, Property, Schema
from promenade.model.declare import EntityType, Field, Link

__all__ = ["MANAGED", "Sight", "path", "property_path", "with_terms"]

MANAGED = ("createdAt", "createdBy", "modifiedAt", "modifiedBy")

_TITLES = ("name", "parameterSummary", "entityName", "promotionName")


def path(to: str) -> AnnotationPath:
    """The value of a property, by its path."""
    return AnnotationPath(to)


def property_path(to: str) -> AnnotationPath:
    """A property itself, by its path."""
    return AnnotationPath(to, "PropertyPath")


class Sight:
    """A schema with the declarations that it was made from."""

    def __init__(self, schema: Schema, entities: Mapping[str, EntityType]) -> None:
        self.schema = schema
        self.entities = entities
        self.types = {one.name: one for one in schema.entity_types}

    @cached_property
    def bound(self) -> Mapping[str, tuple[Operation, ...]]:
        """The operations that are bound to one entity of a type, without those of drafts, by its name."""
        found: dict[str, tuple[Operation, ...]] = {}
        for one in self.schema.operations:
            if one.binding is not None and not one.binding_collection and not one.name.startswith("draft"):
                found[one.binding] = (*found.get(one.binding, ()), one)
        return found

    def is_served(self, set_name: str) -> bool:
        return set_name in self.types

    def title(self, set_name: str) -> str | None:
        """The path of what an entity is called; None: nothing tells it from others of its kind."""
        own = next(iter(self._own_titles(set_name)), None)
        if own is not None:
            return own
        for link in self.entities[set_name].links if set_name in self.entities else ():
            if not link.owner and self.is_served(link.target):
                inner = self.text(link.target)
                if inner is not None:
                    return f"{link.wire}/{inner}"
        return None

    def text(self, set_name: str) -> str | None:
        """The path of what stands for an entity where another refers to it: it is sorted and filtered by as well."""
        properties = self.types[set_name].property_by_name
        found = self._own_titles(set_name)
        return next((one for one in found if one not in properties or properties[one].filterable), None)

    def _own_titles(self, set_name: str) -> list[str]:
        """What an entity may be called by, the best first."""
        properties = self.types[set_name].property_by_name
        kinds = [one for one in self._codes(set_name) if one.required]
        searchable = [one for one in properties.values() if one.searchable]
        candidates = (
            *(name for name in (*_TITLES, *self.natural_key(set_name)) if name in properties),
            *(one.name for one in searchable if not self.is_optional(set_name, one)),
            *(f"{one.wire}Text/name" for one in kinds[:1]),
            *(one.name for one in searchable),
        )
        return [name for name in candidates if not name.endswith("_ID")]

    def _codes(self, set_name: str) -> list[Field]:
        entity = self.entities.get(set_name)
        return [one for one in entity.fields if one.code_list] if entity is not None else []

    def natural_key(self, set_name: str) -> tuple[str, ...]:
        """The properties that a row is known by to people."""
        entity = self.entities.get(set_name)
        if entity is None:
            return ("code",)
        columns = {link.column: link.property_wire for link in entity.links}
        fields = {field.name: field.wire for field in entity.fields}
        return tuple((fields | columns)[name] for name in entity.natural_key)

    def field(self, set_name: str, prop: Property) -> Field | None:
        """The field that a property shows."""
        entity = self.entities.get(set_name)
        return None if entity is None else next((one for one in entity.fields if one.wire == prop.name), None)

    def link(self, set_name: str, prop: Property) -> Link | None:
        """The link whose foreign key a property is."""
        entity = self.entities.get(set_name)
        return None if entity is None else next((one for one in entity.links if one.property_wire == prop.name), None)

    def criticality(self, set_name: str, name: str) -> str | None:
        """The property that says how another is to be coloured: ``statusCriticality`` of ``status``."""
        for one in self.types[set_name].property_by_name:
            stem = one.removesuffix("Criticality")
            if stem != one and (name == stem or (name.startswith(stem) and name[len(stem) : len(stem) + 1].isupper())):
                return one
        return None

    def is_optional(self, set_name: str, prop: Property) -> bool:
        """Whether a whole entity may be without it; a draft may be without anything."""
        declared = self.field(set_name, prop) or self.link(set_name, prop)
        return prop.nullable if declared is None else declared.nullable

    def is_hidden(self, set_name: str, prop: Property) -> bool:
        """Whether a property means something to programs alone."""
        field = self.field(set_name, prop)
        if field is not None and field.name in ("id", "tenant_id"):
            return True
        return prop.name.endswith("Criticality") or any(one.term == "UI.Hidden" for one in prop.annotations)

    def shown(self, odata_type: OdataType) -> tuple[Property, ...]:
        """The properties that people read, in the order of their declaration."""
        return tuple(
            one
            for one in odata_type.properties
            if not one.write_only and not one.collection and not self.is_hidden(odata_type.name, one)
        )

    def is_long(self, prop: Property) -> bool:
        """Whether a text is one to be read in several lines."""
        return prop.type is Primitive.STRING and (prop.max_length is None or prop.max_length > 500)

    def label(self, prop: Property) -> str:
        return next((str(one.value) for one in prop.annotations if one.term == "Common.Label"), prop.name)


def with_terms(stated: tuple[Annotation, ...], made: tuple[Annotation, ...]) -> tuple[Annotation, ...]:
    """Annotations with further ones, which take the place of those with the same term and qualifier."""
    taken = {(one.term, one.qualifier) for one in made}
    return (*(one for one in stated if (one.term, one.qualifier) not in taken), *made)
