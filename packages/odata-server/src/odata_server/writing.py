"""POST, PATCH, PUT and DELETE of entities and their values (Protocol 4.01, 11.4).

A link written by ``$ref`` is an update of the property that carries it (Protocol, 11.4.6).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from odata_server.draft import IS_ACTIVE
from odata_server.edm import (
    ComplexType,
    DraftRole,
    DraftWay,
    EntitySet,
    EntityType,
    Function,
    NavigationProperty,
    Primitive,
    Property,
)
from odata_server.errors import ODataError, bad_request, not_found, not_implemented
from odata_server.exchange import Exchange, Work, by_key, check_options, plain_select
from odata_server.http import Response
from odata_server.negotiation import require_json_body
from odata_server.payload import decode_entity, decode_json, decode_property
from odata_server.preconditions import check_write, tag_of
from odata_server.reading import ENTITY_OPTIONS
from odata_server.references import with_keys
from odata_server.resources import Kind
from odata_server.source import ByKey, ByNavigation, Key, Payload, Target, Unit
from odata_server.syntax import ExpandItem, QueryOptions
from odata_server.upserts import create_absent, is_there, keeping_key, may_create, permit_nested

__all__ = ["locate", "method_not_allowed", "plan_reference", "plan_write", "read_only", "target_set"]

_NO_OPTIONS: frozenset[str] = frozenset()
_EXPANDED_DEPTH_MAX = 4


def plan_write(x: Exchange) -> Work:
    """Plan a write: check permissions and decode its body."""
    kind, method = x.resource.kind, x.request.method
    if kind is Kind.ENTITIES and method == "POST":
        return _plan_create(x)
    if kind is Kind.ENTITY and method in {"PATCH", "PUT"}:
        return _plan_update(x)
    if kind is Kind.ENTITY and method == "DELETE":
        return _plan_delete(x)
    if kind is Kind.PROPERTY and method in {"PUT", "PATCH", "DELETE"}:
        return _plan_value(x)
    raise method_not_allowed(x)


# ---- what may be done ---------------------------------------------------------------------------------------------


def target_set(x: Exchange) -> EntitySet:
    """Return the set whose entities a write changes. Raise ODataError 501 if they belong to no set."""
    target = x.resource.target
    if target is None:
        raise not_found()
    if target.entity_set is None:
        raise not_implemented("Writing entities without a set")
    return target.entity_set


def read_only(entity_set: EntitySet) -> ODataError:
    """Return the error for a read-only set."""
    return ODataError(405, "READ_ONLY", f"{entity_set.name} can only be read.", headers={"Allow": "GET"})


def method_not_allowed(x: Exchange) -> ODataError:
    """Return the error for a method that this resource does not allow; ``Allow`` lists the allowed ones."""
    allowed = ", ".join(_methods(x))
    message = f"{x.request.method[:20]} is not allowed here."
    return ODataError(405, "METHOD_NOT_ALLOWED", message, headers={"Allow": allowed})


def _methods(x: Exchange) -> list[str]:
    kind, suffix, target = x.resource.kind, x.resource.suffix, x.resource.target
    entity_set = target.entity_set if target is not None else None
    if kind is Kind.BATCH:
        return ["POST"]
    if kind is Kind.OPERATION:
        return ["GET" if isinstance(x.resource.operation, Function) else "POST"]
    if target is None or entity_set is None or suffix == "$count":
        return ["GET"]
    found = ["GET"] if entity_set.readable else []
    if suffix == "$ref":
        writable = x.resource.navigation is not None and x.resource.navigation.writable
        return [*found, *((["PUT"] if kind is Kind.ENTITY else ["POST"]) + ["DELETE"] if writable else [])]
    if kind is Kind.ENTITIES:
        return found + (["POST"] if entity_set.insertable and _creates(x) else [])
    if kind is Kind.PROPERTY:
        changes = ["PUT", "PATCH", "DELETE"] if _can_merge(x) else ["PUT", "DELETE"]
        return found + (changes if entity_set.updatable else [])
    return found + (["PATCH", "PUT"] if entity_set.updatable else []) + (["DELETE"] if entity_set.deletable else [])


def _creates(x: Exchange) -> bool:
    """Return whether entities can be created at this URL: a set, or a writable navigation."""
    navigation, target = x.resource.navigation, x.resource.target
    if navigation is None:
        return target is not None and not target.steps
    return navigation.writable or navigation.composition


def _permit(x: Exchange, kind: str, *, possible: bool) -> EntitySet:
    entity_set = target_set(x)
    x.permit_passing()
    x.permit(kind, entity_set, of_draft=_is_of_draft(x.resource.target))
    if x.options.expand:
        x.permit_expanded(x.edm.entity_types[entity_set.entity_type], entity_set, x.options.expand)
    if not possible:
        raise read_only(entity_set) if entity_set.read_only else method_not_allowed(x)
    return entity_set


def _is_of_draft(target: Target | None) -> bool:
    """Return whether the key in a path identifies an edit draft and the path stays within it."""
    steps = target.steps if target is not None else ()
    keys = [step.key for step in steps if isinstance(step, ByKey)]
    strays = any(isinstance(step, ByNavigation) and step.navigation.draft_way is not DraftWay.SAME for step in steps)
    return bool(keys) and keys[0].get(IS_ACTIVE) is False and not strays


# ---- create -------------------------------------------------------------------------------------------------------


def _plan_create(x: Exchange) -> Work:
    target = x.resource.target
    if target is None or x.resource.suffix or not _creates(x):
        raise method_not_allowed(x)
    entity_set = _permit(x, "create", possible=target_set(x).insertable)
    check_options(x.options, ENTITY_OPTIONS)
    body = x.request.body
    if target.entity_type.draft is DraftRole.ROOT and not body.strip():
        body = b"{}"  # a draft may start empty
    else:
        require_json_body(x.request)
    payload = decode_entity(x.edm, target.entity_type, body, for_create=True, resolve_reference=x.links.any_key_of)
    permit_nested(x, entity_set, payload)
    return lambda unit: _create(x, unit, entity_set, payload)


async def _create(x: Exchange, unit: Unit, entity_set: EntitySet, payload: Payload) -> Response:
    parent, navigation = x.resource.parent, x.resource.navigation
    if parent is not None and navigation is not None:
        if not parent.single:
            raise method_not_allowed(x)
        if not navigation.on:
            raise not_implemented(f"Creating through {navigation.name}")
        row = await x.one(unit, parent, *(own for own, _ in navigation.on), lock=True)
        values = {**payload.values, **{other: row[own] for own, other in navigation.on}}
        payload = Payload(values, payload.nested, payload.links)
    payload = await with_keys(x, unit, entity_set, payload)
    key = await unit.create(entity_set, payload)
    return await _answer_write(x, unit, entity_set, key, payload, created=True)


# ---- update and delete --------------------------------------------------------------------------------------------


def _plan_update(x: Exchange) -> Work:
    target = x.resource.target
    if target is None or x.resource.suffix:
        raise method_not_allowed(x)
    entity_set = _permit(x, "update", possible=target_set(x).updatable)
    check_options(x.options, ENTITY_OPTIONS)
    require_json_body(x.request)
    payload = decode_entity(
        x.edm, target.entity_type, x.request.body, for_create=False, resolve_reference=x.links.any_key_of
    )
    permit_nested(x, entity_set, payload)
    if x.dialect.preferences.returns == "representation":
        x.permit("read", entity_set)  # otherwise a writer could read by sending an empty write
    return lambda unit: _update(x, unit, target, entity_set, payload)


async def _update(x: Exchange, unit: Unit, target: Target, entity_set: EntitySet, payload: Payload) -> Response:
    if may_create(x, target) and not await is_there(x, unit, target):
        made, content = await create_absent(x, unit, target, entity_set)
        return await _answer_write(x, unit, entity_set, made, content, created=True)
    key = await locate(x, unit, target)
    payload = await with_keys(x, unit, entity_set, payload)
    replaces = x.request.method == "PUT"
    await unit.update(entity_set, key, keeping_key(target, payload) if replaces else payload, replace=replaces)
    return await _answer_write(x, unit, entity_set, key, payload, created=False)


def _plan_delete(x: Exchange) -> Work:
    target = x.resource.target
    if target is None or x.resource.suffix:
        raise method_not_allowed(x)
    entity_set = _permit(x, "delete", possible=target_set(x).deletable)
    check_options(x.options, _NO_OPTIONS)
    return lambda unit: _delete(x, unit, target, entity_set)


async def _delete(x: Exchange, unit: Unit, target: Target, entity_set: EntitySet) -> Response:
    key = await locate(x, unit, target)
    await unit.delete(entity_set, key)
    return Response(204)


async def locate(x: Exchange, unit: Unit, target: Target) -> Key:
    """Return the key of the entity to change, locked until the unit ends.

    Raise ODataError 404 if it does not exist, 412 if it differs from the client's version.
    """
    row = await x.one(unit, target, lock=True)
    etag = row.get("@etag")
    check_write(x.request, None if etag is None else tag_of(etag))
    return {name: row[name] for name in target.entity_type.key}


# ---- the answer ---------------------------------------------------------------------------------------------------


async def _answer_write(
    x: Exchange, unit: Unit, entity_set: EntitySet, key: Key, payload: Payload, *, created: bool
) -> Response:
    """Return the entity after the write, or 204, according to the client's preference or the default."""
    preferred = x.dialect.preferences.returns
    returns = preferred or ("representation" if created else x.hooks.patch_returns)
    target = by_key(x.edm, entity_set, key)
    # Absolute if the host is known, because some clients require it.
    address = x.request.origin + x.links.entity(entity_set, key)
    headers = {"Location": address} if created else {}
    if returns == "minimal" or not entity_set.readable:
        if x.hooks.tells_once(unit, entity_set, key):
            return await _answer_in_full(x, unit, target, headers, plain_select(target.entity_type.key), created)
        if preferred is not None:
            headers["Preference-Applied"] = f"return={preferred}"
        if created:
            headers["OData-EntityId"] = address
        return Response(204, headers | await _tag(x, unit, target))
    if preferred is not None:
        headers["Preference-Applied"] = f"return={preferred}"
    options = x.options
    # A successful write must not fail because its result is too large to read.
    if payload.nested and not options.present & {"select", "expand"} and _parts_count(payload) <= x.hooks.page_size:
        options = replace(options, expand=_written_parts(x, target.entity_type, payload, created=created))
    return await _answer_in_full(x, unit, target, headers, options, created)


