"""What a till gets: the names are those of the interface, in Python's spelling.

Amounts are `Decimal`, with every digit that the service has sent. Fields that a later version adds are ignored. What
may be missing is None then.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from promenade_client.requests import KeyValuePair


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in a currency, with all decimals of the currency."""

    value: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class Header:
    """Identifies the iteration."""

    transaction_id: str | None = None  #: The ID sent by the till, or a new UUID.
    transaction_counter: int | None = None  #: Number of the iteration, from 1. Not on simulate.
    receipt_id: str | None = None  #: As in the request.
    header_reference: str | None = None  #: As in the request.


@dataclass(frozen=True, slots=True)
class BestDeal:
    """How the best combination was found; only for tenants whose combinationStrategy is BEST_DEAL."""

    optimal: bool  #: Whether it is proven that no other combination within `scope` gives more.
    bound: Money  #: Upper bound: no combination can give more than this, gifts included.
    nodes: int  #: Number of combinations priced.
    scope: list[str] | None = None  #: What was searched: `PROMOTIONS`, the `ORDER` of equals, `UNITS` taken.


@dataclass(frozen=True, slots=True)
class Meta:
    """Metadata of the response."""

    header: Header  #: Identifies the iteration.
    evaluated_at: datetime  #: The time for which the basket was priced: the request's, else the service's. UTC.
    source: str  #: Kind of instance that answered: `btp`, the cloud.
    instance_id: str  #: ID of the instance that answered.
    is_simulation: bool  #: True on simulate.
    tenant_id: str  #: The tenant whose promotions were applied.
    data_age: datetime | None = None  #: Time of the last change of the promotions.
    best_deal: BestDeal | None = None  #: Only with BEST_DEAL.


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity with its unit."""

    value: Decimal  #: As in the request.
    unit: str  #: The article's unit, else `PCE`.


@dataclass(frozen=True, slots=True)
class LineDiscount:
    """The discount of one action of a promotion on one line."""

    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.
    promotion_type: str  #: Type of the promotion: a value of PromotionTypes.
    discount_type: str  #: `PERCENTAGE`, `ABSOLUTE` or `UNIT_PRICE`. A free item is `PERCENTAGE` 100.
    discount_value: Decimal  #: The percentage, amount or price that the promotion states.
    discount_amount: Money  #: Deprecated: the same as `totalDiscount`.
    total_discount: Money  #: Discount on this line.
    triggered_by_coupon: bool  #: Whether a coupon triggered it.
    coupon_code: str | None = None  #: The coupon code that triggered it.


@dataclass(frozen=True, slots=True)
class RefundShare:
    """Returned units that carried the same share of a discount."""

    promotion_id: str  #: ID of the promotion.
    count: int  #: Number of units; 1 for a line that is weighed.
    amount: Money  #: Share of each unit.


@dataclass(frozen=True, slots=True)
class Refund:
    """What a return line gives back that names its sale, by what has been sold and returned until now."""

    status: str  #: `MATCHED`, `UNKNOWN_SALE`, `NOT_CONFIRMED`, `UNKNOWN_LINE`, `OVER_RETURNED`, `WRONG_CURRENCY`.
    amount: Money  #: What was paid for the units. If the sale or its line is unknown, what the till sends.
    discount_taken_back: Money  #: The discount that the units carried; the sum of `unitShares`.
    unit_shares: list[RefundShare]  #: The same by promotion and unit.
    points_taken_back: int  #: Points that the customer of the sale loses.
    budget_given_back: Money  #: What goes back to the budgets of the promotions.
    left: Decimal | None = None  #: `OVER_RETURNED`: the quantity that was left to return, and that `amount` is for.


@dataclass(frozen=True, slots=True)
class LineItem:
    """One priced line of the basket, in the order of the request."""

    line_reference: str  #: As in the request, else the line's position from 1.
    article_number: str  #: As in the request.
    quantity: Quantity  #: Quantity of the line.
    unit_price: Money  #: As in the request.
    line_total: Money  #: Unit price times quantity, rounded; negative on a return line.
    line_discount: Money  #: The sum of `discounts`.
    line_net: Money  #: Price of the line after discounts; 0 on a return line.
    discounts: list[LineDiscount]  #: In the order in which they were applied.
    is_free_item: bool  #: Whether a FREE_ITEM action made the whole line free.
    ean: str | None = None  #: As in the request.
    article_group_id: str | None = None  #: As in the request.
    manufacturer_id: str | None = None  #: As in the request.
    free_item_promotion_id: str | None = None  #: ID of the promotion that made it free.
    refund: Refund | None = None  #: Only on a return line whose `additionalFields` name its sale.
    #: Why no promotion may take anything off it: a value of NeverDiscountedReasons.
    never_discounted: str | None = None


@dataclass(frozen=True, slots=True)
class GrantedItem:
    """An article to hand out that is not in the basket. It is not part of the totals."""

    grant_reference: str  #: Identifies the grant; a replay repeats it.
    article_number: str  #: The article to hand out.
    quantity: int  #: Number of pieces.
    reference_price: Money  #: Value of one piece.
    price_source: str  #: Source of the price: `BASKET_PRICE`, `REFERENCE_PRICE`, `MASTER_DATA`, `UNKNOWN_ZERO`.
    give_away_value: Money  #: Price times quantity.
    promotion_id: str  #: ID of the promotion that grants it.
    promotion_name: str  #: Name of the promotion.
    triggered_by_coupon: bool  #: Whether a coupon triggered it.
    ean: str | None = None  #: Its EAN, if known.


@dataclass(frozen=True, slots=True)
class PromotionSavings:
    """The discount of one promotion on the whole basket."""

    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.
    total_discount: Money  #: Sum over all lines.
    affected_items: list[str]  #: The `lineReference` of each line it discounts.


@dataclass(frozen=True, slots=True)
class ItemSavings:
    """The savings on one discounted line."""

    article_number: str  #: The article.
    original_price: Money  #: Total of the line.
    final_price: Money  #: Net price of the line.
    savings: Money  #: The difference.


@dataclass(frozen=True, slots=True)
class SavingsSummary:
    """A summary of the savings, for the receipt."""

    total_savings: Money  #: Sum of all discounts.
    savings_percent: Decimal  #: Percentage of the sale lines' total, two decimals, at most 100.
    original_total: Money  #: Same as `subtotal`.
    final_total: Money  #: Same as `grandTotal`.
    promotion_breakdown: list[PromotionSavings]  #: One entry per promotion that gives a discount.
    item_savings: list[ItemSavings]  #: One entry per discounted line.
    loyalty_points_earned: int  #: Points the customer earns when this iteration is confirmed.


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of the basket."""

    subtotal: Money  #: Sum of `lineTotal`; return lines count negative.
    discount: Money  #: Sum of `lineDiscount`.
    grand_total: Money  #: Subtotal minus discount: the amount to pay.
    savings_summary: SavingsSummary  #: Summary for the receipt.
    sale_subtotal: Money | None = None  #: Subtotal of the sale lines; only with return lines.
    return_subtotal: Money | None = None  #: Subtotal of the return lines, negative; only with return lines.
    refund_total: Money | None = None  #: What the return lines give back, not negative; only with return lines.
    payable: Money | None = None  #: What changes hands: sales minus refunds, may be negative; only with return lines.


