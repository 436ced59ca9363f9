"""The POS service as an OData service: its actions and their messages, derived from the structs that decode them."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from functools import cache
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints
from uuid import UUID

import msgspec
from msgspec import NODEFAULT, Meta, Raw, Struct, UnsetType
from starlette.types import Message, Receive, Scope, Send

from odata_server.edm import (
    Action,
    ActionImport,
    Annotation,
    ComplexType,
    Container,
    Edm,
    EnumMemberValue,
    Parameter,
    Primitive,
    Property,
    Record,
    ReturnType,
    Schema,
    Type,
)
from odata_server.hooks import Hooks
from odata_server.http import Request
from odata_server.service import Service
from odata_server.source import Unit
from odata_server.transport import request_of
from promenade.web.access.auth import Authentication
from promenade.web.coupons.messages import OPERATIONS
from promenade.web.http.body import header
from promenade.web.http.endpoint import Answer, Endpoint, Handler
from promenade.web.http.numbers import amount_thousandths, price_hundredths, quantity_thousandths
from promenade.web.imports.till_article_messages import ARTICLE_OPERATIONS
from promenade.web.pricing.messages import ConfirmRequest, EvaluateRequest, PricesRequest
from promenade.web.pricing.pos import SCOPES
from promenade.web.pricing.remarks import remark_of
from promenade.web.pricing.responses import EvaluateResponseV2, PricesResponse, is_moment
from promenade.web.services.pos_openapi import SALE_OPERATIONS, render_pos_openapi
from promenade.workflows.sales.confirm import ConfirmAnswer

ROOT = "/pos"
NAMESPACE = "PosService"

_INT32_MAX = 2**31 - 1
_MICROSECONDS, _MILLISECONDS = 6, 3  # decimals of a second in requests and responses
# Digits, decimals and the least value that the checks of `web.http.numbers` let through.
_NUMBERS: dict[Any, tuple[int, int, int | None]] = {
    quantity_thousandths: (15, 3, None),
    price_hundredths: (15, 2, 0),
    amount_thousandths: (16, 3, 0),
}
_SCALARS = {str: Primitive.STRING, bool: Primitive.BOOLEAN, UUID: Primitive.GUID, datetime: Primitive.DATE_TIME_OFFSET}
_MONEY = ComplexType(
    name="Money",
    properties=(
        Property(name="value", type=Primitive.DECIMAL, nullable=False),
        Property(name="currency", type=Primitive.STRING, nullable=False, max_length=3),
    ),
    annotations=(Annotation("Core.Description", "An amount in a currency, with all decimals of the currency."),),
)
_OBJECT = ComplexType(
    name="JsonObject",
    properties=(),
    annotations=(Annotation("Core.Description", "An object of the sender's own, with whatever members it likes."),),
)

T = TypeVar("T")


# ---- the model ----------------------------------------------------------------------------------------------------


@cache
def pos_edm() -> Edm:
    """Return the entity data model of the POS service: actions and their message types, without entity sets."""
    types = _Types()
    priced = ReturnType(type=types.of(EvaluateResponseV2), nullable=False)
    actions = (
        _action("evaluate", types.of(EvaluateRequest), priced, "Prices a basket, as an iteration of its transaction."),
        _action("simulate", types.of(EvaluateRequest), priced, "Prices a basket and keeps nothing."),
        _action(
            "prices",
            types.of(PricesRequest),
            ReturnType(type=types.of(PricesResponse), nullable=False),
            "Prices single articles, each alone.",
        ),
        _action("confirm", types.of(ConfirmRequest), _confirmed(types), "Turns one iteration into a sale, once."),
        *[
            Action(
                name=one.action,
                parameters=types.parameters(one.request),
                returns=ReturnType(type=types.of(one.response), nullable=False),
                annotations=_described(one.text),
            )
            for one in (*SALE_OPERATIONS.values(), *OPERATIONS.values(), *ARTICLE_OPERATIONS.values())
        ],
    )
    return Edm(
        Schema(
            namespace=NAMESPACE,
            entity_types=(),
            complex_types=tuple(types.made.values()),
            operations=actions,
            container=Container(
                action_imports=tuple(ActionImport(name=action.name, action=action.name) for action in actions),
                annotations=(
                    Annotation(
                        "Core.Description",
                        "Prices baskets, confirms and cancels sales, takes coupons from issue to redemption, and "
                        "imports articles.",
                    ),
                    Annotation(
                        "Capabilities.ConformanceLevel", EnumMemberValue(("Capabilities.ConformanceLevelType/Minimal",))
                    ),
                    Annotation("Capabilities.BatchSupported", False),
                    Annotation("Capabilities.ComputeSupported", False),
                    Annotation("Capabilities.QuerySegmentSupported", False),
                    Annotation("Capabilities.BatchSupport", Record({"Supported": False})),
                ),
            ),
        )
    )


def _action(name: str, request: ComplexType, returns: ReturnType, text: str) -> Action:
    return Action(
        name=name,
        parameters=(Parameter(name="request", type=request, nullable=False),),
        returns=returns,
        annotations=(Annotation("Core.Description", text),),
    )


def _confirmed(types: _Types) -> ReturnType:
    """Return the answer of confirm: a ConfirmAnswer without its stored body."""
    hints = get_type_hints(ConfirmAnswer)
    properties = tuple(
        Property(name=_wire_name(one.name), type=_SCALARS[hints[one.name]], nullable=False)
        for one in dataclass_fields(ConfirmAnswer)
        if one.name != "body"
    )
    types.made["ConfirmResponse"] = response = ComplexType(name="ConfirmResponse", properties=properties)
    return ReturnType(type=response, nullable=False)


def _wire_name(name: str) -> str:
    """Return a field's name on the wire: camelCase."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


