"""The engine's outcome in the format of the POS service: EvaluateResponseV2, in one pass over frozen values.

Amounts never become floats or Decimals: each is written once from its integer minor units, and as most amounts of a
response repeat (zeros, equal prices), the texts are cached.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

from promenade.engine.basket import Refund
from promenade.engine.money import minor_digits
from promenade.engine.outcome import (
    Addition,
    BestDeal,
    Gap,
    GrantedItem,
    LineDiscount,
    LineOutcome,
    MissedPromotion,
    Outcome,
    Recommendation,
)
from promenade.interface import POS_MINOR_VERSION
from promenade.web.pricing.messages import KeyValuePair
from promenade.web.pricing.responses import (
    AdditionV2,
    AppliedCouponV2,
    ArticlePrice,
    BestDealV2,
    BlockedByV2,
    BudgetLimitedV2,
    EvaluateResponseV2,
    GrantedItemV2,
    HeaderV2,
    InvalidCouponV2,
    ItemSavingsV2,
    LineDiscountV2,
    LineItemV2,
    LoyaltyEntry,
    LoyaltyResult,
    MetaV2,
    MissedPromotionV2,
    NudgeV2,
    PostPurchaseCoupon,
    PricePromotion,
    PricesMeta,
    PricesResponse,
    PromotionSavingsV2,
    QuantityV2,
    ReadConfirmation,
    ReadIteration,
    RecommendationV2,
    RefundShareV2,
    RefundV2,
    ReturnedLine,
    RivalV2,
    SavingsSummaryV2,
    SideEffectsResult,
    ThresholdGapV2,
    TotalsV2,
    TransactionResult,
)
from promenade.workflows.pricing.evaluate import PricedIteration
from promenade.workflows.pricing.prices import PricedArticle, PriceList
from promenade.workflows.sales.reading import Confirmed, LoyaltyAccount, TransactionState
from promenade.workflows.sales.side_effects import SideEffects

_REMEMBERED_MAX = 20_000

T = TypeVar("T")


def timestamp(moment: datetime) -> str:
    """Return a time as ISO-8601 in UTC with milliseconds: 2026-05-01T10:00:00.000Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def timestamp_maybe(moment: datetime | None) -> str | UnsetType:
    """Return a time as `timestamp` does; None is left out of the message."""
    return UNSET if moment is None else timestamp(moment)


class Amounts:
    """Writes the numbers of one currency; ``quoted`` as strings, for clients that send IEEE754Compatible=true."""

    __slots__ = ("_currency", "_exponent", "_money", "_pieces", "_plain", "_quote")

    def __init__(self, currency: str, exponent: int, *, quoted: bool) -> None:
        self._currency = currency
        self._exponent = exponent
        self._quote = '"' if quoted else ""
        self._money: dict[int, Raw] = {}
        self._plain: dict[int, Raw] = {}
        self._pieces: dict[int, Raw] = {}

    @classmethod
    def of(cls, currency: str, exponent: int, *, quoted: bool = False) -> Amounts:
        """Return the writer of a currency, shared by the responses of this process."""
        key = (currency, exponent, quoted)
        amounts = _SHARED.get(key)
        if amounts is None:
            amounts = _SHARED[key] = cls(currency, exponent, quoted=quoted)
        return amounts

    def money(self, minor: int) -> Raw:
        """Return a Money object from integer minor units: ``{"value":12.50,"currency":"EUR"}``."""
        raw = self._money.get(minor)
        if raw is None:
            raw = _remember(self._money, minor, self._object(_decimal(minor, self._exponent)))
        return raw

    def face_value(self, hundredths: int) -> Raw:
        """Return a Money object from a Decimal(15,2), with two decimals whatever the currency."""
        if self._exponent == 2:
            return self.money(hundredths)
        return self._object(_decimal(hundredths, 2))

    def hundredths(self, value: int) -> Raw:
        """Return a number with two decimals."""
        raw = self._plain.get(value)
        if raw is None:
            raw = _remember(self._plain, value, self.number(_decimal(value, 2)))
        return raw

    def thousandths(self, value: int) -> Raw:
        """Return a quantity without trailing zeros: 2, 1.5, 0.125."""
        raw = self._pieces.get(value)
        if raw is None:
            text = _decimal(value, 3).rstrip("0").rstrip(".")
            raw = _remember(self._pieces, value, self.number(text))
        return raw

    def number(self, text: str) -> Raw:
        return Raw(f"{self._quote}{text}{self._quote}".encode("ascii"))

    def _object(self, text: str) -> Raw:
        return Raw(f'{{"value":{self._quote}{text}{self._quote},"currency":"{self._currency}"}}'.encode("ascii"))


