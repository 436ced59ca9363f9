"""What an evaluation answers: frozen values that the edge encodes as EvaluateResponseV2 and the store keeps.

All amounts are whole minor units of ``Outcome.currency`` (``exponent`` decimals), all >= 0 unless a field says
otherwise. Promotions are carried by id and name; lines by their position in the basket.
"""

from __future__ import annotations

from dataclasses import dataclass

from promenade.engine.value import value


@value(frozen=True, slots=True)
class UnitShare:
    """``count`` units of a line that each carry ``amount_minor`` of a discount (a weighed line: count 1)."""

    count: int
    amount_minor: int


@value(frozen=True, slots=True)
class LineDiscount:
    """One promotion on one line. One entry per (line, action); booked in order of application."""

    promotion_id: str
    promotion_name: str
    promotion_type: str
    discount_type: str  # PERCENTAGE, ABSOLUTE, UNIT_PRICE
    discount_value_hundredths: int
    amount_minor: int
    coupon_code: str | None
    units: tuple[UnitShare, ...]  # INVARIANT: sum(count * amount) == amount_minor


@value(frozen=True, slots=True)
class LineOutcome:
    """One basket line, in the order of the request. On a return line total is below zero and net is 0."""

    reference: str
    article_number: str
    ean: str | None
    article_group_id: str | None
    manufacturer_id: str | None
    quantity_thousandths: int
    unit: str
    unit_price_hundredths: int
    total_minor: int
    discount_minor: int
    net_minor: int
    discounts: tuple[LineDiscount, ...]
    free_promotion_id: str | None = None  # set: the whole line was given free by this promotion


@dataclass(frozen=True, slots=True)
class GrantedItem:
    grant_reference: str  # GRANT-<promoShort>-<code>-<n>
    article_number: str
    ean: str | None
    quantity: int
    reference_price_minor: int
    price_source: str  # BASKET_PRICE, REFERENCE_PRICE, MASTER_DATA, UNKNOWN_ZERO
    give_away_value_minor: int
    promotion_id: str
    promotion_name: str
    triggered_by_coupon: bool


@value(frozen=True, slots=True)
class AppliedPromotion:
    """A promotion with an effect, in order of application; rewards-only promotions have discount 0."""

    promotion_id: str
    promotion_name: str
    promotion_type: str
    definition_hash: str
    version: int
    discount_minor: int
    give_away_minor: int
    line_references: tuple[str, ...]
    coupon_code: str | None
    applications: int
    points: int  # net points this promotion's loyalty actions added (may be below zero)
    post_purchase_coupon_type_ids: tuple[str, ...]
    budget_ids: tuple[str, ...]
    pilot_arm: str | None = None  # PILOT | EXPERIMENT when it applied as such


@dataclass(frozen=True, slots=True)
class CouponUse:
    code: str
    coupon_type_id: str | None
    coupon_type_name: str
    promotion_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RefusedCoupon:
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class BudgetLimited:
    promotion_id: str
    promotion_name: str
    reason: str  # BUDGET_NOT_ACTIVE, BUDGET_EXHAUSTED, BUDGET_INSUFFICIENT, SHARE_NOT_AVAILABLE


@value(frozen=True, slots=True)
class Recommendation:
    kind: str  # NEAR_MISS, HINT
    code: str
    params: tuple[tuple[str, str], ...]
    message: str
    promotion_id: str
    promotion_name: str
    match_percent: int | None = None  # NEAR_MISS only


@dataclass(frozen=True, slots=True)
class Addition:
    """What closes a gap: more pieces of a line, a new line of some article, or goods of an amount (section 10).

    ``line_reference``: the line whose quantity grows; without one it is a new line, the last of the basket. Goods of an
    amount are one piece at ``unit_price_hundredths``, which no article-level promotion discounts; they are unspecific
    unless an article or a group is named.
    """

    line_reference: str | None
    article_number: str | None
    article_group_id: str | None
    quantity_thousandths: int
    unit_price_hundredths: int
    is_amount: bool


@dataclass(frozen=True, slots=True)
class MissedPromotion:
    """missedPromotions: why a promotion did not apply, and what would have to go for it to apply.

    The fields from ``missing`` on are absent under `FIRST_RULES`.
    """

    promotion_id: str
    promotion_name: str
    promotion_type: str
    code: str
    message: str
    params: tuple[tuple[str, str], ...] = ()
    match_percent: int | None = None
    potential_saving_minor: int | None = None
    blocked_by_id: str | None = None
    blocked_by_name: str | None = None
    difference_minor: int | None = None  # what the basket saves minus what it would without the winner; may be < 0
    remedy: str | None = None
    missing: tuple[Addition, ...] | None = None  # what brings the saving
    without: tuple[tuple[str, str], ...] | None = None  # id and name of the promotions that the remedy names


@dataclass(frozen=True, slots=True)
class Gap:
    """A threshold not reached. current/threshold/gap are hundredths: of money, or of pieces."""

    promotion_id: str
    promotion_name: str
    gap_type: str  # RECEIPT_AMOUNT, ITEM_QUANTITY, SCALED_RECEIPT
    current_hundredths: int
    threshold_hundredths: int
    gap_hundredths: int
    potential_saving_minor: int
    missing: tuple[Addition, ...] | None = None  # absent under `FIRST_RULES`


@dataclass(frozen=True, slots=True)
class Nudge:
    message: str
    suggested_action: str
    potential_saving_minor: int
    promotion_id: str
    promotion_name: str
    gap_type: str
    missing: tuple[Addition, ...] | None = None  # absent under `FIRST_RULES`


@dataclass(frozen=True, slots=True)
class BestDeal:
    optimal: bool  # nothing within ``scope`` gives more
    bound_minor: int  # of discount plus value of gifts; no combination within ``scope`` gives more
    nodes: int
    scope: tuple[str, ...] | None = None  # what was searched: PROMOTIONS, ORDER, UNITS; None by the first rules


@value(frozen=True, slots=True)
class Outcome:
    currency: str
    exponent: int
    lines: tuple[LineOutcome, ...]
    granted: tuple[GrantedItem, ...]
    subtotal_minor: int  # sum of line totals; return lines count below zero
    discount_minor: int
    grand_total_minor: int
    sale_subtotal_minor: int
    return_subtotal_minor: int  # <= 0
    applied: tuple[AppliedPromotion, ...]
    points: int  # all points earned, the tenant's base points included; never below zero
    base_points: int
    coupons_used: tuple[CouponUse, ...]
    coupons_refused: tuple[RefusedCoupon, ...]
    budget_limited: tuple[BudgetLimited, ...]
    recommendations: tuple[Recommendation, ...]
    missed: tuple[MissedPromotion, ...]  # empty unless Settings.include_missed
    gaps: tuple[Gap, ...]  # empty unless Settings.nudges
    nudges: tuple[Nudge, ...]
    candidate_hashes: tuple[str, ...]  # definition hashes that this price depends on, in order
    control_arms: tuple[str, ...] = ()  # promotion ids whose control arm this POS group is
    best_deal: BestDeal | None = None
    never_discounted: tuple[tuple[int, str], ...] = ()  # position and reason of the sale lines that are
