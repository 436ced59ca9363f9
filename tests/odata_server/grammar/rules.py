"""Maps each rule of the OData grammar to the parser function for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

from odata_server.edm import Primitive
from odata_server.errors import bad_request
from odata_server.expressions import EnumLiteral, Expression, Literal
from odata_server.parse import (
    below_root,
    parse_expression,
    parse_literal,
    parse_options,
    parse_path,
    parse_relative_uri,
    parse_search,
    parse_value,
)
from odata_server.parse.cursor import identifier
from odata_server.parse.encoding import decode
from odata_server.parse.geo import geo_shape
from odata_server.parse.headers import parse_header, parse_preference, parse_request_id
from odata_server.parse.literals import enum_members
from tests.odata_server.grammar.contexts import check_context
from tests.odata_server.grammar.names import Names

Rule = Callable[[str, Names], Any]

# The service roots of the cases' URLs; the longest match wins.
ROOTS = ("/OData/OData.svc", "/MyService", "/service", "/Model.Container", "")
NUMBERS = frozenset({Primitive.INT32, Primitive.INT64, Primitive.DECIMAL, Primitive.DOUBLE})


def refuse(text: str) -> NoReturn:
    raise bad_request("QUERY_SYNTAX", f"{text} is not of this rule, at position 0.")


def decoded(text: str) -> str:
    return decode(text, "The text", "QUERY_SYNTAX")


def uri(text: str, names: Names) -> Any:
    host = re.match(r"https?://[^/]+", text)
    if host is None:
        refuse(text)
    root = next(root for root in ROOTS if text.startswith(f"{root}/", host.end()))
    return relative_uri(below_root(text, root), names)


def relative_uri(text: str, names: Names) -> Any:
    before, fragment, after = text.partition("#")
    if fragment:
        check_context(f"#{after}", names)
    path, options = parse_relative_uri(before)
    return names.check_path(path), names.check_options(options)


def one_option(text: str, names: Names) -> Any:
    if "&" in text:
        refuse(text)
    return names.check_options(parse_options(text))


def url_literal(*kinds: str | None) -> Rule:
    """Parse a literal of these types; a quoted one may be a duration or an enumeration value."""

    def parse(text: str, _: Names) -> Expression:
        found = parse_literal(decoded(text))
        kind = found.type if isinstance(found, Literal) else "enum" if isinstance(found, EnumLiteral) else ""
        if kind not in kinds:
            refuse(text)
        return found

    return parse


def payload(*kinds: Primitive) -> Rule:
    """Parse a value as written in bodies."""

    def parse(text: str, _: Names) -> Any:
        found = [value for kind in kinds if (value := parse_value(text, kind)) is not None]
        return found or refuse(text)

    return parse


def primitive_value(text: str, _: Names) -> Any:
    kinds = (kind for kind in Primitive if kind is not Primitive.STRING)
    if any(parse_value(text, kind) is not None for kind in kinds) or geo_shape(text) or enum_members(text):
        return text
    refuse(text)


def expression(text: str, _: Names) -> Any:
    return parse_expression(decoded(text))


def _literal_rules() -> dict[str, Rule]:
    rules: dict[str, Rule] = {
        "binaryLiteral": url_literal(Primitive.BINARY),
        "boolean": url_literal(Primitive.BOOLEAN),
        "date": url_literal(Primitive.DATE),
        "dateTimeOffsetLiteral": url_literal(Primitive.DATE_TIME_OFFSET),
        "dateTimeOffsetValueInUrl": url_literal(Primitive.DATE_TIME_OFFSET),
        "durationLiteral": url_literal(Primitive.DURATION, Primitive.STRING),
        "enumLiteral": url_literal("enum", Primitive.STRING),
        "guid": url_literal(Primitive.GUID),
        "null": url_literal(None),
        "primitiveLiteral": url_literal("enum", None, *Primitive),
        "stringLiteral": url_literal(Primitive.STRING),
        "timeOfDayLiteral": url_literal(Primitive.TIME_OF_DAY),
        "enumValue": lambda text, _: enum_members(text) or refuse(text),
        "primitiveValue": primitive_value,
        "booleanValue": payload(Primitive.BOOLEAN),
        "dateTimeOffsetValue": payload(Primitive.DATE_TIME_OFFSET),
        "dateValue": payload(Primitive.DATE),
        "decimalValue": payload(Primitive.DECIMAL, Primitive.DOUBLE),  # INF and NaN are Doubles here
        "doubleValue": payload(Primitive.DOUBLE),
        "durationValue": payload(Primitive.DURATION),
        "singleValue": payload(Primitive.SINGLE),
        "timeOfDayValue": payload(Primitive.TIME_OF_DAY),
    }
    for name in ("byte", "sbyte", "int16", "int32", "int64"):
        rules[f"{name}Value"] = payload(Primitive[name.upper()])
    for name in ("sbyte", "int16", "int32", "int64", "decimal", "double", "single"):
        rules[f"{name}Literal"] = url_literal(*NUMBERS)
    for space in ("Geography", "Geometry"):
        for shape in ("Collection", "LineString", "MultiLineString", "MultiPoint", "MultiPolygon", "Point", "Polygon"):
            rules[f"{space.lower()}{shape}"] = url_literal(f"Edm.{space}{shape}")
    return rules


RULES: dict[str, Rule] = {
    **_literal_rules(),
    "odataUri": uri,
    "odataRelativeUri": relative_uri,
    "resourcePath": lambda text, names: names.check_path(parse_path(text)),
    "entitySetName": lambda text, _: parse_path(text),
    "functionParameter": lambda text, _: parse_path(f"F({text})"),
    "odataIdentifier": lambda text, _: identifier(text) or refuse(text),
    "queryOptions": lambda text, names: names.check_options(parse_options(text)),
    "anyExpr": lambda text, names: expression(f"Products/{text}", names),
    "stringInUrl": lambda text, names: expression(f"[{text}]", names),
    "searchExpr": lambda text, _: parse_search(decoded(text)),
    "context": check_context,
    "header": lambda text, _: parse_header(text),
    "prefer": lambda text, _: parse_header(text),
    "request-id": lambda text, _: parse_request_id(text),
    **dict.fromkeys(
        ("preference", "includeAnnotationsPreference", "maxpagesizePreference"), lambda text, _: parse_preference(text)
    ),
    **dict.fromkeys(
        ("commonExpr", "boolCommonExpr", "boolcommonExpr", "notExpr", "isofExpr", "firstMemberExpr"), expression
    ),
    "propertyPathExpr": expression,
    **dict.fromkeys(("filter", "orderby", "orderBy", "compute", "expand", "select", "search"), one_option),
    **dict.fromkeys(("deltatoken", "skiptoken", "systemQueryOption", "customQueryOption"), one_option),
}
