"""What every service has at its root: service document, metadata and ``$batch``, as OpenAPI path items."""

from __future__ import annotations

from typing import Any

from odata_server.hooks import Access
from odata_server.openapi.parts import Parts, answer, json_content, parameter
from odata_server.openapi.values import Schema

__all__ = ["root_paths"]


def root_paths(parts: Parts) -> dict[str, Any]:
    """The path items."""
    access = Access(kind="metadata")
    anything: Schema = {"type": "object"}
    document = {
        "operationId": "service",
        "summary": "Lists what there is.",
        **parts.allowed(access),
        "responses": {"200": answer("The service document.", anything), **parts.errors(access)},
    }
    metadata = {
        "operationId": "metadata",
        "summary": "Describes the model, as CSDL.",
        **parts.allowed(access),
        "parameters": [parameter("$format", "query", {"type": "string", "enum": ["xml", "json"]})],
        "responses": {
            "200": {
                "description": "The model.",
                "content": {
                    "application/xml": {"schema": {"type": "string"}},
                    "application/json": {"schema": anything},
                },
            },
            "304": answer("It has not changed."),
            **parts.errors(access),
        },
    }
    batch = {
        "operationId": "batch",
        "summary": "Carries out several requests, those of a change set all or none.",
        **parts.allowed(Access(kind="batch")),
        "requestBody": {
            "required": True,
            "content": {"multipart/mixed": {"schema": {"type": "string"}}, "application/json": {"schema": _BATCH}},
        },
        "responses": {
            "200": {"description": "Their answers.", "content": {"multipart/mixed": {}, **json_content(anything)}},
            **parts.errors(Access(kind="batch")),
        },
    }
    return {"/": {"get": document}, "/$metadata": {"get": metadata}, "/$batch": {"post": batch}}


_BATCH: Schema = {
    "type": "object",
    "properties": {
        "requests": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "method": {"type": "string", "enum": ["get", "post", "patch", "put", "delete"]},
                    "url": {"type": "string"},
                    "headers": {"type": "object", "additionalProperties": {"type": "string"}},
                    "body": {},
                    "atomicityGroup": {"type": "string"},
                    "dependsOn": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["id", "method", "url"],
            },
        }
    },
    "required": ["requests"],
}
