"""The shared parts of operations in an OpenAPI document: parameters, responses, errors, security."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from odata_server.edm import Edm, EntitySet, EntityType, Function, Operation, Parameter, Primitive, Property
from odata_server.hooks import Access
from odata_server.openapi.values import Schema, is_deprecated, ref, value_schema

__all__ = [
    "ERROR_SCHEMAS",
    "Parts",
    "Security",
    "action_body",
    "alternate_key_parameters",
    "answer",
    "common",
    "function_parameters",
    "json_content",
    "key_parameters",
    "parameter",
    "reading",
    "reading_options",
    "tagged",
]

_FAULT: Schema = {
    "code": {"type": "string", "description": "Stable, in capitals; programs may rely on it."},
    "message": {"type": "string", "description": "For people."},
    "target": {"type": "string", "description": "The property, parameter or option that is wrong."},
}
_NAMED_FAULT: Schema = {"required": ["code", "message"], "patternProperties": {"@": {}}}
ERROR_SCHEMAS: Mapping[str, Schema] = {
    "ErrorResponse": {
        "type": "object",
        "description": "Why a request failed.",
        "properties": {"error": ref("ErrorContent")},
        "required": ["error"],
        "examples": [{"error": {"code": "NOT_FOUND", "message": "There is nothing at this address."}}],
    },
    "ErrorContent": {
        "type": "object",
        "description": "The first fault of a request, and all of them.",
        "properties": {**_FAULT, "details": {"type": "array", "items": ref("ErrorDetail")}},
        **_NAMED_FAULT,
    },
    "ErrorDetail": {"type": "object", "description": "One fault.", "properties": _FAULT, **_NAMED_FAULT},
}
"""The schemas of the error body that OData prescribes, by name; the first is that of the body."""

_ERRORS = {
    400: "The request is malformed, or breaks a rule that the message names.",
    401: "There is no valid credential.",
    403: "The caller may not do this.",
    404: "There is nothing at this address.",
    405: "This cannot be done here; `Allow` says what can.",
    406: "The answer is not offered in a form that the client accepts.",
    409: "The request contradicts what is stored.",
    412: "The entity has changed since the client read it.",
    413: "The request is too large.",
    415: "The body is of a type that is not understood.",
    429: "Too many requests; `Retry-After` says when to try again.",
    501: "A part of OData that this service does not offer.",
}
_READING = (400, 401, 403, 404, 406, 429, 501)
_WRITING = (400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 429, 501)


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """OAuth 2.0 with client credentials.

    ``token_url`` is where tokens come from, ``scopes`` describes every scope. ``needed`` returns the scopes of a
    request, any one of which suffices, or None if it needs no token. It is called with the `Access` of each
    operation; for ``$batch`` itself with the kind ``batch``.
    """

    token_url: str
    scopes: Mapping[str, str]
    needed: Callable[[Access], Sequence[str] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The host's settings for all operations, and the parts derived from them."""

    error_content: Mapping[str, Schema] = field(default_factory=lambda: MappingProxyType({}))
    security: Security | None = None
    error_statuses: Callable[[Access], Sequence[int]] | None = None

    def components(self) -> dict[str, Any]:
        """Return the components that operations refer to, except for the schemas."""
        content = dict(self.error_content) or {"application/json": ref("ErrorResponse")}
        made: dict[str, Any] = {
            "responses": {
                str(status): {
                    "description": text,
                    "content": {kind: {"schema": schema} for kind, schema in content.items()},
                }
                for status, text in _ERRORS.items()
            },
            "parameters": dict(_PARAMETERS),
        }
        if self.security is not None:
            flow = {"tokenUrl": self.security.token_url, "scopes": dict(self.security.scopes)}
            made["securitySchemes"] = {
                "oauth2": {"type": "oauth2", "flows": {"clientCredentials": flow}},
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
            }
        return made

    def errors(self, access: Access) -> dict[str, Schema]:
        """Return the responses to a failed request."""
        statuses: Sequence[int] = _READING if access.kind in ("read", "metadata") else _WRITING
        if self.error_statuses is not None:
            statuses = self.error_statuses(access)
        return {str(status): ref(str(status), "responses") for status in statuses}

    def allowed(self, access: Access) -> dict[str, Any]:
        """Return the member ``security`` of an operation."""
        if self.security is None:
            return {}
        scopes = self.security.needed(access)
        if scopes is None:
            return {"security": []}
        return {"security": [{scheme: [scope]} for scope in scopes for scheme in ("oauth2", "bearer")]}


