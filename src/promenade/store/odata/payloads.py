"""Converts OData payloads, and import rows, which are decoded alike, to the rows of `Authoring` and `Drafts`."""

from __future__ import annotations

from typing import Any

from odata_server.draft import IS_ACTIVE
from odata_server.edm import DraftWay, Edm, EntityType, NavigationProperty
from odata_server.errors import ODataError, bad_request
from odata_server.links import Links
from odata_server.payload import check_structure, decode_entity
from odata_server.source import Key, Nested, Payload
from promenade.errors import Detail, Invalid, TooLarge
from promenade.model.declare import Service
from promenade.model.edm import edm_for, import_type
from promenade.store.authoring.statements import Delta

_ROW_BYTES_MAX = 10 * 1024 * 1024  # the same as for a request body


class RowDecoder:
    """Decodes import rows of one entity set as its service at ``root`` decodes the bodies of creates."""

    def __init__(self, set_name: str, root: str, service: Service = Service.PUBLIC) -> None:
        self._edm = edm_for(service)
        self._type = import_type(set_name)
        self._resolve = Links(self._edm, root).key_of

    def decode(self, text: bytes) -> dict[str, Any]:
        """Decode a row from its JSON. Raises Invalid or TooLarge, with the same details as a create."""
        if len(text) > _ROW_BYTES_MAX:
            raise TooLarge("BODY_TOO_LARGE", f"The row exceeds {_ROW_BYTES_MAX} bytes.")
        try:
            check_structure(text)
            payload = decode_entity(self._edm, self._type, text, for_create=True, resolve_reference=self._resolve)
            return row_of(self._edm, self._type, payload)
        except ODataError as error:
            details = [Detail(fault.code, _of_a_row(fault.message), fault.target) for fault in error.details]
            kind = TooLarge if error.status == 413 else Invalid
            raise kind(error.code, _of_a_row(error.message), error.target, details) from None


def _of_a_row(message: str) -> str:
    """Rephrase a message about the body as one about the row: an import's body holds many rows."""
    return f"The row{message.removeprefix('The body')}" if message.startswith("The body ") else message


def row_of(edm: Edm, entity_type: EntityType, payload: Payload) -> dict[str, Any]:
    """Convert a payload with wire names to a row; where it is written decides whether it is active, not a value.

    Raises ODataError 400 (NOT_LINKABLE, NOT_A_COMPOSITION) for what cannot be written through this entity.
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
    """Return a link from a part of a draft to its parent; other links are values by now, or are not allowed."""
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
    """Return a link if only the key is given; other entities cannot be written through this one."""
    joined = [(own, other) for own, other in navigation.on if own != IS_ACTIVE]
    if not rows:
        return {own: None for own, _ in joined}
    if set(rows[0]) != {other for _, other in joined}:
        message = f"{navigation.name} is a separate entity: refer to it by its key, and change it at its own address."
        raise bad_request("NOT_A_COMPOSITION", message, navigation.name)
    return {own: rows[0][other] for own, other in joined}
