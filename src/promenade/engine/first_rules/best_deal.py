"""BEST_DEAL by the first rules: only which promotions take part is searched; their order and units are given.

The rules of a pass stay as they are; the search only decides which promotions take part. Promotions that cannot
influence one another are solved separately, each component by branch and bound over the promotions left out, within a
fixed number of nodes, so that a replay decides the same way. The sequential result comes first and only a strictly
better one replaces it.
"""

from __future__ import annotations

from promenade.engine.benefits.article import ArticleDiscount
from promenade.engine.benefits.receipt import ReceiptDiscount
from promenade.engine.benefits.registry import REWARDS_ONLY
from promenade.engine.ledger import Ledger
from promenade.engine.money import rounding_step
from promenade.engine.outcome import BestDeal
from promenade.engine.promotion import Unmet
from promenade.engine.stacking import Candidate, Pass, World
from promenade.engine.turn import Turn

NODES_MAX = 1_024  # passes per evaluation, over all components; enough for every subset of ten promotions
NODES_MIN = 64
STEPS_MAX = 20_000  # promotions priced per evaluation: larger catalogues get fewer passes
LINES_MAX = 100_000  # lines visited per evaluation: baskets of thousands of lines get even fewer passes


class _Contender:
    """A qualifying candidate: the lines it reads, and an upper bound of its discount whatever else applies."""

    __slots__ = ("candidate", "ceiling", "lines", "ordinal")

    def __init__(self, candidate: Candidate, lines: frozenset[int], ceiling: int) -> None:
        self.candidate = candidate
        self.ordinal = candidate.ordinal
        self.lines = lines
        self.ceiling = ceiling