async def _answer_in_full(
    x: Exchange, unit: Unit, target: Target, headers: dict[str, str], options: QueryOptions, created: bool
) -> Response:
    rows = await unit.read(x.query(target, options))
    if not rows.items:  # written, but no longer visible to the caller
        return Response(204, headers | ({"OData-EntityId": headers["Location"]} if created else {}))
    status = 201 if created else 200
    response = x.entity(rows.items[0], target.entity_type, target.entity_set, status=status, options=options)
    response.headers |= headers
    return response


def _written_parts(
    x: Exchange, entity_type: EntityType, payload: Payload, *, created: bool, depth: int = 1
) -> tuple[ExpandItem, ...]:
    """Return an expand of what was written with the entity (Protocol 4.01, 11.4.2.2).

    It includes its compositions, and for a create also the other entities in the body.
    """
    found: list[ExpandItem] = []
    for name, nested in payload.nested.items():
        navigation = entity_type.navigation_by_name[name]
        made_beside = created and bool(nested.items)
        if not (navigation.composition or made_beside) or depth > _EXPANDED_DEPTH_MAX:
            continue
        all_inner = Payload({}, {one: inner for item in nested.items for one, inner in item.nested.items()})
        inner_type = x.edm.entity_types[navigation.target]
        items = _written_parts(x, inner_type, all_inner, created=created, depth=depth + 1)
        found.append(ExpandItem((name,), options=QueryOptions(expand=items) if items else None))
    return tuple(found)


