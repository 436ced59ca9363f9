"""The responses of the POS service, field by field.

`Raw` stands where a number or a Money object goes: rendered once per amount by `pricing.encode`. What may be UNSET is
left out of the answer then. The remark after ``#:`` is what the reference (docs/reference/pos.md) says.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

from promenade.web.pricing.messages import KeyValuePair

Maybe = str | UnsetType
Money = Annotated[Raw, Meta(title="Money")]
CancelAnswer = Annotated[Raw, Meta(title="CancelResponse")]
Number = Annotated[Raw, Meta(title="number")]


def is_moment(name: str) -> bool:
    """Return whether a text field of a response is a time, judged by the field's name."""
    return name.endswith(("_at", "_until")) or name == "data_age"


class Response(Struct, frozen=True, rename="camel"):
    """Part of a response."""


# ---- evaluate and simulate ------------------------------------------------------------------------------------------


class HeaderV2(Response, frozen=True):
    """Identifies the iteration."""

    transaction_id: Maybe = UNSET  #: The ID sent by the till, or a new UUID.
    transaction_counter: int | UnsetType = UNSET  #: Number of the iteration, from 1. Not on simulate.
    receipt_id: Maybe = UNSET  #: As in the request.
    header_reference: Maybe = UNSET  #: As in the request.


class BestDealV2(Response, frozen=True):
    """How the best combination was found; only for tenants whose combinationStrategy is BEST_DEAL."""

    optimal: bool  #: Whether it is proven that no other combination within `scope` gives more.
    bound: Money  #: Upper bound: no combination can give more than this, gifts included.
    nodes: int  #: Number of combinations priced.
    scope: list[str] | UnsetType = UNSET  #: What was searched: `PROMOTIONS`, the `ORDER` of equals, `UNITS` taken.


class MetaV2(Response, frozen=True):
    """Metadata of the response."""

    header: HeaderV2  #: Identifies the iteration.
    evaluated_at: str  #: The time for which the basket was priced: the request's, else the service's. UTC.
    source: str  #: Kind of instance that answered: `btp`, the cloud.
    instance_id: str  #: ID of the instance that answered.
    is_simulation: bool  #: True on simulate.
    tenant_id: str  #: The tenant whose promotions were applied.
    data_age: Maybe = UNSET  #: Time of the last change of the promotions.
    best_deal: BestDealV2 | UnsetType = UNSET  #: Only with BEST_DEAL.


class QuantityV2(Response, frozen=True):
    """A quantity with its unit."""

    value: Number  #: As in the request.
    unit: str  #: The article's unit, else `PCE`.


class LineDiscountV2(Response, frozen=True):
    """The discount of one action of a promotion on one line."""

    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.
    promotion_type: str  #: Type of the promotion: a value of PromotionTypes.
    discount_type: str  #: `PERCENTAGE`, `ABSOLUTE` or `UNIT_PRICE`. A free item is `PERCENTAGE` 100.
    discount_value: Number  #: The percentage, amount or price that the promotion states.
    discount_amount: Money  #: Deprecated: the same as `totalDiscount`.
    total_discount: Money  #: Discount on this line.
    coupon_code: Maybe  #: The coupon code that triggered it.
    triggered_by_coupon: bool  #: Whether a coupon triggered it.


class RefundShareV2(Response, frozen=True):
    """Returned units that carried the same share of a discount."""

    promotion_id: str  #: ID of the promotion.
    count: int  #: Number of units; 1 for a line that is weighed.
    amount: Money  #: Share of each unit.


class RefundV2(Response, frozen=True):
    """What a return line gives back that names its sale, by what has been sold and returned until now."""

    status: str  #: `MATCHED`, `UNKNOWN_SALE`, `NOT_CONFIRMED`, `UNKNOWN_LINE`, `OVER_RETURNED`, `WRONG_CURRENCY`.
    amount: Money  #: What was paid for the units. If the sale or its line is unknown, what the till sends.
    discount_taken_back: Money  #: The discount that the units carried; the sum of `unitShares`.
    unit_shares: list[RefundShareV2]  #: The same by promotion and unit.
    points_taken_back: int  #: Points that the customer of the sale loses.
    budget_given_back: Money  #: What goes back to the budgets of the promotions.
    left: Number | UnsetType  #: `OVER_RETURNED`: the quantity that was left to return, and that `amount` is for.


