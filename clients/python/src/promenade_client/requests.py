"""What a till sends: the names and rules are those of the interface, in Python's spelling.

Amounts and quantities are `Decimal` or `int`, never `float`. A field that is None is left out. Times need a zone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class KeyValuePair:
    """An additional field defined by the till."""

    key: str  #: The name. If a name is repeated, the last value counts.
    value: str  #: The value.


@dataclass(frozen=True, slots=True, kw_only=True)
class BasketItem:
    """One line of the basket."""

    article_number: str  #: The article. If it is unknown, only the line's own data count.
    quantity: Decimal | int  #: Positive for a sale, negative for a return, never 0.
    unit_price: Decimal | int  #: Price per unit before promotions, in the POS group's currency. Not verified.
    ean: str | None = None  #: Identifies the article if its number is unknown.
    article_group_id: str | None = None  #: Overrides the article's own group.
    manufacturer_id: str | None = None  #: Overrides the article's own manufacturer.
    line_reference: str | None = None  #: Identifies the line in the answer; unique. Default: position from 1.
    #: For rules about them, and to name the sale of a returned line.
    additional_fields: Sequence[KeyValuePair] | None = None
    #: The price from which the till has reduced it to `unitPrice`, if it has.
    regular_unit_price: Decimal | int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateHeader:
    """The transaction to price."""

    transaction_id: str | None = None  #: The till's transaction; if left out, the service generates a UUID.
    receipt_id: str | None = None  #: The till's receipt number, stored and echoed.
    header_reference: str | None = None  #: Any text of the till, echoed but not interpreted.


@dataclass(frozen=True, slots=True, kw_only=True)
class Loyalty:
    """The customer's loyalty account, as the till knows it."""

    tier: str | None = None  #: The loyalty tier, such as GOLD.
    points: int | None = None  #: The balance before this sale.


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomerInfo:
    """The customer."""

    customer_id: str | None = None  #: The customer who is rewarded, and whose personal limits and coupons count.
    customer_group: str | None = None  #: For CUSTOMER_GROUP conditions.
    loyalty_card_no: str | None = None  #: Stored with the iteration; no condition reads it.
    loyalty: Loyalty | None = None  #: For LOYALTY_ACCOUNT conditions.


@dataclass(frozen=True, slots=True)
class CouponInput:
    """A coupon presented at the till."""

    code: str  #: The code as printed. The case of an individual code matters.


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentInfo:
    """The customer's means of payment."""

    payment_means: str | None = None  #: For PAYMENT_MEANS conditions, such as CARD.
    card_type: str | None = None  #: For PAYMENT_CARD conditions, such as VISA.
    card_number: str | None = None  #: Truncated to its first 8 digits before it is processed or stored.


@dataclass(frozen=True, slots=True, kw_only=True)
class ManualDiscountInfo:
    """A discount that the cashier grants manually, outside the promotions."""

    enabled: bool | None = None  #: Whether there is a manual discount.
    reason_code: str | None = None  #: For MANUAL_DISCOUNT conditions with reason codes.


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateRequest:
    """A basket to price."""

    items: Sequence[BasketItem]  #: The lines.
    header: EvaluateHeader | None = None  #: The transaction; a new one if left out.
    pos_group_id: str | None = None  #: The POS group of the sale. This or `posGroupCode` is required.
    pos_group_code: str | None = None  #: The POS group by its code. Both must identify the same POS group.
    customer: CustomerInfo | None = None  #: The customer.
    coupons: Sequence[CouponInput] | None = None  #: Applied in this order.
    timestamp: datetime | None = None  #: Time of the sale, for validity and times. Default: now. No zone: UTC.
    channel: str | None = None  #: For CHANNEL conditions, such as IN_STORE; case-insensitive.
    payment_info: PaymentInfo | None = None  #: The means of payment.
    user_defined_fields: Sequence[KeyValuePair] | None = None  #: For USER_DEFINED conditions.
    manual_discount: ManualDiscountInfo | None = None  #: For MANUAL_DISCOUNT conditions.
    include_inactive: bool | None = None  #: Include drafts and inactive promotions. Simulate only.
    include_missed_promotions: bool | None = None  #: Return `missedPromotions`. Takes longer.


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceItem:
    """An article whose price is asked."""

    article_number: str  #: The article.
    ean: str | None = None  #: Identifies the article if its number is unknown.
    unit_price: Decimal | int | None = None  #: Its price before promotions. Default: the `basePrice` of the article.
    regular_unit_price: Decimal | int | None = None  #: The price from which it is reduced to that, if it is.


