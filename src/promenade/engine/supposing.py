"""The whole basket priced again, as it would be: with goods added, with a coupon, paid otherwise, without a promotion.

Each of these is a real pricing by the tenant's own strategy, with every budget and limit. A supposed basket may reach
promotions that the present one does not. A promotion whose budgets, usage or gifts the store was not asked about cannot
be priced, so nothing is said about such a basket. The definitions of all of them are recorded with the outcome, and
none of these decisions depends on what the shortlist left out, so that a replay supposes the same.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from promenade.engine.basket import Payment
from promenade.engine.best_deal.deal import best_pass, steps_for
from promenade.engine.best_deal.search import GivenUp
from promenade.engine.catalogue import Catalogue
from promenade.engine.ledger import Ledger
from promenade.engine.promotion import CompiledPromotion, Unmet
from promenade.engine.shortlist import missed_percent
from promenade.engine.stacking import Candidate, Decision, Pass, Triggers, World, in_order, numbered
from promenade.engine.turn import Turn
from promenade.engine.view import BasketView

STEPS_MIN = 64  # promotions that may be tried in supposed baskets even where pricing tried fewer
STEPS_MISSED = 1_000  # the same where every promotion is to be explained


class Supposed:
    """A supposed pricing: what the customer saves in all, and what became of each candidate."""

    __slots__ = ("_decisions", "total_minor")

    def __init__(self, done: Pass) -> None:
        self.total_minor = saved_minor(done)
        self._decisions = {one.candidate.promotion.id: one for one in done.decisions if one is not None}

    def decision(self, promotion: CompiledPromotion) -> Decision | None:
        """What became of a promotion; None if it was no candidate or the best deal left it out."""
        return self._decisions.get(promotion.id)


def saved_minor(done: Pass) -> int:
    """Discounts and the value of gifts."""
    return sum([one.turn.discount_minor + one.turn.give_away_minor for one in done.applied if one.turn is not None])


class WhatIf:
    """Prices supposed baskets, after ``done`` was the pricing of the present one, which is ``world``.

    ``searched``: how many promotions the best deal priced to find ``done``. ``informed``: ids of the promotions whose
    budgets and usage are among the facts. Its methods return None where the supposed basket cannot be priced, or if
    supposing would cost more than pricing the present one (section 10).
    """

    __slots__ = (
        "_catalogue",
        "_informed",
        "_steps_left",
        "_triggers",
        "_without",
        "_world",
        "extras",
        "now_minor",
        "view",
    )

    def __init__(
        self,
        catalogue: Catalogue,
        world: World,
        done: Pass,
        searched: int,
        triggers: Triggers,
        informed: Collection[str],
    ) -> None:
        self._catalogue = catalogue
        self._world = world
        self._triggers = triggers
        self._informed = informed
        least = STEPS_MISSED if world.view.settings.include_missed else STEPS_MIN
        # A supposed basket has one promotion more, so it costs more than the present one, a best deal most of all.
        # Promotions that miss a threshold do not count: a replay has others of them among its candidates.
        tried = [one for one in world.candidates if missed_percent(one.promotion, world.view) is None]
        self._steps_left = max(least, (len(tried) + searched) * 3 // 2)
        self._without: dict[frozenset[str], Supposed | None] = {}
        self.view = world.view
        self.now_minor = saved_minor(done)
        self.extras: dict[str, None] = {}  # hashes of the definitions that supposed baskets were priced with

    @property
    def is_spent(self) -> bool:
        """Whether no further basket may be supposed."""
        return self._steps_left <= 0

    def with_goods(self, view: BasketView, promotion: CompiledPromotion) -> Supposed | None:
        """The basket of ``view``, supposed for the sake of a promotion that is a candidate now."""
        return self._priced(view, self._triggers, promotion)

    def with_payment(self, payment: Payment, promotion: CompiledPromotion) -> Supposed | None:
        """The present basket, paid otherwise."""
        return self._priced(self.view.with_payment(payment), self._triggers, promotion)

    def with_coupon(self, coupon_type_id: str, promotion: CompiledPromotion) -> Supposed | None:
        """The present basket with one more coupon, of this type, as the last one."""
        triggers = {**self._triggers, coupon_type_id: (len(self.view.basket.coupons), "")}
        return self._priced(self.view, triggers, promotion)

    def without(self, promotion_ids: frozenset[str]) -> Supposed | None:
        """The present basket if these promotions did not exist."""
        if promotion_ids not in self._without:
            kept = [
                Candidate(one.promotion, one.coupon_position, one.coupon)
                for one in self._world.candidates
                if one.promotion.id not in promotion_ids
            ]
            self._without[promotion_ids] = self._passed(self.view, numbered(kept))
        return self._without[promotion_ids]

    def alone(self, promotion: CompiledPromotion, view: BasketView) -> int | None:
        """What a promotion would save on its own; None if it does not qualify. Only to choose what to suppose first."""
        own = promotion.view_of(view)
        met = promotion.qualify(own, own.sale_total_minor)
        if isinstance(met, Unmet):
            return None
        turn = Turn(
            Ledger(view, self._world.articles),
            promotion.id,
            1,
            promotion.is_unit_exclusive,
            own.sale if met.lines is None else met.lines,
            met.triggers,
            promotion.definition.max_applications_per_transaction,
            own,
        )
        for benefit in promotion.benefits:
            benefit.book(turn)
        return turn.discount_minor + turn.give_away_minor

    def _priced(self, view: BasketView, triggers: Triggers, promotion: CompiledPromotion) -> Supposed | None:
        if self.is_spent:
            return None
        settings = view.settings
        if settings.strategy != "BEST_DEAL":  # then it makes no difference how many candidates do not qualify
            settings = replace(settings, include_missed=False)
        settings = replace(settings, nudges=False)
        promotions = self._catalogue.relevant(view, triggers, settings)
        if settings.strategy != "BEST_DEAL":
            promotions = [one for one in promotions if one is promotion or missed_percent(one, view) is None]
        candidates = in_order(promotions, triggers)
        self.extras.update(dict.fromkeys([one.promotion.hash for one in candidates]))
        if any(not self._is_known(one, promotion) for one in promotions):
            return None
        return self._passed(view, candidates, promotion)

    def _is_known(self, promotion: CompiledPromotion, aim: CompiledPromotion) -> bool:
        """Whether all is known that its price depends on; also if the shortlist kept it by chance."""
        if not (promotion.definition.budget_ids or promotion.is_use_limited or promotion.gives_items):
            return True
        if promotion is aim:
            return True
        if promotion.id not in self._informed:
            return False
        settings = self.view.settings
        is_listed = settings.include_missed or settings.strategy == "BEST_DEAL"
        return is_listed or missed_percent(promotion, self.view) is None

    def _passed(
        self, view: BasketView, candidates: Sequence[Candidate], aim: CompiledPromotion | None = None
    ) -> Supposed | None:
        self._steps_left -= len(candidates)
        if self._steps_left < 0:
            return None
        known = self._world
        world = World(view, candidates, known.articles, known.budgets, known.usage)
        world.tiers, world.aim = False, aim
        if view.settings.strategy != "BEST_DEAL":
            return Supposed(Pass(world).run())
        steps = steps_for(view, self._steps_left)
        try:
            done, _ = best_pass(world, steps)
        except GivenUp:
            self._steps_left = 0
            return None
        self._steps_left -= steps.spent
        return Supposed(done)
