"""The messages of the POS service, field by field (specification, Evaluation messages).

Requests are decoded into these structs; unknown fields are ignored, because additive changes need it. A field's
bounds stand in its type, where both the fast decoder and the explanation of what is wrong (`web.validation`) read them.
The wire's names are these in camelCase.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Generic, TypeVar
from uuid import UUID

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from promenade.web.validation import Amount, Price, Quantity

__all__ = [
    "ITEMS_MAX",
    "AppliedCouponV2",
    "BasketItem",
    "ConfirmRequest",
    "Envelope",
    "EvaluateRequest",
    "EvaluateResponseV2",
]

# Ours, not the specification's: what bounds the work that one request can ask for.
ITEMS_MAX = 5_000
COUPONS_MAX = 100
FIELDS_MAX = 100

Text20 = Annotated[str, Meta(min_length=1, max_length=20)]
Text50 = Annotated[str, Meta(min_length=1, max_length=50)]
Text100 = Annotated[str, Meta(min_length=1, max_length=100)]
OptionalText18 = Annotated[str, Meta(max_length=18)] | None
OptionalText20 = Annotated[str, Meta(max_length=20)] | None
OptionalText50 = Annotated[str, Meta(max_length=50)] | None
OptionalText100 = Annotated[str, Meta(max_length=100)] | None
OptionalText255 = Annotated[str, Meta(max_length=255)] | None
Currency = Annotated[str, Meta(pattern="^[A-Z]{3}$")]
Counter = Annotated[int, Meta(ge=1, le=2_147_483_647)]
Points = Annotated[int, Meta(ge=0, le=9_999_999_999)]


class Message(Struct, rename="camel"):
    """Part of a request."""


class Response(Struct, frozen=True, rename="camel"):
    """Part of a response."""


FieldKey = Annotated[str, Meta(min_length=1, max_length=100)]
FieldValue = Annotated[str, Meta(max_length=255)]


class KeyValuePair(Struct, frozen=True):
    key: FieldKey
    value: FieldValue


Fields = Annotated[list[KeyValuePair], Meta(max_length=FIELDS_MAX)] | None


# ---- requests -------------------------------------------------------------------------------------------------------

Request = TypeVar("Request")


class Envelope(Struct, Generic[Request]):
    """The OData action envelope that every POS body comes in."""

    request: Request


class EvaluateHeader(Message):
    transaction_id: Text50 | None = None
    transaction_counter: object = None  # must not be set: whatever is sent is refused
    receipt_id: OptionalText50 = None
    header_reference: OptionalText100 = None


class BasketItem(Message):
    article_number: Text50
    quantity: Quantity
    unit_price: Price
    ean: OptionalText18 = None
    article_group: OptionalText100 = None
    article_group_id: OptionalText20 = None
    manufacturer_id: OptionalText255 = None
    line_reference: Text50 | None = None
    additional_fields: Fields = None


class Loyalty(Message):
    tier: OptionalText50 = None
    points: Points | None = None


class CustomerInfo(Message):
    customer_id: OptionalText50 = None
    customer_group: OptionalText50 = None
    loyalty_card_no: OptionalText50 = None
    loyalty: Loyalty | None = None


class CouponInput(Message):
    code: Annotated[str, Meta(min_length=1, max_length=64)]


class PaymentInfo(Message):
    payment_means: OptionalText50 = None
    card_type: OptionalText50 = None
    card_number: OptionalText50 = None  # cut to its first 8 digits before anything else sees it


class ManualDiscountInfo(Message):
    enabled: bool = False
    reason_code: OptionalText50 = None


class EvaluateRequest(Message):
    items: Annotated[list[BasketItem], Meta(min_length=1, max_length=ITEMS_MAX)]
    header: EvaluateHeader | None = None
    pos_group_id: UUID | None = None
    pos_group_code: Text20 | None = None
    customer: CustomerInfo | None = None
    coupons: Annotated[list[CouponInput], Meta(max_length=COUPONS_MAX)] | None = None
    timestamp: datetime | None = None
    channel: OptionalText50 = None
    payment_info: PaymentInfo | None = None
    user_defined_fields: Fields = None
    manual_discount: ManualDiscountInfo | None = None
    include_inactive: bool | None = None
    include_missed_promotions: bool | None = None


class ConfirmHeader(Message):
    transaction_id: Text50
    transaction_counter: Counter
    receipt_id: OptionalText50 = None
    header_reference: OptionalText100 = None


class MoneyInput(Message):
    value: Amount
    currency: Currency | None = None


class ConfirmPromotion(Message):
    promotion_id: UUID
    coupon_code: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    total_discount: Amount | None = None
    discount_amount: MoneyInput | None = None  # takes precedence


class ConfirmBasketItem(BasketItem):
    line_discount: MoneyInput | None = None
    line_net: MoneyInput | None = None


class ConfirmRequest(Message):
    header: ConfirmHeader
    transaction_id: Text50
    applied_promotions: Annotated[list[ConfirmPromotion], Meta(max_length=1_000)]
    pos_group_id: UUID | None = None
    pos_group_code: Text20 | None = None
    customer_id: OptionalText50 = None
    timestamp: datetime | None = None
    items: Annotated[list[ConfirmBasketItem], Meta(max_length=ITEMS_MAX)] | None = None


# ---- responses ------------------------------------------------------------------------------------------------------
# `Raw` stands where a number or a Money object goes: rendered once per amount by `web.pos_encode`.

Maybe = str | UnsetType


class HeaderV2(Response, frozen=True):
    transaction_id: Maybe = UNSET
    transaction_counter: int | UnsetType = UNSET
    receipt_id: Maybe = UNSET
    header_reference: Maybe = UNSET


class BestDealV2(Response, frozen=True):
    optimal: bool
    bound: Raw
    nodes: int


class MetaV2(Response, frozen=True):
    header: HeaderV2
    evaluated_at: str
    source: str
    instance_id: str
    is_simulation: bool
    tenant_id: str
    data_age: Maybe = UNSET
    best_deal: BestDealV2 | UnsetType = UNSET


class QuantityV2(Response, frozen=True):
    value: Raw
    unit: str


class LineDiscountV2(Response, frozen=True):
    promotion_id: str
    promotion_name: str
    promotion_type: str
    discount_type: str
    discount_value: Raw
    discount_amount: Raw
    total_discount: Raw
    coupon_code: Maybe
    triggered_by_coupon: bool


class LineItemV2(Response, frozen=True):
    line_reference: str
    article_number: str
    ean: Maybe
    article_group_id: Maybe
    manufacturer_id: Maybe
    quantity: QuantityV2
    unit_price: Raw
    line_total: Raw
    line_discount: Raw
    line_net: Raw
    discounts: list[LineDiscountV2]
    is_free_item: bool
    free_item_promotion_id: Maybe


class GrantedItemV2(Response, frozen=True):
    grant_reference: str
    article_number: str
    ean: Maybe
    quantity: int
    reference_price: Raw
    price_source: str
    give_away_value: Raw
    promotion_id: str
    promotion_name: str
    triggered_by_coupon: bool


class PromotionSavingsV2(Response, frozen=True):
    promotion_id: str
    promotion_name: str
    total_discount: Raw
    affected_items: list[str]


class ItemSavingsV2(Response, frozen=True):
    article_number: str
    original_price: Raw
    final_price: Raw
    savings: Raw


class SavingsSummaryV2(Response, frozen=True):
    total_savings: Raw
    savings_percent: Raw
    original_total: Raw
    final_total: Raw
    promotion_breakdown: list[PromotionSavingsV2]
    item_savings: list[ItemSavingsV2]
    loyalty_points_earned: int


class TotalsV2(Response, frozen=True):
    subtotal: Raw
    discount: Raw
    grand_total: Raw
    sale_subtotal: Raw | UnsetType
    return_subtotal: Raw | UnsetType
    savings_summary: SavingsSummaryV2


class RecommendationV2(Response, frozen=True):
    kind: str
    code: str
    params: list[KeyValuePair]
    default_message: str
    promotion_id: str
    promotion_name: str
    match_percent: int | UnsetType


class AppliedCouponV2(Response, frozen=True):
    code: str
    coupon_type_name: str
    promotion_ids: tuple[str, ...]


class InvalidCouponV2(Response, frozen=True):
    code: str
    reason: str


class BudgetLimitedV2(Response, frozen=True):
    promotion_id: str
    promotion_name: str
    reason: str


class BlockedByV2(Response, frozen=True):
    promotion_id: str
    promotion_name: Maybe
    difference: Raw | UnsetType
    remedy: Maybe


class MissedPromotionV2(Response, frozen=True):
    promotion_id: str
    promotion_name: str
    promotion_type: str
    code: str
    message: str
    params: list[KeyValuePair]
    match_percent: int | UnsetType
    potential_saving: Raw | UnsetType
    blocked_by: BlockedByV2 | UnsetType


class ThresholdGapV2(Response, frozen=True):
    promotion_id: str
    promotion_name: str
    type: str
    current_value: Raw
    threshold: Raw
    gap: Raw
    potential_saving: Raw


class NudgeV2(Response, frozen=True):
    message: str
    suggested_action: str
    potential_saving: Raw
    promotion_id: str
    promotion_name: str
    gap_type: str


class EvaluateResponseV2(Response, frozen=True):
    minor_version: int
    meta: MetaV2
    line_items: list[LineItemV2]
    granted_items: list[GrantedItemV2]
    totals: TotalsV2
    recommendations: list[RecommendationV2]
    applied_coupons: list[AppliedCouponV2]
    invalid_coupons: list[InvalidCouponV2]
    budget_limited_promotions: list[BudgetLimitedV2]
    missed_promotions: list[MissedPromotionV2] | UnsetType
    nudges: list[NudgeV2]
    threshold_gaps: list[ThresholdGapV2]


class PostPurchaseCoupon(Response, frozen=True):
    code: str
    coupon_type_id: str
    customer_id: Maybe
    issued_at: str


class SideEffectsResult(Response, frozen=True):
    minor_version: int
    transaction_id: str
    transaction_counter: int
    status: str
    enqueued_at: str
    started_at: Maybe
    completed_at: Maybe
    attempts: int
    coupons_redeemed: int
    budgets_consumed: int
    loyalty_points_earned: int
    post_purchase_coupons: list[PostPurchaseCoupon]
    reason: Maybe
