"""Why candidates did not apply, and what is recommended to the customer (pricing semantics, section 10).

Advice reads the verdicts that pricing produced; it never checks a condition again. Unrequested advice stays short:
NEAR_MISS for promotions of which at least half is reached, HINT for those that lines of this basket lead to or whose
coupon was presented; at most `RECOMMENDATIONS_MAX` of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from promenade.engine.conditions.article import shown
from promenade.engine.conditions.registry import Params
from promenade.engine.index import LINE_KINDS, request_keys, sale_keys
from promenade.engine.money import decimal_text
from promenade.engine.outcome import Gap, MissedPromotion, Nudge, Recommendation
from promenade.engine.promotion import CompiledPromotion, FailedCondition, Unmet, reached_percent
from promenade.engine.verdict import Missed, Piece
from promenade.engine.view import BasketView

RECOMMENDATIONS_MAX = 10
GAPS_MAX = 20
NUDGES_MAX = 3
NEAR_PERCENT = 50

SENTENCES = {
    "NO_TARGET_LINES": "Nothing in the basket is a target of this promotion.",
    "COUPON_REQUIRED": "A coupon is required.",
    "BLOCKED_BY_EXCLUSIVITY": "Another promotion does not allow it beside itself.",
    "BLOCKED_BY_EXCLUSION_GROUP": "Another promotion of its exclusion group was chosen.",
    "BUDGET_NOT_ACTIVE": "Its budget is not active.",
    "BUDGET_EXHAUSTED": "Its budget is used up.",
    "BUDGET_INSUFFICIENT": "Its budget does not cover this discount.",
    "SHARE_NOT_AVAILABLE": "The store's share does not cover it, and the cloud cannot be asked for more.",
    "USAGE_LIMIT_REACHED": "It has been used as often as it may be.",
    "NOTHING_LEFT_TO_DISCOUNT": "Other promotions left nothing to discount.",
    "NEVER_DISCOUNTED": "What it would discount is never discounted.",
    "ALREADY_REDUCED": "What it would discount is reduced already.",
    "OUTSIDE_VALIDITY": "It is not valid at this time.",
    "WRONG_POS_GROUP": "It is not offered at this POS group.",
    "WRONG_CURRENCY": "It is for another currency.",
    "NOT_IN_PILOT": "This POS group does not take part in its pilot or experiment.",
}


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


def led_to(view: BasketView, fates: Sequence[CandidateVerdict]) -> list[CandidateVerdict]:
    """The candidates that the index leads to; with ``include_missed`` the others are priced too, but not advertised."""
    held = sale_keys(view).union(request_keys(view))
    rules = view.settings.rules
    return [
        fate
        for fate in fates
        if (entries := fate.promotion.leads(rules)) is None
        or fate.promotion.definition.coupon_type_ids
        or not held.isdisjoint(entries)
    ]


def recommendations(view: BasketView, fates: Sequence[CandidateVerdict]) -> tuple[Recommendation, ...]:
    """The nearest misses, and hints in the room that they leave; at most `RECOMMENDATIONS_MAX` of both."""
    near: list[tuple[int, int, CandidateVerdict]] = []
    hints: list[CandidateVerdict] = []
    for place, fate in enumerate(fates):
        if fate.reason is None or (fate.unmet is None and not fate.gaps):
            continue
        percent = percent_of(fate)
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


def percent_of(fate: CandidateVerdict) -> int:
    """How much is reached, 0 to 99: of all that failed, or of the nearest gap."""
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
    params, sentences = details(view, fate)
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


def details(view: BasketView, fate: CandidateVerdict) -> tuple[Params, str]:
    """Parameters and sentences of everything that failed; from the second on, parameters carry its number."""
    if fate.unmet is not None and len(fate.unmet.failed) == 1:
        return _failed_details(view, fate.unmet.failed[0])
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
    params: Params = (("reason", missed.code), ("current", current), ("threshold", threshold), ("gap", gap))
    if not missed.pieces:
        return params, f"{gap} more needed: {current} of {threshold} reached."
    needs = " and ".join([_piece_needed(view, piece) for piece in missed.pieces])
    return (*params, ("needs", needs)), f"{gap} more needed: {current} of {threshold} reached ({needs})."


def _piece_needed(view: BasketView, piece: Piece) -> str:
    """What a bundle lacks, as a noun phrase: ``article MUG``."""
    if piece.article_number is not None:
        return f"article {piece.article_number}"
    if piece.article_group_id is not None:
        return f"article group {piece.article_group_id}"
    numbers = dict.fromkeys([view.lines[position].article_number for position in piece.lines])
    return f"article {shown(tuple(numbers))}"


def _texts(view: BasketView, missed: Missed) -> tuple[str, str, str]:
    digits = 3 if missed.is_quantity else view.exponent
    current, threshold = missed.current or 0, missed.threshold or 0
    unit = "" if missed.is_quantity else f" {view.currency}"
    numbers = (current, threshold, threshold - current)
    texts = [decimal_text(number, digits, trim=missed.is_quantity) + unit for number in numbers]
    return texts[0], texts[1], texts[2]
