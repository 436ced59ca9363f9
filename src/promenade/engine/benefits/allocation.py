"""Allocate units to bundles: as many bundles as the units allow, each unit in one (section 6, BUNDLE).

Neighbouring units of equal worth form one `Stock`, and neighbouring equal bundles one `BundleGroup`, so that ten
thousand pieces cost no more than ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from promenade.engine.benefits.choice import Choice
from promenade.engine.ledger import Segment


class Stock:
    """``count`` equal units from ``start`` of a line; ``fits`` has a bit for each component they can serve.

    ``is_free``: already free, so that they bear no discount (section 6).
    """

    __slots__ = ("count", "fits", "is_free", "position", "start", "taken", "worth")

    def __init__(self, position: int, segment: Segment, worth: int, fits: int, *, is_free: bool = False) -> None:
        start, count, taken = segment
        self.position = position
        self.start = start
        self.count = count
        self.taken = taken
        self.worth = worth  # of one unit, original, scaled
        self.fits = fits
        self.is_free = is_free


class Demand(Protocol):
    """``quantity`` units per bundle; ``discounted`` False: a buy component."""

    quantity: int
    discounted: bool


Part = tuple[Stock, int, int]
"""(stock, first unit, units per bundle); in an Allocation: units in all"""


class Allocation:
    """For each component the parts that serve it, in the order bundles are filled."""

    __slots__ = ("bundles", "demands", "parts")

    def __init__(self, bundles: int, demands: Sequence[Demand], parts: list[list[Part]]) -> None:
        self.bundles = bundles
        self.demands = demands
        self.parts = parts

    def used(self) -> list[tuple[int, int, int]]:
        """(position, first unit, count) of every unit in a bundle."""
        return [(stock.position, start, count) for parts in self.parts for stock, start, count in parts]


def _supplies(stocks: Sequence[Stock], counts: Sequence[int]) -> dict[int, int]:
    supplies: dict[int, int] = {}
    for stock, count in zip(stocks, counts, strict=True):
        if count:
            supplies[stock.fits] = supplies.get(stock.fits, 0) + count
    return supplies


def _is_simple(supplies: dict[int, int]) -> bool:
    """Whether no unit fits more than one component."""
    return all(kind & (kind - 1) == 0 for kind in supplies)


def _feasible(supplies: dict[int, int], needs: Sequence[int]) -> bool:
    """Whether units of the given kinds can meet every component's need."""
    return not any(_missing(supplies, needs, until_first=True))


def _missing(supplies: dict[int, int], needs: Sequence[int], *, until_first: bool) -> list[int]:
    """The units that each component lacks, as few as possible in all: a small maximum flow.

    ``until_first``: stop at the first component that lacks some. Kinds (sets of components that a unit fits) are few,
    so augmenting paths are searched over components: a component short of units takes them from a kind's spare, or from
    a component that can be served otherwise.
    """
    if _is_simple(supplies):
        return [max(0, need - supplies.get(1 << number, 0)) for number, need in enumerate(needs)]
    spare = dict(supplies)
    flow: dict[tuple[int, int], int] = {}
    missing = [0] * len(needs)
    for number, need in enumerate(needs):
        left = need
        while left > 0:
            path = _augmenting_path(spare, flow, number)
            if path is None:
                missing[number] = left
                if until_first:
                    return missing
                break
            width = min([left, spare[path[-1][1]]] + [flow[(path[i + 1][0], path[i][1])] for i in range(len(path) - 1)])
            for index, (component, kind) in enumerate(path):
                flow[(component, kind)] = flow.get((component, kind), 0) + width
                if index + 1 < len(path):
                    flow[(path[index + 1][0], kind)] -= width
            spare[path[-1][1]] -= width
            left -= width
    return missing


def _augmenting_path(
    spare: dict[int, int], flow: dict[tuple[int, int], int], component: int
) -> list[tuple[int, int]] | None:
    """Steps (component, kind it takes from); each but the last kind is released by the next step's component."""
    came: dict[int, tuple[int, int]] = {}  # component -> (component it releases to, kind released)
    queue = [component]
    seen = {component}
    for current in queue:
        bit = 1 << current
        for kind, left in spare.items():
            if kind & bit and left > 0:
                steps = [(current, kind)]
                while current != component:
                    current, handed = came[current]  # noqa: PLW2901
                    steps.append((current, handed))
                steps.reverse()
                return steps
        for (other, kind), amount in flow.items():
            if amount > 0 and kind & bit and other not in seen:
                seen.add(other)
                came[other] = (current, kind)
                queue.append(other)
    return None


def allocate(stocks: list[Stock], demands: Sequence[Demand], limit: int | None) -> Allocation | None:
    """Form as many complete bundles as the units allow, at most ``limit``; None when not even one is possible.

    ``stocks`` come in the order bundles are filled. Get units are taken first in that order as long as the buy
    components can still be served; buy units then come first from those that cannot serve as get units.
    """
    counts = [stock.count for stock in stocks]
    supplies = _supplies(stocks, counts)
    bundles = _most_bundles(supplies, demands, limit)
    if bundles == 0:
        return None
    needs = [demand.quantity * bundles for demand in demands]
    parts: list[list[Part]] = [[] for _ in demands]
    get_mask = sum([1 << number for number, demand in enumerate(demands) if demand.discounted])
    simple = _is_simple(supplies)
    starts = [stock.start for stock in stocks]
    passes = [
        (get_mask, range(len(stocks))),
        (~get_mask, sorted(range(len(stocks)), key=lambda index: bool(stocks[index].fits & get_mask))),
    ]
    for mask, order in passes:
        for index in order:
            stock = stocks[index]
            for number in range(len(demands)):
                if not stock.fits & mask & 1 << number or needs[number] == 0 or counts[index] == 0:
                    continue
                taken = min(counts[index], needs[number])
                if not simple:
                    taken = _most_units(stocks, counts, needs, index, number, taken)
                if taken:
                    parts[number].append((stock, starts[index], taken))
                    starts[index] += taken
                    counts[index] -= taken
                    needs[number] -= taken
    return Allocation(bundles, demands, parts)


