"""Advice: what the customer could still get, and why a promotion did not apply (pricing semantics, section 10).

Advice reads the verdicts that pricing produced; it never checks a condition again. Only the saving of a closed gap is
priced anew, by the engine itself, on a basket in which the gap is closed.

Unrequested advice stays short: NEAR_MISS for promotions of which at least half is reached, HINT for those that lines of
this basket lead to or whose coupon was presented; at most `RECOMMENDATIONS_MAX` of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from promenade.engine.basket import BasketLine
from promenade.engine.conditions.registry import Params
from promenade.engine.index import LINE_KINDS, request_keys, sale_keys
from promenade.engine.money import POWERS_OF_TEN, decimal_text
from promenade.engine.outcome import Gap, MissedPromotion, Nudge, Recommendation
from promenade.engine.promotion import CompiledPromotion, FailedCondition, Unmet, reached_percent
from promenade.engine.verdict import Missed
from promenade.engine.view import BasketView

RECOMMENDATIONS_MAX = 10
GAPS_MAX = 20
NUDGES_MAX = 3
NEAR_PERCENT = 50


class Prices(Protocol):
    """How the engine prices what is not so: discount plus give-away of one promotion on some basket."""

    def alone(self, promotion: CompiledPromotion, view: BasketView) -> int:
        """The result without any other promotion, budget or limit; 0 if it does not qualify."""
        ...

    def beside(self, promotion: CompiledPromotion, view: BasketView) -> int:
        """What it adds to what the other promotions, its budgets and limits leave."""
        ...


_SENTENCES = {
    "NO_TARGET_LINES": "Nothing in the basket is a target of this promotion.",
    "COUPON_REQUIRED": "A coupon is required.",
    "BLOCKED_BY_EXCLUSIVITY": "Another promotion does not allow it beside itself.",
    "BLOCKED_BY_EXCLUSION_GROUP": "Another promotion of its exclusion group was chosen.",
    "BUDGET_NOT_ACTIVE": "Its budget is not active.",
    "BUDGET_EXHAUSTED": "Its budget is used up.",
    "BUDGET_INSUFFICIENT": "Its budget does not cover this discount.",
    "USAGE_LIMIT_REACHED": "It has been used as often as it may be.",
    "NOTHING_LEFT_TO_DISCOUNT": "Other promotions left nothing to discount.",
    "OUTSIDE_VALIDITY": "It is not valid at this time.",
    "WRONG_POS_GROUP": "It is not offered at this POS group.",
    "NOT_IN_PILOT": "This POS group does not take part in its pilot or experiment.",
}

# Reasons for which the promotion did not apply although it would have given something to this basket.
_PRICED = frozenset(
    (
        "COUPON_REQUIRED",
        "BLOCKED_BY_EXCLUSIVITY",
        "BLOCKED_BY_EXCLUSION_GROUP",
        "BUDGET_NOT_ACTIVE",
        "BUDGET_EXHAUSTED",
        "BUDGET_INSUFFICIENT",
        "USAGE_LIMIT_REACHED",
    )
)


class CandidateVerdict:
    """What happened to one candidate.

    ``reason``: a code of section 10, None when it applied. ``unmet`` with CONDITION_NOT_MET. ``gaps``: tiers of its
    benefits not reached, also when it applied. ``blocked_by`` with ``winner_minor`` (what the winner gives) and
    ``own_minor`` (what this one would have given in its place; None = to be priced alone).
    """

    __slots__ = ("blocked_by", "gaps", "own_minor", "promotion", "reason", "unmet", "winner_minor")

    def __init__(
        self,
        promotion: CompiledPromotion,
        reason: str | None,
        *,
        unmet: Unmet | None = None,
        gaps: tuple[Missed, ...] = (),
        blocked_by: CompiledPromotion | None = None,
        winner_minor: int = 0,
        own_minor: int | None = None,
    ) -> None:
        self.promotion = promotion
        self.reason = reason
        self.unmet = unmet
        self.gaps = gaps
        self.blocked_by = blocked_by
        self.winner_minor = winner_minor
        self.own_minor = own_minor

    def shortfalls(self) -> tuple[Missed, ...]:
        """The thresholds that stand between the basket and (more of) this promotion; empty if anything else does."""
        if self.reason is None or self.unmet is None:
            return self.gaps
        failed = tuple([one.missed for one in self.unmet.failed])
        return failed if all(one.gap_type is not None for one in failed) else ()


@dataclass(frozen=True, slots=True)
class Advice:
    recommendations: tuple[Recommendation, ...]
    missed: tuple[MissedPromotion, ...]
    gaps: tuple[Gap, ...]
    nudges: tuple[Nudge, ...]


def advise(
    view: BasketView,
    fates: Sequence[CandidateVerdict],
    outsiders: Sequence[tuple[CompiledPromotion, str]],
    prices: Prices,
) -> Advice:
    """All advice for one evaluation. ``fates`` in order of application, without those that leave nothing to say.

    ``outsiders`` (`Catalogue.outsiders`) only matter with ``include_missed``, gaps and nudges come with ``nudges``.
    """
    settings = view.settings
    led_to = _led_to(view, fates) if settings.include_missed else fates
    recommendations = _recommendations(view, led_to)
    missed: tuple[MissedPromotion, ...] = ()
    gaps: list[Gap] = []
    if settings.include_missed:
        missed = _missed(view, fates, outsiders, prices)
    if settings.nudges:
        gaps = _gaps(view, led_to, prices)
    return Advice(recommendations, missed, tuple(gaps), _nudges(view, gaps))


def _led_to(view: BasketView, fates: Sequence[CandidateVerdict]) -> list[CandidateVerdict]:
    """The candidates that the index leads to; with ``include_missed`` the others are priced too, but not advertised."""
    held = sale_keys(view).union(request_keys(view))
    return [
        fate
        for fate in fates
        if fate.promotion.entries is None
        or fate.promotion.definition.coupon_type_ids
        or not held.isdisjoint(fate.promotion.entries)
    ]


# Recommendations


def _recommendations(view: BasketView, fates: Sequence[CandidateVerdict]) -> tuple[Recommendation, ...]:
    near: list[tuple[int, int, CandidateVerdict]] = []
    hints: list[CandidateVerdict] = []
    for place, fate in enumerate(fates):
        if fate.reason is None or (fate.unmet is None and not fate.gaps):
            continue
        percent = _percent(fate)
        if percent >= NEAR_PERCENT:
            near.append((-percent, place, fate))
        elif fate.unmet is not None and _is_half_there(fate.promotion, fate.unmet):
            hints.append(fate)
    if not near and not hints:
        return ()
    near.sort()
    told = [_recommendation(view, fate, -percent) for percent, _, fate in near[:RECOMMENDATIONS_MAX]]
    room = RECOMMENDATIONS_MAX - len(told)
    return tuple(told + [_recommendation(view, fate, None) for fate in hints[:room]])


def _percent(fate: CandidateVerdict) -> int:
    if fate.unmet is not None:
        return fate.unmet.percent()
    return max([reached_percent(one) for one in fate.gaps])


def _is_half_there(promotion: CompiledPromotion, unmet: Unmet) -> bool:
    """Whether at least half of the promotion's conditions is reached by lines of this basket or by a presented
    coupon.
    """
    if promotion.definition.coupon_type_ids or unmet.lines:
        return True
    entries = promotion.entries
    return entries is not None and any(kind in LINE_KINDS for kind, _ in entries[:1])


def _recommendation(view: BasketView, fate: CandidateVerdict, percent: int | None) -> Recommendation:
    promotion = fate.promotion
    params, sentences = _details(view, fate)
    start = f"{promotion.name}: " if percent is None else f"Almost there for {promotion.name}: "
    return Recommendation(
        "HINT" if percent is None else "NEAR_MISS",
        fate.reason or "",
        params,
        start + sentences,
        promotion.id,
        promotion.name,
        percent,
    )


def _details(view: BasketView, fate: CandidateVerdict) -> tuple[Params, str]:
    """Parameters and sentences of everything that failed; from the second on, parameters carry its number."""
    if fate.unmet is None:
        told = [_tier_details(view, missed) for missed in fate.gaps[:1]]
    else:
        told = [_failed_details(view, failed) for failed in fate.unmet.failed]
    params: list[tuple[str, str]] = []
    for number, (some, _) in enumerate(told, start=1):
        params.extend(some if number == 1 else [(f"{key}{number}", value) for key, value in some])
    return tuple(params), " ".join([sentence for _, sentence in told])


def _failed_details(view: BasketView, failed: FailedCondition) -> tuple[Params, str]:
    condition = failed.condition
    if not failed.negated:
        return condition.explain(failed.missed, view)
    needs = condition.needs()
    params = (("condition", condition.code), ("reason", failed.missed.code), ("excludes", needs))
    return params, f"Not together with {needs}."


def _tier_details(view: BasketView, missed: Missed) -> tuple[Params, str]:
    current, threshold, gap = _texts(view, missed)
    params = (("reason", missed.code), ("current", current), ("threshold", threshold), ("gap", gap))
    return params, f"{gap} more needed: {current} of {threshold} reached."


def _texts(view: BasketView, missed: Missed) -> tuple[str, str, str]:
    digits = 3 if missed.is_quantity else view.exponent
    current, threshold = missed.current or 0, missed.threshold or 0
    unit = "" if missed.is_quantity else f" {view.currency}"
    numbers = (current, threshold, threshold - current)
    texts = [decimal_text(number, digits, trim=missed.is_quantity) + unit for number in numbers]
    return texts[0], texts[1], texts[2]


# Missed promotions


def _missed(
    view: BasketView,
    fates: Sequence[CandidateVerdict],
    outsiders: Sequence[tuple[CompiledPromotion, str]],
    prices: Prices,
) -> tuple[MissedPromotion, ...]:
    found = [_missed_verdict(view, fate, prices) for fate in fates if fate.reason is not None]
    found.extend(
        [_missed_verdict(view, CandidateVerdict(promotion, reason), prices) for promotion, reason in outsiders]
    )
    return tuple(found)


def _missed_verdict(view: BasketView, fate: CandidateVerdict, prices: Prices) -> MissedPromotion:
    promotion, reason = fate.promotion, fate.reason or ""
    params: Params = ()
    message = _SENTENCES.get(reason, "")
    percent: int | None = None
    if fate.unmet is not None or fate.gaps:
        params, message = _details(view, fate)
        percent = _percent(fate)
    winner = fate.blocked_by
    own = _own_minor(view, fate, prices)
    return MissedPromotion(
        promotion.id,
        promotion.name,
        promotion.definition.promotion_type,
        reason,
        message,
        params,
        percent,
        own,
        None if winner is None else winner.id,
        None if winner is None else winner.name,
        None if winner is None or own is None else fate.winner_minor - own,
        None if winner is None else f"It would apply if {winner.name} did not.",
    )


def _own_minor(view: BasketView, fate: CandidateVerdict, prices: Prices) -> int | None:
    """What it would have given; None where nothing the customer does would make it apply."""
    if fate.own_minor is not None:
        return fate.own_minor
    if fate.reason in _PRICED:
        return prices.alone(fate.promotion, view)
    shortfalls = fate.shortfalls()
    return _saving(view, fate, shortfalls, prices) if shortfalls else None


# Gaps and nudges


def _gaps(view: BasketView, fates: Sequence[CandidateVerdict], prices: Prices) -> list[Gap]:
    """thresholdGaps, the nearest first; each priced with all gaps of its promotion closed."""
    found: list[tuple[int, int, CandidateVerdict, Missed, tuple[Missed, ...]]] = []
    for place, fate in enumerate(fates):
        shortfalls = fate.shortfalls()
        if fate.reason is None or fate.unmet is None:
            found.extend([(-reached_percent(one), place, fate, one, (one,)) for one in shortfalls])
        else:
            found.extend([(-reached_percent(one), place, fate, one, shortfalls) for one in shortfalls])
    found.sort(key=_nearness)
    return [_gap(view, fate, one, _saving(view, fate, all_, prices)) for _, _, fate, one, all_ in found[:GAPS_MAX]]


def _nearness(found: tuple[int, int, CandidateVerdict, Missed, tuple[Missed, ...]]) -> tuple[int, int]:
    return found[0], found[1]


def _saving(view: BasketView, fate: CandidateVerdict, shortfalls: tuple[Missed, ...], prices: Prices) -> int:
    """The saving from closing the gaps: everything the promotion then gives, or the increase where it applies
    already.
    """
    basket = closed(view, shortfalls)
    if basket is None:
        return 0
    saving = prices.beside(fate.promotion, basket)
    if fate.reason is None:
        saving -= prices.beside(fate.promotion, view)
    return max(0, saving)


def _gap(view: BasketView, fate: CandidateVerdict, missed: Missed, saving: int) -> Gap:
    digits = 3 if missed.is_quantity else view.exponent
    current, threshold = missed.current or 0, missed.threshold or 0
    shown_current = current * 100 // 10**digits
    shown_threshold = -(-threshold * 100 // 10**digits)
    promotion = fate.promotion
    gap_type = missed.gap_type or ""
    gap = shown_threshold - shown_current
    return Gap(promotion.id, promotion.name, gap_type, shown_current, shown_threshold, gap, saving)


def _nudges(view: BasketView, gaps: Sequence[Gap]) -> tuple[Nudge, ...]:
    """The gaps worth closing, the greatest saving first."""
    worth = sorted([gap for gap in gaps if gap.potential_saving_minor > 0], key=lambda gap: -gap.potential_saving_minor)
    return tuple([_nudge(view, gap) for gap in worth[:NUDGES_MAX]])


def _nudge(view: BasketView, gap: Gap) -> Nudge:
    saving = f"{decimal_text(gap.potential_saving_minor, view.exponent)} {view.currency}"
    if gap.gap_type == "ITEM_QUANTITY":
        missing = f"{decimal_text(gap.gap_hundredths, 2, trim=True)} more"
        action = "ADD_ITEMS"
    else:
        missing = f"{decimal_text(gap.gap_hundredths, 2)} {view.currency} more"
        action = "INCREASE_AMOUNT"
    return Nudge(
        f"Buy {missing} and save {saving} with {gap.promotion_name}.",
        action,
        gap.potential_saving_minor,
        gap.promotion_id,
        gap.promotion_name,
        gap.gap_type,
    )


# ---- the basket as it would be if a threshold were reached ----------------------------------------------------------


def closed(view: BasketView, shortfalls: tuple[Missed, ...]) -> BasketView | None:
    """The view with every shortfall closed in the least favourable way, so that no saving is promised too high.

    Pieces are added to the cheapest line that counts; an amount on named lines as one more line like the cheapest of
    them, an amount on the receipt as an unspecific line. None when there is no line to add to.
    """
    changed: dict[int, BasketLine] = {}
    for missed in shortfalls:
        if missed.is_quantity:
            model = _cheapest(view, missed.lines or view.sale)
            if model is None:
                return None
            line = changed.get(model, view.lines[model].line)
            gap = (missed.threshold or 0) - (missed.current or 0)
            wanted = gap if view.lines[model].weighed else -(-gap // 1000) * 1000
            changed[model] = _like(line, line.reference, line.quantity_thousandths + wanted, line.unit_price_hundredths)
    amounts = [(number, missed) for number, missed in enumerate(shortfalls) if not missed.is_quantity]
    # The added pieces have a price too: only the rest of an amount is still missing.
    more = view.with_lines(changed, ()).sale_total_minor - view.sale_total_minor if changed and amounts else 0
    added: list[BasketLine] = []
    for number, missed in amounts:
        gap = (missed.threshold or 0) - (missed.current or 0)
        if missed.lines or gap > more:
            model = _cheapest(view, missed.lines)
            rest = gap if missed.lines else gap - more
            added.append(_worth(view, None if model is None else view.lines[model].line, rest, number))
    return view.with_lines(changed, added)


def _cheapest(view: BasketView, positions: tuple[int, ...]) -> int | None:
    if not positions:
        return None
    lines = view.lines
    # Positions ascend, so among equal prices the first is found.
    return min(positions, key=lambda position: lines[position].unit_price_hundredths)


def _worth(view: BasketView, model: BasketLine | None, amount_minor: int, number: int) -> BasketLine:
    """One piece worth at least ``amount_minor``, otherwise like ``model``."""
    price = -(-amount_minor * 100 // POWERS_OF_TEN[view.exponent])
    reference = f"~{number}"  # never leaves this evaluation
    if model is None:
        return BasketLine(reference, "", 1000, price)
    return _like(model, reference, 1000, price)


def _like(line: BasketLine, reference: str, quantity_thousandths: int, unit_price_hundredths: int) -> BasketLine:
    """The line with another quantity and price; `dataclasses.replace` takes three times as long."""
    return BasketLine(
        reference,
        line.article_number,
        quantity_thousandths,
        unit_price_hundredths,
        line.ean,
        line.article_group_id,
        line.manufacturer_id,
        line.fields,
    )