_SHARED: dict[tuple[str, int, bool], Amounts] = {}


def _remember(known: dict[int, Raw], key: int, raw: Raw) -> Raw:
    if len(known) >= _REMEMBERED_MAX:
        known.clear()
    known[key] = raw
    return raw


def _decimal(scaled: int, decimals: int) -> str:
    """Return the decimal text of an integer in units of ``10**-decimals``, with all decimals."""
    if decimals == 0:
        return str(scaled)
    digits = str(abs(scaled)).rjust(decimals + 1, "0")
    return f"{'-' if scaled < 0 else ''}{digits[:-decimals]}.{digits[-decimals:]}"


def encode_evaluation(
    priced: PricedIteration,
    *,
    tenant_id: str,
    source: str,
    instance_id: str,
    include_missed: bool,
    quoted: bool = False,
) -> bytes:
    """Return the JSON body of an EvaluateResponseV2. ``include_missed``: missedPromotions was requested."""
    outcome = priced.outcome
    amounts = Amounts.of(outcome.currency, outcome.exponent, quoted=quoted)
    return msgspec.json.encode(
        EvaluateResponseV2(
            minor_version=POS_MINOR_VERSION,
            meta=_meta(priced, tenant_id, source, instance_id, amounts),
            line_items=_lines(outcome, priced.refunds, amounts),
            granted_items=[_granted(item, amounts) for item in outcome.granted],
            totals=_totals(outcome, priced.refunds, amounts),
            recommendations=_recommendations(outcome, amounts),
            applied_coupons=[
                AppliedCouponV2(use.code, use.coupon_type_name, use.promotion_ids) for use in outcome.coupons_used
            ],
            invalid_coupons=[InvalidCouponV2(refused.code, refused.reason) for refused in outcome.coupons_refused],
            budget_limited_promotions=[
                BudgetLimitedV2(limited.promotion_id, limited.promotion_name, limited.reason)
                for limited in outcome.budget_limited
            ],
            missed_promotions=[_missed(missed, amounts) for missed in outcome.missed] if include_missed else UNSET,
            nudges=[
                NudgeV2(
                    nudge.message,
                    nudge.suggested_action,
                    amounts.money(nudge.potential_saving_minor),
                    nudge.promotion_id,
                    nudge.promotion_name,
                    nudge.gap_type,
                    _additions(nudge.missing, amounts),
                )
                for nudge in outcome.nudges
            ],
            threshold_gaps=[_gap(gap, amounts) for gap in outcome.gaps],
        )
    )


def encode_prices(listed: PriceList, *, tenant_id: str, source: str, instance_id: str, quoted: bool = False) -> bytes:
    """Return the JSON body of a PricesResponse."""
    currency = listed.pos_group.currency
    amounts = Amounts.of(currency, minor_digits(currency), quoted=quoted)
    return msgspec.json.encode(
        PricesResponse(
            minor_version=POS_MINOR_VERSION,
            meta=PricesMeta(timestamp(listed.at), source, instance_id, tenant_id, timestamp_maybe(listed.data_age)),
            pos_group_code=listed.pos_group.code,
            currency=currency,
            prices=[_article_price(one, amounts) for one in listed.prices],
        )
    )


def _article_price(found: PricedArticle, amounts: Amounts) -> ArticlePrice:
    asked, article, outcome = found.asked, found.article, found.outcome
    ean = asked.ean or (None if article is None else article.ean)
    about = (asked.article_number, _or_unset(ean), found.status, _or_unset(None if article is None else article.name))
    if outcome is None:
        unit = None if article is None else article.unit
        return ArticlePrice(*about, _or_unset(unit), UNSET, UNSET, UNSET, UNSET, UNSET)
    line = outcome.lines[0]
    strike = found.strike_minor
    return ArticlePrice(
        *about,
        line.unit,
        amounts.face_value(line.unit_price_hundredths),
        amounts.money(line.net_minor),
        UNSET if strike is None else amounts.money(strike),
        [_price_promotion(*one, amounts) for one in zip(line.discounts, found.ends, strict=True)],
        _or_unset(dict(outcome.never_discounted).get(0)),
    )