def _parts_count(payload: Payload) -> int:
    return sum(1 + _parts_count(item) for nested in payload.nested.values() for item in nested.items)


async def _tag(x: Exchange, unit: Unit, target: Target) -> dict[str, str]:
    """Return the entity's new tag, for clients that will write again."""
    if not target.entity_type.etag:
        return {}
    rows = await unit.read(x.query(target, plain_select(target.entity_type.key)))
    etag = x.etag(rows.items[0]) if rows.items else None
    return {} if etag is None else {"ETag": etag}


# ---- single values ------------------------------------------------------------------------------------------------


def _plan_value(x: Exchange) -> Work:
    target, properties, method = x.resource.target, x.resource.properties, x.request.method
    last = properties[-1]
    if target is None or x.resource.suffix not in {"", "$value"} or (method == "PATCH" and not _can_merge(x)):
        raise method_not_allowed(x)
    entity_set = _permit(x, "update", possible=target_set(x).updatable)
    check_options(x.options, _NO_OPTIONS)
    if any(prop.computed or prop.immutable for prop in properties) or properties[0].name in target.entity_type.key:
        raise bad_request("READ_ONLY", f"{last.name} cannot be changed.", last.name)
    if method == "DELETE":
        value = decode_property(x.edm, last, [] if last.collection else None)
    elif x.resource.suffix == "$value":
        value = _from_text(x, last)
    else:
        value = _from_json(x, last)
    return lambda unit: _set_value(x, unit, target, entity_set, value)


