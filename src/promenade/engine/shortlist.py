"""Which of the promotions that miss a threshold still matter to an outcome.

Most promotions that ask for a quantity or an amount ask for more than the basket holds. Such a promotion changes no
price; it leaves a trace only if advice shows it, and advice shows few: the nearest ones, and as hints the first ones in
order. So only those few need to be priced.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable
from itertools import chain

from promenade.engine.index import LINE_KINDS, Rung
from promenade.engine.promotion import CompiledPromotion, Order, RequestFacts
from promenade.engine.recommendations import GAPS_MAX, NEAR_PERCENT, RECOMMENDATIONS_MAX
from promenade.engine.thresholds import Least, reached
from promenade.engine.view import BasketView


def least_of(promotion: CompiledPromotion) -> Least | None:
    """What a promotion needs, if that alone decides whether it qualifies; None: other things decide too."""
    # A MULTIPLICATIVE promotion compares with what earlier promotions leave, which is unknown until they are priced.
    return None if promotion.is_dynamic else _least_of(promotion)


def least_rest_of(promotion: CompiledPromotion) -> Least | None:
    """What earlier promotions must leave of any sale, if that alone decides whether a promotion qualifies.

    If the whole sale is less, it does not qualify whatever they take. None also where more than its conditions matters.
    """
    if not promotion.is_dynamic or promotion.entries_in_part is not None:
        return None
    if promotion.is_restricted or promotion.exclusion_id is not None or promotion.gives_items:
        return None
    return _least_of(promotion)


def _least_of(promotion: CompiledPromotion) -> Least | None:
    if promotion.counts_otherwise:
        return None
    # A promotion with a coupon has none, because the response must say what became of the coupon.
    if promotion.definition.coupon_type_ids or len(promotion.groups) != 1 or any(no for no, _ in promotion.groups[0]):
        return None
    conditions = tuple([condition for _, condition in promotion.groups[0]])
    for place, condition in enumerate(conditions):
        least = condition.least(conditions[:place] + conditions[place + 1 :])
        if least is not None:
            return least
    return None


def missed_percent(promotion: CompiledPromotion, view: BasketView) -> int | None:
    """How much a basket reaches of the one threshold that decides whether a promotion qualifies.

    None if it reaches all of it, or if other things decide: lines lead to it that do not count.
    """
    least, usual = promotion.least, view.usual
    if least is None or not (usual is view or least.kind is None or least.counted(usual)[2]):
        return None
    return least.percent(usual)


def has_near(rung: Rung, view: BasketView) -> bool:
    """Whether any promotion is missed of which at least half is reached."""
    ladder, held, place = rung
    needs = ladder.needs[view.exponent]
    return place < len(needs) and needs[place] <= 2 * held


class Shortlist:
    """The promotions that miss their threshold and that advice may show all the same.

    It shows the nearest ones, those that are equally near in their order; the room that they leave is for hints, in
    their order. So no more of either than can be shown are kept, whatever else there is to show.
    """

    __slots__ = ("_asker", "_far", "_far_on_ladders", "_near", "_near_least", "_near_most", "_view")

    def __init__(self, view: BasketView, asker: RequestFacts) -> None:
        nudges = view.settings.nudges  # with them a gap is shown however wide it is
        self._view = view
        self._asker = asker
        self._near_most = GAPS_MAX if nudges else RECOMMENDATIONS_MAX
        self._near_least = 0 if nudges else NEAR_PERCENT
        self._near: list[tuple[int, Order, CompiledPromotion]] = []
        self._far: list[CompiledPromotion] = []
        self._far_on_ladders: list[Rung] = []

    def offer(self, promotion: CompiledPromotion, percent: int) -> None:
        """Keep a promotion that reaches so much of its threshold, if it may be shown."""
        if percent >= self._near_least:
            self._offer_near(promotion, percent)
        if percent < NEAR_PERCENT:
            self._far.append(promotion)

    def offer_ladders(self, rungs: list[Rung], *, hints: bool) -> None:
        """Offer what is missed of ladders, the nearest first; ``hints``: lines lead to it.

        From each ladder, only those are looked at that are nearer than what has been found so far.
        """
        if hints:
            self._far_on_ladders += rungs
        near_least = self._near_least
        exponent = self._view.exponent
        heads: list[tuple[int, int, Rung]] = []
        for number, rung in enumerate(rungs):
            ladder, held, place = rung
            needs = ladder.needs[exponent]
            if place < len(needs):
                need = needs[place]
                if near_least == 0 or need <= 2 * held:
                    heads.append((-reached(held, need), number, rung))
        heads.sort()
        for head, _, (ladder, held, first) in heads:
            if self._is_beyond(-head):
                break
            needs = ladder.needs[exponent]
            for place in range(first, len(needs)):
                percent = reached(held, needs[place])
                if percent < near_least or self._is_beyond(percent):
                    break
                self._offer_near(ladder.promotions[place], percent)

    def offer_of_rest(self, rungs: Iterable[Rung], left_for: Callable[[CompiledPromotion], int]) -> None:
        """Offer what is missed of ladders of any basket, whose thresholds are for what is left of it."""
        exponent = self._view.exponent
        for ladder, held, first in rungs:
            needs = ladder.needs[exponent]
            for place in range(first, len(needs)):
                nearest = reached(held, needs[place])  # as if nothing were taken
                if nearest < self._near_least or self._is_beyond(nearest):
                    break
                promotion = ladder.promotions[place]
                percent = reached(left_for(promotion), needs[place])
                if percent >= self._near_least:
                    self._offer_near(promotion, percent)

    def _is_beyond(self, percent: int) -> bool:
        """Whether enough promotions are nearer."""
        return len(self._near) == self._near_most and -percent > self._near[-1][0]

    def _offer_near(self, promotion: CompiledPromotion, percent: int) -> None:
        near = self._near
        found = (-percent, promotion.order, promotion)
        if (len(near) < self._near_most or found < near[-1]) and self._may_be_shown(promotion):
            insort(near, found)
            del near[self._near_most :]

    def _may_be_shown(self, promotion: CompiledPromotion) -> bool:
        if promotion.refusal(self._asker) is not None:
            return False
        return not (self._view.barred and promotion.is_barred(self._view))

    def kept(self) -> list[CompiledPromotion]:
        """Those that may be shown, each once."""
        near = [promotion for _, _, promotion in self._near]
        room = RECOMMENDATIONS_MAX - len([found for found in self._near if -found[0] >= NEAR_PERCENT])
        return near if room <= 0 else near + [one for one in self._hints(room) if one not in near]

    def _hints(self, most: int) -> list[CompiledPromotion]:
        """The first in order of those that are shown however little of their threshold is reached."""
        exponent = self._view.exponent
        far = [
            ladder.promotions[max(place, bisect_right(ladder.needs[exponent], 2 * held)) :]
            for ladder, held, place in self._far_on_ladders
        ]
        hints: list[tuple[Order, CompiledPromotion]] = []
        for promotion in chain(self._far, *far):
            hint = (promotion.order, promotion)
            if len(hints) == most and hint > hints[-1]:
                continue
            if _leads_from_lines(promotion) and self._may_be_shown(promotion):
                insort(hints, hint)
                del hints[most:]
        return [promotion for _, promotion in hints]


def _leads_from_lines(promotion: CompiledPromotion) -> bool:
    """Whether lines of the basket led to it, so that it is a hint however little of its threshold is reached."""
    entries = promotion.entries
    return bool(entries and entries[0][0] in LINE_KINDS)
