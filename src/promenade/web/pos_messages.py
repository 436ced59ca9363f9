"""The requests of the POS service, field by field.

Requests are decoded into these structs; unknown fields are ignored, because additive changes need it. A field's
bounds stand in its type, where both the fast decoder and the explanation of what is wrong (`web.validation`) read them.
The wire's names are these in camelCase. The remark after ``#:`` is what the reference (docs/reference/pos.md) says.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Generic, TypeVar
from uuid import UUID

from msgspec import Meta, Struct

from promenade.web.numbers import Amount, Price, Quantity

__all__ = [
    "ITEMS_MAX",
    "BasketItem",
    "ConfirmRequest",
    "Envelope",
    "EvaluateRequest",
    "KeyValuePair",
]

# What bounds the work that one request can ask for.
ITEMS_MAX = 5_000
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
    """One field of the till's own."""

    key: FieldKey  #: Its name. Of a repeated name the last value counts.
    value: FieldValue  #: Its value.


Fields = Annotated[list[KeyValuePair], Meta(max_length=FIELDS_MAX)] | None


# ---- evaluate and simulate ------------------------------------------------------------------------------------------


class EvaluateHeader(Message):
    """Which transaction is priced."""

    transaction_id: Text50 | None = None  #: The till's transaction; the service makes a UUID when it is left out.
    transaction_counter: object = None  #: Must not be sent: the service counts the iterations and answers the number.
    receipt_id: OptionalText50 = None  #: The till's receipt number, kept and echoed.
    header_reference: OptionalText100 = None  #: Anything the till wants echoed, unread.


class BasketItem(Message):
    """One line of the basket."""

    article_number: Text50  #: What is sold. It need not be known: then only the line's own data count.
    quantity: Quantity  #: Above 0 a sale, below 0 something brought back, never 0.
    unit_price: Price  #: Price of one piece or measure before promotions, in the POS group's currency. Not verified.
    ean: OptionalText18 = None  #: Finds the article where the number is not known.
    article_group: OptionalText100 = None  #: Free text of older tills; taken and not read.
    article_group_id: OptionalText20 = None  #: Counts instead of the article's own group.
    manufacturer_id: OptionalText255 = None  #: Counts instead of the article's own manufacturer.
    line_reference: Text50 | None = None  #: Ties the line of the answer to this one; unique. Default: place from 1.
    additional_fields: Fields = None  #: For ADDITIONAL_FIELD conditions, and to name the sale of a line brought back.


class Loyalty(Message):
    """The customer's loyalty account, as the till knows it."""

    tier: OptionalText50 = None  #: Such as GOLD.
    points: Points | None = None  #: The balance before this sale.


class CustomerInfo(Message):
    """Who buys."""

    customer_id: OptionalText50 = None  #: Who is rewarded, and whose personal limits and coupons count.
    customer_group: OptionalText50 = None  #: For CUSTOMER_GROUP conditions.
    loyalty_card_no: OptionalText50 = None  #: Kept with the iteration; no condition reads it.
    loyalty: Loyalty | None = None  #: For LOYALTY_ACCOUNT conditions.


class CouponInput(Message):
    """One coupon shown at the till."""

    code: CouponCode  #: The code as printed. Upper and lower case differ.


class PaymentInfo(Message):
    """How the customer will pay."""

    payment_means: OptionalText50 = None  #: For PAYMENT_MEANS conditions, such as CARD.
    card_type: OptionalText50 = None  #: For PAYMENT_CARD conditions, such as VISA.
    card_number: OptionalText50 = None  #: Cut to its first 8 digits before anything else sees it.


class ManualDiscountInfo(Message):
    """A discount that the cashier gives by hand, outside of the promotions."""

    enabled: bool = False  #: Whether there is one.
    reason_code: OptionalText50 = None  #: For MANUAL_DISCOUNT conditions with reason codes.


class EvaluateRequest(Message):
    """A basket to price."""

    items: Annotated[list[BasketItem], Meta(min_length=1, max_length=ITEMS_MAX)]  #: The lines.
    header: EvaluateHeader | None = None  #: Which transaction; a new one when left out.
    pos_group_id: UUID | None = None  #: Where the sale happens. This or `posGroupCode` is required.
    pos_group_code: Text20 | None = None  #: The same by its code. Both must mean the same POS group.
    customer: CustomerInfo | None = None  #: Who buys.
    coupons: Annotated[list[CouponInput], Meta(max_length=COUPONS_MAX)] | None = None  #: Tried in this order.
    timestamp: datetime | None = None  #: When the sale happens, for validity and times. Default: now. No zone: UTC.
    channel: OptionalText50 = None  #: For CHANNEL conditions, such as IN_STORE; case does not matter.
    payment_info: PaymentInfo | None = None  #: How it is paid.
    user_defined_fields: Fields = None  #: For USER_DEFINED conditions.
    manual_discount: ManualDiscountInfo | None = None  #: For MANUAL_DISCOUNT conditions.
    include_inactive: bool | None = None  #: Price drafts and inactive promotions too. Simulate only.
    include_missed_promotions: bool | None = None  #: Ask for `missedPromotions`. Takes longer.


# ---- confirm --------------------------------------------------------------------------------------------------------


class ConfirmHeader(Message):
    """The iteration that became the sale."""

    transaction_id: Text50  #: As answered by evaluate.
    transaction_counter: Counter  #: As answered by evaluate.
    receipt_id: OptionalText50 = None  #: The till's receipt number, for the log.
    header_reference: OptionalText100 = None  #: Taken and not read.


class MoneyInput(Message):
    """An amount of money."""

    value: Amount  #: Not below 0.
    currency: Currency | None = None  #: ISO 4217; when given, it must be the iteration's.


class ConfirmPromotion(Message):
    """A promotion that the till granted."""

    promotion_id: UUID  #: One that the iteration applied.
    coupon_code: CouponCode | None = None  #: For the log; the iteration knows which code triggered the promotion.
    total_discount: Amount | None = None  #: What the till gave. Default: as evaluated.
    discount_amount: MoneyInput | None = None  #: The same as Money; counts when both are sent.


class ConfirmBasketItem(BasketItem):
    """A line as the till charged it, for the log. It never changes what is booked."""

    line_discount: MoneyInput | None = None  #: What the till took off the line.
    line_net: MoneyInput | None = None  #: What the till charged for the line.


class ConfirmRequest(Message):
    """The sale has happened, on the terms of one iteration."""

    header: ConfirmHeader  #: Which iteration.
    transaction_id: Text50  #: Again; equal to the header's.
    applied_promotions: Annotated[list[ConfirmPromotion], Meta(max_length=1_000)]  #: What was granted. May be empty.
    pos_group_id: UUID | None = None  #: When sent, it must be the iteration's.
    pos_group_code: Text20 | None = None  #: When sent, it must be the iteration's.
    customer_id: OptionalText50 = None  #: Who is rewarded. Default: the iteration's customer.
    timestamp: datetime | None = None  #: When it was paid, for the records. Default: now.
    items: Annotated[list[ConfirmBasketItem], Meta(max_length=ITEMS_MAX)] | None = None  #: Final prices, for the log.
