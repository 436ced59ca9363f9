"""What stores send of their sales and coupons, and what becomes of it; see `workflows.uploads` for each."""

from __future__ import annotations

from typing import Annotated, Any
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
    "TRANSACTIONS",
    "Named",
    "TransactionsAnswer",
    "TransactionsRequest",
    "decode_coupon",
    "decode_sale",
    "named",
]

Raws = Annotated[list[msgspec.Raw], Meta(max_length=UPLOADED_MAX)]
Definitions = Annotated[dict[str, str], Meta(max_length=10_000)]


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

TRANSACTIONS = msgspec.json.Decoder(TransactionsRequest)
_DOCUMENT = msgspec.json.Decoder()
_SALE = msgspec.json.Decoder(UploadedSale)
_COUPON = msgspec.json.Decoder(UploadedCoupon)


class Named(msgspec.Struct, rename="camel"):
    """What names an upload, as far as that can be read; ``order`` is its place among all."""

    transaction_id: Any = None
    transaction_counter: Any = None
    log_id: Any = None
    order: Any = 0

    @property
    def place(self) -> int:
        return self.order if type(self.order) is int else 0


_NAMED = msgspec.json.Decoder(Named)


def named(raw: msgspec.Raw) -> Named:
    """What an upload is called."""
    try:
        return _NAMED.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return Named()


def decode_sale(raw: msgspec.Raw) -> UploadedSale | Refused:
    """A sale that could be, else what is wrong with it."""
    try:
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
        check_document(_DOCUMENT.decode(raw))
        event = _COUPON.decode(raw)
        check_coupon(event)
    except Invalid as fault:
        return Refused(fault.code, fault.message)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, OverflowError, ValueError) as fault:
        return Refused("SALE_MALFORMED", f"The event cannot be read: {str(fault)[:200]}")
    return event
