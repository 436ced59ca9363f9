"""The POS service as an OpenAPI 3.1 document, from the structs that decode and encode its messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, Meta, Raw, Struct, UnsetType

from odata_server.openapi.parts import ERROR_SCHEMAS
from promenade.web.coupons.messages import OPERATIONS, IssueCouponsRequest, Operation, coupon_addresses
from promenade.web.http.idempotency import IDEMPOTENCY_KEY
from promenade.web.http.numbers import amount_thousandths, price_hundredths, quantity_thousandths
from promenade.web.imports.till_article_messages import ARTICLE_OPERATIONS, article_addresses
from promenade.web.pricing.messages import CancelRequest, ConfirmRequest, EvaluateRequest, PricesRequest
from promenade.web.pricing.pos import ADMINISTRATOR, SCOPES
from promenade.web.pricing.remarks import remark_of
from promenade.web.pricing.responses import (
    EvaluateResponseV2,
    LoyaltyResult,
    PricesResponse,
    SideEffectsResult,
    TransactionResult,
    is_moment,
)
from promenade.web.services.monitoring import Heartbeat
from promenade.web.services.pos_examples import pos_examples
from promenade.workflows.sales.cancel import CancelResponse
from promenade.workflows.sales.confirm import MESSAGE

VERSION = "1.14.0"

JsonSchema = dict[str, Any]

_REF = "#/components/schemas/{name}"
# Name and words of a number, the whole digits and decimals that its check lets through, and whether below 0.
_NUMBERS: dict[Any, tuple[str, str, int, int, bool]] = {
    quantity_thousandths: ("QuantityInput", "A quantity, never 0", 12, 3, True),
    price_hundredths: ("PriceInput", "A price", 13, 2, False),
    amount_thousandths: ("AmountInput", "An amount", 13, 3, False),
}
_MONEY: JsonSchema = {
    "type": "object",
    "description": "An amount in a currency, with all decimals of the currency.",
    "properties": {
        "value": {"type": "number"},
        "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
    },
    "required": ["value", "currency"],
}
_CONFIRMED: JsonSchema = {
    "type": "object",
    "properties": {
        "transactionId": {"type": "string", "maxLength": 50},
        "confirmed": {"type": "boolean"},
        "message": {"type": "string", "examples": [MESSAGE]},
    },
    "required": ["transactionId", "confirmed", "message"],
}
_STRICT: JsonSchema = {
    "name": "strict",
    "in": "query",
    "description": "Refuse unknown fields, each with the nearest known one. Otherwise they are ignored.",
    "schema": {"type": "boolean", "default": False},
}
_ERRORS = {
    400: "The body is not valid JSON, or breaks rules: each fault is one of `details`.",
    401: "There is no valid token.",
    403: "The token lacks the scope, or its tenant is unknown.",
    404: "There is no such iteration.",
    405: "This method is not allowed here; `Allow` says which are.",
    409: "It contradicts what is stored, such as an iteration that was confirmed otherwise.",
    413: "The body is too large.",
    415: "The body is not `application/json`.",
    429: "Too many; `Retry-After` says when to try again.",
    503: "The service cannot answer now; try again.",
}
_PLAIN_ERRORS = (400, 401, 403, 405, 413, 415, 429, 503)
_SALE_ERRORS = (400, 401, 403, 404, 405, 409, 413, 415, 429, 503)
_ACCEPTED = ("import-batch",)  # operations executed later (202)
_ACTIONS: Mapping[str, tuple[str, type[Struct], str]] = {
    "evaluate": ("Prices a basket and keeps the result as the next iteration.", EvaluateRequest, "EvaluateResponseV2"),
    "simulate": ("Prices a basket and keeps nothing.", EvaluateRequest, "EvaluateResponseV2"),
    "prices": ("Prices single articles, each alone.", PricesRequest, "PricesResponse"),
    "confirm": ("Turns one iteration into a sale, once.", ConfirmRequest, "ConfirmResponse"),
}
_MESSAGES: tuple[type[Struct], ...] = (
    EvaluateRequest,
    PricesRequest,
    ConfirmRequest,
    EvaluateResponseV2,
    PricesResponse,
    TransactionResult,
    LoyaltyResult,
    SideEffectsResult,
    Heartbeat,
)
"""The messages of all operations that have no `Operation`."""
SALE_OPERATIONS: Mapping[str, Operation] = {
    "cancel": Operation("cancel", CancelRequest, CancelResponse, "Undoes a confirmed sale as a whole, once."),
}
"""By the last part of their addresses."""

# Rules that involve several fields, in words: of "one of these is required" generators of clients make several types.
_TOGETHER: Mapping[type[Struct], str] = {
    PricesRequest: "`posGroupId` or `posGroupCode` is required; both must name the same POS group.",
    EvaluateRequest: "`posGroupId` or `posGroupCode` is required; both must name the same POS group.",
    IssueCouponsRequest: "`couponTypeId` or `couponTypeName` is required; `customerId` and `customerIds` exclude each"
    " other.",
}
_TAGS: Mapping[str, str] = {
    "Sales": "Price baskets, confirm and cancel sales, and read them again.",
    "Coupons": "Validate, reserve, redeem, cancel, activate and issue coupons.",
    "Articles": "Send articles of a till.",
    "Customers": "A customer's points.",
    "Service": "Whether the service can be relied on.",
}
_EXAMPLES: Mapping[str, str] = {
    "evaluate": "Two pieces of an article",
    "simulate": "The same, kept nowhere",
    "prices": "The prices of two articles",
    "confirm": "The sale of an iteration",
    "cancel": "The sale is undone",
    "validateCoupon": "A code that a customer shows",
    "issueCoupons": "One coupon for a customer",
}
"""What some of the examples show; others show what their operation does."""


def render_pos_openapi(*, whole: bool = False) -> bytes:
    """Return the document as UTF-8; the bytes are the same every time.

    Each operation has one address in it; ``whole``: also the other addresses at which it is served.
    """
    operations = (*SALE_OPERATIONS.values(), *OPERATIONS.values(), *ARTICLE_OPERATIONS.values())
    actions: list[type[Struct]] = [struct for one in operations for struct in (one.request, one.response)]
    structs = (*_MESSAGES, *actions)
    _, made = msgspec.json.schema_components(structs, ref_template=_REF, schema_hook=_hook)
    schemas: dict[str, Any] = {"Money": _MONEY, "ConfirmResponse": _CONFIRMED, **ERROR_SCHEMAS}
    for struct in _reachable(structs):
        schemas[struct.__name__] = _schema(struct, made[struct.__name__])
    schemas |= {_number_name(check): _number(check) for check in _NUMBERS}
    schemas |= {_envelope_name(request): _envelope(request) for _, request, _ in _ACTIONS.values()}
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "POS Service",
            "version": VERSION,
            "description": "What tills, webshops and apps send and get. Unknown fields are ignored by default.",
        },
        "servers": [{"url": "/pos"}],
        "security": [*({"bearer": [scope]} for scope in SCOPES), {"apiKey": []}],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": {path: item for path, item in _paths().items() if whole or _is_canonical(item)},
        "components": {
            "schemas": schemas,
            "responses": {str(status): _error(text) for status, text in _ERRORS.items()},
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": "Of the cloud: from `POST /oauth/token` with client credentials.",
                },
                "apiKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-Api-Key",
                    "description": "Of a store, which takes no token: the key that its administrator knows.",
                },
            },
        },
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


# ---- paths --------------------------------------------------------------------------------------------------------


def _is_canonical(item: Mapping[str, Any]) -> bool:
    """Return whether this is the first address of its operations; those of others have a suffix."""
    return all("." not in operation["operationId"] for operation in item.values())


def _paths() -> dict[str, Any]:
    """Return all paths, each operation with its tag and examples."""
    paths = _sale_paths() | _plain_paths() | _read_paths()
    examples = pos_examples()
    for path, item in paths.items():
        for operation in item.values():
            name = operation["operationId"].partition(".")[0]
            operation["tags"] = [_tag_of(path, name)]
            summary = _EXAMPLES.get(name, operation["summary"])
            for content, value in _bodies(operation, examples[name]):
                content["examples"] = {name: {"summary": summary, "value": value}}
    return paths


def _bodies(operation: Mapping[str, Any], example: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the content of the request and of the answer of an operation, each with the example for it."""
    if "request" in example:
        yield operation["requestBody"]["content"]["application/json"], example["request"]
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            yield response["content"]["application/json"], example["answer"]