class LineItemV2(Response, frozen=True):
    """One priced line of the basket, in the order of the request."""

    line_reference: str  #: As in the request, else the line's position from 1.
    article_number: str  #: As in the request.
    ean: Maybe  #: As in the request.
    article_group_id: Maybe  #: As in the request.
    manufacturer_id: Maybe  #: As in the request.
    quantity: QuantityV2  #: Quantity of the line.
    unit_price: Money  #: As in the request.
    line_total: Money  #: Unit price times quantity, rounded; negative on a return line.
    line_discount: Money  #: The sum of `discounts`.
    line_net: Money  #: Price of the line after discounts; 0 on a return line.
    discounts: list[LineDiscountV2]  #: In the order in which they were applied.
    is_free_item: bool  #: Whether a FREE_ITEM action made the whole line free.
    free_item_promotion_id: Maybe  #: ID of the promotion that made it free.
    refund: RefundV2 | UnsetType  #: Only on a return line whose `additionalFields` name its sale.
    never_discounted: Maybe  #: Why no promotion may take anything off it: a value of NeverDiscountedReasons.


class GrantedItemV2(Response, frozen=True):
    """An article to hand out that is not in the basket. It is not part of the totals."""

    grant_reference: str  #: Identifies the grant; a replay repeats it.
    article_number: str  #: The article to hand out.
    ean: Maybe  #: Its EAN, if known.
    quantity: int  #: Number of pieces.
    reference_price: Money  #: Value of one piece.
    price_source: str  #: Source of the price: `BASKET_PRICE`, `REFERENCE_PRICE`, `MASTER_DATA`, `UNKNOWN_ZERO`.
    give_away_value: Money  #: Price times quantity.
    promotion_id: str  #: ID of the promotion that grants it.
    promotion_name: str  #: Name of the promotion.
    triggered_by_coupon: bool  #: Whether a coupon triggered it.


class PromotionSavingsV2(Response, frozen=True):
    """The discount of one promotion on the whole basket."""

    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.
    total_discount: Money  #: Sum over all lines.
    affected_items: list[str]  #: The `lineReference` of each line it discounts.


class ItemSavingsV2(Response, frozen=True):
    """The savings on one discounted line."""

    article_number: str  #: The article.
    original_price: Money  #: Total of the line.
    final_price: Money  #: Net price of the line.
    savings: Money  #: The difference.


class SavingsSummaryV2(Response, frozen=True):
    """A summary of the savings, for the receipt."""

    total_savings: Money  #: Sum of all discounts.
    savings_percent: Number  #: Percentage of the sale lines' total, two decimals, at most 100.
    original_total: Money  #: Same as `subtotal`.
    final_total: Money  #: Same as `grandTotal`.
    promotion_breakdown: list[PromotionSavingsV2]  #: One entry per promotion that gives a discount.
    item_savings: list[ItemSavingsV2]  #: One entry per discounted line.
    loyalty_points_earned: int  #: Points the customer earns when this iteration is confirmed.


class TotalsV2(Response, frozen=True):
    """Totals of the basket."""

    subtotal: Money  #: Sum of `lineTotal`; return lines count negative.
    discount: Money  #: Sum of `lineDiscount`.
    grand_total: Money  #: Subtotal minus discount: the amount to pay.
    sale_subtotal: Money | UnsetType  #: Subtotal of the sale lines; only with return lines.
    return_subtotal: Money | UnsetType  #: Subtotal of the return lines, negative; only with return lines.
    refund_total: Money | UnsetType  #: What the return lines give back, not negative; only with return lines.
    payable: Money | UnsetType  #: What changes hands: sales minus refunds, may be negative; only with return lines.
    savings_summary: SavingsSummaryV2  #: Summary for the receipt.


