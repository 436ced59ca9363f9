"""BEST_DEAL: the combination that gives the customer the most, by the rules of every pass (section 5).

Searched are which promotions take part, the order of those that are equal in it, and the units that bundles and
exclusive offers take. Promotions that cannot influence one another are solved apart, and GLOBAL ones apart from all
others; receipt-level promotions that come after all others do not tie these together. The search has a fixed number of
steps, so that a replay decides the same way. Only a result better than the sequential one replaces it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from promenade.engine.basket import FIRST_RULES
from promenade.engine.best_deal.ceilings import FINE
from promenade.engine.best_deal.contenders import Contender, components_of, contenders_of, wide_of
from promenade.engine.best_deal.receipt_shares import ReceiptShares
from promenade.engine.best_deal.search import Plan, Search, Steps
from promenade.engine.best_deal.trial import Trial, quiet
from promenade.engine.leaving import Units
from promenade.engine.outcome import BestDeal
from promenade.engine.promotion import Unmet
from promenade.engine.stacking import Candidate, Pass, World
from promenade.engine.view import BasketView

SCOPE = ("PROMOTIONS", "ORDER", "UNITS")

STEPS_MAX = 5_000  # promotions priced per evaluation
STEPS_MIN = 64
IDLE_MAX = 12  # promotions left out of which each is tried again in the end
LINES_MAX = 300_000  # lines visited per evaluation: baskets of thousands of lines get fewer steps


def steps_for(view: BasketView, at_most: int | None = None) -> Steps:
    """The steps that the search has for a basket. It is given up if it takes more than ``at_most``."""
    return Steps(max(STEPS_MIN, min(STEPS_MAX, LINES_MAX // max(1, len(view.lines)))), at_most)


def best_pass(world: World, steps: Steps) -> tuple[Pass, BestDeal]:
    """The pass that gives most, and what is known about how good it is. Raises GivenUp as ``steps`` says."""
    sequential = Pass(world).run()
    worth = _worth(sequential)
    contenders = contenders_of(world)
    if worth >= sum([one.most for one in contenders]):  # each gives all that it can
        return sequential, BestDeal(True, worth, 1, SCOPE)
    deal = _Deal(quiet(world), contenders, steps, worth)
    deal.run()
    if deal.best is None:
        return sequential, BestDeal(deal.optimal, max(deal.bound, worth), steps.nodes, SCOPE)
    best = Pass(world, deal.best.left).run(deal.best.order)
    _explain_left_out(world, best, deal.best)
    return best, BestDeal(deal.optimal, max(deal.bound, deal.worth), steps.nodes, SCOPE)


def nothing_found(view: BasketView) -> BestDeal:
    """The best deal where no promotion can affect the basket."""
    return BestDeal(True, 0, 0, None if view.settings.rules == FIRST_RULES else SCOPE)


def _worth(done: Pass) -> int:
    gifts = sum([decision.turn.give_away_minor for decision in done.applied if decision.turn is not None])
    return done.discount_minor + gifts


def _explain_left_out(world: World, best: Pass, plan: Plan) -> None:
    """Explain each promotion left out as blocked by those applied in its place."""
    taking_part = {candidate.ordinal for candidate in plan.order}
    for candidate in world.candidates:
        if candidate.ordinal in taking_part:
            continue
        met = world.qualify(candidate, best.ledger)
        if not isinstance(met, Unmet):
            best.leave_out(candidate, met)


Orders = list[tuple[Candidate, ...]]
"""Candidates in their order, those that depend on each other together"""


class _Deal:
    """The whole search. ``best`` stays None if nothing gives more than the sequential result, which is ``worth``."""

    def __init__(self, world: World, contenders: Sequence[Contender], steps: Steps, worth: int) -> None:
        self._world = world
        self._contenders = contenders
        self._steps = steps
        self.worth = worth
        self.best: Plan | None = None
        self.bound = 0
        self.optimal = True

    def run(self) -> None:
        """Solve GLOBAL promotions apart, then all others; afterwards the best of both is known."""
        others = list(self._contenders)
        if all(one.candidate.exclusion_id is None for one in others if one.candidate.promotion.is_global):
            for contender in self._contenders:
                if contender.candidate.promotion.is_global:
                    others.remove(contender)
                    self._solve_together([contender])
            self._solve(others)
        else:
            self._solve_together(others)
        if self.worth >= self.bound:
            self.optimal, self.bound = True, self.worth
        if self.best is not None:
            self.best = self._with_idle(self.best)

    def _solve(self, contenders: list[Contender]) -> None:
        wide = wide_of(contenders)
        components = components_of([one for one in contenders if one not in wide])
        if len(components) + len(wide) == 1:
            self._solve_together(contenders)
            return
        receipt = ReceiptShares(self._world, wide)
        bound = receipt.outside(components)
        orders: Orders = []
        left: dict[int, Units] = {}
        complete = True
        for number, component in enumerate(components):
            search = Search(self._world, component, receipt.shares, self._steps)
            search.run(self._steps.left // (len(components) - number + 1))
            orders.append(search.best.order)
            left.update(search.best.left)
            bound += search.bound
            complete = complete and search.complete
        orders.append(tuple([one.candidate for one in wide]))
        total = self._offer(orders, left)
        bound_minor = receipt.whole(bound)
        if wide and total < bound_minor:
            self._solve_together(contenders, Plan(_merged(orders), left), bound_minor)
            return
        self.bound = max(self.bound, bound_minor)
        self.optimal = self.optimal and complete

    def _solve_together(self, contenders: list[Contender], start: Plan | None = None, bound: int | None = None) -> None:
        search = Search(self._world, contenders, {}, self._steps)
        search.run(self._steps.left, start)
        self._offer([search.best.order], search.best.left)
        found = search.bound // FINE
        self.bound = max(self.bound, found if bound is None else min(found, bound))
        self.optimal = self.optimal and search.complete

    def _offer(self, orders: Orders, left: Mapping[int, Units]) -> int:
        """Price a plan, and keep it if it is the best one so far; what it gives."""
        self._steps.nodes += 1
        plan = Plan(_merged(orders), left)
        worth = self._worth_of(plan)
        if worth > self.worth:
            self.worth = worth
            # Promotions that give nothing take part too, unless one of them is in the way.
            contending = {one.ordinal for one in self._contenders}
            idle = [(one,) for one in self._world.candidates if one.ordinal not in contending]
            whole = Plan(_merged([*orders, *idle]), left)
            self.best = whole if self._worth_of(whole) == worth else plan
        return worth

    def _worth_of(self, plan: Plan) -> int:
        trial = Trial(self._world, plan.left)
        trial.run(plan.order)
        return trial.worth

    def _with_idle(self, plan: Plan) -> Plan:
        """The plan joined by promotions that change nothing in it: the pass then says why they do not apply."""
        taking_part = {one.ordinal for one in plan.order}
        out = [one for one in self._world.candidates if one.ordinal not in taking_part]
        everyone = self._joined(plan, out)
        if self._worth_of(everyone) == self.worth:
            return everyone
        for one in out[:IDLE_MAX]:
            tried = self._joined(plan, [one])
            if self._worth_of(tried) == self.worth:
                plan = tried
        return plan

    def _joined(self, plan: Plan, more: Sequence[Candidate]) -> Plan:
        return Plan(_merged([plan.order, *[(one,) for one in more]]), plan.left)


def _merged(orders: Orders) -> tuple[Candidate, ...]:
    """One order of them all: each candidate as early as in the order of section 4, unless a later one precedes it."""
    keyed: list[tuple[int, int, int, Candidate]] = []
    for number, order in enumerate(orders):
        least = order[-1].ordinal if order else 0
        for place in range(len(order) - 1, -1, -1):
            least = min(least, order[place].ordinal)
            keyed.append((least, number, place, order[place]))
    keyed.sort(key=_key)
    return tuple([one[3] for one in keyed])


def _key(place: tuple[int, int, int, Candidate]) -> tuple[int, int, int]:
    return place[:3]
