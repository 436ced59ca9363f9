"""The requests of the POS service, field by field.

Requests are decoded into these structs; unknown fields are ignored, because additive changes need it. A field's
bounds stand in its type, where both the fast decoder and the explanation of what is wrong (`validation`) read them.
The wire's names are these in camelCase. The remark after ``#:`` is what the reference (docs/reference/pos.md) says.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Generic, TypeVar
from uuid import UUID

from msgspec import Meta, Struct

from promenade.web.http.numbers import Amount, Price, Quantity

# Limits on the work that one request can cause.
ITEMS_MAX = 5_000
PRICES_MAX = 1_000
COUPONS_MAX = 100
FIELDS_MAX = 100

Text20 = Annotated[str, Meta(min_length=1, max_length=20)]
Text50 = Annotated[str, Meta(min_length=1, max_length=50)]
OptionalText18 = Annotated[str, Meta(max_length=18)] | None
OptionalText20 = Annotated[str, Meta(max_length=20)] | None
OptionalText50 = Annotated[str, Meta(max_length=50)] | None
OptionalText100 = Annotated[str, Meta(max_length=100)] | None
OptionalText255 = Annotated[str, Meta(max_length=255)] | None
Currency = Annotated[str, Meta(pattern="^[A-Z]{3}$")]
Counter = Annotated[int, Meta(ge=1, le=2_147_483_647)]
Points = Annotated[int, Meta(ge=0, le=9_999_999_999)]
FieldKey = Annotated[str, Meta(min_length=1, max_length=100)]
FieldValue = Annotated[str, Meta(max_length=255)]
CouponCode = Annotated[str, Meta(min_length=1, max_length=64)]

Request = TypeVar("Request")


class Envelope(Struct, Generic[Request]):
    """The object that every POS body is wrapped in."""

    request: Request


class Message(Struct, rename="camel"):
    """Part of a request."""


class KeyValuePair(Struct, frozen=True):
    """An additional field defined by the till."""

    key: FieldKey  #: The name. If a name is repeated, the last value counts.
    value: FieldValue  #: The value.


Fields = Annotated[list[KeyValuePair], Meta(max_length=FIELDS_MAX)] | None


# ---- evaluate and simulate ------------------------------------------------------------------------------------------


class EvaluateHeader(Message):
    """The transaction to price."""

    transaction_id: Text50 | None = None  #: The till's transaction; if left out, the service generates a UUID.
    transaction_counter: object = None  #: Must not be sent: the service counts the iterations and returns the number.
    receipt_id: OptionalText50 = None  #: The till's receipt number, stored and echoed.
    header_reference: OptionalText100 = None  #: Any text of the till, echoed but not interpreted.


class BasketItem(Message):
    """One line of the basket."""

    article_number: Text50  #: The article. If it is unknown, only the line's own data count.
    quantity: Quantity  #: Positive for a sale, negative for a return, never 0.
    unit_price: Price  #: Price per unit before promotions, in the POS group's currency. Not verified.
    ean: OptionalText18 = None  #: Identifies the article if its number is unknown.
    article_group: OptionalText100 = None  #: Free text of older tills; accepted and ignored.
    article_group_id: OptionalText20 = None  #: Overrides the article's own group.
    manufacturer_id: OptionalText255 = None  #: Overrides the article's own manufacturer.
    line_reference: Text50 | None = None  #: Identifies the line in the answer; unique. Default: position from 1.
    additional_fields: Fields = None  #: For rules about them, and to name the sale of a returned line.
    regular_unit_price: Price | None = None  #: The price from which the till has reduced it to `unitPrice`, if it has.


class Loyalty(Message):
    """The customer's loyalty account, as the till knows it."""

    tier: OptionalText50 = None  #: The loyalty tier, such as GOLD.
    points: Points | None = None  #: The balance before this sale.


class CustomerInfo(Message):
    """The customer."""

    customer_id: OptionalText50 = None  #: The customer who is rewarded, and whose personal limits and coupons count.
    customer_group: OptionalText50 = None  #: For CUSTOMER_GROUP conditions.
    loyalty_card_no: OptionalText50 = None  #: Stored with the iteration; no condition reads it.
    loyalty: Loyalty | None = None  #: For LOYALTY_ACCOUNT conditions.


class CouponInput(Message):
    """A coupon presented at the till."""

    code: CouponCode  #: The code as printed. The case of an individual code matters.


class PaymentInfo(Message):
    """The customer's means of payment."""

    payment_means: OptionalText50 = None  #: For PAYMENT_MEANS conditions, such as CARD.
    card_type: OptionalText50 = None  #: For PAYMENT_CARD conditions, such as VISA.
    card_number: OptionalText50 = None  #: Truncated to its first 8 digits before it is processed or stored.


class ManualDiscountInfo(Message):
    """A discount that the cashier grants manually, outside the promotions."""

    enabled: bool = False  #: Whether there is a manual discount.
    reason_code: OptionalText50 = None  #: For MANUAL_DISCOUNT conditions with reason codes.


