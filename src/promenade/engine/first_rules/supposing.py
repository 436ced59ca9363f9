"""What a promotion would give on a different basket, priced by the engine itself (section 10)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from promenade.engine.ledger import Ledger
from promenade.engine.promotion import CompiledPromotion, Unmet
from promenade.engine.stacking import Candidate, Decision, Pass, World
from promenade.engine.turn import Turn
from promenade.engine.view import BasketView


class WhatIf:
    """Prices single promotions on other baskets, after a pass over ``world`` in which ``applied`` applied."""

    __slots__ = ("_applied", "_excluding", "_world")

    def __init__(self, world: World, applied: Sequence[Decision]) -> None:
        self._world = world
        self._applied = applied
        # The other promotions do not affect one that excludes nothing itself.
        self._excluding = [one for one in applied if _may_exclude(one.candidate.promotion)]

    def alone(self, promotion: CompiledPromotion, view: BasketView) -> int:
        """What a promotion alone would give, discount plus give-away in minor units; 0 if it does not qualify."""
        turn = self._turn_alone(promotion, view)
        return 0 if turn is None else turn.discount_minor + turn.give_away_minor

    def beside(self, promotion: CompiledPromotion, view: BasketView) -> int:
        """How much more the customer would get with the candidate than without it, with limits and exclusions applied.

        Only applied promotions that can interfere with it are priced too; negative where it would displace better ones.
        """
        alone = self._turn_alone(promotion, view)
        if alone is None:
            return 0
        others = self._applied if _may_exclude(promotion) else self._excluding
        if not others and not _is_limited(promotion):
            return alone.discount_minor + alone.give_away_minor
        (candidate,) = [one for one in self._world.candidates if one.promotion is promotion]
        rivals = [one.candidate for one in others if _are_rivals(candidate, alone, one)]
        if not rivals and not _is_limited(promotion):
            return alone.discount_minor + alone.give_away_minor
        turns = self._turns(view, [*rivals, candidate])
        own = turns.get(promotion.id)
        if own is None:
            return 0
        if candidate.exclusion_id is None and all(one.ordinal < candidate.ordinal for one in rivals):
            return own  # earlier promotions are not affected by it
        return sum(turns.values()) - sum(self._turns(view, rivals).values())

    def _turn_alone(self, promotion: CompiledPromotion, view: BasketView) -> Turn | None:
        met = promotion.qualify(view, view.sale_total_minor)
        if isinstance(met, Unmet):
            return None
        turn = Turn(
            Ledger(view, self._world.articles),
            promotion.id,
            1,
            promotion.is_unit_exclusive,
            view.sale if met.lines is None else met.lines,
            met.triggers,
            promotion.definition.max_applications_per_transaction,
        )
        for benefit in promotion.benefits:
            benefit.book(turn)
        return turn

    def _turns(self, view: BasketView, candidates: list[Candidate]) -> dict[str, int]:
        """What each of some candidates gives beside the others, by promotion id; only those that apply."""
        again: list[Candidate] = []
        for ordinal, one in enumerate(sorted(candidates, key=_place), start=1):
            candidate = Candidate(one.promotion, one.coupon_position, one.coupon)
            candidate.ordinal = ordinal
            again.append(candidate)
        known = self._world
        world = World(view, again, known.articles, known.budgets, known.usage)
        world.diagnose = world.tiers = False
        return {
            decision.candidate.promotion.id: turn.discount_minor + turn.give_away_minor
            for decision in Pass(world).run().applied
            if (turn := decision.turn) is not None
        }


def _place(candidate: Candidate) -> int:
    return candidate.ordinal


def _is_limited(promotion: CompiledPromotion) -> bool:
    return promotion.is_use_limited or bool(promotion.definition.budget_ids)


def _may_exclude(promotion: CompiledPromotion) -> bool:
    definition = promotion.definition
    return bool(definition.exclusivity != "NONE" or definition.exclusion_group or definition.budget_ids)


def _are_rivals(candidate: Candidate, alone: Turn, applied: Decision) -> bool:
    """Whether one can keep the other from units, from applying, or from a budget (sections 5 and 8)."""
    other = applied.candidate
    if candidate is other:
        return False
    one, two = candidate.promotion, other.promotion
    if one.is_global or two.is_global:
        return True
    if candidate.exclusion_id is not None and candidate.exclusion_id == other.exclusion_id:
        return True
    if (one.is_group_exclusive or two.is_group_exclusive) and candidate.group_id == other.group_id:
        return True
    if one.is_unit_exclusive or two.is_unit_exclusive:
        looked_at = {place for benefit in one.benefits for place in benefit.targets(alone)}
        taken = () if applied.turn is None else [take[0] for take in applied.turn.takes]
        if not _articles(alone, looked_at).isdisjoint(_articles(alone, taken)):
            return True
    return not set(one.definition.budget_ids).isdisjoint(two.definition.budget_ids)


def _articles(turn: Turn, positions: Iterable[int]) -> set[str]:
    """Lines added to close a gap hold the same articles, so articles tell which promotions compete."""
    lines = turn.view.lines
    return {lines[position].article_number for position in positions}
