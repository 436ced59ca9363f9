"""Payloads of OData as the rows that `Authoring` and `Drafts` take, and rows of imports, which are read alike."""

from __future__ import annotations

from typing import Any

from odata_server.draft import IS_ACTIVE
from odata_server.draft_roles import DraftWay
from odata_server.edm import Edm, EntityType, NavigationProperty
from odata_server.errors import ODataError, bad_request
from odata_server.links import Links
from odata_server.payload import check_structure, decode_entity
from odata_server.source import Key, Nested, Payload
from promenade.errors import Detail, Invalid, TooLarge
from promenade.model.declare import Service
from promenade.model.edm import edm_for, import_type
from promenade.store.authored import Delta

__all__ = ["RowDecoder", "row_of"]

_ROW_BYTES_MAX = 10 * 1024 * 1024  # as a request of its own


class RowDecoder:
    """Reads rows of imports into one entity set as the public API at ``root`` reads the bodies of creates."""

    def __init__(self, set_name: str, root: str) -> None:
        self._edm = edm_for(Service.PUBLIC)
        self._type = import_type(set_name)
        self._resolve = Links(self._edm, root).key_of

    def decode(self, text: bytes) -> dict[str, Any]:
        """A row from its JSON. Raises Invalid or TooLarge, with what a create would answer."""
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
    """What is said of a body, said of a row: the body of the request holds many, and is not at fault."""
    return f"The row{message.removeprefix('The body')}" if message.startswith("The body ") else message


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
