"""The messages by which a store uploads its sales, cancellations and coupon events, shared by both sides.

On the wire, names are in camelCase; basket, settings, facts and outcome are the engine's values with the engine's own
names. The comments that begin with ``#:`` are shown in the reference. Unknown members are ignored.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta, Struct

from promenade.engine.basket import Basket, Facts, StoredSettings
from promenade.engine.outcome import Outcome

UPLOADED_MAX = 500  # sales, coupon events and cancellations per request, each
CONFIRMED_PROMOTIONS_MAX = 1_000
ITEMS_MAX = 5_000

Text20 = Annotated[str, Meta(min_length=1, max_length=20)]
Text36 = Annotated[str, Meta(min_length=1, max_length=36)]
Text50 = Annotated[str, Meta(min_length=1, max_length=50)]
Text64 = Annotated[str, Meta(min_length=1, max_length=64)]
Text100 = Annotated[str, Meta(min_length=1, max_length=100)]
Text255 = Annotated[str, Meta(min_length=1, max_length=255)]
Metadata = Annotated[str, Meta(max_length=10_000)]
Currency = Annotated[str, Meta(pattern="^[A-Z]{3}$")]
Counter = Annotated[int, Meta(ge=1, le=2_147_483_647)]
Order = Annotated[int, Meta(ge=0, le=2**53)]
Hash = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]

SoldOutcome = Outcome


class _Message(Struct, rename="camel", omit_defaults=True):
    """A part of an upload."""


class SoldRequest(_Message):
    """The input of the price calculation."""

    basket: Basket  #: The basket, as the engine has it.
    settings: StoredSettings  #: The settings that it was priced with; `now` is the time of pricing.
    facts: Facts  #: What the store knew of articles, coupons, budgets and usage.
    tree_hash: Hash  #: The article group tree used, one of the definitions.
    receipt_id: Text50 | None = None  #: The till's receipt, from evaluate.
    header_reference: Text100 | None = None  #: The till's own reference, from evaluate.
    data_age: datetime | None = None  #: Time of the data that it was priced with.


class SoldPromotion(_Message):
    """A promotion that the till granted."""

    promotion_id: Text36  #: A promotion that the result applied.
    coupon_code: Text64 | None = None  #: The coupon as the till named it.
    amount: Decimal | None = None  #: The discount the till granted; none: as evaluated.
    currency: Currency | None = None  #: Set when the amount came with one.


class SoldItem(_Message):
    """A line as the till charged it, for the log."""

    article_number: Text50  #: The article sold.
    quantity: Decimal  #: The quantity sold.
    unit_price: Decimal  #: The price of one unit.
    line_reference: Text50 | None = None  #: The line's reference.
    line_discount: Decimal | None = None  #: The discount of the line.
    line_net: Decimal | None = None  #: The amount charged.


class SoldCommand(_Message):
    """The confirm, as the store received it."""

    promotions: Annotated[list[SoldPromotion], Meta(max_length=CONFIRMED_PROMOTIONS_MAX)]  #: The promotions granted.
    fingerprint: Hash  #: SHA-256 that identifies a repeated confirm.
    pos_group_id: Text36 | None = None  #: As the till sent it.
    pos_group_code: Text20 | None = None  #: As the till sent it.
    customer_id: Text50 | None = None  #: The customer rewarded; none: the basket's customer.
    timestamp: datetime | None = None  #: The till's own time.
    items: Annotated[list[SoldItem], Meta(max_length=ITEMS_MAX)] | None = None  #: Final prices.
    receipt_id: Text50 | None = None  #: The till's receipt.
    header_reference: Text100 | None = None  #: The till's own reference.


class IssuedCode(_Message):
    """A coupon that the store has issued after the purchase; the cloud does not issue it again."""

    coupon_type_id: Text36  #: Its type.
    promotion_id: Text36  #: The promotion that granted it.
    issued_at: datetime  #: When it was issued.
    coupon_id: Text36 | None = None  #: The code; none: the shared code of its type.
    customer_id: Text50 | None = None  #: The customer who received it.


class UploadedSale(_Message):
    """A confirmed sale of a store."""

    transaction_id: Text50  #: The till's transaction.
    transaction_counter: Counter  #: The iteration that was confirmed.
    evaluated_at: datetime  #: When it was priced; equal to `request.settings.now`.
    confirmed_at: datetime  #: When the store confirmed it, by its own clock.
    request: SoldRequest  #: The input of the price calculation.
    result: SoldOutcome  #: The result, as the engine has it.
    confirm: SoldCommand  #: What the till confirmed.
    issued: Annotated[list[IssuedCode], Meta(max_length=CONFIRMED_PROMOTIONS_MAX)] = []  #: Coupons issued for it.
    order: Order = 0  #: Its position among all uploaded items, coupon events included.


class UploadedCoupon(_Message):
    """A coupon event at a store's till outside a sale."""

    log_id: Text36  #: ID of the store's redemption log; the event is applied once by it.
    action: Literal["REDEEMED", "ISSUED", "ACTIVATED"]  #: The event.
    coupon_type_id: Text36  #: The type.
    occurred_at: datetime  #: When, by the store's clock.
    coupon_id: Text36 | None = None  #: The code; none: the shared code of the type.
    transaction_id: Text50 | None = None  #: The till's transaction that redeemed it.
    customer_id: Text50 | None = None  #: The customer.
    reason: Text255 | None = None  #: Why it was issued.
    metadata: Metadata | None = None  #: The issuer's metadata, as JSON.
    order: Order = 0  #: Its position among all uploaded items.


class UploadedCancellation(_Message):
    """A sale that a store has cancelled."""

    cancellation_id: Text36  #: ID of the cancellation in the store.
    transaction_id: Text50  #: The till's transaction.
    transaction_counter: Counter  #: The iteration that was confirmed.
    cancelled_at: datetime  #: When, by the store's clock.
    reason: Text255 | None = None  #: Why, as the till said.
    order: Order = 0  #: Its position among all uploaded items; after its sale.