# ---- answers ------------------------------------------------------------------------------------------------------


def json_content(schema: Schema) -> dict[str, Any]:
    """Return the content of a JSON body."""
    return {"application/json": {"schema": schema}}


def answer(
    description: str, schema: Schema | None = None, *, headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return a response in JSON, or without a body; ``headers``: name -> description."""
    made: dict[str, Any] = {"description": description}
    if headers:
        made["headers"] = {name: {"description": text, "schema": {"type": "string"}} for name, text in headers.items()}
    return made if schema is None else made | {"content": json_content(schema)}


# ---- parameters ---------------------------------------------------------------------------------------------------


def parameter(name: str, place: str, schema: Schema, description: str = "", **more: Any) -> dict[str, Any]:
    """Return a parameter; those in the path are required."""
    made: dict[str, Any] = {"name": name, "in": place}
    if place == "path":
        made["required"] = True
    return made | ({"description": description} if description else {}) | {"schema": schema} | more


def _count(name: str, text: str) -> dict[str, Any]:
    return parameter(name, "query", {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}, text)


_PARAMETERS = {
    "top": _count("$top", "How many entities at most."),
    "skip": _count("$skip", "How many entities to leave out at the start."),
    "count": parameter("$count", "query", {"type": "boolean"}, "Whether to count them all."),
    "search": parameter(
        "$search", "query", {"type": "string", "minLength": 1}, 'Words to look for; AND, OR, NOT, "a phrase".'
    ),
    "if-match": parameter(
        "If-Match", "header", {"type": "string"}, "Only if the entity still has this ETag; or `*`.", example="*"
    ),
    "if-none-match": parameter("If-None-Match", "header", {"type": "string"}, "Only if it no longer has this ETag."),
    "return": parameter(
        "Prefer",
        "header",
        {"type": "string", "examples": ["return=representation"]},
        "`return=representation` or `return=minimal`: whether the answer is to hold the entity.",
    ),
}

_QUOTED = (Primitive.STRING, Primitive.DURATION, Primitive.BINARY)


def _in_path(name: str, prop: Property | Parameter) -> tuple[str, dict[str, Any]]:
    """Return the text of a value in a path, and the parameter for it."""
    schema = value_schema(prop, for_input=True)
    if prop.type is Primitive.STRING:
        schema |= {"minLength": 1, "pattern": "^[^'/]*$"}
    elif prop.type in (Primitive.DECIMAL, Primitive.INT64):
        schema = schema["oneOf"][0]
    prefix = {Primitive.DURATION: "duration", Primitive.BINARY: "binary"}.get(prop.type, "")  # type: ignore[arg-type]
    quoted = prop.type in _QUOTED or not isinstance(prop.type, Primitive)
    written = f"{prefix}'{{{name}}}'" if quoted else f"{{{name}}}"
    return written, parameter(name, "path", schema)


def key_parameters(entity_type: EntityType) -> tuple[str, list[dict[str, Any]]]:
    """Return the parentheses with a key, and the parameters in them."""
    found = [(prop, *_in_path(prop.name, prop)) for prop in entity_type.key_properties]
    if len(found) == 1:
        return f"({found[0][1]})", [found[0][2]]
    return f"({','.join(f'{prop.name}={text}' for prop, text, _ in found)})", [one for _, _, one in found]


def alternate_key_parameters(entity_type: EntityType, names: Sequence[str]) -> tuple[str, list[dict[str, Any]]]:
    """Return the parentheses with an alternate key, whose values have their names, and the parameters in them."""
    found = [_in_path(name, entity_type.property_by_name[name]) for name in names]
    texts = [f"{name}={text}" for name, (text, _) in zip(names, found, strict=True)]
    return f"({','.join(texts)})", [one for _, one in found]


def function_parameters(function: Function, taken: Sequence[str]) -> tuple[str, list[dict[str, Any]]]:
    """Return the parentheses of a function call, and their parameters; names ``taken`` in the path get a prefix."""
    texts, made = [], []
    for one in function.parameters:
        name = f"{function.name}.{one.name}" if one.name in taken else one.name
        if one.type is None or one.collection or not isinstance(one.type, Primitive):
            # as JSON, through an alias
            texts.append(f"{one.name}=@{one.name}")
            schema = {"type": "string"}
            made.append(parameter(f"@{one.name}", "query", schema, "As JSON.", required=not one.nullable))
            continue
        text, described = _in_path(name, one)
        texts.append(f"{one.name}={text}")
        made.append(described)
    return f"({','.join(texts)})", made


def reading_options(
    entity_type: EntityType, named: Callable[[str, Sequence[str]], Schema], *, collection: bool
) -> dict[str, dict[str, Any]]:
    """Return the query options that name properties of a type, as components: name -> parameter.

    ``named`` makes a component of a name and its choices, and refers to it.
    """
    readable = [prop for prop in entity_type.properties if not prop.write_only]
    navigations = [one.name for one in entity_type.navigations]

    def names(option: str, choices: Sequence[str], text: str) -> dict[str, Any]:
        items = named(f"{entity_type.name}-{option}", choices)
        schema = {"type": "array", "items": items, "uniqueItems": True, "minItems": 1}
        return parameter(f"${option}", "query", schema, text, style="form", explode=False)

    made = {"select": names("select", [one.name for one in readable], "Only these properties.")}
    if navigations:
        made["expand"] = names("expand", ["*", *navigations], "With the entities these lead to.")
    if collection:
        sortable = [one.name for one in readable if not one.collection and isinstance(one.type, Primitive)]
        directions = [text for name in sortable for text in (name, f"{name} desc")]
        made["orderby"] = names("orderby", directions, "In this order.")
        made["filter"] = parameter(
            "$filter",
            "query",
            {"type": "string", "minLength": 1},
            "Only those for which this is true.",
            **_example(readable),
        )
    return made


def _example(readable: Sequence[Property]) -> dict[str, Any]:
    for prop in readable:
        if prop.type is Primitive.STRING and not prop.collection:
            return {"example": f"{prop.name} eq 'text'"}
    return {}


def action_body(action: Operation, schemas: Mapping[str, Schema]) -> dict[str, Any]:
    """Return the member ``requestBody`` of a call with parameters; ``schemas``: parameter -> schema."""
    if not action.parameters:
        return {}
    needed = [one.name for one in action.parameters if not one.nullable]
    schema: Schema = {
        "type": "object",
        "properties": dict(schemas),
        "required": needed,
        "patternProperties": {"@": {}},
        "additionalProperties": False,
    }
    return {"requestBody": {"required": bool(needed), "content": json_content(schema)}}


def common(edm: Edm, parts: Parts, access: Access, entity_set: EntitySet | None) -> dict[str, Any]:
    """Return the security requirements of an operation, and whether it is deprecated."""
    deprecated = entity_set is not None and (
        is_deprecated(entity_set.annotations) or is_deprecated(edm.entity_types[entity_set.entity_type].annotations)
    )
    return parts.allowed(access) | ({"deprecated": True} if deprecated else {})


def tagged(item: dict[str, Any], tag: str) -> dict[str, Any]:
    """Return a path item whose operations are tagged with ``tag``."""
    return {method: {**operation, "tags": [tag]} for method, operation in item.items()}


def reading(entity_set: EntitySet | None) -> Access:
    """Return the access for reading entities of a set."""
    return Access(kind="read", entity_set=entity_set)
