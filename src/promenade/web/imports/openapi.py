"""Imports in the public API's OpenAPI document: the parts that the model does not contain, and the status of jobs."""

from __future__ import annotations

from typing import Any

from odata_server.openapi.values import Schema, ref
from promenade import model
from promenade.interface import MINOR_VERSION
from promenade.model.declare import PUBLIC, EntityType
from promenade.model.operations import BULK_IMPORT
from promenade.web.http.idempotency import IDEMPOTENCY_KEY
from promenade.web.imports.bulk import ALIAS, ROWS_MAX

_STATUS = "ImportStatus"
_REFUSALS = (400, 401, 403, 404, 406, 413, 415, 429)


def with_imports(document: dict[str, Any]) -> dict[str, Any]:
    """Return the rendered document with the responses and paths of imports added; the whole one has their alias."""
    schemas: dict[str, Any] = document["components"]["schemas"]
    paths: dict[str, Any] = document["paths"]
    for entity in model.entities():
        if entity.importable:
            row = _row(entity, schemas)
            address = f"/{entity.set_name}/{BULK_IMPORT}"
            qualified = f"/{entity.set_name}/PublicAPI.{BULK_IMPORT}"
            _finish(paths[address], row)
            if qualified in paths:
                _finish(paths[qualified], row)
                named = {"operationId": f"{entity.set_name}.collection.{BULK_IMPORT}.alias"}
                paths[f"/{entity.set_name}:{ALIAS}"] = {"post": paths[address]["post"] | named}
    schemas["BulkImportHeader-input"]["properties"]["minorVersion"] |= {"minimum": 1, "maximum": MINOR_VERSION}
    schemas[_STATUS] = _status()
    paths["/jobs/{jobId}"] = _job()
    return document


def _row(entity: EntityType, schemas: dict[str, Any]) -> Schema:
    """Return the schema of a row: as for a single create, plus the fields that only imports may set."""
    name = f"{entity.set_name}-create"
    brought = [field for field in entity.fields if field.importable and PUBLIC in field.hidden_from]
    if not brought:
        return ref(name)
    made = schemas[name]
    properties = {
        field.wire: {"type": "string", "maxLength": field.length, "description": field.doc, "writeOnly": True}
        for field in brought
    }
    required = [*made.get("required", ()), *(field.wire for field in brought if field.required)]
    schemas[f"{entity.set_name}-import"] = {key: one for key, one in made.items() if key != "examples"} | {
        "properties": made["properties"] | properties,
        "required": required,
    }
    return ref(f"{entity.set_name}-import")


def _finish(item: dict[str, Any], row: Schema) -> None:
    """Add what the model does not contain about the action: its statuses, its key, and the maximum number of rows."""
    operation = item["post"]
    answer = operation["responses"]["200"]["content"]
    operation["parameters"] = [IDEMPOTENCY_KEY]
    operation["responses"] = {
        "200": {"description": "The request was accepted before: the job it has made.", "content": answer},
        "202": {"description": "Accepted: the job that stores the rows.", "content": answer},
        **{str(status): ref(str(status), "responses") for status in _REFUSALS},
    }
    body = operation["requestBody"]["content"]["application/json"]["schema"]["properties"]
    body["rows"] |= {"items": row, "minItems": 1, "maxItems": ROWS_MAX}


def _job() -> dict[str, Any]:
    scopes = [{scheme: [scope]} for scope in ("PublicApi.Read", "PublicApi.Write") for scheme in ("oauth2", "bearer")]
    return {
        "parameters": [
            {"name": "jobId", "in": "path", "required": True, "schema": {"type": "string", "format": "uuid"}}
        ],
        "get": {
            "operationId": "jobs.status",
            "tags": ["ImportJobs"],
            "summary": "Where an import stands. With PublicApi.Write alone: one that the caller has started.",
            "security": scopes,
            "responses": {
                "200": {
                    "description": "The status.",
                    "content": {"application/json": {"schema": ref(_STATUS)}},
                },
                **{str(status): ref(str(status), "responses") for status in (400, 401, 403, 404, 406)},
            },
        },
    }


def _status() -> Schema:
    job = model.entity("ImportJobs")
    moment = {"type": ["string", "null"], "format": "date-time"}
    count = {"type": "integer", "minimum": 0}
    kinds: dict[str, Schema] = {
        "entity": {"type": "string"},
        "status": ref("ImportJobs-status"),
        "totalRows": count,
        "rowsSucceeded": count,
        "rowsFailed": count,
        "rowsSkipped": count,
        "startedAt": moment,
        "completedAt": moment,
        "message": {"type": ["string", "null"]},
    }
    properties: dict[str, Schema] = {
        "jobId": {"type": "string", "format": "uuid", "description": "ID of the job in ImportJobs."},
        "createdAt": {"type": "string", "format": "date-time", "description": "When it was accepted."},
        **{one.wire: kinds[one.wire] | {"description": one.doc} for one in job.fields if one.wire in kinds},
        "minorVersion": {"type": "integer", "const": MINOR_VERSION},
    }
    return {
        "type": "object",
        "description": "Where an import stands; it has ended when it is SUCCEEDED or FAILED.",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
