"""GET: collections, single entities, their values, counts and references (Protocol 4.01, 11.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from odata_server.errors import ODataError, not_found, not_implemented
from odata_server.exchange import Exchange, Work, check_options, plain_select
from odata_server.http import Response
from odata_server.links import key_values, text_of
from odata_server.preconditions import is_unchanged
from odata_server.resources import Kind
from odata_server.source import Target, Unit

__all__ = ["ENTITY_OPTIONS", "plan_read"]

ENTITY_OPTIONS = frozenset({"select", "expand", "compute"})
COLLECTION_OPTIONS = ENTITY_OPTIONS | {"filter", "orderby", "search", "apply", "top", "skip", "count", "skiptoken"}
_REFERENCE_OPTIONS = frozenset({"filter", "orderby", "search", "top", "skip", "count", "skiptoken"})
_COUNT_OPTIONS = frozenset({"filter", "search", "apply"})
_LIST_OPTIONS = frozenset({"top", "skip", "count"})


def plan_read(x: Exchange) -> Work:
    """Plan a read: check permissions, and whatever can be checked without data."""
    resource = x.resource
    for entity_set in resource.sets:
        if not entity_set.readable:
            raise ODataError(405, "NOT_READABLE", f"{entity_set.name} cannot be read.", headers={"Allow": "POST"})
    x.permit_reading()
    if resource.kind is Kind.PROPERTY:
        return _plan_value(x)
    if resource.suffix == "$count":
        check_options(x.options, _COUNT_OPTIONS)
        if x.options.apply:
            raise not_implemented("$apply with $count")
        return lambda unit: _count(x, unit)
    single = resource.kind is Kind.ENTITY
    if resource.suffix == "$ref":
        check_options(x.options, frozenset() if single else _REFERENCE_OPTIONS)
        return (lambda unit: _reference(x, unit)) if single else (lambda unit: _references(x, unit))
    check_options(x.options, ENTITY_OPTIONS if single else COLLECTION_OPTIONS)
    return (lambda unit: _entity(x, unit)) if single else (lambda unit: _entities(x, unit))


def _target(x: Exchange) -> Target:
    if x.resource.target is None:
        raise not_found()
    return x.resource.target


# ---- entities -----------------------------------------------------------------------------------------------------


async def _entities(x: Exchange, unit: Unit) -> Response:
    target = _target(x)
    query = replace(x.query(target, x.options), etags=x.dialect.metadata != "none")
    rows = await unit.read(query)
    prefix, items = x.dialect.prefix, rows.items
    if not items:
        await _check_parent(x, unit)
    if x.options.apply:
        fragment = x.links.applied(x.options.apply)
    else:
        items = x.encoder.rows(items, target.entity_type, target.entity_set, x.dialect)
        fragment = x.links.selected(target.entity_type, x.options, x.dialect.version)
    name = target.entity_set.name if target.entity_set else f"Collection({x.edm.qualified(target.entity_type.name)})"
    body = x.context(f"{name}{fragment}")
    if rows.count is not None:
        body[f"{prefix}count"] = x.dialect.count(rows.count)
    body["value"] = items
    return _page(x, body, rows.next_token)


def _page(x: Exchange, body: dict[str, Any], next_token: str | None) -> Response:
    if next_token is not None:
        following = x.links.next_page(x.request.path, x.request.query, next_token)
        body[f"{x.dialect.prefix}nextLink"] = x.request.origin + following
    if x.dialect.preferences.page_size_max is not None:
        name = "maxpagesize" if x.dialect.version == "4.01" else "odata.maxpagesize"
        return x.json(body, Preference_Applied=f"{name}={x.dialect.preferences.page_size_max}")
    return x.json(body)


async def _entity(x: Exchange, unit: Unit) -> Response:
    target = _target(x)
    rows = await unit.read(x.query(target, x.options))
    if not rows.items:
        return await _nothing(x, unit)
    row = rows.items[0]
    etag = x.etag(row)
    if is_unchanged(x.request, etag):
        return Response(304, {} if etag is None else {"ETag": etag})
    return x.entity(row, target.entity_type, target.entity_set)


async def _nothing(x: Exchange, unit: Unit) -> Response:
    """Return 204 if a navigation of an existing entity leads to no entity, else raise 404."""
    parent = x.resource.parent
    if parent is None or x.resource.linked_key is not None or not parent.single:
        raise not_found()
    navigation = x.resource.navigation
    if navigation is None or navigation.collection:
        raise not_found()
    await x.one(unit, parent)
    return Response(204)


async def _count(x: Exchange, unit: Unit) -> Response:
    target = _target(x)
    found = await unit.count(x.query(target, x.options))
    if not found:
        await _check_parent(x, unit)
    return text_response(str(found))


async def _check_parent(x: Exchange, unit: Unit) -> None:
    """Check that the parent exists: the collection of a missing entity is a 404, not empty."""
    parent = x.resource.parent
    if parent is not None and parent.single:
        await x.one(unit, parent)


# ---- references ---------------------------------------------------------------------------------------------------


async def _references(x: Exchange, unit: Unit) -> Response:
    target = _target(x)
    if target.entity_set is None:
        raise not_implemented("A reference to entities without a set")
    options = replace(x.options, select=plain_select(target.entity_type.key).select)
    rows = await unit.read(replace(x.query(target, options), quoted_numbers=False, etags=False))
    if not rows.items:
        await _check_parent(x, unit)
    key = f"{x.dialect.prefix}id"
    body = x.context("Collection($ref)")
    if rows.count is not None:
        body[f"{x.dialect.prefix}count"] = x.dialect.count(rows.count)
    body["value"] = [{key: x.request.origin + x.links.entity(target.entity_set, row)} for row in rows.items]
    return _page(x, body, rows.next_token)


async def _reference(x: Exchange, unit: Unit) -> Response:
    target = _target(x)
    if target.entity_set is None:
        raise not_implemented("A reference to an entity without a set")
    rows = await unit.read(replace(x.query(target, plain_select(target.entity_type.key)), quoted_numbers=False))
    if not rows.items:
        return await _nothing(x, unit)
    address = x.request.origin + x.links.entity(target.entity_set, key_values(target.entity_type, rows.items[0]))
    return x.json({**x.context("$ref"), f"{x.dialect.prefix}id": address})


# ---- values -------------------------------------------------------------------------------------------------------


def _plan_value(x: Exchange) -> Work:
    last = x.resource.properties[-1]
    is_list = last.collection and not x.resource.suffix
    check_options(x.options, _LIST_OPTIONS if is_list else frozenset())
    return lambda unit: _value(x, unit)


async def _value(x: Exchange, unit: Unit) -> Response:
    target, properties = _target(x), x.resource.properties
    options = replace(plain_select((properties[0].name,)), aliases=x.options.aliases)
    bare = x.resource.suffix != ""
    query = replace(x.query(target, options), quoted_numbers=x.dialect.quoted_numbers and not bare)
    rows = await unit.read(query)
    if not rows.items:
        raise not_found()
    row = rows.items[0]
    etag = x.etag(row)
    if is_unchanged(x.request, etag):
        return Response(304, {} if etag is None else {"ETag": etag})
    value: Any = row
    for prop in properties:
        value = value.get(prop.name) if isinstance(value, Mapping) else None
    if bare:
        return _bare(x, value, etag)
    if value is None:
        return Response(204, {} if etag is None else {"ETag": etag})
    return _property(x, row, value, etag)


def _bare(x: Exchange, value: Any, etag: str | None) -> Response:
    tag = {} if etag is None else {"ETag": etag}
    if x.resource.suffix == "$count":
        return text_response(str(len(value or ())))
    if value is None:
        return Response(204, tag)
    if isinstance(value, bytes):
        return Response(200, {"Content-Type": "application/octet-stream", **tag}, value)
    response = text_response(text_of(value))
    response.headers |= tag
    return response


def _property(x: Exchange, row: Mapping[str, Any], value: Any, etag: str | None) -> Response:
    target, properties = _target(x), x.resource.properties
    last = properties[-1]
    path = "/".join(prop.name for prop in properties)
    if target.entity_set is not None and target.entity_set.name in x.edm.singletons:
        fragment = f"{target.entity_set.name}/{path}"
    elif target.entity_set is not None:
        fragment = f"{x.links.relative(target.entity_set, key_values(target.entity_type, dict(row)))}/{path}"
    else:
        fragment = x.links.type_name(last.type, collection=last.collection)
    body = x.context(fragment)
    value = x.encoder.value(value, last.type, collection=last.collection)
    if last.collection:
        if x.options.count:
            body[f"{x.dialect.prefix}count"] = x.dialect.count(len(value))
        start = x.options.skip or 0
        body["value"] = value[start : None if x.options.top is None else start + x.options.top]
    elif isinstance(value, dict):
        body |= value
    else:
        body["value"] = value
    return x.json(body, etag=etag)


def text_response(text: str) -> Response:
    """Return a plain-text response."""
    return Response(200, {"Content-Type": "text/plain;charset=utf-8"}, text.encode())