def _tag_of(path: str, operation: str) -> str:
    for word, tag in (("Coupon", "Coupons"), ("Articles", "Articles"), ("loyalty", "Customers")):
        if word in operation:
            return tag
    return "Service" if path == "/heartbeat" else "Sales"


def _sale_paths() -> dict[str, Any]:
    """Return the paths of the operations whose body is an envelope."""
    paths: dict[str, Any] = {}
    for prefix, suffix in (("/v2/", ""), ("/", ".action"), ("/PosService.", ".qualified")):
        for name, (text, request, response) in _ACTIONS.items():
            missing = (404,) if request is ConfirmRequest else ()
            parameters = {"parameters": [_STRICT]} if request is not ConfirmRequest else {}
            errors = (400, 401, 403, *missing, 405, 409, 413, 415, 429, 503)
            paths[f"{prefix}{name}"] = {
                "post": {
                    "operationId": f"{name}{suffix}",
                    "summary": text,
                    **parameters,
                    "requestBody": {"required": True, "content": _json(_ref(_envelope_name(request)))},
                    "responses": _answers(_ref(response), *errors),
                }
            }
    return paths


def _read_paths() -> dict[str, Any]:
    """Return the paths that tills read."""
    transaction, customer = _in_path("transactionId"), _in_path("customerId")
    counter = _in_path("transactionCounter") | {"schema": {"type": "integer", "minimum": 1, "maximum": 2**31 - 1}}
    iteration = "/v2/transactions/{transactionId}/{transactionCounter}"
    side_effects = f"{iteration}/side-effects"
    requeue = {
        "operationId": "requeueSideEffects",
        "summary": "Lets side effects that have failed run again; for operators.",
        "security": [{"bearer": [ADMINISTRATOR]}],
        "parameters": [transaction, counter],
        "responses": _answers(_ref("SideEffectsResult"), 400, 401, 403, 404, 405, 409, 503),
    }
    return {
        "/v2/transactions/{transactionId}": _read(
            "transaction",
            "Tells which iterations a transaction has, whether one was confirmed or cancelled, and returns.",
            "TransactionResult",
            transaction,
        ),
        iteration: _read(
            "iteration",
            "What evaluate answered for an iteration: the same bytes.",
            "EvaluateResponseV2",
            transaction,
            counter,
        ),
        side_effects: _read(
            "sideEffects", "Tells what a sale has set in motion so far.", "SideEffectsResult", transaction, counter
        ),
        f"{side_effects}/requeue": {"post": requeue},
        "/v2/customers/{customerId}/loyalty": _read(
            "loyalty", "A customer's points, and the latest bookings.", "LoyaltyResult", customer
        ),
        "/heartbeat": _read("heartbeat", "Tells whether the service can be relied on.", "Heartbeat"),
    }