@dataclass(frozen=True, slots=True)
class Addition:
    """What closes a gap: more pieces of a line, a new line, or goods of an amount."""

    line_reference: str | None = None  #: The line whose quantity grows; if left out, it is a new line.
    #: The article; with an amount, one that counts. If left out, goods of any kind.
    article_number: str | None = None
    article_group_id: str | None = None  #: The article's group.
    quantity: Decimal | None = None  #: Pieces, or what is weighed. Left out with an amount.
    amount: Money | None = None  #: Price of the goods. Left out with pieces.


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A promotion that this basket nearly qualified for, or could qualify for; at most 10."""

    kind: str  #: `NEAR_MISS`: at least half reached. `HINT`: the basket points to it, something is missing.
    code: str  #: Reason code: why it did not apply.
    params: list[KeyValuePair]  #: Required and actual values, for the till's own text.
    default_message: str  #: The reason as an English sentence.
    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.
    match_percent: int | None = None  #: Percentage reached, 50 to 99. NEAR_MISS only.
    potential_saving: Money | None = None  #: As in `thresholdGaps` or `missedPromotions`, if one of them has it.
    missing: list[Addition] | None = None  #: What brings the saving.


@dataclass(frozen=True, slots=True)
class AppliedCoupon:
    """A coupon that triggered a promotion. Confirm redeems it."""

    code: str  #: As in the request.
    coupon_type_name: str  #: Name of the coupon type.
    promotion_ids: list[str]  #: IDs of the promotions it triggered.


@dataclass(frozen=True, slots=True)
class InvalidCoupon:
    """A coupon without effect. It is not redeemed."""

    code: str  #: As in the request.
    reason: str  #: Reason code for coupons.


@dataclass(frozen=True, slots=True)
class BudgetLimited:
    """A promotion that was dropped because of a budget."""

    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.
    #: `BUDGET_NOT_ACTIVE`, `BUDGET_EXHAUSTED` or `BUDGET_INSUFFICIENT`; in a store `SHARE_NOT_AVAILABLE`.
    reason: str


@dataclass(frozen=True, slots=True)
class Rival:
    """A promotion without which another one would apply."""

    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.


@dataclass(frozen=True, slots=True)
class BlockedBy:
    """The promotion that applied instead, or that left nothing to discount."""

    promotion_id: str  #: ID of the winner.
    promotion_name: str | None = None  #: Name of the winner.
    difference: Money | None = None  #: Saving of the basket minus its saving without the rivals; may be negative.
    #: What would have to be removed for it to apply, in words; only if pricing without it confirms it.
    remedy: str | None = None
    rivals: list[Rival] | None = None  #: The promotions that the remedy names.


@dataclass(frozen=True, slots=True)
class MissedPromotion:
    """A promotion that did not apply, and why."""

    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.
    promotion_type: str  #: Type of the promotion.
    code: str  #: Reason code.
    message: str  #: An English sentence.
    params: list[KeyValuePair]  #: Required and actual values.
    match_percent: int | None = None  #: Percentage reached, 0 to 99, where conditions or tiers were missed.
    potential_saving: Money | None = None  #: Saving beyond the present one, with what is missing. Never 0.
    blocked_by: BlockedBy | None = None  #: The promotion that applied instead, or left nothing to discount.
    missing: list[Addition] | None = None  #: What brings the saving. Left out for coupons and payments: see `params`.


@dataclass(frozen=True, slots=True)
class Nudge:
    """A gap worth closing, as a sentence for the customer; at most 3, the largest saving first."""

    message: str  #: An English sentence.
    suggested_action: str  #: `ADD_ITEMS` or `INCREASE_AMOUNT`.
    potential_saving: Money  #: Same as the gap's.
    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.
    gap_type: str  #: Same as the gap's `type`.
    missing: list[Addition] | None = None  #: Same as the gap's.


@dataclass(frozen=True, slots=True)
class ThresholdGap:
    """A threshold that was not reached and is worth reaching; one of each promotion, at most 20, the nearest first."""

    promotion_id: str  #: ID of the promotion with the threshold.
    promotion_name: str  #: Name of the promotion.
    type: str  #: `RECEIPT_AMOUNT`, `ITEM_QUANTITY` or `SCALED_RECEIPT`.
    current_value: Decimal  #: Value reached: an amount or pieces, two decimals.
    threshold: Decimal  #: Required value.
    gap: Decimal  #: What must be added: threshold minus current value, or more if other promotions take part of it.
    potential_saving: Money  #: Saving of the whole basket beyond the present one if `missing` is bought. Never 0.
    missing: list[Addition] | None = None  #: What closes this gap, and all others of the promotion.


@dataclass(frozen=True, slots=True)
class EvaluateResponse:
    """A priced basket."""

    minor_version: int  #: Minor version of this contract: 8.
    meta: Meta  #: Metadata of the response.
    line_items: list[LineItem]  #: One per line of the request, in the same order.
    granted_items: list[GrantedItem]  #: Articles to hand out in addition.
    totals: Totals  #: Totals of the basket.
    recommendations: list[Recommendation]  #: Promotions the basket nearly qualified for.
    applied_coupons: list[AppliedCoupon]  #: Coupons that had an effect.
    invalid_coupons: list[InvalidCoupon]  #: Coupons without effect.
    budget_limited_promotions: list[BudgetLimited]  #: Promotions dropped because of a budget.
    nudges: list[Nudge]  #: Empty unless the tenant's enableProductionNudges is on.
    threshold_gaps: list[ThresholdGap]  #: Empty unless the tenant's enableProductionNudges is on.
    missed_promotions: list[MissedPromotion] | None = None  #: Only if requested.


@dataclass(frozen=True, slots=True)
class ConfirmResponse:
    """The sale, as every repeat of its confirm is answered."""

    transaction_id: str
    confirmed: bool
    message: str


@dataclass(frozen=True, slots=True)
class BudgetGivenBack:
    """What a budget has got back."""

    budget_id: str  #: ID of the budget.
    amount: Money  #: What no earlier return had given back.


@dataclass(frozen=True, slots=True)
class CouponSpent:
    """A coupon that the sale had spent."""

    coupon_id: str | None  #: ID of the coupon code; null for the shared code of a type.
    coupon_type_id: str  #: Its type, whose `onReturn` decides.
    reactivated: bool  #: Whether it is valid again.
    reason: str | None = None  #: Why not: `KEEP_REDEEMED`, `EXPIRED`, `INACTIVE`, `CHANGED` or `AFTER_SYNC`.


@dataclass(frozen=True, slots=True)
class CouponEarned:
    """A coupon that the sale had earned."""

    coupon_id: str  #: ID of the coupon code.
    coupon_type_id: str  #: Its type.
    cancelled: bool  #: Whether it was cancelled now.
    reason: str | None = None  #: Why not: `ALREADY_SPENT`, `EXPIRED` or `ALREADY_CANCELLED`.


@dataclass(frozen=True, slots=True)
class CancelResponse:
    """What came of cancelling a sale; every repeat gets the same bytes."""

    transaction_id: str  #: The transaction.
    transaction_counter: int  #: The iteration that had been confirmed.
    cancelled: bool  #: True.
    message: str  #: An English sentence.
    points_taken_back: int  #: Points of the sale that no earlier return had taken back.
    budgets_given_back: list[BudgetGivenBack]  #: One for each budget that has got something back.
    coupons_spent: list[CouponSpent]  #: The coupons spent in the sale.
    coupons_earned: list[CouponEarned]  #: The coupons issued for the sale that have codes of their own.


@dataclass(frozen=True, slots=True)
class ReturnedLine:
    """A sale line of a confirmed transaction."""

    line_reference: str  #: The line.
    quantity: Decimal  #: The quantity sold.
    returned_quantity: Decimal  #: How much of it confirmed returns have brought back so far.
    paid: Money | None = None  #: What was paid for it.
    refunded: Money | None = None  #: What they have refunded.


@dataclass(frozen=True, slots=True)
class ReadConfirmation:
    """The confirm of a transaction."""

    transaction_counter: int  #: The iteration that became the sale.
    confirmed_at: datetime  #: Time of the sale. UTC.
    message: str  #: As the confirm was answered.
    lines: list[ReturnedLine]  #: Its sale lines, with what was returned of them.


@dataclass(frozen=True, slots=True)
class ReadIteration:
    """An iteration of a transaction."""

    transaction_counter: int  #: Its number; `/v2/transactions/{transactionId}/{transactionCounter}` has its answer.
    evaluated_at: datetime  #: The time that it was evaluated for. UTC.
    receipt_id: str | None = None  #: The till's receipt number.


@dataclass(frozen=True, slots=True)
class TransactionResult:
    """What is known of a transaction, for a till that lost it."""

    minor_version: int  #: Minor version of this contract: 8.
    transaction_id: str  #: The transaction.
    confirmed: bool  #: Whether an iteration was confirmed.
    cancelled: bool  #: Whether the sale was cancelled.
    iterations: list[ReadIteration]  #: The iterations that are still stored, the newest first; at most 100.
    confirmation: ReadConfirmation | None = None  #: The confirm, if there was one.
    cancellation: CancelResponse | None = None  #: What the cancel was answered.


@dataclass(frozen=True, slots=True)
class PostPurchaseCoupon:
    """A coupon that the sale earned."""

    code: str  #: Code to print on the receipt.
    coupon_type_id: str  #: The coupon type.
    issued_at: datetime  #: Time of issue. UTC.
    customer_id: str | None = None  #: The customer it belongs to; if left out, anyone may present it.


@dataclass(frozen=True, slots=True)
class SideEffectsResult:
    """The status of the side effects of a confirmed iteration."""

    minor_version: int  #: Minor version of this contract: 8.
    transaction_id: str  #: The transaction.
    transaction_counter: int  #: The iteration of the transaction.
    status: str  #: `PENDING`, `RUNNING`, or a final one: `COMPLETED`, `FAILED`, `CANCELLED` with its sale.
    enqueued_at: datetime  #: Time of the confirm. UTC.
    attempts: int  #: Number of attempts; at most 8.
    coupons_redeemed: int  #: Number of coupons redeemed.
    budgets_consumed: int  #: Number of budgets the confirm charged.
    loyalty_points_earned: int  #: Points booked.
    post_purchase_coupons: list[PostPurchaseCoupon]  #: Coupons issued for the next visit.
    started_at: datetime | None = None  #: Start of the last attempt.
    completed_at: datetime | None = None  #: Time it completed or failed.
    reason: str | None = None  #: Error of the last failed attempt.


@dataclass(frozen=True, slots=True)
class PricePromotion:
    """What an action of a promotion takes off one unit of an article."""

    promotion_id: str  #: ID of the promotion.
    promotion_name: str  #: Name of the promotion.
    promotion_type: str  #: Type of the promotion: a value of PromotionTypes.
    discount_type: str  #: `PERCENTAGE`, `ABSOLUTE` or `UNIT_PRICE`. A free item is `PERCENTAGE` 100.
    discount_value: Decimal  #: The percentage, amount or price that the promotion states.
    discount: Money  #: What it takes off.
    valid_until: datetime | None = None  #: The end of its validity, which is not included; left out if there is none.


@dataclass(frozen=True, slots=True)
class ArticlePrice:
    """What one unit of an article costs by itself: one piece, or one kilogram of what is sold by the kilogram."""

    article_number: str  #: As in the request.
    status: str  #: `PRICED`; `UNKNOWN_ARTICLE`; `NO_PRICE`: the article has no price in this currency.
    ean: str | None = None  #: As in the request, else that of the article.
    name: str | None = None  #: Name of the article.
    unit: str | None = None  #: Unit of the article, of which the price is for one.
    unit_price: Money | None = None  #: The price before promotions. This and the following only if PRICED.
    price: Money | None = None  #: The price with promotions.
    strike_price: Money | None = None  #: The price to strike through, if the price is below it.
    promotions: list[PricePromotion] | None = None  #: In the order in which they were applied.
    #: Why no promotion may take anything off it: a value of NeverDiscountedReasons.
    never_discounted: str | None = None


@dataclass(frozen=True, slots=True)
class PricesMeta:
    """Metadata of prices."""

    evaluated_at: datetime  #: The time for which they hold: the request's, else the service's. UTC.
    source: str  #: Kind of instance that answered: `btp`, the cloud.
    instance_id: str  #: ID of the instance that answered.
    tenant_id: str  #: The tenant whose promotions were applied.
    data_age: datetime | None = None  #: Time of the last change of the promotions.


@dataclass(frozen=True, slots=True)
class PricesResponse:
    """The prices of single articles."""

    minor_version: int  #: Minor version of this contract: 8.
    meta: PricesMeta  #: For when, from where.
    pos_group_code: str  #: The POS group of the prices.
    currency: str  #: Its currency, which is that of all prices.
    prices: list[ArticlePrice]  #: One for each article, in the order of the request.


@dataclass(frozen=True, slots=True)
class LoyaltyEntry:
    """A booking of points."""

    transaction_id: str  #: The transaction that caused it.
    transaction_counter: int  #: Its iteration.
    points: int  #: The points; negative if they were taken back or spent.
    balance_after: int  #: The balance after it.
    awarded_at: datetime  #: When it was booked. UTC.
    promotion_id: str | None = None  #: The promotion that granted the points; left out for base points and returns.


@dataclass(frozen=True, slots=True)
class LoyaltyResult:
    """A customer's points."""

    minor_version: int  #: Minor version of this contract: 8.
    customer_id: str  #: The customer.
    balance: int  #: The points now; 0 for an unknown customer.
    entries: list[LoyaltyEntry]  #: The latest bookings, the newest first; at most 20.


