"""Actions and functions: decode the parameters, return a value or an entity (Protocol 4.01, 11.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from odata_server.constants import constant
from odata_server.edm import EntitySet, Function, Operation, ReturnType
from odata_server.errors import bad_request, not_found, not_implemented
from odata_server.exchange import Exchange, Work, by_key, check_options
from odata_server.http import Response
from odata_server.negotiation import accepts, require_json_body
from odata_server.parse import parse_literal
from odata_server.payload import decode_json, decode_parameters
from odata_server.reading import ENTITY_OPTIONS
from odata_server.source import Key, OperationCall, Result, Unit
from odata_server.writing import locate, method_not_allowed

__all__ = ["plan_call"]


def plan_call(x: Exchange) -> Work:
    """Plan a call: check permissions and decode the parameters."""
    operation = x.resource.operation
    if operation is None:
        raise not_found()
    is_function = isinstance(operation, Function)
    if x.request.method not in ({"GET", "HEAD"} if is_function else {"POST"}):
        raise method_not_allowed(x)
    target = x.resource.target
    if operation.binding_collection and target is not None and target.steps:
        raise not_implemented("An operation on a part of a set")
    entity_set = target.entity_set if target is not None else x.resource.result_set
    x.permit_passing()
    x.permit("invoke", entity_set if target is not None else None, operation=operation)
    given = _from_url(x, operation) if is_function else _from_body(x)
    operation = _overload(x, operation, given) if is_function else operation
    returns = operation.returns
    check_options(x.options, ENTITY_OPTIONS if returns is not None and returns.entity_type else frozenset())
    if returns is not None and returns.entity_type and x.options.expand:
        result_set = x.resource.result_set or x.edm.set_of(returns.entity_type)
        x.permit_expanded(x.edm.entity_types[returns.entity_type], result_set, x.options.expand)
    parameters = decode_parameters(x.edm, operation, given, x.links.key_of)
    return lambda unit: _call(x, unit, operation, parameters, entity_set)


# ---- parameters ---------------------------------------------------------------------------------------------------


def _from_url(x: Exchange, operation: Operation) -> dict[str, object]:
    """Read the parameters from the parentheses, or from query options of the same name (4.01), or from aliases."""
    aliases = x.options.aliases
    given = {name: constant(expression, aliases, name) for name, expression in x.resource.arguments.items()}
    if not given:
        names = {parameter.name for one in x.edm.overloads(operation) for parameter in one.parameters}
        for name, text in x.options.custom:
            if name in names:
                given[name] = constant(parse_literal(text, name), aliases, name)
        for name, expression in aliases.items():
            if name in names and name not in given:
                given[name] = constant(expression, aliases, name)
    return given


def _overload(x: Exchange, operation: Operation, given: Mapping[str, object]) -> Operation:
    """Return the overload of a function that is called: with the parameters that are given, and fewest others.

    Raise 400 if there is none. If only one overload has these parameters, what it lacks is told later.
    """
    overloads = x.edm.overloads(operation)
    if len(overloads) == 1:
        return operation
    having = [one for one in overloads if {it.name for it in one.parameters} >= given.keys()]
    if len(having) == 1:
        return having[0]
    fitting = [one for one in having if all(it.nullable or it.name in given for it in one.parameters)]
    if not fitting:
        forms = " or ".join(f"({', '.join(it.name for it in one.parameters)})" for one in overloads)
        raise bad_request("UNKNOWN_PARAMETER", f"{operation.name} takes {forms}.")
    return min(fitting, key=lambda one: len(one.parameters))


def _from_body(x: Exchange) -> Mapping[str, object]:
    if x.resource.arguments:
        raise bad_request("URI_SYNTAX", "The parameters of an action must be in the body.")
    if not x.request.body.strip():
        return {}
    require_json_body(x.request)
    body = decode_json(x.request.body)
    if body is None:
        return {}
    if not isinstance(body, dict):
        raise bad_request("MALFORMED_BODY", "The body must be a JSON object.")
    return body


# ---- the call -----------------------------------------------------------------------------------------------------


async def _call(
    x: Exchange, unit: Unit, operation: Operation, parameters: Mapping[str, Any], entity_set: EntitySet | None
) -> Response:
    target = x.resource.target
    binding: Key | None = None
    if target is not None and target.single:
        if isinstance(operation, Function):
            row = await x.one(unit, target)
            binding = {name: row[name] for name in target.entity_type.key}
        else:
            binding = await locate(x, unit, target)
    call = OperationCall(operation=operation, parameters=parameters, entity_set=entity_set, binding=binding)
    result = await unit.invoke(call)
    response = await _answer(x, unit, operation.returns, result)
    response.headers |= result.headers
    return response


async def _answer(x: Exchange, unit: Unit, returns: ReturnType | None, result: Result) -> Response:
    if returns is None or (result.key is None and result.value is None):
        return Response(result.status or 204)
    if result.key is not None:
        entity_set = result.entity_set or x.resource.result_set
        if entity_set is None and returns.entity_type is not None:
            entity_set = x.edm.set_of(returns.entity_type)
        if entity_set is None:
            raise not_found()
        target = by_key(x.edm, entity_set, result.key)
        rows = await unit.read(x.query(target, x.options))
        if not rows.items:
            return Response(204)
        response = x.entity(rows.items[0], target.entity_type, entity_set, status=result.status or 200)
        if response.status == 201:
            response.headers["Location"] = x.request.origin + x.links.entity(entity_set, result.key)
        return response
    if returns.media_type is not None and accepts(x.request, returns.media_type, exactly=True):
        return Response(
            result.status or 200, {"Content-Type": f"{returns.media_type};charset=utf-8"}, str(result.value).encode()
        )
    return x.json(_value_body(x, returns, result), status=result.status or 200)


def _value_body(x: Exchange, returns: ReturnType, result: Result) -> dict[str, Any]:
    value = result.value
    if returns.entity_type is not None:
        entity_type = x.edm.entity_types[returns.entity_type]
        entity_set = result.entity_set or x.resource.result_set or x.edm.set_of(returns.entity_type)
        name = entity_set.name if entity_set is not None else x.edm.qualified(entity_type.name)
        if returns.collection:
            rows = x.encoder.rows([dict(row) for row in value], entity_type, entity_set, x.dialect)
            return x.context(name) | {"value": rows}
        body = x.context(f"{name}/$entity" if entity_set is not None else name)
        return body | x.encoder.rows([dict(value)], entity_type, entity_set, x.dialect)[0]
    if returns.type is None:
        return x.context("Edm.Untyped") | {"value": value}
    body = x.context(x.links.type_name(returns.type, collection=returns.collection))
    encoded = x.encoder.value(
        value, returns.type, collection=returns.collection, quoted_numbers=x.dialect.quoted_numbers
    )
    return body | (encoded if isinstance(encoded, dict) and not returns.collection else {"value": encoded})