def _price_promotion(discount: LineDiscount, end: datetime | None, amounts: Amounts) -> PricePromotion:
    return PricePromotion(
        discount.promotion_id,
        discount.promotion_name,
        discount.promotion_type,
        discount.discount_type,
        amounts.hundredths(discount.discount_value_hundredths),
        amounts.money(discount.amount_minor),
        timestamp_maybe(end),
    )


def encode_transaction(state: TransactionState) -> bytes:
    """Return the JSON body of a TransactionResult."""
    confirmed = state.confirmed
    return msgspec.json.encode(
        TransactionResult(
            minor_version=POS_MINOR_VERSION,
            transaction_id=state.transaction_id,
            confirmed=confirmed is not None,
            confirmation=UNSET if confirmed is None else _confirmation(confirmed),
            cancelled=state.cancellation is not None,
            cancellation=UNSET if state.cancellation is None else Raw(state.cancellation),
            iterations=[
                ReadIteration(one.transaction_counter, timestamp(one.evaluated_at), _or_unset(one.receipt_id))
                for one in state.iterations
            ],
        )
    )


def _confirmation(confirmed: Confirmed) -> ReadConfirmation:
    currency = confirmed.currency
    numbers = Amounts.of(currency, minor_digits(currency))
    return ReadConfirmation(
        transaction_counter=confirmed.transaction_counter,
        confirmed_at=timestamp(confirmed.confirmed_at),
        message=msgspec.json.decode(confirmed.response)["message"],
        lines=[
            ReturnedLine(
                line.reference,
                numbers.thousandths(line.quantity_thousandths),
                numbers.money(line.paid_minor) if currency else UNSET,
                numbers.thousandths(line.returned_thousandths),
                numbers.money(line.refunded_minor) if currency else UNSET,
            )
            for line in confirmed.lines
        ],
    )


def encode_loyalty(account: LoyaltyAccount) -> bytes:
    """Return the JSON body of a LoyaltyResult."""
    return msgspec.json.encode(
        LoyaltyResult(
            minor_version=POS_MINOR_VERSION,
            customer_id=account.customer_id,
            balance=account.balance,
            entries=[
                LoyaltyEntry(
                    one.transaction_id,
                    one.transaction_counter,
                    _or_unset(one.promotion_id),
                    one.points,
                    one.balance_after,
                    timestamp(one.awarded_at),
                )
                for one in account.entries
            ],
        )
    )


def encode_side_effects(effects: SideEffects) -> bytes:
    """Return the JSON body of a side-effects result."""
    return msgspec.json.encode(
        SideEffectsResult(
            minor_version=POS_MINOR_VERSION,
            transaction_id=effects.transaction_id,
            transaction_counter=effects.transaction_counter,
            status=effects.status,
            enqueued_at=timestamp(effects.enqueued_at),
            started_at=timestamp_maybe(effects.started_at),
            completed_at=timestamp_maybe(effects.completed_at),
            attempts=effects.attempts,
            coupons_redeemed=effects.coupons_redeemed,
            budgets_consumed=effects.budgets_consumed,
            loyalty_points_earned=effects.loyalty_points_earned,
            post_purchase_coupons=[
                PostPurchaseCoupon(
                    issued.code, issued.coupon_type_id, _or_unset(issued.customer_id), timestamp(issued.issued_at)
                )
                for issued in effects.post_purchase_coupons
            ],
            reason=_or_unset(effects.reason),
        )
    )


def _or_unset(value: T | None) -> T | UnsetType:
    return UNSET if value is None else value


def _pairs(params: Iterable[tuple[str, str]]) -> list[KeyValuePair]:
    return [KeyValuePair(key, value) for key, value in params]


def _best_deal(deal: BestDeal, amounts: Amounts) -> BestDealV2:
    scope = UNSET if deal.scope is None else list(deal.scope)
    return BestDealV2(deal.optimal, amounts.money(deal.bound_minor), deal.nodes, scope)