class EvaluateRequest(Message):
    """A basket to price."""

    items: Annotated[list[BasketItem], Meta(min_length=1, max_length=ITEMS_MAX)]  #: The lines.
    header: EvaluateHeader | None = None  #: The transaction; a new one if left out.
    pos_group_id: UUID | None = None  #: The POS group of the sale. This or `posGroupCode` is required.
    pos_group_code: Text20 | None = None  #: The POS group by its code. Both must identify the same POS group.
    customer: CustomerInfo | None = None  #: The customer.
    coupons: Annotated[list[CouponInput], Meta(max_length=COUPONS_MAX)] | None = None  #: Applied in this order.
    timestamp: datetime | None = None  #: Time of the sale, for validity and times. Default: now. No zone: UTC.
    channel: OptionalText50 = None  #: For CHANNEL conditions, such as IN_STORE; case-insensitive.
    payment_info: PaymentInfo | None = None  #: The means of payment.
    user_defined_fields: Fields = None  #: For USER_DEFINED conditions.
    manual_discount: ManualDiscountInfo | None = None  #: For MANUAL_DISCOUNT conditions.
    include_inactive: bool | None = None  #: Include drafts and inactive promotions. Simulate only.
    include_missed_promotions: bool | None = None  #: Return `missedPromotions`. Takes longer.


# ---- prices ---------------------------------------------------------------------------------------------------------


class PriceItem(Message):
    """An article whose price is asked."""

    article_number: Text50  #: The article.
    ean: OptionalText18 = None  #: Identifies the article if its number is unknown.
    unit_price: Price | None = None  #: Its price before promotions. Default: the `basePrice` of the article.
    regular_unit_price: Price | None = None  #: The price from which it is reduced to that, if it is.


class PricesRequest(Message):
    """Articles whose prices are asked, each alone."""

    items: Annotated[list[PriceItem], Meta(min_length=1, max_length=PRICES_MAX)]  #: The articles.
    pos_group_id: UUID | None = None  #: The POS group of the price. This or `posGroupCode` is required.
    pos_group_code: Text20 | None = None  #: The POS group by its code. Both must identify the same POS group.
    customer: CustomerInfo | None = None  #: The customer, or only the group or tier. Default: anybody.
    timestamp: datetime | None = None  #: The time for which prices are asked. Default: now. No zone: UTC.
    channel: OptionalText50 = None  #: For CHANNEL conditions, such as WEBSHOP; case-insensitive.


# ---- confirm --------------------------------------------------------------------------------------------------------


class ConfirmHeader(Message):
    """The iteration that became the sale."""

    transaction_id: Text50  #: As returned by evaluate.
    transaction_counter: Counter  #: As returned by evaluate.
    receipt_id: OptionalText50 = None  #: The till's receipt number, for the log.
    header_reference: OptionalText100 = None  #: Accepted and ignored.


class MoneyInput(Message):
    """An amount of money."""

    value: Amount  #: Not negative.
    currency: Currency | None = None  #: ISO 4217; if given, it must be the iteration's.


class ConfirmPromotion(Message):
    """A promotion that the till granted."""

    promotion_id: UUID  #: A promotion that the iteration applied.
    coupon_code: CouponCode | None = None  #: For the log; the iteration contains the code that triggered the promotion.
    total_discount: Amount | None = None  #: The discount the till granted. Default: as evaluated.
    discount_amount: MoneyInput | None = None  #: The same as Money; it takes precedence if both are sent.


class ConfirmBasketItem(BasketItem):
    """A line as the till charged it, for the log. It does not affect the booking."""

    line_discount: MoneyInput | None = None  #: The discount that the till granted on the line.
    line_net: MoneyInput | None = None  #: The amount that the till charged for the line.


class ConfirmRequest(Message):
    """The confirmation of a sale on the terms of one iteration."""

    header: ConfirmHeader  #: The iteration.
    transaction_id: Text50  #: The transaction ID again; equal to the header's.
    applied_promotions: Annotated[list[ConfirmPromotion], Meta(max_length=1_000)]  #: Promotions granted. May be empty.
    pos_group_id: UUID | None = None  #: If sent, it must be the iteration's.
    pos_group_code: Text20 | None = None  #: If sent, it must be the iteration's.
    customer_id: OptionalText50 = None  #: The customer rewarded. Default: the iteration's customer.
    timestamp: datetime | None = None  #: Time of payment, for the records. Default: now.
    items: Annotated[list[ConfirmBasketItem], Meta(max_length=ITEMS_MAX)] | None = None  #: Final prices, for the log.


# ---- cancel ---------------------------------------------------------------------------------------------------------


class CancelRequest(Message):
    """A confirmed sale to undo as a whole."""

    transaction_id: Text50  #: The transaction that was confirmed.
    transaction_counter: Counter  #: The iteration that was confirmed.
    reason: OptionalText255 = None  #: Why, for the log. That of the first cancel counts.
