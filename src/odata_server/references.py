"""Links between entities, written by ``$ref``: an update of the property that carries the link (Protocol, 11.4.6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from odata_server.edm import EntitySet, NavigationProperty
from odata_server.errors import bad_request, not_found, not_implemented
from odata_server.exchange import Exchange, Work, by_key, check_options
from odata_server.http import Response
from odata_server.negotiation import require_json_body
from odata_server.payload import decode_json
from odata_server.resources import Kind
from odata_server.source import ByKey, Key, Payload, Target, Unit
from odata_server.writing import locate, method_not_allowed, read_only

__all__ = ["plan_reference"]

_ID = frozenset({"id"})


def plan_reference(x: Exchange) -> Work:
    """What a write of a link takes, permitted and its body decoded."""
    navigation, parent = x.resource.navigation, x.resource.parent
    if navigation is None or parent is None or not parent.single or not navigation.writable:
        raise method_not_allowed(x)
    single = x.resource.kind is Kind.ENTITY
    if x.request.method not in ({"DELETE", "PUT"} if single else {"DELETE", "POST"}):
        raise method_not_allowed(x)
    if x.resource.linked_key is not None and x.request.method != "DELETE":
        raise method_not_allowed(x)
    check_options(x.options, _ID)
    owner, other_set = parent.entity_set, x.resource.target.entity_set if x.resource.target else None
    if owner is None or other_set is None or not navigation.on:
        raise not_implemented(f"Linking through {navigation.name}")
    carrier = owner if _carries_itself(x, parent, navigation) else other_set
    x.permit_passing(last=True)
    x.permit("update", carrier)
    if not carrier.updatable:
        raise read_only(carrier) if carrier.read_only else method_not_allowed(x)
    key = x.resource.linked_key
    if x.request.method != "DELETE":
        key = _referenced(x, navigation)
    elif x.options.id is not None:
        key = x.links.key_of(x.options.id, navigation)
    elif navigation.collection and key is None:
        raise bad_request("REQUIRED", "Which link to delete is said by $id or by a key.", "$id")
    return lambda unit: _link(x, unit, (owner, other_set), key)


def _carries_itself(x: Exchange, parent: Target, navigation: NavigationProperty) -> bool:
    """Whether the link is in a property of the entity that the navigation starts from."""
    return not navigation.collection and not all(own in parent.entity_type.key for own, _ in navigation.on)


def _referenced(x: Exchange, navigation: NavigationProperty) -> Key:
    require_json_body(x.request)
    body = decode_json(x.request.body)
    address = body.get("@id", body.get("@odata.id")) if isinstance(body, dict) else None
    if not isinstance(address, str):
        raise bad_request("MALFORMED_BODY", 'The body must be {"@id": "<address>"}.')
    return x.links.key_of(address, navigation)


async def _link(x: Exchange, unit: Unit, sets: tuple[EntitySet, EntitySet], key: Key | None) -> Response:
    navigation, parent = x.resource.navigation, x.resource.parent
    if navigation is None or parent is None:
        raise not_found()
    owner, other_set = sets
    adding = x.request.method != "DELETE"
    own_names = tuple(own for own, _ in navigation.on)
    if not _carries_itself(x, parent, navigation):
        await _link_other(x, unit, other_set, key)
        return Response(204)
    own_key = await locate(x, unit, parent)
    values: dict[str, Any] = dict.fromkeys(own_names)
    if adding and key is not None:
        other = await x.one(unit, by_key(x.edm, other_set, key), *(name for _, name in navigation.on))
        values = {own: other[name] for own, name in navigation.on}
    else:
        _refuse_null(x, parent, own_names)
    await unit.update(owner, own_key, Payload(values), replace=False)
    return Response(204)


async def _link_other(x: Exchange, unit: Unit, other_set: EntitySet, key: Key | None) -> None:
    """The link is in the entity that is linked to."""
    navigation, parent = x.resource.navigation, x.resource.parent
    if navigation is None or parent is None:
        raise not_found()
    own = await x.one(unit, parent, *(name for name, _ in navigation.on), lock=True)
    if x.request.method != "DELETE" and key is not None:
        target = by_key(x.edm, other_set, key)
        values = {other: own[name] for name, other in navigation.on}
        await x.one(unit, target, lock=True)
        await unit.update(other_set, key, Payload(values), replace=False)
        return
    linked = x.resource.target
    if linked is None:
        raise not_found()
    if key is not None and x.resource.linked_key is None:
        linked = replace(linked, steps=(*linked.steps, ByKey(key)), single=True)
    names = tuple(other for _, other in navigation.on)
    _refuse_null(x, linked, names)
    row = await x.one(unit, linked, lock=True)
    found = {name: row[name] for name in linked.entity_type.key}
    await unit.update(other_set, found, Payload(dict.fromkeys(names)), replace=False)


def _refuse_null(x: Exchange, target: Target, names: tuple[str, ...]) -> None:
    for name in names:
        if not target.entity_type.property_by_name[name].nullable:
            raise bad_request("NOT_NULLABLE", f"The link cannot be removed: {name} must not be null.", name)
