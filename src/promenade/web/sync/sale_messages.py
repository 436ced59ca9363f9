"""What stores send of their sales and coupons, and what becomes of it; see `workflows.replica.uploads` for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar
from uuid import UUID

import msgspec
from msgspec import Meta

from promenade.errors import Invalid
from promenade.web.pricing.messages import Message
from promenade.web.pricing.responses import Response
from promenade.web.sync.messages import SyncOperation
from promenade.workflows.replica.uploads import UPLOADED_MAX, UploadedCancellation, UploadedCoupon, UploadedSale
from promenade.workflows.sync.sale_checks import check_cancellation, check_coupon, check_document, check_sale
from promenade.workflows.sync.sales import Refused

T = TypeVar("T", str, int)
Upload = TypeVar("Upload", UploadedSale, UploadedCoupon, UploadedCancellation)
DEFINITIONS_MAX = 10_000
VALUES_MAX = 500_000  # in one upload: 250 000 for the largest basket, and as many again for its result
NAME_BYTES_MAX = 400  # of a transaction's ID as JSON; a longer one is invalid
Raws = Annotated[list[dict[str, Any]], Meta(max_length=UPLOADED_MAX)]
Definitions = Annotated[dict[str, str], Meta(max_length=DEFINITIONS_MAX)]


class TransactionsRequest(Message):
    """Sales, coupon events and cancelled sales of a store."""

    deployment_id: UUID  #: From the response of `register`; the origin of the sales.
    transactions: Raws  #: At most 500 sales, see below.
    coupons: Raws = msgspec.field(default_factory=list)  #: At most 500 coupon events, see below.
    cancellations: Raws = msgspec.field(default_factory=list)  #: At most 500 cancelled sales, see below.
    definitions: Definitions = msgspec.field(
        default_factory=dict
    )  #: Promotions and article group trees by hash, MessagePack in base64.


class SaleResult(Response, frozen=True, omit_defaults=True):
    """The result for one sale, or for its cancellation."""

    transaction_id: str | None  #: ID of the sale, if it could be read.
    transaction_counter: int | None  #: Iteration of the sale.
    status: str  #: `accepted`, `duplicate` (accepted before) or `rejected`.
    reason: str | None = None  #: Stable code, if rejected.
    message: str | None = None  #: The reason as a sentence.
    missing: list[str] | None = None  #: With DEFINITION_MISSING: definitions to send along.


class CouponResult(Response, frozen=True, omit_defaults=True):
    """The result for one coupon event."""

    log_id: str | None  #: ID of the event, if it could be read.
    status: str  #: `accepted`, `duplicate` (accepted before) or `rejected`.
    reason: str | None = None  #: Stable code, if rejected.
    message: str | None = None  #: The reason as a sentence.


class TransactionsAnswer(Response, frozen=True):
    """The result of each upload, in the order in which they were sent."""

    results: list[SaleResult]  #: One result for each sale.
    coupons: list[CouponResult]  #: One result for each coupon event.
    cancellations: list[SaleResult]  #: One result for each cancelled sale.


OPERATIONS = (
    SyncOperation(
        "POST",
        "/sync/transactions",
        TransactionsRequest,
        TransactionsAnswer,
        "Tell of confirmed and cancelled sales, and of coupons at tills. Each is taken once, however often it is sent."
        " Query: `deploymentId`, by which stores take turns; without it, by client. While many stores send, 429"
        " UPLOADS_BUSY with Retry-After; a store that comes back keeps its place.",
    ),
)

_DOCUMENT = msgspec.json.Decoder()
_SALE = msgspec.json.Decoder(UploadedSale)
_COUPON = msgspec.json.Decoder(UploadedCoupon)
_CANCELLATION = msgspec.json.Decoder(UploadedCancellation)


@dataclass(frozen=True, slots=True)
class Envelope:
    """A request whose uploads are not decoded yet."""

    deployment_id: str
    transactions: Sequence[msgspec.Raw]
    coupons: Sequence[msgspec.Raw]
    cancellations: Sequence[msgspec.Raw]
    definitions: Mapping[str, str]


class _Parts(msgspec.Struct, rename="camel"):
    """A request split into its members."""

    deployment_id: UUID
    transactions: msgspec.Raw
    coupons: msgspec.Raw = msgspec.Raw(b"[]")
    cancellations: msgspec.Raw = msgspec.Raw(b"[]")
    definitions: msgspec.Raw = msgspec.Raw(b"{}")


# The decoder checks the length of a list only at its end, and ten megabytes hold millions of uploads; a struct as an
# array stops at the first one too many.
_Uploads = msgspec.defstruct(
    "_Uploads",
    [(f"upload{place}", msgspec.Raw, msgspec.Raw()) for place in range(UPLOADED_MAX)],
    array_like=True,
    forbid_unknown_fields=True,
)
_PARTS = msgspec.json.Decoder(_Parts)
_UPLOADS = msgspec.json.Decoder(_Uploads)
_DEFINITIONS = msgspec.json.Decoder(Definitions)


def read_envelope(body: bytes) -> Envelope:
    """Split a request into its uploads. Raises msgspec.MsgspecError, UnicodeError and RecursionError."""
    parts = _PARTS.decode(body)
    if bytes(parts.definitions).count(b'"') > 4 * DEFINITIONS_MAX:
        raise msgspec.ValidationError(f"Expected `object` of length <= {DEFINITIONS_MAX} - at `$.definitions`")
    return Envelope(
        str(parts.deployment_id),
        _uploads(parts.transactions),
        _uploads(parts.coupons),
        _uploads(parts.cancellations),
        _DEFINITIONS.decode(parts.definitions),
    )


def _uploads(raw: msgspec.Raw) -> list[msgspec.Raw]:
    return [one for one in msgspec.structs.astuple(_UPLOADS.decode(raw)) if _size(one)]


def _size(raw: msgspec.Raw) -> int:
    """Return the size in bytes."""
    return len(memoryview(raw))


class _Named(msgspec.Struct, rename="camel"):
    """The members that identify an upload, not validated yet: they may hold any value."""

    transaction_id: msgspec.Raw = msgspec.Raw()
    transaction_counter: msgspec.Raw = msgspec.Raw()
    log_id: msgspec.Raw = msgspec.Raw()
    order: msgspec.Raw = msgspec.Raw()


@dataclass(frozen=True, slots=True)
class Named:
    """The identity of an upload, as far as it can be read; ``place`` is its position in the order of all."""

    transaction_id: str | None = None
    transaction_counter: int | None = None
    log_id: str | None = None
    place: int = 0


_NAMED = msgspec.json.Decoder(_Named)
_TEXT = msgspec.json.Decoder(str)
_NUMBER = msgspec.json.Decoder(int)


def named(raw: msgspec.Raw) -> Named:
    """Return the identity of an upload."""
    try:
        found = _NAMED.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return Named()
    return Named(
        _read(_TEXT, found.transaction_id),
        _read(_NUMBER, found.transaction_counter),
        _read(_TEXT, found.log_id),
        _read(_NUMBER, found.order) or 0,
    )


def _read(decoder: msgspec.json.Decoder[T], raw: msgspec.Raw) -> T | None:
    """Return the decoded member if it is valid and not too long, else None."""
    if not 0 < _size(raw) <= NAME_BYTES_MAX:
        return None
    try:
        return decoder.decode(raw)
    except (msgspec.MsgspecError, UnicodeError):
        return None


def _require_few(raw: msgspec.Raw) -> None:
    """Refuse an upload with too many values before it is decoded (see `validation.require_bounded`)."""
    if _size(raw) > VALUES_MAX:
        body = bytes(raw)
        if body.count(b",") + body.count(b"[") + body.count(b"{") > VALUES_MAX:
            raise Invalid("SALE_MALFORMED", f"It holds more than {VALUES_MAX} values.")


def decode_sale(raw: msgspec.Raw) -> UploadedSale | Refused:
    """Return the decoded sale, or the error that makes it invalid."""
    return _decoded(raw, _SALE, check_sale, "sale")


def decode_coupon(raw: msgspec.Raw) -> UploadedCoupon | Refused:
    """Return the decoded coupon event, or the error that makes it invalid."""
    return _decoded(raw, _COUPON, check_coupon, "event")


def decode_cancellation(raw: msgspec.Raw) -> UploadedCancellation | Refused:
    """Return the decoded cancellation, or the error that makes it invalid."""
    return _decoded(raw, _CANCELLATION, check_cancellation, "cancellation")


def _decoded(
    raw: msgspec.Raw, decoder: msgspec.json.Decoder[Upload], check: Callable[[Upload], None], name: str
) -> Upload | Refused:
    try:
        _require_few(raw)
        check_document(_DOCUMENT.decode(raw))
        upload = decoder.decode(raw)
        check(upload)
    except Invalid as fault:
        return Refused(fault.code, fault.message)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, OverflowError, ValueError) as fault:
        return Refused("SALE_MALFORMED", f"The {name} cannot be read: {str(fault)[:200]}")
    return upload