class _Types:
    """Complex types, each created once from its struct."""

    def __init__(self) -> None:
        self.made: dict[str, ComplexType] = {}

    def of(self, struct: type[Struct]) -> ComplexType:
        known = self.made.get(struct.__name__)
        if known is None:
            known = ComplexType(
                name=struct.__name__,
                properties=tuple(self._properties(struct)),
                annotations=_described(" ".join((struct.__doc__ or "").split())),
            )
            self.made[struct.__name__] = known
        return known

    def parameters(self, struct: type[Struct]) -> tuple[Parameter, ...]:
        """Return the members of a body without an envelope as parameters."""
        return tuple(
            Parameter(
                name=one.name,
                type=one.type,
                collection=one.collection,
                nullable=one.nullable,
                max_length=one.max_length,
                annotations=(*one.annotations, *_optional(one)),
            )
            for one in self._properties(struct)
        )

    def _properties(self, struct: type[Struct]) -> Iterator[Property]:
        for field in msgspec.structs.fields(struct):
            kind, metas, is_nullable = _unwrapped(field.type)
            if kind is object:
                continue  # a field that must not be sent is not part of the message
            notes = _described(remark_of(struct, field.name))
            is_list = get_origin(kind) in (list, tuple)
            if is_list:
                notes = (*notes, *_counts(metas))
                kind, metas, _ = _unwrapped(get_args(kind)[0])
            default = None if field.default in (NODEFAULT, None, msgspec.UNSET) else field.default
            yield self._property(
                Property(
                    name=field.encode_name,
                    type=Primitive.STRING,
                    collection=is_list,
                    nullable=is_nullable and not is_list,
                    default=default,
                    annotations=notes,
                ),
                kind,
                metas,
                is_time=kind is str and is_moment(field.name),
            )

    def _property(self, prop: Property, kind: Any, metas: tuple[Meta, ...], *, is_time: bool) -> Property:
        """Return the property with its type and its limits."""
        if isinstance(kind, type) and issubclass(kind, Struct):
            return replace(prop, type=self.of(kind))
        if get_origin(kind) is dict:
            self.made.setdefault(_OBJECT.name, _OBJECT)
            return replace(prop, type=_OBJECT)
        if kind is Raw:
            is_money = any(meta.title == "Money" for meta in metas)
            if is_money:
                self.made.setdefault(_MONEY.name, _MONEY)
            return replace(prop, type=_MONEY if is_money else Primitive.DECIMAL)
        if kind is Decimal:
            check = next(meta.extra["check"] for meta in metas if meta.extra)
            digits, decimals, least = _NUMBERS[check]
            bounds = () if least is None else (Annotation("Validation.Minimum", least),)
            more = (*prop.annotations, *bounds)
            return replace(prop, type=Primitive.DECIMAL, precision=digits, scale=decimals, annotations=more)
        if is_time:
            return replace(prop, type=Primitive.DATE_TIME_OFFSET, precision=_MILLISECONDS)
        more = (*prop.annotations, *_bounds(metas))
        longest = next((meta.max_length for meta in metas if meta.max_length is not None), None)
        return replace(
            prop,
            type=_whole(metas) if kind is int else _SCALARS[kind],
            max_length=longest if kind is str else None,
            precision=_MICROSECONDS if kind is datetime else None,
            annotations=more,
        )


def _unwrapped(annotation: Any) -> tuple[Any, tuple[Meta, ...], bool]:
    """Return the type inside Annotated and unions, the limits that annotate it, and whether it is optional."""
    if get_origin(annotation) is Annotated:
        kind, *metas = get_args(annotation)
        return kind, tuple(meta for meta in metas if isinstance(meta, Meta)), False
    kinds = [one for one in get_args(annotation) if one not in (NoneType, UnsetType)]
    if get_origin(annotation) not in (list, tuple) and len(kinds) == 1:
        kind, found, _ = _unwrapped(kinds[0])
        return kind, found, True
    return annotation, (), False


def _whole(metas: tuple[Meta, ...]) -> Type:
    return Primitive.INT64 if any((meta.le or 0) > _INT32_MAX for meta in metas) else Primitive.INT32