@dataclass(frozen=True, slots=True)
class ValidateCouponResponse:
    """Whether the coupon could be redeemed now."""

    valid: bool  #: Whether it could be redeemed.
    code: str  #: As sent.
    message: str  #: An English sentence.
    promotion_id: str | None  #: The promotion that it triggers; null if none is running.
    valid_until: datetime | None  #: End of its validity, exclusive; null: it has no end. UTC.
    reason: str | None  #: Stable reason code; null if valid.
    reservation_id: str | None  #: The reservation by which the given transaction holds the code; null if it does not.


@dataclass(frozen=True, slots=True)
class ReserveCouponResponse:
    """The reservation."""

    reservation_id: str | None  #: The ID for redeem and cancel.
    reserved: bool  #: Whether the transaction has reserved the code.
    expires_at: datetime | None  #: When the reservation expires, exclusive. UTC.
    message: str  #: An English sentence.
    code: str | None  #: The same as `reason`.
    reason: str | None  #: Stable reason code; null if reserved.


@dataclass(frozen=True, slots=True)
class RedeemCouponResponse:
    """Whether the coupon was redeemed."""

    redeemed: bool  #: Whether it was redeemed by this request.
    message: str  #: An English sentence.
    code: str | None  #: The same as `reason`.
    reason: str | None  #: Stable reason code; null if redeemed.

    @property
    def is_redeemed(self) -> bool:
        """Whether the reservation is redeemed, by this request or by one before it whose answer was lost."""
        return self.redeemed or self.reason == "REDEEMED_BEFORE"