def _in_path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _read(operation: str, text: str, answer: str, *parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a path that is read; what is in its address may be wrong or unknown."""
    errors = (400, 401, 403, 404, 405, 503) if parameters else (401, 403, 405, 503)
    get: dict[str, Any] = {"operationId": operation, "summary": text}
    if parameters:
        get["parameters"] = list(parameters)
    return {"get": get | {"responses": _answers(_ref(answer), *errors)}}


def _plain_paths() -> dict[str, Any]:
    """Return the paths of operations without an envelope: cancel, coupons and articles."""
    paths: dict[str, Any] = {}
    for name, operation in SALE_OPERATIONS.items():
        paths |= _operation_paths(operation, (f"v2/{name}", name, f"PosService.{name}"), errors=_SALE_ERRORS)
    for name, operation in OPERATIONS.items():
        paths |= _operation_paths(operation, coupon_addresses(name))
    for name, operation in ARTICLE_OPERATIONS.items():
        paths |= _operation_paths(operation, article_addresses(name), 202 if name in _ACCEPTED else 200)
    return paths


def _operation_paths(
    operation: Operation, addresses: tuple[str, ...], status: int = 200, *, errors: tuple[int, ...] = _PLAIN_ERRORS
) -> dict[str, Any]:
    """Return the addresses of an operation whose body has no envelope: its own, and two of its action."""
    suffixes = ("", ".v2", ".action", ".qualified") if len(addresses) == 4 else ("", ".action", ".qualified")
    request, response = _REF.format(name=operation.request.__name__), operation.response.__name__
    is_repeatable = operation.request is IssueCouponsRequest
    parameters = {"parameters": [IDEMPOTENCY_KEY]} if is_repeatable else {}
    errors = (*errors, 409) if is_repeatable else errors
    return {
        f"/{address}": {
            "post": {
                "operationId": f"{operation.action}{suffix}",
                "summary": operation.text,
                **parameters,
                "requestBody": {"required": True, "content": _json({"$ref": request})},
                "responses": _answers(_ref(response), *errors, status=status),
            }
        }
        for address, suffix in zip(addresses, suffixes, strict=True)
    }


def _envelope_name(request: type[Struct]) -> str:
    """Return the name of a body; without one, generators take that of the request in it."""
    return request.__name__.removesuffix("Request") + "Envelope"


def _envelope(request: type[Struct]) -> JsonSchema:
    return {
        "type": "object",
        "description": "The body: a request in an envelope.",
        "properties": {"request": _ref(request.__name__)},
        "required": ["request"],
    }


def _ref(name: str) -> JsonSchema:
    return {"$ref": _REF.format(name=name)}


def _answers(schema: JsonSchema, *errors: int, status: int = 200) -> dict[str, Any]:
    version = {
        "description": "4.0, or 4.01 for who asks for it.",
        "schema": {"type": "string", "enum": ["4.0", "4.01"]},
    }
    words = "Done." if status == 200 else "Accepted: it will be done."
    success = {"description": words, "headers": {"OData-Version": version}, "content": _json(schema)}
    return {str(status): success, **{str(one): {"$ref": f"#/components/responses/{one}"} for one in errors}}


def _error(text: str) -> dict[str, Any]:
    return {"description": text, "content": _json(_ref("ErrorResponse"))}


def _json(schema: JsonSchema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


# ---- schemas ------------------------------------------------------------------------------------------------------


def _reachable(roots: tuple[type[Struct], ...]) -> list[type[Struct]]:
    found: list[type[Struct]] = []
    waiting = list(roots)
    while waiting:
        struct = waiting.pop(0)
        if struct not in found:
            found.append(struct)
            waiting += [one for field in msgspec.structs.fields(struct) for one in _structs_in(field.type)]
    return found


def _structs_in(annotation: Any) -> Iterator[type[Struct]]:
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        yield annotation
    for argument in get_args(annotation):
        if not isinstance(argument, Meta):
            yield from _structs_in(argument)


def _hook(kind: type) -> JsonSchema:
    """Return a placeholder schema for raw types; `_precise` adds the details."""
    return {"title": kind.__name__}


def _schema(struct: type[Struct], made: JsonSchema) -> JsonSchema:
    """Return the decoder's schema of a struct with the missing parts added: remarks, numbers, amounts."""
    properties = dict(made.get("properties", {}))
    for field in msgspec.structs.fields(struct):
        schema = _precise(field.type, properties[field.encode_name])
        if is_moment(field.name):
            schema["format"] = "date-time"
        remark = remark_of(struct, field.name)
        if schema.get("default", "") is None:  # a member that is left out is null, or missing in an answer
            del schema["default"]
        properties[field.encode_name] = schema | ({"description": remark} if remark else {})
        if remark.startswith("Deprecated"):
            properties[field.encode_name]["deprecated"] = True
    return {
        "type": "object",
        "description": " ".join([*(struct.__doc__ or "").split(), *_TOGETHER.get(struct, "").split()]),
        "properties": properties,
        "required": [field.encode_name for field in msgspec.structs.fields(struct) if _is_required(field)],
    }


def _is_required(field: msgspec.structs.FieldInfo) -> bool:
    """Return whether a field is required: it has no default, and cannot be left out of an answer."""
    return field.default is NODEFAULT and field.default_factory is NODEFAULT and UnsetType not in get_args(field.type)


def _precise(annotation: Any, schema: JsonSchema) -> JsonSchema:
    kind, metas, is_nullable = _unwrapped(annotation)
    found = schema
    if kind is object:
        return {"const": None}  # of the type null, generators make a class
    if kind is datetime:
        moment = {"type": "string", "format": "date-time"}
        return {"anyOf": [moment, {"type": "null"}]} if is_nullable else moment
    if kind is Raw:
        title = next((meta.title for meta in metas if meta.title), None)
        found = {"type": "number"} if title in (None, "number") else _ref(title)
    elif kind is Decimal:
        number = _ref(_number_name(next(meta.extra["check"] for meta in metas if meta.extra)))
        found = {"anyOf": [number, {"type": "null"}]} if is_nullable else number
    elif get_origin(kind) in (list, tuple):
        return schema
    return {key: value for key, value in found.items() if key != "title"}


def _number_name(check: Any) -> str:
    return _NUMBERS[check][0]


def _number(check: Any) -> JsonSchema:
    """Return the schema of a number, or of text, which no library rounds."""
    _, words, digits, decimals, signed = _NUMBERS[check]
    limit = 10**digits
    low = {"exclusiveMinimum": -limit} if signed else {"minimum": 0}
    sign = "-?" if signed else ""
    number: JsonSchema = {"type": "number", **low, "exclusiveMaximum": limit}
    text: JsonSchema = {"type": "string", "pattern": f"^{sign}[0-9]{{1,{digits}}}(\\.[0-9]{{1,{decimals}}})?$"}
    if check is quantity_thousandths:
        number["not"] = {"const": 0}
        text["not"] = {"pattern": "^-?[0.]+$"}
    return {
        "description": f"{words}, with at most {decimals} decimals; text is never rounded.",
        "oneOf": [number, text],
    }


def _unwrapped(annotation: Any) -> tuple[Any, tuple[Meta, ...], bool]:
    """Return the type inside Annotated and unions, the limits that annotate it, and whether it may be null."""
    if get_origin(annotation) is Annotated:
        kind, *metas = get_args(annotation)
        return kind, tuple(meta for meta in metas if isinstance(meta, Meta)), False
    kinds = [one for one in get_args(annotation) if one not in (type(None), UnsetType)]
    if get_origin(annotation) not in (list, tuple) and len(kinds) == 1:
        kind, found, _ = _unwrapped(kinds[0])
        return kind, found, type(None) in get_args(annotation)
    return annotation, (), False
