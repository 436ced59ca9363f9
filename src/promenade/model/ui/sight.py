"""Look-ups for the user interface rules: entities by their sets, titles, natural keys, and labels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from odata_server.edm import Annotation, AnnotationPath, Operation, Primitive, Property, Schema
from odata_server.edm import EntityType as OdataType
from promenade.model.declare import EntityType, Field, Link
from promenade.model.ui.hints import HIDDEN

MANAGED = ("createdAt", "createdBy", "modifiedAt", "modifiedBy")

_TITLES = ("name", "parameterSummary", "entityName", "promotionName")


def path(to: str) -> AnnotationPath:
    """Return the path to the value of a property."""
    return AnnotationPath(to)


def property_path(to: str) -> AnnotationPath:
    """Return the path to a property itself."""
    return AnnotationPath(to, "PropertyPath")


class Sight:
    """A schema with the declarations that it was made from."""

    def __init__(self, schema: Schema, entities: Mapping[str, EntityType]) -> None:
        self.schema = schema
        self.entities = entities
        self.types = {one.name: one for one in schema.entity_types}

    @cached_property
    def bound(self) -> Mapping[str, tuple[Operation, ...]]:
        """The operations bound to one entity, without those of drafts, by the name of its type."""
        found: dict[str, tuple[Operation, ...]] = {}
        for one in self.schema.operations:
            if one.binding is not None and not one.binding_collection and not one.name.startswith("draft"):
                found[one.binding] = (*found.get(one.binding, ()), one)
        return found

    def is_served(self, set_name: str) -> bool:
        return set_name in self.types

    def title(self, set_name: str) -> str | None:
        """Return the path of an entity's title; None: nothing distinguishes it from others of its kind."""
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
        """Return the path of the text shown where another entity refers to it; it can be sorted and filtered by."""
        properties = self.types[set_name].property_by_name
        found = self._own_titles(set_name)
        return next((one for one in found if one not in properties or properties[one].filterable), None)

    def _own_titles(self, set_name: str) -> list[str]:
        """Return the candidates for an entity's title, the best first."""
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
        """Return the properties by which users identify a row."""
        entity = self.entities.get(set_name)
        if entity is None:
            return ("code",)
        columns = {link.column: link.property_wire for link in entity.links}
        fields = {field.name: field.wire for field in entity.fields}
        return tuple((fields | columns)[name] for name in entity.natural_key)

    def field(self, set_name: str, prop: Property) -> Field | None:
        """Return the field behind a property."""
        entity = self.entities.get(set_name)
        return None if entity is None else next((one for one in entity.fields if one.wire == prop.name), None)

    def link(self, set_name: str, prop: Property) -> Link | None:
        """Return the link whose foreign key a property is."""
        entity = self.entities.get(set_name)
        return None if entity is None else next((one for one in entity.links if one.property_wire == prop.name), None)

    def criticality(self, set_name: str, name: str) -> str | None:
        """Return the property with the criticality of another: ``statusCriticality`` for ``status``."""
        for one in self.types[set_name].property_by_name:
            stem = one.removesuffix("Criticality")
            if stem != one and (name == stem or (name.startswith(stem) and name[len(stem) : len(stem) + 1].isupper())):
                return one
        return None

    def is_optional(self, set_name: str, prop: Property) -> bool:
        """Return whether a complete entity may lack it; a draft may lack any property."""
        declared = self.field(set_name, prop) or self.link(set_name, prop)
        return prop.nullable if declared is None else declared.nullable

    def is_hidden(self, set_name: str, prop: Property) -> bool:
        """Return whether a property is only meaningful to programs."""
        field = self.field(set_name, prop)
        if (field is not None and field.name in ("id", "tenant_id")) or prop.name in HIDDEN.get(set_name, ()):
            return True
        return prop.name.endswith("Criticality") or any(one.term == "UI.Hidden" for one in prop.annotations)

    def shown(self, odata_type: OdataType) -> tuple[Property, ...]:
        """Return the properties that users see, in the order of their declaration."""
        return tuple(
            one
            for one in odata_type.properties
            if not one.write_only and not one.collection and not self.is_hidden(odata_type.name, one)
        )

    def is_long(self, prop: Property) -> bool:
        """Return whether a text is shown on several lines."""
        return prop.type is Primitive.STRING and (prop.max_length is None or prop.max_length > 500)

    def label(self, prop: Property) -> str:
        return next((str(one.value) for one in prop.annotations if one.term == "Common.Label"), prop.name)


def with_terms(stated: tuple[Annotation, ...], made: tuple[Annotation, ...]) -> tuple[Annotation, ...]:
    """Return annotations with further ones, which replace those with the same term and qualifier."""
    taken = {(one.term, one.qualifier) for one in made}
    return (*(one for one in stated if (one.term, one.qualifier) not in taken), *made)
