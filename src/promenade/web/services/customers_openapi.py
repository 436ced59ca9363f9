"""What the public API's OpenAPI document says of customers: erasures and exports, which the model lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from odata_server.openapi.values import Schema, ref
from promenade.interface import MINOR_VERSION
from promenade.web.services.customers import CUSTOMERS, ERASURES, EXPORTS, LIMIT, LIMIT_MAX, LINES

_TAG = "Customers"
_ERASURE, _PAGE, _REQUEST, _RECORD = "CustomerErasure", "CustomerErasures", "CustomerRequest", "CustomerRecord"
_REFUSALS = (400, 401, 403, 406, 429)
_OF_BODY = (413, 415)
_SECURITY = [{scheme: [CUSTOMERS]} for scheme in ("oauth2", "bearer")]


def with_customers(document: dict[str, Any]) -> dict[str, Any]:
    """Return the rendered document with the addresses of customers added, and their scope."""
    components: dict[str, Any] = document["components"]
    components["schemas"] |= _schemas()
    for flow in components["securitySchemes"]["oauth2"]["flows"].values():
        flow["scopes"][CUSTOMERS] = "Erase customers, and tell what is stored about them; nothing else."
    document["paths"] |= {f"/{ERASURES}": {"get": _list(), "post": _erase()}, f"/{EXPORTS}": {"post": _export()}}
    document["tags"] = [*document["tags"], {"name": _TAG, "description": "What is stored about one customer."}]
    return document


def _operation(name: str, summary: str, responses: dict[str, Any], refusals: Sequence[int]) -> dict[str, Any]:
    return {
        "operationId": f"customers.{name}",
        "tags": [_TAG],
        "summary": summary,
        "security": _SECURITY,
        "responses": responses | {str(status): ref(str(status), "responses") for status in sorted(refusals)},
    }


def _list() -> dict[str, Any]:
    parameters = [
        {
            "name": "limit",
            "in": "query",
            "description": "How many at most.",
            "schema": {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": LIMIT},
        },
        {
            "name": "cursor",
            "in": "query",
            "description": "As the page before has told it, unchanged.",
            "schema": {"type": "string", "maxLength": 200},
        },
    ]
    found = {"200": _answer("A page, the latest first.", _PAGE)}
    summary = "How far erasures of customers are. Those that have ended do not say whose they were."
    return _operation("erasures", summary, found, _REFUSALS) | {"parameters": parameters}


def _erase() -> dict[str, Any]:
    found = {"202": _answer("The erasure, which the service carries out. Asked again, it is the same one.", _ERASURE)}
    summary = "Replace a customer's ID by a random one wherever it is stored, and later, too. Nothing can undo it."
    return _operation("erase", summary, found, (*_REFUSALS, *_OF_BODY)) | {"requestBody": _body()}


def _export() -> dict[str, Any]:
    lines = {
        "description": "A JSON object on each line; the last one is of the kind `End`: without it, lines are missing.",
        "content": {LINES: {"schema": ref(_RECORD)}},
    }
    summary = "Tell what is stored about a customer: the rows that name the ID, without codes of coupons."
    return _operation("export", summary, {"200": lines}, (*_REFUSALS, *_OF_BODY)) | {"requestBody": _body()}


def _body() -> dict[str, Any]:
    return {"required": True, "content": {"application/json": {"schema": ref(_REQUEST)}}}


def _answer(description: str, schema: str) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": ref(schema)}}}


def _schemas() -> dict[str, Schema]:
    customer: Schema = {"type": "string", "minLength": 1, "maxLength": 50}
    minor: Schema = {"type": "integer", "const": MINOR_VERSION}
    erasure: dict[str, Schema] = {
        "id": {"type": "string", "format": "uuid", "description": "The erasure, by which the audit trail names it."},
        "status": {"type": "string", "enum": ["PENDING", "COMPLETED"]},
        "customerId": {"type": ["string", "null"], "maxLength": 50, "description": "The ID, until it is erased."},
        "requestedAt": {
            "type": "string",
            "format": "date-time",
            "description": "When it was asked for, or something came under the ID once more.",
        },
        "completedAt": {"type": ["string", "null"], "format": "date-time", "description": "When it has ended."},
        "changedRows": {"type": "integer", "minimum": 0, "description": "Rows that were changed so far."},
    }
    page: dict[str, Schema] = {
        "value": {"type": "array", "maxItems": LIMIT_MAX, "items": _object(erasure, "An erasure.")},
        "cursor": {"type": ["string", "null"], "description": "For the page after this one; null: there is none."},
        "minorVersion": minor,
    }
    record: dict[str, Schema] = {
        "kind": {"type": "string", "description": "What it is, such as `CalculationLogs`; `End` for the last line."},
        "values": {"type": "object", "description": "Its values; of the last line `records`, how many there were."},
    }
    return {
        _REQUEST: {
            "type": "object",
            "description": "Which customer is meant.",
            "properties": {"customerId": customer | {"description": "The ID that tills send."}},
            "required": ["customerId"],
        },
        _ERASURE: _object(erasure | {"minorVersion": minor}, "The erasure of a customer."),
        _PAGE: _object(page, "Erasures of customers."),
        _RECORD: _object(record, "Something that is stored about a customer."),
    }


def _object(properties: dict[str, Schema], description: str) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
