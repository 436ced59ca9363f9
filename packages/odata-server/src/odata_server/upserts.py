"""PATCH and PUT of an entity that does not exist, addressed by an alternate key: it is created (Protocol 4.01, 11.4.4).

An entity that is addressed by its key is never created this way.
"""

from __future__ import annotations

from odata_server.edm import EntitySet
from odata_server.errors import ODataError, bad_request
from odata_server.exchange import Exchange, plain_select
from odata_server.payload import decode_entity
from odata_server.references import with_keys
from odata_server.source import ByKey, Key, Payload, Target, Unit

__all__ = ["create_absent", "is_there", "keeping_key", "may_create", "permit_nested"]


def may_create(x: Exchange, target: Target) -> bool:
    """Return whether an update creates the entity at ``target`` if it does not exist."""
    return _alternate(target) is not None and target.root.insertable


async def is_there(x: Exchange, unit: Unit, target: Target) -> bool:
    """Return whether the entity exists, which another unit that asks is told only when this one has ended."""
    return bool((await unit.read(x.query(target, plain_select(target.entity_type.key), lock=True))).items)


async def create_absent(x: Exchange, unit: Unit, target: Target, entity_set: EntitySet) -> tuple[Key, Payload]:
    """Create the entity with the values of its alternate key; return its key and content.

    Raise ODataError 412 if the client wants to change an existing one, 400 if its body names another key.
    """
    if "if-match" in x.request.headers:
        raise ODataError(412, "PRECONDITION_FAILED", "The entity does not exist.", "If-Match")
    x.permit("create", entity_set)
    payload = decode_entity(
        x.edm, target.entity_type, x.request.body, for_create=True, resolve_reference=x.links.any_key_of
    )
    permit_nested(x, entity_set, payload)
    key = _alternate(target) or {}
    for name, value in key.items():
        if payload.values.get(name, value) != value:
            raise bad_request("KEY_MISMATCH", f"{name} is not the one in the address.", name)
    payload = Payload({**payload.values, **key}, payload.nested, payload.links)
    payload = await with_keys(x, unit, entity_set, payload)
    return await unit.create(entity_set, payload), payload


def keeping_key(target: Target, payload: Payload) -> Payload:
    """Return what replaces the entity: the alternate key that it is addressed by stays if the body does not say it."""
    return Payload({**(_alternate(target) or {}), **payload.values}, payload.nested, payload.links)


def _alternate(target: Target) -> Key | None:
    """Return the alternate key that the target is addressed by, if that is all of its path."""
    first = target.steps[0] if len(target.steps) == 1 else None
    is_alternate = isinstance(first, ByKey) and first.key.keys() != set(target.entity_type.key)
    return first.key if isinstance(first, ByKey) and is_alternate else None


def permit_nested(x: Exchange, entity_set: EntitySet, payload: Payload) -> None:
    """Check the permissions for independent entities that a nested body creates or changes."""
    entity_type = x.edm.entity_types[entity_set.entity_type]
    for name, nested in payload.nested.items():
        navigation = entity_type.navigation_by_name[name]
        inner_set = x.edm.set_of(navigation.target, source=entity_set, path=name)
        if inner_set is None:
            continue
        if not navigation.composition:
            x.permit("create", inner_set)
            x.permit("update", inner_set)
        for item in nested.items:
            permit_nested(x, inner_set, item)