def next_bundle(stocks: list[Stock], demands: Sequence[Demand], limit: int | None) -> tuple[int, list[int]] | None:
    """How many bundles the units make, and the units of each component that the next one lacks; None at ``limit``."""
    supplies = _supplies(stocks, [stock.count for stock in stocks])
    bundles = _most_bundles(supplies, demands, limit)
    if limit is not None and bundles >= limit:
        return None
    needs = [demand.quantity * (bundles + 1) for demand in demands]
    return bundles, _missing(supplies, needs, until_first=False)


def _most_bundles(supplies: dict[int, int], demands: Sequence[Demand], limit: int | None) -> int:
    most = limit
    for number, demand in enumerate(demands):
        fitting = sum([count for kind, count in supplies.items() if kind & 1 << number])
        alone = fitting // demand.quantity
        most = alone if most is None else min(most, alone)
    if not most:
        return 0
    low, high, middle = 0, most, most
    while low < high:
        if _feasible(supplies, [demand.quantity * middle for demand in demands]):
            low = middle
        else:
            high = middle - 1
        middle = (low + high + 1) // 2
    return low


def _most_units(stocks: list[Stock], counts: list[int], needs: list[int], index: int, number: int, wanted: int) -> int:
    """How many units of a stock may serve a component without leaving another component short."""
    low, high = 0, wanted
    middle = high
    while low < high:
        trial_counts = counts.copy()
        trial_counts[index] -= middle
        trial_needs = needs.copy()
        trial_needs[number] -= middle
        if _feasible(_supplies(stocks, trial_counts), trial_needs):
            low = middle
        else:
            high = middle - 1
        middle = (low + high + 1) // 2
    return low


class BundleGroup:
    """``count`` equal bundles. ``parts``: all units of one bundle; ``chosen``: the discounted ones."""

    __slots__ = ("chosen", "count", "parts")

    def __init__(self, count: int, parts: list[Part], chosen: list[Part]) -> None:
        self.count = count
        self.parts = parts
        self.chosen = chosen

    def bearers(self) -> list[Part]:
        """The units of one bundle that can bear a share of its discount."""
        return [part for part in self.parts if not part[0].is_free]

    @staticmethod
    def worth(parts: list[Part], scale: int, *, remaining: bool) -> int:
        """Exact worth of one bundle's units, scaled: original, or what remains."""
        if remaining:
            return sum([each * max(0, stock.worth - stock.taken * scale) for stock, _, each in parts])
        return sum([each * stock.worth for stock, _, each in parts])


def group_bundles(allocation: Allocation, choice: Choice) -> list[BundleGroup]:
    """Fill the bundles one after another from the parts; neighbouring equal ones form one group."""
    demands = allocation.demands
    queues = [list(reversed(parts)) for parts in allocation.parts]
    groups: list[BundleGroup] = []
    made = 0
    while made < allocation.bundles:
        # As many bundles as the first part of every component can serve alone, else one bundle of mixed parts.
        count = min([queue[-1][2] // demand.quantity for queue, demand in zip(queues, demands, strict=True)])
        count = max(1, count)
        parts: list[Part] = []
        gets: list[Part] = []
        for queue, demand in zip(queues, demands, strict=True):
            taken = _take_from(queue, demand.quantity, count)
            parts += taken
            if demand.discounted:
                gets += taken
        groups.append(BundleGroup(count, parts, _chosen_of(gets, choice)))
        made += count
    return groups


def _take_from(queue: list[Part], quantity: int, count: int) -> list[Part]:
    """Take ``quantity`` units for each of ``count`` bundles; mixed parts only when count is 1."""
    if count > 1:
        stock, start, left = queue.pop()
        if left > quantity * count:
            queue.append((stock, start + quantity * count, left - quantity * count))
        return [(stock, start, quantity)]
    taken: list[Part] = []
    wanted = quantity
    while wanted:
        stock, start, left = queue.pop()
        here = min(left, wanted)
        taken.append((stock, start, here))
        wanted -= here
        if left > here:
            queue.append((stock, start + here, left - here))
    return taken


def _chosen_of(gets: list[Part], choice: Choice) -> list[Part]:
    """The discounted units of one bundle: all, or as many as applicationQuantityMode allows."""
    if choice.mode == "ALL":
        return gets
    if choice.mode == "CHEAPEST":
        order = sorted(gets, key=lambda part: (part[0].worth, part[0].position, part[1]))
    elif choice.mode == "MOST_EXPENSIVE":
        order = sorted(gets, key=lambda part: (-part[0].worth, part[0].position, part[1]))
    else:
        order = sorted(gets, key=lambda part: (part[0].position, part[1]))
    wanted = choice.limit
    chosen: list[Part] = []
    for stock, start, each in order:
        here = min(each, wanted)
        if here:
            chosen.append((stock, start, here))
            wanted -= here
    return chosen