class AdditionV2(Response, frozen=True):
    """What closes a gap: more pieces of a line, a new line, or goods of an amount.

    Goods of an amount count for thresholds and for discounts on the receipt, but no article-level promotion is assumed
    for them.
    """

    line_reference: Maybe  #: The line whose quantity grows; if left out, it is a new line.
    article_number: Maybe  #: The article; with an amount, one that counts. If left out, goods of any kind.
    article_group_id: Maybe  #: The article's group.
    quantity: Number | UnsetType  #: Pieces, or what is weighed. Left out with an amount.
    amount: Money | UnsetType  #: Price of the goods. Left out with pieces.


class RecommendationV2(Response, frozen=True):
    """A promotion that this basket nearly qualified for, or could qualify for; at most 10."""

    kind: str  #: `NEAR_MISS`: at least half reached. `HINT`: the basket points to it, something is missing.
    code: str  #: Reason code: why it did not apply.
    params: list[KeyValuePair]  #: Required and actual values, for the till's own text.
    default_message: str  #: The reason as an English sentence.
    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.
    match_percent: int | UnsetType  #: Percentage reached, 50 to 99. NEAR_MISS only.
    potential_saving: Money | UnsetType  #: As in `thresholdGaps` or `missedPromotions`, if one of them has it.
    missing: list[AdditionV2] | UnsetType  #: What brings the saving.


class AppliedCouponV2(Response, frozen=True):
    """A coupon that triggered a promotion. Confirm redeems it."""

    code: str  #: As in the request.
    coupon_type_name: str  #: Name of the coupon type.
    promotion_ids: tuple[str, ...]  #: IDs of the promotions it triggered.


class InvalidCouponV2(Response, frozen=True):
    """A coupon without effect. It is not redeemed."""

    code: str  #: As in the request.
    reason: str  #: Reason code for coupons.


class BudgetLimitedV2(Response, frozen=True):
    """A promotion that was dropped because of a budget."""

    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.
    reason: str  #: `BUDGET_NOT_ACTIVE`, `BUDGET_EXHAUSTED` or `BUDGET_INSUFFICIENT`; in a store `SHARE_NOT_AVAILABLE`.


class RivalV2(Response, frozen=True):
    """A promotion without which another one would apply."""

    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.


class BlockedByV2(Response, frozen=True):
    """The promotion that applied instead, or that left nothing to discount."""

    promotion_id: str  #: ID of the winner.
    promotion_name: Maybe  #: Name of the winner.
    difference: Money | UnsetType  #: Saving of the basket minus its saving without the rivals; may be negative.
    remedy: Maybe  #: What would have to be removed for it to apply, in words; only if pricing without it confirms it.
    rivals: list[RivalV2] | UnsetType  #: The promotions that the remedy names.


class MissedPromotionV2(Response, frozen=True):
    """A promotion that did not apply, and why."""

    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.
    promotion_type: str  #: Type of the promotion.
    code: str  #: Reason code.
    message: str  #: An English sentence.
    params: list[KeyValuePair]  #: Required and actual values.
    match_percent: int | UnsetType  #: Percentage reached, 0 to 99, where conditions or tiers were missed.
    potential_saving: Money | UnsetType  #: Saving beyond the present one, with what is missing. Never 0.
    blocked_by: BlockedByV2 | UnsetType  #: The promotion that applied instead, or left nothing to discount.
    missing: list[AdditionV2] | UnsetType  #: What brings the saving. Left out for coupons and payments: see `params`.