def _bounds(metas: tuple[Meta, ...]) -> Iterator[Annotation]:
    for meta in metas:
        for term, bound in (("Validation.Minimum", meta.ge), ("Validation.Maximum", meta.le)):
            if bound is not None:
                yield Annotation(term, int(bound))
        if meta.pattern is not None:
            yield Annotation("Validation.Pattern", meta.pattern)
        elif meta.min_length:
            yield Annotation("Validation.Pattern", f"^[\\s\\S]{{{meta.min_length},{meta.max_length or ''}}}$")


def _counts(metas: tuple[Meta, ...]) -> Iterator[Annotation]:
    """Yield the limits on the number of entries of a list."""
    for meta in metas:
        for term, bound in (("Validation.MinItems", meta.min_length), ("Validation.MaxItems", meta.max_length)):
            if bound is not None:
                yield Annotation(term, bound)


def _optional(prop: Property) -> tuple[Annotation, ...]:
    """Return the annotation that makes a list parameter optional, although a list cannot be null."""
    return (Annotation("Core.OptionalParameter", Record({})),) if prop.collection else ()


def _described(text: str) -> tuple[Annotation, ...]:
    return (Annotation("Core.Description", text),) if text else ()


# ---- the documents ------------------------------------------------------------------------------------------------


class PosMetadata:
    """The documents of the POS service: service document, metadata, and OpenAPI."""

    def __init__(self, authenticator: Authentication) -> None:
        self._authenticator = authenticator
        self._service = Service(pos_edm(), _NoData(), _PosHooks(), root=ROOT)
        self._rendered: dict[bool, tuple[bytes, bytes]] = {}

    def endpoints(self) -> list[Endpoint]:
        """Return the routes. The OpenAPI document is public and needs no token."""
        handlers: dict[str, Handler] = {
            ROOT: self._document,
            f"{ROOT}/": self._document,
            f"{ROOT}/$metadata": self._document,
            f"{ROOT}/openapi.json": self._openapi_document,
            f"{ROOT}/openapi-all.json": self._whole_openapi_document,
        }
        return [_Document(route, {"GET": handler}) for route, handler in handlers.items()]

    async def _document(self, scope: Scope, receive: Receive) -> Answer:
        """Return the service document, or the metadata as XML or JSON."""
        caller = await self._authenticator.authenticate(scope)
        caller.require_scope(*SCOPES)
        request = request_of(scope, ROOT)
        if request is None:
            raise LookupError(scope["path"])
        response = await self._service.handle(_in_our_version(request), caller)
        headers = [
            (name.lower().encode("latin-1"), value.encode("latin-1"))
            for name, value in response.headers.items()
            if name != "Content-Type"
        ]
        content_type = response.headers.get("Content-Type", "application/json").encode("latin-1")
        return Answer(response.body, response.status, (b"content-type", content_type), headers)

    async def _openapi_document(self, scope: Scope, receive: Receive) -> Answer:
        """Return the OpenAPI document: each operation at one address, with its messages and errors."""
        return self._openapi(scope, whole=False)

    async def _whole_openapi_document(self, scope: Scope, receive: Receive) -> Answer:
        """Return the OpenAPI document with all addresses at which the operations are served."""
        return self._openapi(scope, whole=True)

    def _openapi(self, scope: Scope, *, whole: bool) -> Answer:
        if whole not in self._rendered:
            body = render_pos_openapi(whole=whole)
            self._rendered[whole] = body, b'"%s"' % hashlib.sha256(body).hexdigest()[:16].encode("ascii")
        body, etag = self._rendered[whole]
        headers = [(b"etag", etag)]
        known = header(scope, b"if-none-match") or b""
        if known.strip() == b"*" or etag in [one.strip().removeprefix(b"W/") for one in known.split(b",")]:
            return Answer(b"", 304, headers=headers)
        return Answer(body, headers=headers)


class _Document(Endpoint):
    """An endpoint that may answer 304, in which case it sends no content headers."""

    __slots__ = ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 304:
                kept = [one for one in message["headers"] if not one[0].startswith(b"content-")]
                message = {**message, "headers": kept}
            await send(message)

        await super().__call__(scope, receive, sending)


class _PosHooks(Hooks):
    """The OData version, as everywhere below `/pos`: 4.0 unless the client asks for 4.01."""

    default_version = "4.0"


class _NoData:
    """A source without entities."""

    async def transact(self, caller: Any, work: Callable[[Unit], Awaitable[T]], *, writes: bool) -> T:
        raise LookupError("the POS service has no entities")


def _in_our_version(request: Request) -> Request:
    """Return the request with only supported versions: answers below `/pos` are in 4.0, or in 4.01 if requested."""
    headers = {name: value for name, value in request.headers.items() if name not in _VERSIONS}
    if request.headers.get("odata-maxversion") == "4.01":
        headers["odata-maxversion"] = "4.01"
    return replace(request, headers=headers)


_VERSIONS = frozenset({"odata-version", "odata-maxversion"})
