"""POST, PATCH, PUT and DELETE of entities and their values (Protocol 4.01, 11.4)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from odata_server.draft import IS_ACTIVE
from odata_server.draft_roles import DraftRole, DraftWay
from odata_server.edm import ComplexType, EntitySet, EntityType, Function, Primitive, Property
from odata_server.errors import ODataError, bad_request, not_found, not_implemented
from odata_server.exchange import Exchange, Work, by_key, check_options, plain_select
from odata_server.http import Response
from odata_server.negotiation import require_json_body
from odata_server.payload import decode_entity, decode_json, decode_property
from odata_server.preconditions import check_write, tag_of
from odata_server.reading import ENTITY_OPTIONS
from odata_server.resources import Kind
from odata_server.source import ByKey, ByNavigation, Key, Payload, Target, Unit
from odata_server.syntax import ExpandItem, QueryOptions

__all__ = ["locate", "method_not_allowed", "plan_write", "read_only", "target_set"]

_NO_OPTIONS: frozenset[str] = frozenset()
_EXPANDED_DEPTH_MAX = 4


def plan_write(x: Exchange) -> Work:
    """What a write takes, permitted and its body decoded."""
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
    """The set whose entities a write changes. Raises ODataError 501 where they live in none."""
    target = x.resource.target
    if target is None:
        raise not_found()
    if target.entity_set is None:
        raise not_implemented("Writing entities without a set")
    return target.entity_set


def read_only(entity_set: EntitySet) -> ODataError:
    """A set that nobody writes."""
    return ODataError(405, "READ_ONLY", f"{entity_set.name} can only be read.", headers={"Allow": "GET"})


def method_not_allowed(x: Exchange) -> ODataError:
    """The method is not possible for this resource; ``Allow`` says which are."""
    allowed = ", ".join(_methods(x))
    message = f"{x.request.method[:20]} is not possible here."
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
    """Whether entities are created at this address: a set, or a navigation that is written."""
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
    """Whether a path leads to an edit draft, or into one, by a key that says so."""
    steps = target.steps if target is not None else ()
    keys = [step.key for step in steps if isinstance(step, ByKey)]
    strays = any(isinstance(step, ByNavigation) and step.navigation.draft_way is not DraftWay.SAME for step in steps)
    return bool(keys) and keys[0].get(IS_ACTIVE) is False and not strays


def _permit_nested(x: Exchange, entity_set: EntitySet, payload: Payload) -> None:
    """Entities that live on their own, and are made or changed by the way, need the permission for that too."""
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
            _permit_nested(x, inner_set, item)


# ---- create -------------------------------------------------------------------------------------------------------


def _plan_create(x: Exchange) -> Work:
    target = x.resource.target
    if target is None or x.resource.suffix or not _creates(x):
        raise method_not_allowed(x)
    entity_set = _permit(x, "create", possible=target_set(x).insertable)
    check_options(x.options, ENTITY_OPTIONS)
    body = x.request.body
    if target.entity_type.draft is DraftRole.ROOT and not body.strip():
        body = b"{}"  # a draft may begin with nothing at all
    else:
        require_json_body(x.request)
    payload = decode_entity(x.edm, target.entity_type, body, for_create=True, resolve_reference=x.links.key_of)
    _permit_nested(x, entity_set, payload)
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
        x.edm, target.entity_type, x.request.body, for_create=False, resolve_reference=x.links.key_of
    )
    _permit_nested(x, entity_set, payload)
    if x.dialect.preferences.returns == "representation":
        x.permit("read", entity_set)  # or a writer could read by writing nothing
    return lambda unit: _update(x, unit, target, entity_set, payload)


async def _update(x: Exchange, unit: Unit, target: Target, entity_set: EntitySet, payload: Payload) -> Response:
    key = await locate(x, unit, target)
    await unit.update(entity_set, key, payload, replace=x.request.method == "PUT")
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
    """The key of the entity that is about to change, held until the unit ends.

    Raises ODataError 404 where there is none, 412 when it is not what the client saw.
    """
    row = await x.one(unit, target, lock=True)
    etag = row.get("@etag")
    check_write(x.request, None if etag is None else tag_of(etag))
    return {name: row[name] for name in target.entity_type.key}


# ---- the answer ---------------------------------------------------------------------------------------------------


async def _answer_write(
    x: Exchange, unit: Unit, entity_set: EntitySet, key: Key, payload: Payload, *, created: bool
) -> Response:
    """The entity as it is now, or 204: as the client prefers, else as is usual here."""
    preferred = x.dialect.preferences.returns
    returns = preferred or ("representation" if created else x.hooks.patch_returns)
    target = by_key(x.edm, entity_set, key)
    # Absolute where the host is known, for there are clients that insist on it.
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
    # What was written must not fail for being too much to read.
    if payload.nested and not options.present & {"select", "expand"} and _parts_count(payload) <= x.hooks.page_size:
        options = replace(options, expand=_written_parts(x, target.entity_type, payload, created=created))
    return await _answer_in_full(x, unit, target, headers, options, created)


async def _answer_in_full(
    x: Exchange, unit: Unit, target: Target, headers: dict[str, str], options: QueryOptions, created: bool
) -> Response:
    rows = await unit.read(x.query(target, options))
    if not rows.items:  # written, and out of the caller's sight
        return Response(204, headers | ({"OData-EntityId": headers["Location"]} if created else {}))
    status = 201 if created else 200
    response = x.entity(rows.items[0], target.entity_type, target.entity_set, status=status, options=options)
    response.headers |= headers
    return response


def _written_parts(
    x: Exchange, entity_type: EntityType, payload: Payload, *, created: bool, depth: int = 1
) -> tuple[ExpandItem, ...]:
    """An expand of what was written with the entity (Protocol 4.01, 11.4.2.2): its parts, and what was made beside."""
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
    """The entity's new tag, for clients that will write again."""
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
    """A complex value that replaces another: what it leaves out has its default."""
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
