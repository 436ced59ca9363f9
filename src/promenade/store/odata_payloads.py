"""Payloads of OData as the rows that `Authoring` and `Drafts` take."""

from __future__ import annotations

from typing import Any

from odata_server.draft import IS_ACTIVE
from odata_server.draft_roles import DraftWay
from odata_server.edm import Edm, EntityType, NavigationProperty
from odata_server.errors import bad_request
from odata_server.source import Key, Nested, Payload
from promenade.store.authored import Delta

__all__ = ["row_of"]


def row_of(edm: Edm, entity_type: EntityType, payload: Payload) -> dict[str, Any]:
    """A payload by wire names; whether it is active is told by where it goes, not by a value of its own.

    Raises ODataError 400 (NOT_LINKABLE, NOT_A_COMPOSITION) for what is not written through this entity.
    """
    row = dict(payload.values)
    if entity_type.draft is not None:
        row.pop(IS_ACTIVE, None)
    navigations = entity_type.navigation_by_name
    for name, nested in payload.nested.items():
        row |= _member(edm, navigations[name], nested)
    for name, keys in payload.links.items():
        row |= _link(navigations[name], keys)
    return row


def _link(navigation: NavigationProperty, keys: tuple[Key, ...]) -> dict[str, Any]:
    """A link from a part of a draft to what it is part of; others are values by now, or cannot be made."""
    within = navigation.draft_way is DraftWay.SAME and not navigation.composition and not navigation.collection
    if not within or len(keys) != 1:
        message = f"Entities of {navigation.name} belong to one owner; they cannot be linked."
        raise bad_request("NOT_LINKABLE", message, navigation.name)
    return {own: keys[0][other] for own, other in navigation.on if own != IS_ACTIVE}


def _member(edm: Edm, navigation: NavigationProperty, nested: Nested) -> dict[str, Any]:
    target = edm.entity_types[navigation.target]
    rows = tuple(row_of(edm, target, item) for item in nested.items)
    if not navigation.composition:
        return _reference(navigation, rows)
    if not navigation.collection:
        return {navigation.name: rows[0] if rows else None}
    if nested.delta:
        return {navigation.name: Delta(rows, tuple(key["ID"] for key in nested.removed))}
    return {navigation.name: list(rows)}


def _reference(navigation: NavigationProperty, rows: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """An entity beside this one is not written through it; one that is given by its key alone is meant as a link."""
    joined = [(own, other) for own, other in navigation.on if own != IS_ACTIVE]
    if not rows:
        return {own: None for own, _ in joined}
    if set(rows[0]) != {other for _, other in joined}:
        message = f"{navigation.name} is an entity of its own: name it by its key, and write it by its own address."
        raise bad_request("NOT_A_COMPOSITION", message, navigation.name)
    return {own: rows[0][other] for own, other in joined}
