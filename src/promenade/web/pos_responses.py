"""The responses of the POS service, field by field.

`Raw` stands where a number or a Money object goes: rendered once per amount by `web.pos_encode`. What may be UNSET is
left out of the answer then. The remark after ``#:`` is what the reference (docs/reference/pos.md) says.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from promenade.web.pos_messages import KeyValuePair

__all__ = ["AppliedCouponV2", "EvaluateResponseV2", "Money", "Number", "SideEffectsResult", "is_moment"]

Maybe = str | UnsetType
Money = Annotated[Raw, Meta(title="Money")]
Number = Annotated[Raw, Meta(title="number")]


def is_moment(name: str) -> bool:
    """Whether a text of an answer is a time, by the name of its field."""
    return name.endswith(("_at", "_until")) or name == "data_age"


class Response(Struct, frozen=True, rename="camel"):
    """Part of a response."""


# ---- evaluate and simulate ------------------------------------------------------------------------------------------


class HeaderV2(Response, frozen=True):
    """Which iteration this is."""

    transaction_id: Maybe = UNSET  #: The till's, or a new UUID.
    transaction_counter: int | UnsetType = UNSET  #: Its place in the transaction, from 1. Not on simulate.
    receipt_id: Maybe = UNSET  #: As sent.
    header_reference: Maybe = UNSET  #: As sent.


class BestDealV2(Response, frozen=True):
    """How the best combination was found; only for tenants whose combinationStrategy is BEST_DEAL."""

    optimal: bool  #: Whether it is proved that no combination gives more.
    bound: Money  #: No combination can give more than this.
    nodes: int  #: How many combinations were priced.


class MetaV2(Response, frozen=True):
    """About the answer."""

    header: HeaderV2  #: Which iteration.
    evaluated_at: str  #: The time it was priced for: the request's, else the service's. UTC.
    source: str  #: Which kind of instance answered: `btp`, the cloud.
    instance_id: str  #: Which instance answered.
    is_simulation: bool  #: True from simulate.
    tenant_id: str  #: Whose promotions were applied.
    data_age: Maybe = UNSET  #: When the promotions last changed.
    best_deal: BestDealV2 | UnsetType = UNSET  #: With BEST_DEAL.


class QuantityV2(Response, frozen=True):
    """How much."""

    value: Number  #: As sent.
    unit: str  #: The article's unit, else `PCE`.


class LineDiscountV2(Response, frozen=True):
    """What one action of a promotion takes off one line."""

    promotion_id: str  #: Which promotion.
    promotion_name: str  #: Its name.
    promotion_type: str  #: Its type: a value of PromotionTypes.
    discount_type: str  #: `PERCENTAGE`, `ABSOLUTE` or `UNIT_PRICE`. A free item is `PERCENTAGE` 100.
    discount_value: Number  #: The percentage, amount or price that the promotion states.
    discount_amount: Money  #: Deprecated: the same as `totalDiscount`.
    total_discount: Money  #: What it takes off this line.
    coupon_code: Maybe  #: The code that triggered it.
    triggered_by_coupon: bool  #: Whether a coupon triggered it.


class LineItemV2(Response, frozen=True):
    """One line of the basket with its price, in the order of the request."""

    line_reference: str  #: As sent, else the line's place from 1.
    article_number: str  #: As sent.
    ean: Maybe  #: As sent.
    article_group_id: Maybe  #: As sent.
    manufacturer_id: Maybe  #: As sent.
    quantity: QuantityV2  #: How much.
    unit_price: Money  #: As sent.
    line_total: Money  #: Unit price times quantity, rounded; below 0 on a return line.
    line_discount: Money  #: The sum of `discounts`.
    line_net: Money  #: What the line costs now; 0 on a return line.
    discounts: list[LineDiscountV2]  #: In the order in which they were taken off.
    is_free_item: bool  #: Whether all of the line was given away by a FREE_ITEM action.
    free_item_promotion_id: Maybe  #: By which promotion.


class GrantedItemV2(Response, frozen=True):
    """Something to hand out that is not in the basket. It is outside of the totals."""

    grant_reference: str  #: Names the grant; a replay gives the same.
    article_number: str  #: What to hand out.
    ean: Maybe  #: Its EAN where it is known.
    quantity: int  #: How many.
    reference_price: Money  #: What one is worth.
    price_source: str  #: Where that comes from: `BASKET_PRICE`, `REFERENCE_PRICE`, `MASTER_DATA`, `UNKNOWN_ZERO`.
    give_away_value: Money  #: Price times quantity.
    promotion_id: str  #: By which promotion.
    promotion_name: str  #: Its name.
    triggered_by_coupon: bool  #: Whether a coupon triggered it.


class PromotionSavingsV2(Response, frozen=True):
    """What one promotion takes off the basket."""

    promotion_id: str  #: Which promotion.
    promotion_name: str  #: Its name.
    total_discount: Money  #: Over all lines.
    affected_items: list[str]  #: The `lineReference` of the lines it discounts.


class ItemSavingsV2(Response, frozen=True):
    """What is saved on one discounted line."""

    article_number: str  #: Which article.
    original_price: Money  #: The line's total.
    final_price: Money  #: The line's net.
    savings: Money  #: The difference.


class SavingsSummaryV2(Response, frozen=True):
    """For the receipt: what was saved."""

    total_savings: Money  #: All discounts.
    savings_percent: Number  #: Of the sale lines' total, two decimals, at most 100.
    original_total: Money  #: As `subtotal`.
    final_total: Money  #: As `grandTotal`.
    promotion_breakdown: list[PromotionSavingsV2]  #: One entry per promotion that discounts something.
    item_savings: list[ItemSavingsV2]  #: One entry per discounted line.
    loyalty_points_earned: int  #: Points that confirming this iteration brings.


class TotalsV2(Response, frozen=True):
    """The whole basket."""

    subtotal: Money  #: The sum of `lineTotal`, return lines below 0.
    discount: Money  #: The sum of `lineDiscount`.
    grand_total: Money  #: Subtotal minus discount: what there is to pay.
    sale_subtotal: Money | UnsetType  #: Of the sale lines alone; only with return lines.
    return_subtotal: Money | UnsetType  #: Of the return lines alone, below 0; only with return lines.
    savings_summary: SavingsSummaryV2  #: For the receipt.


class RecommendationV2(Response, frozen=True):
    """A promotion that this basket nearly got, or could have had; at most 10."""

    kind: str  #: `NEAR_MISS`: at least half reached. `HINT`: the basket leads to it, something is missing.
    code: str  #: Why it did not apply: a reason code.
    params: list[KeyValuePair]  #: What was asked and what was there, for a text of the till's own.
    default_message: str  #: The same in an English sentence.
    promotion_id: str  #: Which promotion.
    promotion_name: str  #: Its name.
    match_percent: int | UnsetType  #: How much was reached, 50 to 99. NEAR_MISS only.


class AppliedCouponV2(Response, frozen=True):
    """A coupon that brought a promotion. Confirm spends it."""

    code: str  #: As presented.
    coupon_type_name: str  #: The name of its type.
    promotion_ids: tuple[str, ...]  #: What it brought.


class InvalidCouponV2(Response, frozen=True):
    """A coupon without effect. It is not used up."""

    code: str  #: As presented.
    reason: str  #: A reason code for coupons.


class BudgetLimitedV2(Response, frozen=True):
    """A promotion dropped because of a budget."""

    promotion_id: str  #: Which promotion.
    promotion_name: str  #: Its name.
    reason: str  #: `BUDGET_NOT_ACTIVE`, `BUDGET_EXHAUSTED` or `BUDGET_INSUFFICIENT`.


class BlockedByV2(Response, frozen=True):
    """What applied in a promotion's place."""

    promotion_id: str  #: The winner.
    promotion_name: Maybe  #: Its name.
    difference: Money | UnsetType  #: What the winner gives minus what this one would have given; may be below 0.
    remedy: Maybe  #: What would have to go for it to apply, in words.


