"""What stores send of their sales and coupons, and what becomes of it; see `workflows.uploads` for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar
from uuid import UUID

import msgspec
from msgspec import Meta

from promenade.errors import Invalid
from promenade.web.pos_messages import Message
from promenade.web.pos_responses import Response
from promenade.web.sync_messages import SyncOperation
from promenade.workflows.sync.sale_checks import check_coupon, check_document, check_sale
from promenade.workflows.sync.sales import Refused
from promenade.workflows.uploads import UPLOADED_MAX, UploadedCoupon, UploadedSale

__all__ = [
    "OPERATIONS",
    "Envelope",
    "Named",
    "TransactionsAnswer",
    "TransactionsRequest",
    "decode_coupon",
    "decode_sale",
    "named",
    "read_envelope",
]

T = TypeVar("T", str, int)
DEFINITIONS_MAX = 10_000
VALUES_MAX = 500_000  # in one upload: the 250 000 of the largest basket, and as much again for what it came to
NAME_BYTES_MAX = 400  # of a transaction's ID as JSON; a longer one is none
Raws = Annotated[list[dict[str, Any]], Meta(max_length=UPLOADED_MAX)]
Definitions = Annotated[dict[str, str], Meta(max_length=DEFINITIONS_MAX)]


class TransactionsRequest(Message):
    """Sales and coupon events of a store."""

    deployment_id: UUID  #: As `register` has answered; the origin of the sales.
    transactions: Raws  #: At most 500 sales, below.
    coupons: Raws = msgspec.field(default_factory=list)  #: At most 500 coupon events, below.
    definitions: Definitions = msgspec.field(
        default_factory=dict
    )  #: Promotions and article group trees by hash, MessagePack in base64.


class SaleResult(Response, frozen=True, omit_defaults=True):
    """What became of a sale."""

    transaction_id: str | None  #: The sale, where it could be read.
    transaction_counter: int | None  #: Its iteration.
    status: str  #: `accepted`, `duplicate` (taken before) or `rejected`.
    reason: str | None = None  #: A stable code, of a rejected one.
    message: str | None = None  #: The same in words.
    missing: list[str] | None = None  #: Definitions to be sent with it, of DEFINITION_MISSING.


class CouponResult(Response, frozen=True, omit_defaults=True):
    """What became of a coupon event."""

    log_id: str | None  #: The event, where it could be read.
    status: str  #: `accepted`, `duplicate` (taken before) or `rejected`.
    reason: str | None = None  #: A stable code, of a rejected one.
    message: str | None = None  #: The same in words.


class TransactionsAnswer(Response, frozen=True):
    """What became of each, in the order in which they were sent."""

    results: list[SaleResult]  #: Of the sales.
    coupons: list[CouponResult]  #: Of the coupon events.


OPERATIONS = (
    SyncOperation(
        "POST",
        "/sync/transactions",
        TransactionsRequest,
        TransactionsAnswer,
        "Tell of confirmed sales and of coupons at tills. Each is taken once, however often it is sent.",
    ),
)

_DOCUMENT = msgspec.json.Decoder()
_SALE = msgspec.json.Decoder(UploadedSale)
_COUPON = msgspec.json.Decoder(UploadedCoupon)


@dataclass(frozen=True, slots=True)
class Envelope:
    """A request whose uploads are still as they came."""

    deployment_id: str
    transactions: Sequence[msgspec.Raw]
    coupons: Sequence[msgspec.Raw]
    definitions: Mapping[str, str]


class _Parts(msgspec.Struct, rename="camel"):
    """A request cut into its members."""

    deployment_id: UUID
    transactions: msgspec.Raw
    coupons: msgspec.Raw = msgspec.Raw(b"[]")
    definitions: msgspec.Raw = msgspec.Raw(b"{}")


# A list is read to its end before its length is looked at, and ten megabytes hold millions of uploads; an array of
# fields ends with the first that is too many.
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
    """Cut a request into its uploads. Raises msgspec.MsgspecError, UnicodeError and RecursionError."""
    parts = _PARTS.decode(body)
    if bytes(parts.definitions).count(b'"') > 4 * DEFINITIONS_MAX:
        raise msgspec.ValidationError(f"Expected `object` of length <= {DEFINITIONS_MAX} - at `$.definitions`")
    return Envelope(
        str(parts.deployment_id),
        _uploads(parts.transactions),
        _uploads(parts.coupons),
        _DEFINITIONS.decode(parts.definitions),
    )


def _uploads(raw: msgspec.Raw) -> list[msgspec.Raw]:
    return [one for one in msgspec.structs.astuple(_UPLOADS.decode(raw)) if _size(one)]


def _size(raw: msgspec.Raw) -> int:
    """In bytes."""
    return len(memoryview(raw))


class _Named(msgspec.Struct, rename="camel"):
    """Members that name an upload, not looked into: they may be anything."""

    transaction_id: msgspec.Raw = msgspec.Raw()
    transaction_counter: msgspec.Raw = msgspec.Raw()
    log_id: msgspec.Raw = msgspec.Raw()
    order: msgspec.Raw = msgspec.Raw()


@dataclass(frozen=True, slots=True)
class Named:
    """What names an upload, as far as that can be read; ``place`` is its order among all."""

    transaction_id: str | None = None
    transaction_counter: int | None = None
    log_id: str | None = None
    place: int = 0


_NAMED = msgspec.json.Decoder(_Named)
_TEXT = msgspec.json.Decoder(str)
_NUMBER = msgspec.json.Decoder(int)


def named(raw: msgspec.Raw) -> Named:
    """What an upload is called."""
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
    """A member, if it is what it should be and no longer than it could be."""
    if not 0 < _size(raw) <= NAME_BYTES_MAX:
        return None
    try:
        return decoder.decode(raw)
    except (msgspec.MsgspecError, UnicodeError):
        return None


def _require_few(raw: msgspec.Raw) -> None:
    """Refuse what holds more values than could be, before they are made (see `validation.require_bounded`)."""
    if _size(raw) > VALUES_MAX:
        body = bytes(raw)
        if body.count(b",") + body.count(b"[") + body.count(b"{") > VALUES_MAX:
            raise Invalid("SALE_MALFORMED", f"It holds more than {VALUES_MAX} values.")


def decode_sale(raw: msgspec.Raw) -> UploadedSale | Refused:
    """A sale that could be, else what is wrong with it."""
    try:
        _require_few(raw)
        check_document(_DOCUMENT.decode(raw))
        sale = _SALE.decode(raw)
        check_sale(sale)
    except Invalid as fault:
        return Refused(fault.code, fault.message)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, OverflowError, ValueError) as fault:
        return Refused("SALE_MALFORMED", f"The sale cannot be read: {str(fault)[:200]}")
    return sale


def decode_coupon(raw: msgspec.Raw) -> UploadedCoupon | Refused:
    """A coupon event that could be, else what is wrong with it."""
    try:
        _require_few(raw)
        check_document(_DOCUMENT.decode(raw))
        event = _COUPON.decode(raw)
        check_coupon(event)
    except Invalid as fault:
        return Refused(fault.code, fault.message)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, OverflowError, ValueError) as fault:
        return Refused("SALE_MALFORMED", f"The event cannot be read: {str(fault)[:200]}")
    return event