def _meta(priced: PricedIteration, tenant_id: str, source: str, instance_id: str, amounts: Amounts) -> MetaV2:
    deal = priced.outcome.best_deal
    return MetaV2(
        header=HeaderV2(
            _or_unset(priced.transaction_id),
            _or_unset(priced.transaction_counter),
            _or_unset(priced.receipt_id),
            _or_unset(priced.header_reference),
        ),
        evaluated_at=timestamp(priced.evaluated_at),
        source=source,
        instance_id=instance_id,
        is_simulation=priced.is_simulation,
        tenant_id=tenant_id,
        data_age=timestamp_maybe(priced.data_age),
        best_deal=UNSET if deal is None else _best_deal(deal, amounts),
    )


def _lines(outcome: Outcome, refunds: Iterable[Refund], amounts: Amounts) -> list[LineItemV2]:
    told = {one.line_reference: one for one in refunds}
    barred = dict(outcome.never_discounted)
    return [
        _line(line, barred.get(position), told.get(line.reference), amounts)
        for position, line in enumerate(outcome.lines)
    ]


def _line(line: LineOutcome, never_discounted: str | None, refund: Refund | None, amounts: Amounts) -> LineItemV2:
    money = amounts.money
    return LineItemV2(
        line.reference,
        line.article_number,
        UNSET if line.ean is None else line.ean,
        UNSET if line.article_group_id is None else line.article_group_id,
        UNSET if line.manufacturer_id is None else line.manufacturer_id,
        QuantityV2(amounts.thousandths(line.quantity_thousandths), line.unit),
        amounts.face_value(line.unit_price_hundredths),
        money(line.total_minor),
        money(line.discount_minor),
        money(line.net_minor),
        [_discount(discount, amounts) for discount in line.discounts],
        line.free_promotion_id is not None,
        UNSET if line.free_promotion_id is None else line.free_promotion_id,
        UNSET if refund is None else _refund(line, refund, amounts),
        UNSET if never_discounted is None else never_discounted,
    )


def _refund(line: LineOutcome, refund: Refund, amounts: Amounts) -> RefundV2:
    left = refund.left_thousandths
    return RefundV2(
        refund.status,
        amounts.money(_refunded(line, refund)),
        amounts.money(refund.discount_minor),
        [RefundShareV2(one.promotion_id, one.count, amounts.money(one.amount_minor)) for one in refund.shares],
        refund.points,
        amounts.money(refund.budget_minor),
        UNSET if left is None else amounts.thousandths(left),
    )


def _refunded(line: LineOutcome, refund: Refund | None) -> int:
    """Return what a return line gives back: by the books if they tell, else what the till sends."""
    known = None if refund is None else refund.amount_minor
    return -line.total_minor if known is None else known


def _discount(discount: LineDiscount, amounts: Amounts) -> LineDiscountV2:
    amount = amounts.money(discount.amount_minor)
    code = discount.coupon_code
    return LineDiscountV2(
        discount.promotion_id,
        discount.promotion_name,
        discount.promotion_type,
        discount.discount_type,
        amounts.hundredths(discount.discount_value_hundredths),
        amount,
        amount,
        UNSET if code is None else code,
        code is not None,
    )


def _granted(item: GrantedItem, amounts: Amounts) -> GrantedItemV2:
    return GrantedItemV2(
        item.grant_reference,
        item.article_number,
        _or_unset(item.ean),
        item.quantity,
        amounts.money(item.reference_price_minor),
        item.price_source,
        amounts.money(item.give_away_value_minor),
        item.promotion_id,
        item.promotion_name,
        item.triggered_by_coupon,
    )