class MissedPromotionV2(Response, frozen=True):
    """A promotion that did not apply, and why."""

    promotion_id: str  #: Which promotion.
    promotion_name: str  #: Its name.
    promotion_type: str  #: Its type.
    code: str  #: A reason code.
    message: str  #: The same in an English sentence.
    params: list[KeyValuePair]  #: What was asked and what was there.
    match_percent: int | UnsetType  #: How much was reached, 0 to 99, where conditions or tiers were missed.
    potential_saving: Money | UnsetType  #: What it would have given, or would give once the gap is closed.
    blocked_by: BlockedByV2 | UnsetType  #: What applied in its place.


class ThresholdGapV2(Response, frozen=True):
    """A threshold not reached; at most 20, the nearest first."""

    promotion_id: str  #: Whose threshold.
    promotion_name: str  #: Its name.
    type: str  #: `RECEIPT_AMOUNT`, `ITEM_QUANTITY` or `SCALED_RECEIPT`.
    current_value: Number  #: What is reached: an amount or pieces, two decimals.
    threshold: Number  #: What is asked.
    gap: Number  #: The difference.
    potential_saving: Money  #: What closing the gap brings.


class NudgeV2(Response, frozen=True):
    """A gap worth closing, as a sentence for the customer; at most 3, the greatest saving first."""

    message: str  #: An English sentence.
    suggested_action: str  #: `ADD_ITEMS` or `INCREASE_AMOUNT`.
    potential_saving: Money  #: What it brings.
    promotion_id: str  #: Which promotion.
    promotion_name: str  #: Its name.
    gap_type: str  #: As the gap's `type`.