def _can_merge(x: Exchange) -> bool:
    last = x.resource.properties[-1]
    return isinstance(last.type, ComplexType) and not last.collection and not x.resource.suffix


def _from_json(x: Exchange, prop: Property) -> Any:
    require_json_body(x.request)
    body = decode_json(x.request.body)
    if isinstance(prop.type, ComplexType) and not prop.collection:
        value = decode_property(x.edm, prop, body)
        return _whole(prop.type, value) if x.request.method == "PUT" and value is not None else value
    if not isinstance(body, dict) or "value" not in body:
        raise bad_request("MALFORMED_BODY", 'The body must be {"value": ...}.')
    return decode_property(x.edm, prop, body["value"])


def _whole(type_: ComplexType, value: dict[str, Any]) -> dict[str, Any]:
    """Return a complex value for replacing another: omitted parts get their default."""
    for prop in type_.properties:
        if prop.name not in value and prop.default is None and not prop.nullable:
            raise bad_request("REQUIRED", f"{prop.name} is missing.", prop.name)
    return {prop.name: prop.default for prop in type_.properties} | value


def _from_text(x: Exchange, prop: Property) -> Any:
    if prop.type is Primitive.BINARY:
        return x.request.body
    try:
        text = x.request.body.decode()
    except UnicodeDecodeError:
        raise bad_request("MALFORMED_BODY", "The body is not UTF-8.") from None
    raw: Any = text
    if prop.type in {Primitive.BOOLEAN}:
        raw = {"true": True, "false": False}.get(text, text)
    elif prop.type not in {Primitive.STRING, Primitive.GUID} and isinstance(prop.type, Primitive):
        raw = _number_or(text)
    return decode_property(x.edm, prop, raw)


def _number_or(text: str) -> Any:
    try:
        found = decode_json(text.encode())
    except ODataError:
        return text
    return text if isinstance(found, dict | list | str | bool) or found is None else found


async def _set_value(x: Exchange, unit: Unit, target: Target, entity_set: EntitySet, value: Any) -> Response:
    properties = x.resource.properties
    first = properties[0].name
    key = await locate(x, unit, target)
    if len(properties) > 1 or x.request.method == "PATCH":
        row = await x.one(unit, target, first, lock=True)
        value = _merged(row.get(first), [prop.name for prop in properties[1:]], value, x.request.method == "PATCH")
    await unit.update(entity_set, key, Payload({first: value}), replace=False)
    return Response(204, await _tag(x, unit, by_key(x.edm, entity_set, key)))


def _merged(old: Any, names: list[str], value: Any, merge: bool) -> Any:
    before = dict(old) if isinstance(old, dict) else {}
    if names:
        return before | {names[0]: _merged(before.get(names[0]), names[1:], value, merge)}
    return before | value if merge and isinstance(value, dict) else value


_ID = frozenset({"id"})


def plan_reference(x: Exchange) -> Work:
    """Plan the write of a link: check permissions and decode its body."""
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
        key = x.links.any_key_of(x.options.id, navigation)
    elif navigation.collection and key is None:
        raise bad_request("REQUIRED", "Name the link to delete by $id or by a key.", "$id")
    return lambda unit: _link(x, unit, (owner, other_set), key)


def _carries_itself(x: Exchange, parent: Target, navigation: NavigationProperty) -> bool:
    """Return whether a property of the navigation's source entity holds the link."""
    return not navigation.collection and not all(own in parent.entity_type.key for own, _ in navigation.on)


def _referenced(x: Exchange, navigation: NavigationProperty) -> Key:
    require_json_body(x.request)
    body = decode_json(x.request.body)
    address = body.get("@id", body.get("@odata.id")) if isinstance(body, dict) else None
    if not isinstance(address, str):
        raise bad_request("MALFORMED_BODY", 'The body must be {"@id": "<address>"}.')
    return x.links.any_key_of(address, navigation)


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
    """Write a link that is stored in the linked entity."""
    navigation, parent = x.resource.navigation, x.resource.parent
    if navigation is None or parent is None:
        raise not_found()
    own = await x.one(unit, parent, *(name for name, _ in navigation.on), lock=True)
    if x.request.method != "DELETE" and key is not None:
        target = by_key(x.edm, other_set, key)
        values = {other: own[name] for name, other in navigation.on}
        row = await x.one(unit, target, lock=True)
        found = {name: row[name] for name in target.entity_type.key}
        await unit.update(other_set, found, Payload(values), replace=False)
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