def _totals(outcome: Outcome, refunds: Iterable[Refund], amounts: Amounts) -> TotalsV2:
    money = amounts.money
    returned = [line for line in outcome.lines if line.quantity_thousandths < 0]
    has_returns = bool(returned)
    told = {one.line_reference: one for one in refunds}
    refunded = sum(_refunded(line, told.get(line.reference)) for line in returned)
    return TotalsV2(
        subtotal=money(outcome.subtotal_minor),
        discount=money(outcome.discount_minor),
        grand_total=money(outcome.grand_total_minor),
        sale_subtotal=money(outcome.sale_subtotal_minor) if has_returns else UNSET,
        return_subtotal=money(outcome.return_subtotal_minor) if has_returns else UNSET,
        refund_total=money(refunded) if has_returns else UNSET,
        payable=money(outcome.sale_subtotal_minor - outcome.discount_minor - refunded) if has_returns else UNSET,
        savings_summary=SavingsSummaryV2(
            total_savings=money(outcome.discount_minor),
            savings_percent=amounts.hundredths(
                _percent_hundredths(outcome.discount_minor, outcome.sale_subtotal_minor)
            ),
            original_total=money(outcome.subtotal_minor),
            final_total=money(outcome.grand_total_minor),
            promotion_breakdown=[
                PromotionSavingsV2(
                    applied.promotion_id,
                    applied.promotion_name,
                    money(applied.discount_minor),
                    list(applied.line_references),
                )
                for applied in outcome.applied
                if applied.discount_minor
            ],
            item_savings=[
                ItemSavingsV2(
                    line.article_number, money(line.total_minor), money(line.net_minor), money(line.discount_minor)
                )
                for line in outcome.lines
                if line.discount_minor
            ],
            loyalty_points_earned=outcome.points,
        ),
    )


def _percent_hundredths(part: int, whole: int) -> int:
    """Return ``part`` of ``whole`` in hundredths of a percent, half up, at most 100 %; 0 if ``whole`` is zero."""
    if whole <= 0:
        return 0
    return min(10_000, (20_000 * part + whole) // (2 * whole))


def _recommendations(outcome: Outcome, amounts: Amounts) -> list[RecommendationV2]:
    """Return the recommendations, with what a gap or a missed promotion promises for the same promotion."""
    promises: dict[str, Gap | MissedPromotion] = {
        one.promotion_id: one for one in outcome.missed if one.potential_saving_minor is not None
    }
    promises |= {gap.promotion_id: gap for gap in outcome.gaps}
    return [_recommendation(advice, promises.get(advice.promotion_id), amounts) for advice in outcome.recommendations]


def _recommendation(
    advice: Recommendation, promise: Gap | MissedPromotion | None, amounts: Amounts
) -> RecommendationV2:
    saving = None if promise is None else promise.potential_saving_minor
    return RecommendationV2(
        advice.kind,
        advice.code,
        _pairs(advice.params),
        advice.message,
        advice.promotion_id,
        advice.promotion_name,
        _or_unset(advice.match_percent) if advice.kind == "NEAR_MISS" else UNSET,
        UNSET if saving is None else amounts.money(saving),
        UNSET if promise is None else _additions(promise.missing, amounts),
    )


def _missed(missed: MissedPromotion, amounts: Amounts) -> MissedPromotionV2:
    saving, difference = missed.potential_saving_minor, missed.difference_minor
    blocked_by: BlockedByV2 | UnsetType = UNSET
    if missed.blocked_by_id is not None:
        blocked_by = BlockedByV2(
            missed.blocked_by_id,
            _or_unset(missed.blocked_by_name),
            UNSET if difference is None else amounts.money(difference),
            _or_unset(missed.remedy),
            UNSET if missed.without is None else [RivalV2(*one) for one in missed.without],
        )
    return MissedPromotionV2(
        missed.promotion_id,
        missed.promotion_name,
        missed.promotion_type,
        missed.code,
        missed.message,
        _pairs(missed.params),
        _or_unset(missed.match_percent),
        UNSET if saving is None else amounts.money(saving),
        blocked_by,
        _additions(missed.missing, amounts),
    )


def _additions(additions: Iterable[Addition] | None, amounts: Amounts) -> list[AdditionV2] | UnsetType:
    if additions is None:
        return UNSET
    return [
        AdditionV2(
            _or_unset(one.line_reference),
            _or_unset(one.article_number),
            _or_unset(one.article_group_id),
            UNSET if one.is_amount else amounts.thousandths(one.quantity_thousandths),
            amounts.face_value(one.unit_price_hundredths) if one.is_amount else UNSET,
        )
        for one in additions
    ]


def _gap(gap: Gap, amounts: Amounts) -> ThresholdGapV2:
    return ThresholdGapV2(
        gap.promotion_id,
        gap.promotion_name,
        gap.gap_type,
        amounts.hundredths(gap.current_hundredths),
        amounts.hundredths(gap.threshold_hundredths),
        amounts.hundredths(gap.gap_hundredths),
        amounts.money(gap.potential_saving_minor),
        _additions(gap.missing, amounts),
    )