class ThresholdGapV2(Response, frozen=True):
    """A threshold that was not reached and is worth reaching; one of each promotion, at most 20, the nearest first."""

    promotion_id: str  #: ID of the promotion with the threshold.
    promotion_name: str  #: Name of the promotion.
    type: str  #: `RECEIPT_AMOUNT`, `ITEM_QUANTITY` or `SCALED_RECEIPT`.
    current_value: Number  #: Value reached: an amount or pieces, two decimals.
    threshold: Number  #: Required value.
    gap: Number  #: What must be added: threshold minus current value, or more if other promotions take part of it.
    potential_saving: Money  #: Saving of the whole basket beyond the present one if `missing` is bought. Never 0.
    missing: list[AdditionV2] | UnsetType  #: What closes this gap, and all others of the promotion.


class NudgeV2(Response, frozen=True):
    """A gap worth closing, as a sentence for the customer; at most 3, the largest saving first."""

    message: str  #: An English sentence.
    suggested_action: str  #: `ADD_ITEMS` or `INCREASE_AMOUNT`.
    potential_saving: Money  #: Same as the gap's.
    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.
    gap_type: str  #: Same as the gap's `type`.
    missing: list[AdditionV2] | UnsetType  #: Same as the gap's.


class EvaluateResponseV2(Response, frozen=True):
    """A priced basket."""

    minor_version: int  #: Minor version of this contract: 8.
    meta: MetaV2  #: Metadata of the response.
    line_items: list[LineItemV2]  #: One per line of the request, in the same order.
    granted_items: list[GrantedItemV2]  #: Articles to hand out in addition.
    totals: TotalsV2  #: Totals of the basket.
    recommendations: list[RecommendationV2]  #: Promotions the basket nearly qualified for.
    applied_coupons: list[AppliedCouponV2]  #: Coupons that had an effect.
    invalid_coupons: list[InvalidCouponV2]  #: Coupons without effect.
    budget_limited_promotions: list[BudgetLimitedV2]  #: Promotions dropped because of a budget.
    missed_promotions: list[MissedPromotionV2] | UnsetType  #: Only if requested.
    nudges: list[NudgeV2]  #: Empty unless the tenant's enableProductionNudges is on.
    threshold_gaps: list[ThresholdGapV2]  #: Empty unless the tenant's enableProductionNudges is on.


# ---- prices ---------------------------------------------------------------------------------------------------------


class PricePromotion(Response, frozen=True):
    """What an action of a promotion takes off one unit of an article."""

    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.
    promotion_type: str  #: Type of the promotion: a value of PromotionTypes.
    discount_type: str  #: `PERCENTAGE`, `ABSOLUTE` or `UNIT_PRICE`. A free item is `PERCENTAGE` 100.
    discount_value: Number  #: The percentage, amount or price that the promotion states.
    discount: Money  #: What it takes off.
    valid_until: Maybe  #: The end of its validity, which is not included; left out if there is none.


class ArticlePrice(Response, frozen=True):
    """What one unit of an article costs by itself: one piece, or one kilogram of what is sold by the kilogram."""

    article_number: str  #: As in the request.
    ean: Maybe  #: As in the request, else that of the article.
    status: str  #: `PRICED`; `UNKNOWN_ARTICLE`; `NO_PRICE`: the article has no price in this currency.
    name: Maybe  #: Name of the article.
    unit: Maybe  #: Unit of the article, of which the price is for one.
    unit_price: Money | UnsetType  #: The price before promotions. This and the following only if PRICED.
    price: Money | UnsetType  #: The price with promotions.
    strike_price: Money | UnsetType  #: The price to strike through, if the price is below it.
    promotions: list[PricePromotion] | UnsetType  #: In the order in which they were applied.
    never_discounted: Maybe  #: Why no promotion may take anything off it: a value of NeverDiscountedReasons.


class PricesMeta(Response, frozen=True):
    """Metadata of prices."""

    evaluated_at: str  #: The time for which they hold: the request's, else the service's. UTC.
    source: str  #: Kind of instance that answered: `btp`, the cloud.
    instance_id: str  #: ID of the instance that answered.
    tenant_id: str  #: The tenant whose promotions were applied.
    data_age: Maybe = UNSET  #: Time of the last change of the promotions.