@dataclass(frozen=True, slots=True)
class CancelCouponResponse:
    """Whether the coupon was released."""

    cancelled: bool  #: Whether it was released by this request.
    message: str  #: An English sentence.
    code: str | None  #: The same as `reason`.
    reason: str | None  #: Stable reason code; null if cancelled.

    @property
    def is_released(self) -> bool:
        """Whether the reservation is gone, by this request or by one before it whose answer was lost."""
        return self.cancelled or self.reason == "RESERVATION_NOT_FOUND"


@dataclass(frozen=True, slots=True)
class ActivateCouponResponse:
    """Whether the coupon was activated."""

    activated: bool  #: Whether it was activated by this request.
    code: str  #: As sent.
    message: str  #: An English sentence.
    valid_until: datetime | None  #: End of its validity, exclusive; null: it has no end. UTC.
    reason: str | None  #: Stable reason code; null if activated.


@dataclass(frozen=True, slots=True)
class IssuedCouponCode:
    """A coupon that was issued."""

    code: str  #: The code to present at a till.
    coupon_id: str | None  #: Its ID; null if all share the type's code.
    coupon_type_id: str  #: The coupon type.
    customer_id: str | None  #: The owner; null: a bearer coupon.
    valid_until: datetime | None  #: End of its validity, exclusive; null: it has no end. UTC.


