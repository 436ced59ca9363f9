"""Evaluate constant expressions (keys, function parameters) to values of the model."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from odata_server.edm import EntityType, EnumType, Primitive, Property
from odata_server.errors import bad_request
from odata_server.expressions import (
    EnumLiteral,
    Expression,
    JsonLiteral,
    KeyPredicate,
    ListExpression,
    Literal,
    ParameterAlias,
    Unary,
)
from odata_server.source import Key
from odata_server.values import Wrong, reader

__all__ = ["constant", "key_of"]

_ALIASES_MAX = 10  # how many aliases may refer to one another in a chain


def constant(expression: Expression, aliases: Mapping[str, Expression], target: str) -> Any:
    """Return the value of an expression without names, as JSON would carry it or as the parser produced it.

    An alias without a value is null (URL Conventions 4.01, 5.3). Raise ODataError 400.
    """
    expression = _without_alias(expression, aliases)
    if isinstance(expression, Literal | JsonLiteral):
        return expression.value
    if isinstance(expression, EnumLiteral):
        return ",".join(expression.members)
    if isinstance(expression, ListExpression):
        return [constant(item, aliases, target) for item in expression.items]
    if isinstance(expression, Unary) and expression.operator == "-":
        value = constant(expression.operand, aliases, target)
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            return -value
    raise bad_request("TYPE_MISMATCH", f"{target} must be a literal value.", target)


def key_of(
    entity_type: EntityType, predicate: KeyPredicate, aliases: Mapping[str, Expression], implied: Mapping[str, Any]
) -> Key:
    """Return the key in a predicate: one value without a name, or all values by name.

    Values that the parent in the path already determines (``implied``) and key properties with a default may be
    omitted. All values of an alternate key by name are the key of the entity too. Raise ODataError 400.
    """
    alternate = _alternate_key(entity_type, predicate, aliases)
    if alternate is not None:
        return alternate
    names = {prop.name: prop for prop in entity_type.key_properties}
    known = {prop.name: prop.default for prop in entity_type.key_properties if prop.default is not None} | {**implied}
    needed = [name for name in names if name not in known]
    given: dict[str, Expression] = {}
    for written, expression in predicate.values:
        name = written or (needed[0] if needed else entity_type.key[0])
        if written is None and (len(predicate.values) != 1 or len(needed if len(names) > 1 else names) != 1):
            raise bad_request("URI_SYNTAX", f"The key of {entity_type.name} must be given by name: {', '.join(names)}.")
        if name not in names or name in given:
            raise bad_request("URI_SYNTAX", f"{name} is not in the key of {entity_type.name}, or occurs twice.", name)
        given[name] = expression
    missing = [name for name in needed if name not in given]
    if missing:
        raise bad_request("URI_SYNTAX", f"The key of {entity_type.name} needs {', '.join(missing)} too.", missing[0])
    return {
        name: _key_value(prop, given[name], aliases) if name in given else known[name] for name, prop in names.items()
    }


def _alternate_key(entity_type: EntityType, predicate: KeyPredicate, aliases: Mapping[str, Expression]) -> Key | None:
    """Return the alternate key in a predicate, if it names one (Protocol 4.01, 4.8.1)."""
    if not entity_type.alternate_keys or predicate.values[0][0] is None:
        return None
    given = dict(predicate.values)
    for names in entity_type.alternate_keys:
        if given.keys() == set(names) and len(predicate.values) == len(names):
            properties = entity_type.property_by_name
            return {name: _key_value(properties[name], given[name], aliases) for name in names}
    return None


def _key_value(prop: Property, expression: Expression, aliases: Mapping[str, Expression]) -> Any:
    expression = _without_alias(expression, aliases)
    value = constant(expression, aliases, prop.name)
    # A string also stands for a GUID, which clients put into quotes, and for a member of an enumeration.
    quoted = isinstance(expression, Literal) and expression.type is Primitive.STRING
    may_be_quoted = prop.type in {Primitive.STRING, Primitive.GUID} or isinstance(prop.type, EnumType)
    if value is None or quoted > may_be_quoted or (prop.type is Primitive.STRING and not quoted):
        raise bad_request("TYPE_MISMATCH", f"The key {prop.name} has the wrong type.", prop.name)
    try:
        return reader(prop.type, prop)(value)
    except Wrong as wrong:
        if wrong.code == "TOO_LONG":
            return value  # well-formed, but no entity has this key
        raise bad_request("TYPE_MISMATCH", f"The key {prop.name}: {wrong.message}", prop.name) from None


def _without_alias(expression: Expression, aliases: Mapping[str, Expression]) -> Expression:
    for _ in range(_ALIASES_MAX):
        if not isinstance(expression, ParameterAlias):
            return expression
        expression = aliases.get(expression.name, Literal(None))
    raise bad_request("QUERY_SYNTAX", "A parameter alias refers to itself.")
