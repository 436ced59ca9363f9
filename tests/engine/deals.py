"""What the best deal may choose from, enumerated independently of the search (section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations, product

from promenade.engine.definition import PromotionDefinition
from promenade.engine.outcome import Outcome
from promenade.engine.stacking import Candidate, Pass, World

Units = dict[int, list[tuple[int, int]]]


def value_of(outcome: Outcome) -> int:
    """Return what the customer gets: discount and gifts."""
    return outcome.discount_minor + sum(item.give_away_value_minor for item in outcome.granted)


def value_of_pass(done: Pass) -> int:
    return done.discount_minor + sum(one.turn.give_away_minor for one in done.applied if one.turn is not None)


def obeys_lowest(everyone: Iterable[PromotionDefinition], chosen: Sequence[PromotionDefinition]) -> bool:
    """Return whether all members of each group of LOWEST_DISCOUNT take part, or none."""
    lowest = [
        one.exclusion_group.group_id
        for one in everyone
        if one.exclusion_group is not None and one.exclusion_group.resolution_strategy == "LOWEST_DISCOUNT"
    ]
    taking_part = [one.exclusion_group.group_id for one in chosen if one.exclusion_group is not None]
    return all(taking_part.count(group) in (0, lowest.count(group)) for group in lowest)


def keeps_lowest(everyone: Sequence[Candidate], chosen: Sequence[Candidate]) -> bool:
    """Return the same for candidates."""
    return obeys_lowest([one.promotion.definition for one in everyone], [one.promotion.definition for one in chosen])


def best_of_all(world: World) -> int:
    """Return the most that any choice of promotions, order of equals and choice of units gives."""
    quiet = World(world.view, world.candidates, world.articles, world.budgets, world.usage)
    quiet.diagnose = quiet.tiers = False
    units = [(position, unit) for position, line in enumerate(world.view.lines) for unit in range(line.units)]
    best = 0
    for size in range(len(world.candidates) + 1):
        for order in permutations(world.candidates, size):
            if any(_precedes(late, early) for early, late in combinations(order, 2)):
                continue
            if keeps_lowest(world.candidates, order):
                for left in _choices_of_units(order, units):
                    best = max(best, value_of_pass(Pass(quiet, left).run(order)))
    return best


def _precedes(one: Candidate, other: Candidate) -> bool:
    """Return whether the order of section 4 puts the first before the second, but for coupons and IDs."""
    first, second = one.promotion, other.promotion
    if first.order_before != second.order_before:
        return first.order_before < second.order_before
    return one.coupon is None and first.order_after[:2] < second.order_after[:2]


def _choices_of_units(order: Sequence[Candidate], units: list[tuple[int, int]]) -> Iterator[dict[int, Units]]:
    choosing = [one for one in order if _may_choose(one.promotion.definition)]
    subsets = [subset for size in range(len(units) + 1) for subset in combinations(units, size)]
    for chosen in product(subsets, repeat=len(choosing)):
        left: dict[int, Units] = {}
        for candidate, subset in zip(choosing, chosen, strict=True):
            for position, unit in subset:
                left.setdefault(candidate.ordinal, {}).setdefault(position, []).append((unit, 1))
        yield left


def _may_choose(definition: PromotionDefinition) -> bool:
    """Return whether it is a bundle or exclusive, and nothing says which units it takes."""
    group = definition.exclusion_group
    if group is not None and group.resolution_strategy == "LOWEST_DISCOUNT":
        return False
    if definition.exclusivity != "PROMOTION" and all(one.action_type != "BUNDLE" for one in definition.actions):
        return False
    return all(
        one.action_type != "FREE_ITEM"
        and one.selection_type in (None, "ALL")
        and (one.action_type == "BUNDLE" or one.application_quantity_mode in (None, "ALL", "LIMITED"))
        for one in definition.actions
    )