@dataclass(frozen=True, slots=True)
class IssueFailed:
    """A customer who got no coupon."""

    customer_id: str | None  #: The customer.
    code: str  #: The reason: a stable code.
    message: str  #: An English sentence.


@dataclass(frozen=True, slots=True)
class IssueCouponsResponse:
    """The coupons issued, and the failures."""

    issued_count: int  #: Number of coupons issued.
    failed_count: int  #: Number of failures.
    issued_coupons: list[IssuedCouponCode]  #: In the order of the customers.
    failures: list[IssueFailed]  #: In the order of the customers.
    message: str  #: An English sentence.


@dataclass(frozen=True, slots=True)
class ArticleResult:
    """The result for an article."""

    article_number: str | None  #: As sent; null if it is missing.
    status: str  #: `created`, `updated` or `failed`.
    id: str | None  #: The article's ID; null if it failed.
    error: str | None  #: Why it failed, in an English sentence; null if it did not.


@dataclass(frozen=True, slots=True)
class ArticleFault:
    """An error in an article."""

    article_number: str | None  #: As sent; null if it is missing.
    row: int  #: Its position in the request, from 1.
    code: str  #: A stable code.
    message: str  #: An English sentence.
    property: str | None  #: The invalid member.


@dataclass(frozen=True, slots=True)
class ImportArticlesResponse:
    """The results for the articles."""

    imported: int  #: Number of new articles.
    updated: int  #: Number of existing articles that are now as sent.
    failed: int  #: Number of refused articles.
    results: list[ArticleResult]  #: One for each article, in the order of the request.
    errors: list[ArticleFault]  #: All errors of the failed articles, in the same order.


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The state of the service, as tills query it before they rely on it."""

    status: str  #: `UP`, or `DEGRADED` when the database, or the cloud of a linked store, is unreachable.
    version: str  #: The service's version.
    mode: str  #: `cloud` or `local-store`.
    btp_connectivity: str  #: `CONNECTED`, `DISCONNECTED`, or `NOT_CONFIGURED`: no link, as in the cloud.
    last_sync: str | None  #: Last time a store was up to date with its cloud; null if never, and in the cloud. UTC.
    pending_transactions: int  #: Sales that a store has not uploaded to its cloud yet; 0 in the cloud.
    promotions_loaded: int  #: Promotions of the tenant that can be priced.
    uptime: int  #: Seconds since the process started.
