"""docs/reference/pos.md: the POS service from its routes, message structs and the errors its modules raise."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, cast, get_args, get_origin
from uuid import UUID

import msgspec
from msgspec import NODEFAULT, Meta, Raw, Struct, UnsetType

from docs.markdown import field_remarks, table, text_of
from promenade.settings import Settings
from promenade.web.access.issuer import Issuer, SecretResponse, TokenResponse
from promenade.web.access.oauth import OAuthError
from promenade.web.access.own_password import OwnPassword, PasswordChange
from promenade.web.access.own_sessions import OwnSessions, SessionList, SessionsEnd
from promenade.web.coupons.endpoints import PosCoupons
from promenade.web.coupons.messages import OPERATIONS
from promenade.web.http.endpoint import Endpoint
from promenade.web.http.numbers import amount_thousandths, price_hundredths, quantity_thousandths
from promenade.web.imports.till_article_messages import ARTICLE_OPERATIONS
from promenade.web.imports.till_articles import PosArticles
from promenade.web.pricing import pos
from promenade.web.pricing.messages import CancelRequest, ConfirmRequest, EvaluateRequest, Message, PricesRequest
from promenade.web.pricing.pos import Pos
from promenade.web.pricing.responses import (
    EvaluateResponseV2,
    LoyaltyResult,
    PricesResponse,
    SideEffectsResult,
    TransactionResult,
)
from promenade.web.services.invitation import Invitations
from promenade.web.services.login import AUTHORIZE, SIGN_OUT, Login
from promenade.web.services.monitoring import Health, Heartbeat, Live, Monitoring
from promenade.web.services.pos_metadata import PosMetadata
from promenade.workflows.coupons.answers import REASONS
from promenade.workflows.sales.cancel import CancelResponse
from promenade.workflows.sales.confirm import MESSAGE

__all__ = ["services", "shapes"]

_OPEN = "none"
_POS = " or ".join(f"`{scope}`" for scope in pos.SCOPES)

# Per handler: its scope, and the structs of its request and response.
_CONTRACTS: dict[str, tuple[str, type[Struct] | None, type[Struct] | str | None]] = {
    "_evaluate": (_POS, EvaluateRequest, EvaluateResponseV2),
    "_simulate": (_POS, EvaluateRequest, EvaluateResponseV2),
    "_prices": (_POS, PricesRequest, PricesResponse),
    "_confirm": (
        _POS,
        ConfirmRequest,
        f'`{{"transactionId": "...", "confirmed": true, "message": "{MESSAGE}"}}`, the same bytes for every repeat',
    ),
    "_cancel_sale": (_POS, CancelRequest, CancelResponse),
    "_iteration": (_POS, None, EvaluateResponseV2),
    "_transaction": (_POS, None, TransactionResult),
    "_loyalty": (_POS, None, LoyaltyResult),
    "_side_effects": (_POS, None, SideEffectsResult),
    "_requeue": (f"`{pos.ADMINISTRATOR}`", None, SideEffectsResult),
    **{f"_{name}": (_POS, one.request, one.response) for name, one in OPERATIONS.items()},
    **{f"_{name.replace('-', '_')}": (_POS, one.request, one.response) for name, one in ARTICLE_OPERATIONS.items()},
    "_heartbeat": (_POS, None, Heartbeat),
    "_health": (_OPEN, None, Health),
    "_live": (_OPEN, None, Live),
    "_ready": (_OPEN, None, Health),
    "_metrics": ("none from loopback, else the metrics token", None, "text"),
    "_token": (_OPEN, None, TokenResponse),
    "_secret": (_OPEN, None, SecretResponse),
    "_jwks": (_OPEN, None, "JSON"),
    "_configuration": (_OPEN, None, "JSON"),
    "_authorization_server": (_OPEN, None, "JSON"),
    "_form": (_OPEN, None, "HTML"),
    "_login": (_OPEN, None, "303, or HTML"),
    "_session": (_OPEN, None, TokenResponse),
    "_sign_out": (_OPEN, None, "204"),
    "_change_password": ("any, of a person", PasswordChange, "204"),
    "_list_sessions": ("any, of a person", None, SessionList),
    "_end_sessions": ("any, of a person", SessionsEnd, "204"),
    "_accept": (_OPEN, None, "HTML"),
    "_show": (_OPEN, None, "HTML"),
    "_document": (_POS, None, "JSON; `$metadata` in XML or JSON"),
    "_openapi_document": (_OPEN, None, "JSON"),
    "_whole_openapi_document": (_OPEN, None, "JSON"),
}
_NUMBERS = {
    quantity_thousandths: "Decimal(15,3), not 0",
    price_hundredths: "Decimal(15,2) from 0",
    amount_thousandths: "Decimal(16,3) from 0",
}
_SCALARS = {str: "string", int: "integer", bool: "boolean", float: "number", UUID: "UUID", datetime: "ISO-8601 time"}

_OF_LOGIN = frozenset({AUTHORIZE, SIGN_OUT})


def services() -> str:
    """Return every endpoint with its scope, request and response."""
    none = cast("Any", None)
    issuer = Issuer(none, cast("Any", _NoCounts()), none, none, issuer="", base_url="", audience="")
    endpoints = [
        *Pos(none, none).endpoints(),
        *PosCoupons(none, none).endpoints(),
        *PosArticles(none, none).endpoints(),
        *Monitoring(none, none, Settings()).endpoints(),
        *issuer.endpoints(),
        *[one for one in Login(issuer, none, issuer_url="", base_url="").endpoints() if one.route in _OF_LOGIN],
        *OwnPassword(none, issuer, none).endpoints(),
        *OwnSessions(none, issuer, none).endpoints(),
        *Invitations(none, cast("Any", _NoCounts()), base_url="").endpoints(),
        *PosMetadata(none).endpoints(),
    ]
    addresses: dict[str, list[str]] = {}
    handlers: dict[str, object] = {}
    for endpoint in endpoints:
        for method, handler in _handlers(endpoint):
            name = handler.__name__
            route = endpoint.route.replace(":path}", "}").replace(":counter}", "}")
            addresses.setdefault(name, []).append(f"`{method} {_wire_route(route)}`")
            handlers[name] = handler
    rows = []
    for name, where in addresses.items():
        scope, request, answer = _CONTRACTS[name]
        takes = "" if request is None else _link(request)
        gives = answer if isinstance(answer, str) else "" if answer is None else _link(answer)
        rows.append(("<br>".join(where), scope, takes, gives, text_of(handlers[name])))
    rows.append(("`GET /pos/docs`", _OPEN, "", "HTML", "The OpenAPI document to browse, and to try out."))
    return table(("Address", "Scope", "Request", "Answer", "What it does"), rows)


class _NoCounts:
    """An issuer without counters, used only to read its routes."""


def _handlers(endpoint: Endpoint) -> Iterator[tuple[str, Any]]:
    for method, handler in endpoint._handlers.items():
        if method != "HEAD":
            yield method, handler


def _wire_route(route: str) -> str:
    names = {
        "transaction_id": "transactionId",
        "transaction_counter": "transactionCounter",
        "customer_id": "customerId",
    }
    for name, wire in names.items():
        route = route.replace(name, wire)
    return route


def shapes() -> str:
    """Return every request and response with its fields, each followed by the objects it contains."""
    parts: list[str] = []
    seen: set[type[Struct]] = set()
    titled: list[tuple[str, tuple[type[Struct], ...]]] = [
        ("Evaluate and simulate: the request", (EvaluateRequest,)),
        ("Evaluate and simulate: the answer", (EvaluateResponseV2,)),
        ("Prices of single articles", (PricesRequest, PricesResponse)),
        ("Confirm: the request", (ConfirmRequest,)),
        ("Cancel", (CancelRequest, CancelResponse)),
        ("A transaction: the answer", (TransactionResult,)),
        ("A customer's points: the answer", (LoyaltyResult,)),
        ("Side effects: the answer", (SideEffectsResult,)),
        *[(f"Coupons: {name}", (operation.request, operation.response)) for name, operation in OPERATIONS.items()],
        *[(f"Articles: {name}", (one.request, one.response)) for name, one in ARTICLE_OPERATIONS.items()],
        ("Health and heartbeat", (Health, Live, Heartbeat)),
        ("Tokens", (TokenResponse, SecretResponse, PasswordChange, SessionList, SessionsEnd, OAuthError)),
    ]
    for title, roots in titled:
        parts.append(f"## {title}")
        for struct in _reachable(roots):
            if struct not in seen:
                seen.add(struct)
                parts.append(_shape(struct))
    parts.append(f"## Coupons: reasons\n\n{_REASONS}\n\n{table(('Reason', 'Message'), _reasons())}")
    return "\n\n".join(parts)


def _reasons() -> list[tuple[str, str]]:
    return [(f"`{reason}`", message) for reason, message in REASONS.items()]


def _reachable(roots: Iterable[type[Struct]]) -> list[type[Struct]]:
    found: list[type[Struct]] = []
    waiting = list(roots)
    while waiting:
        struct = waiting.pop(0)
        if struct in found:
            continue
        found.append(struct)
        waiting.extend(one for field in msgspec.structs.fields(struct) for one in _structs_in(field.type))
    return found


def _structs_in(annotation: Any) -> Iterator[type[Struct]]:
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        yield annotation
    for argument in get_args(annotation):
        if not isinstance(argument, Meta):
            yield from _structs_in(argument)


def _shape(struct: type[Struct]) -> str:
    remarks = field_remarks(struct)
    is_request = struct.__module__.endswith("pricing.messages") or issubclass(struct, Message)
    rows = []
    for field in msgspec.structs.fields(struct):
        kind, optional = _type(field.type)
        if is_request:
            note = "required" if field.default is NODEFAULT and field.default_factory is NODEFAULT else ""
        else:
            is_nullable = type(None) in get_args(field.type)
            note = "may be missing" if optional else "may be null" if is_nullable else ""
        rows.append((f"`{field.encode_name}`", kind, note, remarks[field.name]))
    return f"### {struct.__name__}\n\n{text_of(struct)}\n\n{table(('Field', 'Type', '', 'Meaning'), rows)}"


def _type(annotation: Any) -> tuple[str, bool]:
    """Return a field's type in words, and whether it may be absent."""
    if get_origin(annotation) is Annotated:
        kind, *metas = get_args(annotation)
        return _bounded(kind, [meta for meta in metas if isinstance(meta, Meta)]), False
    arguments = get_args(annotation)
    if get_origin(annotation) in (list, tuple):
        return f"array of {_type(arguments[0])[0]}", False
    if get_origin(annotation) is dict:
        return "object", False
    kinds = [one for one in arguments if one not in (type(None), UnsetType)]
    if kinds:
        return _type(kinds[0])[0], UnsetType in arguments
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return _link(annotation), False
    return _SCALARS.get(annotation, "anything"), False


