"""What administration's metadata tells user interfaces, so that they need no page written by hand.

Labels, texts, value lists, columns, filters, facets and actions follow by rules from the declarations: what a title
is, what a list shows, which group a field is in. The few things that cannot be told from a declaration are in
`promenade.model.ui_hints`. The terms are those of the vocabularies UI, Common, Communication, Measures and Core.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from odata_server.annotations import Annotation, AnnotationPath, Record
from odata_server.edm import EntitySet, Schema
from odata_server.edm import EntityType as OdataType
from promenade.model.declare import EntityType
from promenade.model.ui_actions import annotated_operation
from promenade.model.ui_fields import annotated_navigation, annotated_property
from promenade.model.ui_pages import of_code_list, of_entity
from promenade.model.ui_sight import Sight, with_terms

__all__ = ["for_user_interfaces"]


def for_user_interfaces(schema: Schema, entities: Iterable[EntityType]) -> Schema:
    """A schema with annotations for user interfaces; ``entities`` are the declarations it was made from."""
    declared = {entity.set_name: entity for entity in entities}
    sight = Sight(schema, declared)
    members = replace(schema, entity_types=tuple(_members(sight, one) for one in schema.entity_types))
    sight = Sight(members, declared)
    code_lists = {one.name for one in members.entity_types if one.key == ("code",)} - declared.keys()
    return replace(
        members,
        entity_types=tuple(_whole(sight, one, one.name in code_lists) for one in members.entity_types),
        operations=tuple(annotated_operation(sight, one) for one in members.operations),
        container=replace(
            members.container, entity_sets=tuple(_restricted(sight, one) for one in members.container.entity_sets)
        ),
    )


def _members(sight: Sight, odata_type: OdataType) -> OdataType:
    """The type with what is said of its members."""
    return replace(
        odata_type,
        properties=tuple(annotated_property(sight, odata_type, one) for one in odata_type.properties),
        navigations=tuple(annotated_navigation(one) for one in odata_type.navigations),
    )


def _whole(sight: Sight, odata_type: OdataType, is_code_list: bool) -> OdataType:
    """The type with what is said of itself."""
    if is_code_list:
        made = of_code_list(sight, odata_type)
    elif odata_type.name in sight.entities:
        made = of_entity(sight, odata_type)
    else:
        return odata_type
    return replace(odata_type, annotations=with_terms(odata_type.annotations, made))


def _restricted(sight: Sight, entity_set: EntitySet) -> EntitySet:
    """The set with the ways that nothing can be created by: what they lead to is created in its own set."""
    closed = tuple(
        Record(
            {
                "NavigationProperty": AnnotationPath(one.name, "NavigationPropertyPath"),
                "InsertRestrictions": Record({"Insertable": False}, "Capabilities.InsertRestrictionsType"),
            },
            "Capabilities.NavigationPropertyRestriction",
        )
        for one in sight.types[entity_set.entity_type].navigations
        if one.collection and not (one.writable or one.composition)
    )
    if not closed:
        return entity_set
    made = Annotation("Capabilities.NavigationRestrictions", Record({"RestrictedProperties": closed}))
    return replace(entity_set, annotations=(*entity_set.annotations, made))