@dataclass(frozen=True, slots=True, kw_only=True)
class PricesRequest:
    """Articles whose prices are asked, each alone."""

    items: Sequence[PriceItem]  #: The articles.
    pos_group_id: str | None = None  #: The POS group of the price. This or `posGroupCode` is required.
    pos_group_code: str | None = None  #: The POS group by its code. Both must identify the same POS group.
    customer: CustomerInfo | None = None  #: The customer, or only the group or tier. Default: anybody.
    timestamp: datetime | None = None  #: The time for which prices are asked. Default: now. No zone: UTC.
    channel: str | None = None  #: For CHANNEL conditions, such as WEBSHOP; case-insensitive.


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmHeader:
    """The iteration that became the sale."""

    transaction_id: str  #: As returned by evaluate.
    transaction_counter: int  #: As returned by evaluate.
    receipt_id: str | None = None  #: The till's receipt number, for the log.


@dataclass(frozen=True, slots=True, kw_only=True)
class MoneyInput:
    """An amount of money."""

    value: Decimal | int  #: Not negative.
    currency: str | None = None  #: ISO 4217; if given, it must be the iteration's.


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmPromotion:
    """A promotion that the till granted."""

    promotion_id: str  #: A promotion that the iteration applied.
    coupon_code: str | None = None  #: For the log; the iteration contains the code that triggered the promotion.
    total_discount: Decimal | int | None = None  #: The discount the till granted. Default: as evaluated.
    discount_amount: MoneyInput | None = None  #: The same as Money; it takes precedence if both are sent.


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmBasketItem:
    """A line as the till charged it, for the log. It does not affect the booking."""

    article_number: str  #: The article. If it is unknown, only the line's own data count.
    quantity: Decimal | int  #: Positive for a sale, negative for a return, never 0.
    unit_price: Decimal | int  #: Price per unit before promotions, in the POS group's currency. Not verified.
    ean: str | None = None  #: Identifies the article if its number is unknown.
    article_group_id: str | None = None  #: Overrides the article's own group.
    manufacturer_id: str | None = None  #: Overrides the article's own manufacturer.
    line_reference: str | None = None  #: Identifies the line in the answer; unique. Default: position from 1.
    #: For rules about them, and to name the sale of a returned line.
    additional_fields: Sequence[KeyValuePair] | None = None
    #: The price from which the till has reduced it to `unitPrice`, if it has.
    regular_unit_price: Decimal | int | None = None
    line_discount: MoneyInput | None = None  #: The discount that the till granted on the line.
    line_net: MoneyInput | None = None  #: The amount that the till charged for the line.


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmRequest:
    """The confirmation of a sale on the terms of one iteration."""

    header: ConfirmHeader  #: The iteration.
    transaction_id: str  #: The transaction ID again; equal to the header's.
    applied_promotions: Sequence[ConfirmPromotion]  #: Promotions granted. May be empty.
    pos_group_id: str | None = None  #: If sent, it must be the iteration's.
    pos_group_code: str | None = None  #: If sent, it must be the iteration's.
    customer_id: str | None = None  #: The customer rewarded. Default: the iteration's customer.
    timestamp: datetime | None = None  #: Time of payment, for the records. Default: now.
    items: Sequence[ConfirmBasketItem] | None = None  #: Final prices, for the log.


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelRequest:
    """A confirmed sale to undo as a whole."""

    transaction_id: str  #: The transaction that was confirmed.
    transaction_counter: int  #: The iteration that was confirmed.
    reason: str | None = None  #: Why, for the log. That of the first cancel counts.


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidateCouponRequest:
    """A coupon code presented at a till."""

    code: str  #: The code as printed. The case of an individual code matters.
    transaction_id: str | None = None  #: The transaction it is for: a code that it has reserved is valid for it.
    customer_id: str | None = None  #: The customer who presents it. Default: the code's owner, if any.


@dataclass(frozen=True, slots=True, kw_only=True)
class ReserveCouponRequest:
    """A code to reserve for a transaction."""

    code: str  #: The code as printed. The case of an individual code matters.
    transaction_id: str  #: The till's transaction: only it can redeem the reservation.
    customer_id: str | None = None  #: The customer who presents it. Default: the code's owner, if any.


@dataclass(frozen=True, slots=True, kw_only=True)
class RedeemCouponRequest:
    """A reserved code to redeem."""

    reservation_id: str  #: The ID returned by reserve.
    transaction_id: str  #: The transaction that reserved it.


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelCouponRequest:
    """A reserved code to release."""

    reservation_id: str  #: The ID returned by reserve.


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivateCouponRequest:
    """A digital coupon that its customer activates."""

    code: str  #: The code as printed. The case of an individual code matters.
    customer_id: str  #: The code's owner. A code without an owner can be activated by anybody.


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueCouponsRequest:
    """Coupons to issue, one for each customer; a single bearer coupon if no customer is named."""

    coupon_type_id: str | None = None  #: The coupon type. This or `couponTypeName` is required.
    coupon_type_name: str | None = None  #: The coupon type by its name, which only one type may have.
    customer_id: str | None = None  #: The customer. Not together with `customerIds`.
    customer_ids: Sequence[str] | None = None  #: Customers.
    reason: str | None = None  #: The reason, stored with each code.
    metadata: Mapping[str, object] | None = None  #: An object with own data, stored with each code; at most 4 KiB.