def _bounded(kind: Any, metas: list[Meta]) -> str:
    if kind is Raw:
        return next(meta.title for meta in metas if meta.title) or ""
    if kind is Decimal:
        checks = [(meta.extra or {})["check"] for meta in metas]
        return _NUMBERS[checks[0]]
    words, _ = _type(kind)
    for meta in metas:
        if meta.max_length is not None and kind is str:
            words += f" of {meta.min_length} to {meta.max_length}" if meta.min_length else f"({meta.max_length})"
        elif meta.max_length is not None:
            words += f", {meta.min_length or 0} to {meta.max_length}"
        if meta.ge is not None:
            words += f" {meta.ge} to {meta.le}"
        if meta.pattern is not None:
            words += f" `{meta.pattern}`"
    return words


def _link(struct: type[Struct]) -> str:
    return f"[{struct.__name__}](#{struct.__name__.lower()})"


_REASONS = inspect.cleandoc(
    """
    A business "no" is an answer with status 200: its flag is false, and `reason` says why. More than 100 codes that
    nobody knows within a minute, from one client, are 429 `TOO_MANY_ATTEMPTS`.
    """
)
INTRO = inspect.cleandoc(
    """
    What a till sends and gets. Every address under `/pos` takes a bearer token of one of the scopes named, in
    `Authorization: Bearer ...`; the token names the tenant. In a [store](local-store.md) they take its API key instead,
    in `X-Api-Key`, all of them, and `/pos/docs` is not there. Bodies are JSON in UTF-8, at most 10 MiB, wrapped in one
    object: `{"request": ...}`; those of `cancel` and about coupons are not wrapped, and at most 64 KiB, of `issue` 4
    MiB; those about articles neither, and at most 10 MiB, of `import-batch` 64 MiB. Unknown fields are ignored.
    `/pos/v2/x`, `/pos/x` and `/pos/PosService.x` are the same.

    Decimal inputs may be JSON numbers or numeric strings; they are read exactly, and too many decimals are refused.
    `null` counts as left out, except for `enabled`, and in an article, where it empties the field. `Money` is
    `{"value": 12.50, "currency": "EUR"}`; numbers are written with all decimals of the currency, and as strings for
    clients that send `Accept: application/json;IEEE754Compatible=true`. A field marked *may be missing* is left out
    when there is nothing to say. Times are ISO-8601 in UTC. How the price comes about:
    [How a basket becomes a price](../pricing.md).

    What is wrong with an article is told of it alone, in `errors` of the answer or in `ArticleImportJobItems` and
    `ImportJobErrors` of its batch; the codes are those of creating one by the [public API](error-codes.md#public-api).

    Answers carry `X-Correlation-Id`, the caller's own if it sent one; a 500 quotes it.
    """
)