class PricesResponse(Response, frozen=True):
    """The prices of single articles."""

    minor_version: int  #: Minor version of this contract: 8.
    meta: PricesMeta  #: For when, from where.
    pos_group_code: str  #: The POS group of the prices.
    currency: str  #: Its currency, which is that of all prices.
    prices: list[ArticlePrice]  #: One for each article, in the order of the request.


# ---- side effects ---------------------------------------------------------------------------------------------------


class PostPurchaseCoupon(Response, frozen=True):
    """A coupon that the sale earned."""

    code: str  #: Code to print on the receipt.
    coupon_type_id: str  #: The coupon type.
    customer_id: Maybe  #: The customer it belongs to; if left out, anyone may present it.
    issued_at: str  #: Time of issue. UTC.


class ReadIteration(Response, frozen=True):
    """An iteration of a transaction."""

    transaction_counter: int  #: Its number; `/v2/transactions/{transactionId}/{transactionCounter}` has its answer.
    evaluated_at: str  #: The time that it was evaluated for. UTC.
    receipt_id: Maybe  #: The till's receipt number.


class ReturnedLine(Response, frozen=True):
    """A sale line of a confirmed transaction."""

    line_reference: str  #: The line.
    quantity: Number  #: The quantity sold.
    paid: Money | UnsetType  #: What was paid for it.
    returned_quantity: Number  #: How much of it confirmed returns have brought back so far.
    refunded: Money | UnsetType  #: What they have refunded.


class ReadConfirmation(Response, frozen=True):
    """The confirm of a transaction."""

    transaction_counter: int  #: The iteration that became the sale.
    confirmed_at: str  #: Time of the sale. UTC.
    message: str  #: As the confirm was answered.
    lines: list[ReturnedLine]  #: Its sale lines, with what was returned of them.


class TransactionResult(Response, frozen=True):
    """What is known of a transaction, for a till that lost it."""

    minor_version: int  #: Minor version of this contract: 8.
    transaction_id: str  #: The transaction.
    confirmed: bool  #: Whether an iteration was confirmed.
    confirmation: ReadConfirmation | UnsetType  #: The confirm, if there was one.
    cancelled: bool  #: Whether the sale was cancelled.
    cancellation: CancelAnswer | UnsetType  #: What the cancel was answered.
    iterations: list[ReadIteration]  #: The iterations that are still stored, the newest first; at most 100.


class LoyaltyEntry(Response, frozen=True):
    """A booking of points."""

    transaction_id: str  #: The transaction that caused it.
    transaction_counter: int  #: Its iteration.
    promotion_id: Maybe  #: The promotion that granted the points; left out for base points and returns.
    points: int  #: The points; negative if they were taken back or spent.
    balance_after: int  #: The balance after it.
    awarded_at: str  #: When it was booked. UTC.


class LoyaltyResult(Response, frozen=True):
    """A customer's points."""

    minor_version: int  #: Minor version of this contract: 8.
    customer_id: str  #: The customer.
    balance: int  #: The points now; 0 for an unknown customer.
    entries: list[LoyaltyEntry]  #: The latest bookings, the newest first; at most 20.


class SideEffectsResult(Response, frozen=True):
    """The status of the side effects of a confirmed iteration."""

    minor_version: int  #: Minor version of this contract: 8.
    transaction_id: str  #: The transaction.
    transaction_counter: int  #: The iteration of the transaction.
    status: str  #: `PENDING`, `RUNNING`, or a final one: `COMPLETED`, `FAILED`, `CANCELLED` with its sale.
    enqueued_at: str  #: Time of the confirm. UTC.
    started_at: Maybe  #: Start of the last attempt.
    completed_at: Maybe  #: Time it completed or failed.
    attempts: int  #: Number of attempts; at most 8.
    coupons_redeemed: int  #: Number of coupons redeemed.
    budgets_consumed: int  #: Number of budgets the confirm charged.
    loyalty_points_earned: int  #: Points booked.
    post_purchase_coupons: list[PostPurchaseCoupon]  #: Coupons issued for the next visit.
    reason: Maybe  #: Error of the last failed attempt.
