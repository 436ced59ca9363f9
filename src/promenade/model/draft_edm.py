"""The EDM of entities with edit drafts in administration."""

from __future__ import annotations

from dataclasses import replace

from odata_server.draft import draft_annotation, with_drafts
from odata_server.edm import Annotation, DraftRole, EnumMemberValue, Property
from odata_server.edm import EntityType as OdataType
from promenade.model.declare import DRAFT, DRAFT_NODE, EntityType

_ROLES = {DRAFT: DraftRole.ROOT, DRAFT_NODE: DraftRole.NODE}
_MANDATORY = Annotation("Common.FieldControl", EnumMemberValue(("Common.FieldControlType/Mandatory",)))


def draft_role(entity: EntityType) -> DraftRole | None:
    """Return the role of an entity in edit drafts; None: it is written directly."""
    return _ROLES.get(entity.admin)


def drafted(entity: EntityType, entity_type: OdataType) -> OdataType:
    """Return the entity type with its draft properties, if it has any.

    A draft may be incomplete: required properties are annotated as such, but may be null until the draft is activated.
    """
    role = draft_role(entity)
    if role is None:
        return entity_type
    within = {one.wire for one in entity.collections if one.composition}
    if role is DraftRole.NODE and entity.owner is not None:
        within.add(entity.owner.wire)
    properties = tuple(one if one.name in entity_type.key else _loosened(one) for one in entity_type.properties)
    return with_drafts(replace(entity_type, properties=properties), role, within)


def drafted_set(entity: EntityType, namespace: str) -> tuple[Annotation, ...]:
    """Return the draft annotations of an entity set."""
    role = draft_role(entity)
    return () if role is None else (draft_annotation(role, namespace),)


def _loosened(prop: Property) -> Property:
    if prop.nullable or prop.computed or prop.collection:
        return prop
    return replace(prop, nullable=True, annotations=(*prop.annotations, _MANDATORY))
