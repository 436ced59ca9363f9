"""The properties of an entity one by one, in an OpenAPI document: one address whose last segment names the property."""

from __future__ import annotations

from typing import Any

from odata_server.edm import ComplexType, Edm, EntitySet, EntityType
from odata_server.hooks import Access
from odata_server.openapi.parts import Parts, answer, common, json_content, parameter, reading, tagged
from odata_server.openapi.schemas import Schemas
from odata_server.openapi.values import Schema, ref

__all__ = ["property_paths"]

_TEXT: Schema = {"text/plain": {"schema": {"type": "string"}}}


def property_paths(
    edm: Edm, schemas: Schemas, parts: Parts, path: str, name: str, entity_set: EntitySet, entity_type: EntityType
) -> dict[str, Any]:
    """The two path items below the entity at ``path``: a property in JSON, and its bare value."""
    readable = [one for one in entity_type.properties if not one.write_only]
    which = parameter("property", "path", {"type": "string", "enum": [one.name for one in readable]})
    value = {"anyOf": _distinct([schemas.readable_property(entity_type, one) for one in readable])}
    read = common(edm, parts, reading(entity_set), entity_set)
    nothing = {"204": answer("It is null."), **parts.errors(reading(entity_set))}
    as_json: dict[str, Any] = {
        "get": {
            "operationId": f"{name}.readProperty",
            "summary": "Reads one property.",
            **read,
            "responses": {"200": answer("Its value.", schemas.single(value)), **nothing},
        }
    }
    bare: dict[str, Any] = {
        "get": {
            "operationId": f"{name}.readPropertyAsText",
            "summary": "Reads one property, bare.",
            **read,
            "responses": {
                "200": {"description": "Its value.", "content": {"text/plain": {}, "application/octet-stream": {}}},
                **nothing,
            },
        }
    }
    if entity_set.updatable:
        # One that has parts is put as it is, and a part of it can be changed; others stand in an envelope.
        merges = any(isinstance(one.type, ComplexType) and not one.collection for one in readable)
        enveloped: Schema = {"type": "object", "properties": {"value": {}}, "required": ["value"]}
        body = json_content({"type": "object"} if merges else enveloped)
        as_json |= _changing(edm, parts, schemas, f"{name}.{{}}Property", entity_set, body, merges=merges)
        bare |= _changing(edm, parts, schemas, f"{name}.{{}}PropertyAsText", entity_set, _TEXT)
    return {
        path: {"parameters": [which], **tagged(item, name)}
        for path, item in ((f"{path}/{{property}}", as_json), (f"{path}/{{property}}/$value", bare))
    }


def _changing(
    edm: Edm,
    parts: Parts,
    schemas: Schemas,
    name: str,
    entity_set: EntitySet,
    content: dict[str, Any],
    *,
    merges: bool = False,
) -> dict[str, Any]:
    """What sets one property, or takes its value away."""
    access = Access(kind="update", entity_set=entity_set)
    made: dict[str, Any] = {}
    for method, verb in (("put", "replace"), ("patch", "change"), ("delete", "clear")):
        if method == "patch" and not merges:
            continue
        made[method] = {
            "operationId": name.format(verb),
            "summary": "Sets one property to null." if method == "delete" else "Changes one property.",
            **common(edm, parts, access, entity_set),
            "parameters": [ref("return", "parameters")],
            **({"requestBody": {"required": True, "content": content}} if method != "delete" else {}),
            "responses": {
                "200": answer("Changed.", schemas.single({})),
                "204": answer("Changed."),
                **parts.errors(access),
            },
        }
    return made


def _distinct(schemas: list[Schema]) -> list[Schema]:
    found: list[Schema] = []
    for schema in schemas:
        bare = {key: value for key, value in schema.items() if key not in ("title", "description", "readOnly")}
        if bare not in found:
            found.append(bare)
    return found
