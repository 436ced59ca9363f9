"""One pass of pricing: catalogue + basket + facts -> outcome. Pure: no I/O, no clock, no float.

`select` finds the candidates and says which facts they need; `price` needs nothing but those facts. A replay calls
`evaluate` with the same values and gets an equal outcome.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from promenade.engine.advice import advise
from promenade.engine.assembly import assemble, assemble_untouched
from promenade.engine.basket import FIRST_RULES, ArticleFact, Basket, CouponFact, Facts, Settings
from promenade.engine.best_deal.deal import best_pass, steps_for
from promenade.engine.catalogue import Catalogue, CompiledPromotion, Relevant
from promenade.engine.first_rules import advice as first_rules
from promenade.engine.first_rules.best_deal import best_pass as first_best_pass
from promenade.engine.first_rules.supposing import WhatIf as FirstWhatIf
from promenade.engine.index import Rung
from promenade.engine.outcome import BestDeal, Outcome
from promenade.engine.promotion import RequestFacts, Unmet
from promenade.engine.recommendations import CandidateVerdict
from promenade.engine.shortlist import Shortlist, has_near
from promenade.engine.stacking import BY_ORDER, Candidate, Decision, Pass, Triggers, World, in_order
from promenade.engine.supposing import WhatIf
from promenade.engine.view import BasketView

_NOTHING: tuple[()] = ()

Placed = tuple[int, CompiledPromotion]
"""A promotion with the number of candidates before it in the order of section 4"""


@dataclass(frozen=True, slots=True)
class Selection:
    """The ordered candidates for a basket, and the facts that pricing them needs.

    ``candidates`` are those that may apply. ``missed``: those that miss a threshold and that advice may show, with the
    number of candidates before each in the order of section 4. ``later``: as in `Relevant`, if any may be shown.
    ``hashes``: of every definition that the outcome depends on: first both of these in their order, then those in whose
    control arm this basket is, then the outsiders. ``asked``: the promotions about which facts are needed: both of
    these, and what a coupon would bring. ``budget_ids``: budgets linked to them. ``usage_ids``: those with limits.
    """

    view: BasketView
    candidates: tuple[Candidate, ...]
    missed: tuple[Placed, ...]
    later: tuple[Rung, ...]
    articles: Mapping[str, ArticleFact]
    coupons: tuple[CouponFact, ...]
    budget_ids: tuple[str, ...]
    usage_ids: tuple[str, ...]
    control_arms: tuple[str, ...]
    hashes: tuple[str, ...]
    outsiders: tuple[tuple[CompiledPromotion, str], ...]
    catalogue: Catalogue
    triggers: Triggers
    asked: tuple[CompiledPromotion, ...]


def select(
    catalogue: Catalogue,
    basket: Basket,
    articles: Mapping[str, ArticleFact],
    articles_by_ean: Mapping[str, ArticleFact],
    coupons: tuple[CouponFact, ...],
    settings: Settings,
) -> Selection:
    """Sections 2 and 4: the promotions that can affect the basket, in the order they are processed.

    ``coupons`` has one fact per presented code, in the order of the basket.
    """
    view = BasketView(basket, articles, articles_by_ean, catalogue.article_groups, settings)
    triggers: dict[str, tuple[int, str]] = {}  # coupon type -> its first valid code
    for position, fact in enumerate(coupons):
        if fact.refusal is None and fact.coupon_type_id is not None:
            triggers.setdefault(fact.coupon_type_id, (position, fact.code))
    if settings.rules == FIRST_RULES:
        relevant = Relevant(catalogue.relevant(view, triggers, settings), [], [])
    else:
        relevant = catalogue.sorted_out(view, triggers, settings)
    candidates = in_order(relevant.tried, triggers)
    missed = _placed(relevant.missed, candidates)
    control_arms = catalogue.control_arms(view)
    outsiders = tuple(catalogue.outsiders(view, triggers)) if settings.include_missed else _NOTHING
    asked = _merged(candidates, missed)
    hashes = _hashes(catalogue, asked, control_arms, outsiders)
    if outsiders and settings.rules != FIRST_RULES:  # what would they save with a coupon?
        asked += [promotion for promotion, reason in outsiders if reason == "COUPON_REQUIRED"]
    budget_ids: dict[str, None] = {}
    usage_ids: list[str] = []
    for promotion in asked:
        if promotion.definition.budget_ids:
            budget_ids.update(dict.fromkeys(promotion.definition.budget_ids))
        if promotion.is_use_limited:
            usage_ids.append(promotion.id)
    return Selection(
        view,
        tuple(candidates),
        tuple(missed),
        tuple([rung for rung in relevant.later if has_near(rung, view)]),
        articles,
        coupons,
        tuple(budget_ids),
        tuple(usage_ids),
        control_arms,
        hashes,
        outsiders,
        catalogue,
        triggers,
        tuple(asked),
    )


def _placed(missed: list[CompiledPromotion], candidates: Sequence[Candidate]) -> list[Placed]:
    """Promotions in their order, each with the number of candidates before it."""
    missed.sort(key=BY_ORDER)
    return [(bisect_left(candidates, promotion.order, key=BY_ORDER), promotion) for promotion in missed]


def _merged(candidates: Sequence[Candidate], missed: Sequence[Placed]) -> list[CompiledPromotion]:
    """Both in their order."""
    promotions = [candidate.promotion for candidate in candidates]
    for place, promotion in reversed(missed):
        promotions.insert(place, promotion)
    return promotions


def _hashes(
    catalogue: Catalogue,
    promotions: Sequence[CompiledPromotion],
    control_arms: tuple[str, ...],
    outsiders: tuple[tuple[CompiledPromotion, str], ...],
) -> tuple[str, ...]:
    """Of every definition that the outcome depends on, each once: a replay has only these."""
    hashes = [promotion.hash for promotion in promotions]
    controls = [catalogue.get(identity) for identity in control_arms]
    others = [promotion.hash for promotion in controls if promotion is not None]
    others += [promotion.hash for promotion, _ in outsiders]
    return catalogue.recorded(hashes + others)


def price(selection: Selection, facts: Facts) -> Outcome:
    """The outcome for a selection; only budgets and usage are read from ``facts`` here."""
    view = selection.view
    if not (selection.candidates or selection.missed or selection.later or selection.outsiders):
        return assemble_untouched(view, selection.coupons, selection.control_arms, selection.hashes)
    world = World(view, selection.candidates, selection.articles, facts.budgets, facts.usage)
    best_deal: BestDeal | None = None
    steps = steps_for(view)
    if view.settings.strategy == "BEST_DEAL":
        done, best_deal = first_best_pass(world) if view.settings.rules == FIRST_RULES else best_pass(world, steps)
    else:
        done = Pass(world)
        if selection.later:
            done.taken = []
        done.run()
    decisions = [decision for decision in done.decisions if decision is not None]
    hashes = selection.hashes
    missed = selection.missed
    if selection.later and (late := _late(selection, done)):
        missed = tuple(sorted((*missed, *late), key=lambda placed: placed[1].order))
        merged = _merged(selection.candidates, missed)
        hashes = _hashes(selection.catalogue, merged, selection.control_arms, selection.outsiders)
    fates = _fates(view, missed, done)
    if view.settings.rules == FIRST_RULES:
        advice = first_rules.advise(view, fates, selection.outsiders, FirstWhatIf(world, done.applied))
    elif not (view.settings.nudges or view.settings.include_missed):
        advice = advise(view, fates, selection.outsiders, None)
    else:
        informed = frozenset([promotion.id for promotion in selection.asked])
        what_if = WhatIf(selection.catalogue, world, done, steps.spent, selection.triggers, informed)
        advice = advise(view, fates, selection.outsiders, what_if)
        if what_if.extras:
            hashes = selection.catalogue.recorded((*hashes, *what_if.extras))
    return assemble(view, done, decisions, selection.coupons, advice, selection.control_arms, hashes, best_deal)


def _late(selection: Selection, done: Pass) -> list[Placed]:
    """Those of ``later`` that advice may show, now that it is known what is left of the sale at their turn."""
    view, candidates = selection.view, selection.candidates

    def left_for(promotion: CompiledPromotion) -> int:
        return _left_at(bisect_left(candidates, promotion.order, key=BY_ORDER), view.usual, done)

    shortlist = Shortlist(view, RequestFacts(view, frozenset(selection.triggers)))
    shortlist.offer_of_rest(selection.later, left_for)
    return _placed(shortlist.kept(), candidates)


def _left_at(place: int, view: BasketView, done: Pass) -> int:
    """What is left of the sale after so many candidates; all of it if the pass did not add that up."""
    taken = done.taken
    if taken is None:
        return view.sale_total_minor
    return view.sale_total_minor - (taken[place] if place < len(taken) else done.discount_minor)


def _fates(view: BasketView, missed: Sequence[Placed], done: Pass) -> list[CandidateVerdict]:
    """What happened to each promotion, in their order; advice has nothing to say of those that gave all they can."""
    told = [one for one in done.decisions if one is not None and (one.reason is not None or one.gaps)]
    if not missed:
        return [_fate(one, done) for one in told]
    fates: list[CandidateVerdict] = []
    usual = view.usual  # a promotion that says itself what counts is never among those that are missed
    told.reverse()
    for place, promotion in missed:
        while told and told[-1].candidate.ordinal <= place:
            fates.append(_fate(told.pop(), done))
        result = promotion.qualify(usual, _left_at(place, usual, done))
        fates.append(CandidateVerdict(promotion, "CONDITION_NOT_MET", result if isinstance(result, Unmet) else None))
    return fates + [_fate(one, done) for one in reversed(told)]


def _fate(decision: Decision, done: Pass) -> CandidateVerdict:
    winner = decision.blocked_by
    winner_minor = 0
    if winner is not None:
        won = done.decisions[winner.ordinal - 1]
        if won is not None and won.turn is not None:
            winner_minor = won.turn.discount_minor + won.turn.give_away_minor
    return CandidateVerdict(
        decision.candidate.promotion,
        decision.reason,
        decision.unmet,
        decision.gaps,
        None if winner is None else winner.promotion,
        winner_minor,
        decision.own_minor,
    )


def evaluate(catalogue: Catalogue, basket: Basket, facts: Facts, settings: Settings) -> Outcome:
    """`select` and `price` in one call, for callers that have all facts at hand."""
    selection = select(catalogue, basket, facts.articles, facts.articles_by_ean, facts.coupons, settings)
    return price(selection, facts)