def best_pass(world: World) -> tuple[Pass, BestDeal]:
    """The pass with the greatest discount, and what is known about how good it is."""
    sequential = Pass(world).run()
    contenders = _contenders(world)
    left_out: set[int] = set()
    nodes = 0
    bound = 0
    optimal = True
    limit = max(NODES_MIN, min(NODES_MAX, STEPS_MAX // max(1, len(world.candidates))))
    limit = min(limit, LINES_MAX // max(1, len(world.view.lines)))
    for component in _components(world, contenders):
        search = _Search(world, component, limit - nodes)
        search.run()
        nodes += search.nodes
        bound += search.bound
        optimal = optimal and search.complete
        left_out |= search.best_out
    best = sequential
    if left_out:
        found = Pass(world).run([one for one in world.candidates if one.ordinal not in left_out])
        if found.discount_minor > sequential.discount_minor:
            best = found
            _explain_left_out(world, best, left_out)
    return best, BestDeal(optimal, max(bound, best.discount_minor), nodes)


def _explain_left_out(world: World, best: Pass, left_out: set[int]) -> None:
    """Explain each promotion left out as blocked by those applied in its place."""
    for ordinal in sorted(left_out):
        candidate = world.candidates[ordinal - 1]
        met = world.qualify(candidate, best.ledger)
        if not isinstance(met, Unmet):
            best.leave_out(candidate, met)


def _contenders(world: World) -> list[_Contender]:
    """The candidates that discount something when they apply alone, or might beside others."""
    found: list[_Contender] = []
    for candidate in world.candidates:
        promotion = candidate.promotion
        ledger = Ledger(world.view, world.articles)
        met = world.qualify(candidate, ledger)
        if isinstance(met, Unmet) and not candidate.is_dynamic:
            continue
        lines = None if isinstance(met, Unmet) else met.lines
        turn = Turn(
            ledger,
            promotion.id,
            candidate.ordinal,
            promotion.is_unit_exclusive,
            world.view.sale if lines is None else lines,
            () if isinstance(met, Unmet) else met.triggers,
            promotion.definition.max_applications_per_transaction,
        )
        targets = frozenset([place for benefit in promotion.benefits for place in benefit.targets(turn)])
        ceiling = sum([ledger.totals[place] for place in targets])
        if not isinstance(met, Unmet) and _is_monotone(candidate):
            for benefit in promotion.benefits:
                benefit.book(turn)
            ceiling = min(ceiling, turn.discount_minor)
        found.append(_Contender(candidate, targets, ceiling))
    return found


def _is_monotone(candidate: Candidate) -> bool:
    """Whether other promotions can only lower its discount: one plain discount on everything it targets.

    Rounding does not change that, however coarse: a smaller base never rounds to a larger discount.
    """
    discounts = [benefit for benefit in candidate.promotion.benefits if benefit.stage != REWARDS_ONLY]
    return len(discounts) <= 1 and all(
        isinstance(benefit, ArticleDiscount | ReceiptDiscount) and benefit.choice.is_all for benefit in discounts
    )


def _is_coarse(candidate: Candidate, exponent: int) -> bool:
    """Whether it rounds to steps of more than a minor unit."""
    definition = candidate.promotion.definition
    return definition.rounding != "NONE" and rounding_step(definition.precision, exponent) > 1


def _is_harmless(members: list[_Contender], exponent: int) -> bool:
    """Whether leaving one out can never help, so that applying all is best.

    This holds when none excludes or competes with another and each takes a plain discount off whole lines: what then
    remains of a line never shrinks when more of it was left before. Only a single receipt discount, applied last, keeps
    this true; so does rounding to the minor unit. A coarser step (calculationConfig.precision) does not: for a price
    of 2.00 in steps of 1.00, 4.50 loses 3.00 and 4.40 only 2.00. It is harmless in the first promotion, because nothing
    has been taken yet.
    """
    for member in members:
        candidate = member.candidate
        definition = candidate.promotion.definition
        if definition.exclusivity != "NONE" or candidate.exclusion_id is not None or definition.budget_ids:
            return False
        if candidate.is_dynamic or not _is_monotone(candidate):
            return False
        if member is not members[0] and _is_coarse(candidate, exponent):
            return False
        for benefit in candidate.promotion.benefits:
            if isinstance(benefit, ArticleDiscount):
                if benefit.maximum is not None:
                    return False
            elif isinstance(benefit, ReceiptDiscount) and member is not members[-1]:
                return False
    return True


def _components(world: World, contenders: list[_Contender]) -> list[list[_Contender]]:
    """Contenders that share lines, groups or budgets, or that read what others left; in order of the candidates."""
    parents = list(range(len(contenders)))

    def root(place: int) -> int:
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = parents[place]
        return place

    if any(one.candidate.promotion.is_global or one.candidate.is_dynamic for one in contenders):
        return [contenders] if contenders else []
    first_with: dict[object, int] = {}
    for place, contender in enumerate(contenders):
        candidate = contender.candidate
        shared: list[object] = list(contender.lines)
        shared += [("budget", budget_id) for budget_id in candidate.promotion.definition.budget_ids]
        if candidate.exclusion_id is not None:
            shared.append(("exclusion", candidate.exclusion_id))
        if candidate.group_id is not None:
            shared.append(("group", candidate.group_id))
        for key in shared:
            other = first_with.setdefault(key, place)
            parents[root(place)] = root(other)
    components: dict[int, list[_Contender]] = {}
    for place, contender in enumerate(contenders):
        components.setdefault(root(place), []).append(contender)
    return list(components.values())


class _Search:
    """Depth-first over the promotions left out of one component; nothing left out is the sequential result."""

    __slots__ = (
        "_limit",
        "_lines_total",
        "_members",
        "_world",
        "best",
        "best_out",
        "bound",
        "complete",
        "nodes",
    )

    def __init__(self, world: World, members: list[_Contender], limit: int) -> None:
        self._world = world
        self._members = members
        self._limit = limit
        lines = frozenset([line for member in members for line in member.lines])
        ledger = Ledger(world.view, world.articles)
        self._lines_total = sum([ledger.totals[line] for line in lines])
        self.best = -1
        self.best_out: set[int] = set()
        self.nodes = 0
        self.complete = True
        self.bound = 0

    def run(self) -> None:
        """Search; afterwards ``best``, ``best_out``, ``bound`` and ``complete`` hold the result."""
        self.bound = self._ceiling(frozenset())
        self.best = self._price(frozenset())
        if _is_harmless(self._members, self._world.view.exponent):
            self.bound = self.best
            return
        stack: list[tuple[frozenset[int], int]] = [(frozenset(), 0)]
        while stack:
            out, start = stack.pop()
            children: list[tuple[frozenset[int], int]] = []
            for place in range(start, len(self._members)):
                without = out | {self._members[place].ordinal}
                if self._ceiling(without) <= self.best:
                    continue
                if self.nodes >= self._limit:
                    self.complete = False
                    return
                value = self._price(without)
                if value > self.best:
                    self.best, self.best_out = value, set(without)
                children.append((without, place + 1))
            stack.extend(reversed(children))
        self.bound = self.best

    def _price(self, out: frozenset[int]) -> int:
        self.nodes += 1
        taking_part = [member.candidate for member in self._members if member.ordinal not in out]
        return Pass(self._world).run(taking_part).discount_minor

    def _ceiling(self, out: frozenset[int]) -> int:
        """An upper bound of the promotions still in: one of each exclusion group, no line discounted twice."""
        alone = 0
        together = 0
        groups: dict[str, int] = {}
        for member in self._members:
            if member.ordinal in out:
                continue
            if member.candidate.promotion.is_global:
                alone = max(alone, member.ceiling)
            elif member.candidate.exclusion_id is not None:
                group = member.candidate.exclusion_id
                groups[group] = max(groups.get(group, 0), member.ceiling)
            else:
                together += member.ceiling
        return min(max(alone, together + sum(groups.values())), self._lines_total)
