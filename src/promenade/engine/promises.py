"""Promises: what the customer would save in all if the gaps of a promotion were closed (section 10).

A promise is the difference of two pricings of the whole basket. It is made only if the promotion then really comes, and
only for the smallest addition with which it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from promenade.engine.basket import Payment
from promenade.engine.closing import Closing
from promenade.engine.outcome import Addition
from promenade.engine.promotion import CompiledPromotion, reached_percent
from promenade.engine.recommendations import GAPS_MAX, CandidateVerdict
from promenade.engine.stacking import Decision
from promenade.engine.supposing import Supposed, WhatIf
from promenade.engine.verdict import Missed
from promenade.engine.view import BasketView

TRIES_MAX = 12  # pricings for one gap whose size depends on other promotions
TRIES_OF_PIECES = 3


class Promise:
    """``saving_minor`` (above 0) is what the customer saves beyond the present basket with these ``additions``.

    ``told``: the widest of the gaps that they close; ``gap``: its width, in thousandths of pieces or hundredths of
    money.
    """

    __slots__ = ("additions", "gap", "promotion", "saving_minor", "told")

    def __init__(
        self,
        promotion: CompiledPromotion,
        told: Missed,
        gap: int,
        additions: tuple[Addition, ...],
        saving_minor: int,
    ) -> None:
        self.promotion = promotion
        self.told = told
        self.gap = gap
        self.additions = additions
        self.saving_minor = saving_minor


class Promises:
    """The promises of one evaluation; each is priced once."""

    __slots__ = ("_known", "_view", "_what_if")

    def __init__(self, what_if: WhatIf) -> None:
        self._view = what_if.view
        self._what_if = what_if
        self._known: dict[str, Promise | None] = {}

    def of_nearest(self, fates: Sequence[CandidateVerdict]) -> dict[str, Promise]:
        """By promotion id: what can be promised for those whose gaps are nearest to being closed, the nearest first.

        Those that would save most on their own are priced first, in case not all of them can be.
        """
        near: list[tuple[int, int, CandidateVerdict]] = []
        for place, fate in enumerate(fates):
            shortfalls = fate.shortfalls()
            if shortfalls and fate.promotion.view_of(self._view).sale:  # where nothing counts yet, nothing is advised
                near.append((-_nearness(fate, shortfalls), place, fate))
        near.sort(key=lambda one: one[:2])
        nearest = [fate for _, _, fate in near[:GAPS_MAX]]
        for fate in sorted(nearest, key=self._expected, reverse=True):
            if self._what_if.is_spent:
                break
            self._of(fate)
        found = [self._known.get(fate.promotion.id) for fate in nearest]
        return {promise.promotion.id: promise for promise in found if promise is not None}

    def _expected(self, fate: CandidateVerdict) -> int:
        """What it would save on its own if its gaps were closed."""
        if fate.promotion.id in self._known:
            return 0
        closing = Closing(self._view, fate.promotion.view_of(self._view).sale, is_unspecific=False)
        if not closing.close(fate.shortfalls() if fate.unmet is not None else fate.shortfalls()[:1]):
            return 0
        return self._what_if.alone(fate.promotion, closing.basket()) or 0

    def _of(self, fate: CandidateVerdict) -> Promise | None:
        identity = fate.promotion.id
        if identity not in self._known:
            self._known[identity] = next(self._found(fate), None)
        return self._known[identity]

    def _found(self, fate: CandidateVerdict) -> Iterator[Promise]:
        """The promises that closing all gaps of its conditions, or the next of one of its benefits, would allow."""
        shortfalls = fate.shortfalls()
        together = [shortfalls] if fate.unmet is not None else [(one,) for one in sorted(shortfalls, key=_by_nearness)]
        for gaps in together:
            # Where all lines count, goods of any kind do, unless it is only by chance that all of them count.
            sale = fate.promotion.view_of(self._view).sale
            is_ambiguous = any(one.gap_type == "SCALED_RECEIPT" and one.lines == sale for one in gaps)
            for is_unspecific in (True, False) if is_ambiguous else (False,):
                promise = _Search(self._view, self._what_if, fate, gaps, is_unspecific).run()
                if promise is not None:
                    yield promise


class _Search:
    """The smallest addition with which one promotion comes."""

    __slots__ = ("_closing", "_fate", "_gaps", "_view", "_what_if")

    def __init__(
        self,
        view: BasketView,
        what_if: WhatIf,
        fate: CandidateVerdict,
        gaps: tuple[Missed, ...],
        is_unspecific: bool,
    ) -> None:
        self._view = view
        self._what_if = what_if
        self._fate = fate
        self._gaps = gaps
        self._closing = Closing(view, fate.promotion.view_of(view).sale, is_unspecific)

    def run(self) -> Promise | None:
        """The promise, or None if there is none to be made."""
        closing = self._closing
        still: tuple[Missed, ...] = self._gaps
        below = 0  # the greatest addition with which it is known not to come
        tries = TRIES_MAX if any(not one.is_quantity for one in still) else TRIES_OF_PIECES
        for _ in range(tries):
            below = closing.size
            if not closing.close(still):
                return None
            supposed = self._priced()
            if supposed is None:
                return None
            if self._comes(supposed):
                least = self._smallest(supposed, below) if self._depends_on_others() else supposed
                found = None if least is None else self._unless_too_much(least, below)
                return None if found is None else self._promise(found)
            # What is still missing is at least to be added: no smaller amount closes the gap.
            still = self._still_missing(supposed)
            if not still:
                return None
        return None

    def _priced(self) -> Supposed | None:
        return self._what_if.with_goods(self._closing.basket(), self._fate.promotion)

    def _comes(self, supposed: Supposed) -> bool:
        decision = supposed.decision(self._fate.promotion)
        return decision is not None and decision.reason is None and not self._open_tiers(decision)

    def _open_tiers(self, decision: Decision) -> tuple[Missed, ...]:
        """The tiers or bundles to be reached that the supposed basket does not reach either."""
        if self._fate.unmet is not None:
            return ()
        wanted = {(one.gap_type, one.threshold) for one in self._gaps}
        return tuple([one for one in decision.gaps if (one.gap_type, one.threshold) in wanted])

    def _still_missing(self, supposed: Supposed) -> tuple[Missed, ...]:
        """What is missing beyond the additions so far; empty if it is nothing that can be bought."""
        decision = supposed.decision(self._fate.promotion)
        if decision is None or decision.reason not in (None, "CONDITION_NOT_MET"):
            return ()
        if decision.unmet is not None:
            return CandidateVerdict(self._fate.promotion, decision.reason, unmet=decision.unmet).shortfalls()
        return self._open_tiers(decision)

    def _smallest(self, supposed: Supposed, below: int) -> Supposed | None:
        """The pricing with the least addition that it comes with: more than ``below``, at most what is supposed."""
        closing = self._closing
        step, enough = closing.step, closing.size
        if step is None or enough - below <= step:
            return supposed
        found = supposed
        trial = enough - step
        while trial > below:
            closing.change(trial)
            tried = self._priced()
            if tried is None:
                return None
            if self._comes(tried):
                enough, found = trial, tried
            else:
                below = trial
            trial = below + (enough - below) // (2 * step) * step
        closing.change(enough)
        return found

    def _unless_too_much(self, supposed: Supposed, below: int) -> Supposed | None:
        """The pricing, unless it comes with a step less too: by another group of conditions, or with as much from a
        lower tier.

        If the very tier or bundle comes with less, as others leave it more of a larger basket, the least is told.
        """
        closing, fate = self._closing, self._fate
        step, enough = closing.step, closing.size
        if step is None or enough <= step or fate.reason is None:
            return supposed
        if fate.unmet is not None and len(fate.promotion.groups) == 1:
            return supposed
        closing.change(enough - step)
        tried = self._priced()
        if tried is None:
            return None
        if fate.unmet is None and self._comes(tried):
            return self._smallest(tried, below)
        closing.change(enough)
        less = self._given(tried)
        if less is not None and (fate.unmet is not None or less >= (self._given(supposed) or 0)):
            return None
        return supposed

    def _given(self, supposed: Supposed) -> int | None:
        """What the promotion gives there, in minor units; None if it does not apply."""
        decision = supposed.decision(self._fate.promotion)
        if decision is None or decision.reason is not None:
            return None
        turn = decision.turn
        return 0 if turn is None else turn.discount_minor + turn.give_away_minor

    def _depends_on_others(self) -> bool:
        """Whether less may be enough: other promotions take from the sum, or the best deal could do without them."""
        is_tier = self._fate.unmet is None
        return self._fate.promotion.is_multiplicative or (is_tier and self._view.settings.strategy == "BEST_DEAL")

    def _promise(self, supposed: Supposed) -> Promise | None:
        saving = supposed.total_minor - self._what_if.now_minor
        if saving <= 0:
            return None
        told = min(self._gaps, key=reached_percent)
        closing = self._closing
        gap = (told.threshold or 0) - (told.current or 0)
        if told.is_quantity:
            gap = closing.pieces_thousandths if len(self._gaps) == 1 else gap
        else:
            gap = max(-(-gap * 100 // 10**self._view.exponent), closing.amount_hundredths)
        return Promise(self._fate.promotion, told, gap, closing.additions(), saving)


def _nearness(fate: CandidateVerdict, shortfalls: tuple[Missed, ...]) -> int:
    """How much is reached, in percent: of the widest gap if all must close, else of the narrowest."""
    reached = [reached_percent(one) for one in shortfalls]
    return max(reached) if fate.unmet is None else min(reached)


def _by_nearness(missed: Missed) -> int:
    return -reached_percent(missed)


class Brought:
    """What a coupon or another payment would bring: the saving, and its parameters."""

    __slots__ = ("params", "saving_minor")

    def __init__(self, params: tuple[tuple[str, str], ...], saving_minor: int | None) -> None:
        self.params = params
        self.saving_minor = saving_minor


def with_coupon(what_if: WhatIf, promotion: CompiledPromotion) -> Brought:
    """The saving with a coupon of the first of its types."""
    coupon_type_id = min(promotion.definition.coupon_type_ids)
    supposed = what_if.with_coupon(coupon_type_id, promotion)
    return Brought((("couponTypeId", coupon_type_id),), _saving(what_if, supposed, promotion))


def with_payment(what_if: WhatIf, fate: CandidateVerdict) -> Brought | None:
    """The saving with the payment that its failed conditions ask for; None if they ask for anything else."""
    unmet = fate.unmet
    if unmet is None:
        return None
    wanted: dict[str, str] = {}
    for one in unmet.failed:
        keys = None if one.negated else one.condition.keys()
        if not keys or keys[0][0] not in ("payment_means", "card_type"):
            return None
        wanted.setdefault(*keys[0])
    old = what_if.view.payment or Payment()
    payment = Payment(
        wanted.get("payment_means", old.payment_means), wanted.get("card_type", old.card_type), old.card_prefix
    )
    supposed = what_if.with_payment(payment, fate.promotion)
    saving = _saving(what_if, supposed, fate.promotion)
    if saving is None:
        return None
    names = {"payment_means": "paymentMeans", "card_type": "cardType"}
    return Brought(tuple([(names[kind], value) for kind, value in wanted.items()]), saving)


def _saving(what_if: WhatIf, supposed: Supposed | None, promotion: CompiledPromotion) -> int | None:
    """What is saved if the promotion comes; None if it does not or nothing is saved."""
    decision = None if supposed is None else supposed.decision(promotion)
    if supposed is None or decision is None or decision.reason is not None:
        return None
    saving = supposed.total_minor - what_if.now_minor
    return saving if saving > 0 else None