class EvaluateResponseV2(Response, frozen=True):
    """A priced basket."""

    minor_version: int  #: Of this contract: 8.
    meta: MetaV2  #: About the answer.
    line_items: list[LineItemV2]  #: One per line of the request, in its order.
    granted_items: list[GrantedItemV2]  #: What to hand out on top.
    totals: TotalsV2  #: The whole basket.
    recommendations: list[RecommendationV2]  #: What was nearly reached.
    applied_coupons: list[AppliedCouponV2]  #: Coupons that took effect.
    invalid_coupons: list[InvalidCouponV2]  #: Coupons that did not.
    budget_limited_promotions: list[BudgetLimitedV2]  #: Promotions dropped because of a budget.
    missed_promotions: list[MissedPromotionV2] | UnsetType  #: Only when asked for.
    nudges: list[NudgeV2]  #: Empty unless the tenant's enableProductionNudges is on.
    threshold_gaps: list[ThresholdGapV2]  #: Empty unless the tenant's enableProductionNudges is on.


# ---- side effects ---------------------------------------------------------------------------------------------------


class PostPurchaseCoupon(Response, frozen=True):
    """A coupon that the sale earned."""

    code: str  #: To print on the receipt.
    coupon_type_id: str  #: Of which type.
    customer_id: Maybe  #: Whose it is; whoever shows it when left out.
    issued_at: str  #: When. UTC.


class SideEffectsResult(Response, frozen=True):
    """Where the side effects of a confirmed iteration stand."""

    minor_version: int  #: Of this contract: 8.
    transaction_id: str  #: Which transaction.
    transaction_counter: int  #: Which iteration of it.
    status: str  #: `PENDING`, `RUNNING`, `COMPLETED` or `FAILED`; the last two are final.
    enqueued_at: str  #: When it was confirmed. UTC.
    started_at: Maybe  #: When the last attempt began.
    completed_at: Maybe  #: When it ended, either way.
    attempts: int  #: How often it was begun; at most 8.
    coupons_redeemed: int  #: How many coupons were redeemed.
    budgets_consumed: int  #: How many budgets the confirm charged.
    loyalty_points_earned: int  #: Points booked.
    post_purchase_coupons: list[PostPurchaseCoupon]  #: Coupons issued for the next visit.
    reason: Maybe  #: What went wrong in the last failed attempt.
