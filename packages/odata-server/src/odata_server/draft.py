"""Edit drafts: the model of entities that are edited in private and then activated as a whole.

An entity with drafts has its key and ``IsActiveEntity``: everybody sees the active entity; its draft is what one user
is editing. Both are read from the same set; the path and the filter determine which of them a query means, see
`odata_server.sql.drafts`. The host implements creating, editing, activating and discarding.

The names are those of the vocabulary Common (DraftRoot, DraftNode) and of the user interfaces that use it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from odata_server.edm import (
    Action,
    Annotation,
    DraftRole,
    DraftWay,
    EntityType,
    NavigationProperty,
    Parameter,
    Primitive,
    Property,
    Record,
    ReturnType,
)

__all__ = [
    "ACTIVATE",
    "ADMINISTRATIVE_DATA",
    "DRAFT_UUID",
    "EDIT",
    "HAS_ACTIVE",
    "HAS_DRAFT",
    "IS_ACTIVE",
    "PREPARE",
    "SIBLING",
    "SIBLING_IS_ACTIVE",
    "administrative_data",
    "draft_actions",
    "draft_annotation",
    "with_drafts",
]

IS_ACTIVE = "IsActiveEntity"
HAS_ACTIVE = "HasActiveEntity"
HAS_DRAFT = "HasDraftEntity"
SIBLING = "SiblingEntity"
ADMINISTRATIVE_DATA = "DraftAdministrativeData"
DRAFT_UUID = "DraftUUID"
SIBLING_IS_ACTIVE = "SiblingIsActiveEntity"  # hidden: the join property of SiblingEntity
ACTIVATE, EDIT, PREPARE = "draftActivate", "draftEdit", "draftPrepare"


def with_drafts(entity_type: EntityType, role: DraftRole, same: Iterable[str]) -> EntityType:
    """Return an entity type with edit drafts; ``same`` are the navigations that stay within a draft.

    These are the navigations between an entity and its parts.
    """
    within = frozenset(same)
    navigations = [
        replace(one, on=(*one.on, (IS_ACTIVE, IS_ACTIVE)), draft_way=DraftWay.SAME) if one.name in within else one
        for one in entity_type.navigations
    ]
    return replace(
        entity_type,
        key=(*entity_type.key, IS_ACTIVE),
        properties=(*entity_type.properties, *_PROPERTIES),
        hidden=(*entity_type.hidden, *_HIDDEN),
        navigations=(*navigations, *_navigations(entity_type)),
        draft=role,
    )


def administrative_data() -> EntityType:
    """Return the entity type that says who is editing what since when, one entity per draft."""
    return EntityType(
        name=ADMINISTRATIVE_DATA,
        key=(DRAFT_UUID,),
        properties=(
            Property(name=DRAFT_UUID, type=Primitive.GUID, nullable=False, annotations=_said("Key.", "Draft")),
            _moment("CreationDateTime", "When the draft was begun.", "Draft created on"),
            _user("CreatedByUser", "Who began it.", "Draft created by"),
            _flag("DraftIsCreatedByMe", "Whether that was the caller.", "Draft created by me"),
            _moment("LastChangeDateTime", "When it was last changed.", "Draft last changed on"),
            _user("LastChangedByUser", "Who last changed it.", "Draft last changed by"),
            _user("InProcessByUser", "Who holds its lock; empty when that has run out.", "Draft in process by"),
            _flag("DraftIsProcessedByMe", "Whether that is the caller.", "Draft in process by me"),
        ),
        annotations=(Annotation("Core.Description", "Who is editing what since when; one for each draft."),),
    )


def draft_actions(root: str) -> tuple[Action, ...]:
    """Return the actions of every draft root; ``root`` is its entity type."""
    returns = ReturnType(entity_type=root, nullable=False)
    text = Primitive.STRING
    return (
        Action(
            name=PREPARE,
            binding=root,
            parameters=(Parameter(name="SideEffectsQualifier", type=text),),
            returns=returns,
            annotations=_described("Looks the draft over: what activating it would refuse comes as messages."),
        ),
        Action(
            name=ACTIVATE,
            binding=root,
            returns=returns,
            annotations=_described("Makes the draft the active entity, in one step with all of its parts."),
        ),
        Action(
            name=EDIT,
            binding=root,
            parameters=(Parameter(name="PreserveChanges", type=Primitive.BOOLEAN),),
            returns=returns,
            annotations=_described("Begins a draft of the active entity. Without PreserveChanges a left one goes."),
        ),
    )


def draft_annotation(role: DraftRole, namespace: str) -> Annotation:
    """Return the annotation of an entity set with drafts."""
    if role is DraftRole.NODE:
        return Annotation("Common.DraftNode", Record({}))
    actions = {"ActivationAction": ACTIVATE, "EditAction": EDIT, "PreparationAction": PREPARE}
    return Annotation("Common.DraftRoot", Record({name: f"{namespace}.{action}" for name, action in actions.items()}))


# ---- members ------------------------------------------------------------------------------------------------------


def _described(text: str) -> tuple[Annotation, ...]:
    return (Annotation("Core.Description", text),)


def _said(text: str, label: str) -> tuple[Annotation, ...]:
    return (*_described(text), Annotation("Common.Label", label))


def _moment(name: str, text: str, label: str) -> Property:
    return Property(
        name=name, type=Primitive.DATE_TIME_OFFSET, precision=6, computed=True, annotations=_said(text, label)
    )


def _user(name: str, text: str, label: str) -> Property:
    return Property(name=name, type=Primitive.STRING, max_length=255, computed=True, annotations=_said(text, label))


def _flag(name: str, text: str, label: str) -> Property:
    return Property(name=name, type=Primitive.BOOLEAN, nullable=False, computed=True, annotations=_said(text, label))


_HIDE = Annotation("UI.Hidden")

_PROPERTIES = (
    Property(
        name=IS_ACTIVE,
        type=Primitive.BOOLEAN,
        nullable=False,
        default=True,
        annotations=(*_said("Whether this is the active entity, and not a draft.", "Is active"), _HIDE),
    ),
    Property(
        name=HAS_ACTIVE,
        type=Primitive.BOOLEAN,
        nullable=False,
        computed=True,
        annotations=(
            *_said("Of a draft: whether there is an active entity that it will replace.", "Has active"),
            _HIDE,
        ),
    ),
    Property(
        name=HAS_DRAFT,
        type=Primitive.BOOLEAN,
        nullable=False,
        computed=True,
        annotations=(*_said("Of an active entity: whether somebody has a draft of it.", "Has draft"), _HIDE),
    ),
)
_HIDDEN = (
    Property(name=DRAFT_UUID, type=Primitive.GUID),
    Property(name=SIBLING_IS_ACTIVE, type=Primitive.BOOLEAN, nullable=False),
)


def _navigations(entity_type: EntityType) -> tuple[NavigationProperty, ...]:
    return (
        NavigationProperty(
            name=SIBLING,
            target=entity_type.name,
            on=(*((name, name) for name in entity_type.key), (SIBLING_IS_ACTIVE, IS_ACTIVE)),
            writable=False,
            draft_way=DraftWay.SIBLING,
            annotations=_described("The caller's draft of an active entity; the active entity of a draft."),
        ),
        NavigationProperty(
            name=ADMINISTRATIVE_DATA,
            target=ADMINISTRATIVE_DATA,
            on=((DRAFT_UUID, DRAFT_UUID),),
            writable=False,
            annotations=_described("Who is editing it since when, whoever that is."),
        ),
    )
