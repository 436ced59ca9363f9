"""Which exclusive offer should have which units: a good start for the best deal, and an upper bound of it (section 5).

Where every unit goes to one offer, and an offer gives the same for each unit of a line, the best assignment is a
transportation problem, solved exactly. Bundles are placed one after the other by what their units are worth to the
rest. Values are in minor units times FINE; the real price of the result is for a pass to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement, permutations
from math import comb

Weights = Mapping[int, int]
"""By line: what one unit gives"""

Costs = Mapping[int, Sequence[tuple[int, int]]]
"""By line: (what each of some units gives where it is, how many), ascending"""

_SETS_MAX = 60  # sets of units that are compared for one bundle of a fixed discount
_ROUNDS = 3
_STARTS = 4
_TIMES_MAX = 4  # bundles of one promotion that are placed one by one


class Offer:
    """What one promotion gives per unit of each line, at most ``capacity`` units (None: any number)."""

    __slots__ = ("capacity", "weights")

    def __init__(self, weights: Weights, capacity: int | None) -> None:
        self.weights = weights
        self.capacity = capacity


class BundleOffer:
    """Sets of ``quantity`` units, at most ``times``, whose weights together exceed ``price`` (0: no price)."""

    __slots__ = ("most", "price", "quantity", "times", "weights")

    def __init__(self, weights: Weights, quantity: int, times: int, price: int, most: int | None) -> None:
        self.weights = weights
        self.quantity = quantity
        self.times = times
        self.price = price
        self.most = most  # of one bundle

    def value(self, units: Weights) -> int:
        """What one bundle of so many units of each line gives."""
        worth = sum([self.weights[line] * count for line, count in units.items()]) - self.price
        return max(0, worth if self.most is None else min(worth, self.most))

    def as_offer(self) -> Offer:
        """An offer that gives at least as much for any units: each has its part of the price, or of the most."""
        weights = {line: weight - self.price // self.quantity for line, weight in self.weights.items()}
        if self.most is not None:
            part = -(-self.most // self.quantity)
            weights = dict.fromkeys(weights, part)
        return Offer({line: weight for line, weight in weights.items() if weight > 0}, self.quantity * self.times)


class Assignment:
    """``value`` in all; ``flows``: units of each offer by line; ``costs``: what losing units would cost the offers."""

    __slots__ = ("costs", "flows", "value")

    def __init__(self, value: int, flows: list[dict[int, int]], costs: Costs) -> None:
        self.value = value
        self.flows = flows
        self.costs = costs


def assign(offers: Sequence[Offer], units: Mapping[int, int]) -> Assignment:
    """The best assignment of ``units`` (by line): the best path for one more unit, until none gives more."""
    flows: list[dict[int, int]] = [{} for _ in offers]
    spare = [sum(units.values()) if offer.capacity is None else offer.capacity for offer in offers]
    left = dict(units)
    value = 0
    while True:
        gains, came, released = _paths(offers, flows, spare)
        best = max([(gain, -line) for line, gain in gains.items() if left[line] > 0], default=(0, 0))
        if best[0] <= 0:
            return Assignment(value, flows, _costs(offers, flows, left))
        line = -best[1]
        steps: list[tuple[int, int, int | None]] = []  # (offer, line that it gets, line that it gives back)
        at: int | None = line
        width = left[line]
        while at is not None:
            offer = came[at]
            back = released.get(offer)
            steps.append((offer, at, back))
            width = min(width, spare[offer] if back is None else flows[offer][back])
            at = back
        for offer, got, back in steps:
            flows[offer][got] = flows[offer].get(got, 0) + width
            if back is None:
                spare[offer] -= width
            else:
                flows[offer][back] -= width
        left[line] -= width
        value += best[0] * width


def _costs(offers: Sequence[Offer], flows: Sequence[Mapping[int, int]], spare: Mapping[int, int]) -> Costs:
    """What it costs to take units away: nothing where they are spare, else their weight less what replaces them."""
    costs: dict[int, list[tuple[int, int]]] = {line: [(0, count)] for line, count in spare.items() if count > 0}
    for offer, flow in zip(offers, flows, strict=True):
        instead = max([weight for line, weight in offer.weights.items() if spare[line] > 0], default=0)
        for line, count in flow.items():
            if count > 0:
                costs.setdefault(line, []).append((max(0, offer.weights[line] - instead), count))
    return {line: sorted(runs) for line, runs in costs.items()}


def _paths(
    offers: Sequence[Offer], flows: Sequence[Mapping[int, int]], spare: Sequence[int]
) -> tuple[dict[int, int], dict[int, int], dict[int, int]]:
    """The most that one more unit of each line gives, by which offer, and which line's unit that one gives back."""
    gains: dict[int, int] = {}
    came: dict[int, int] = {}
    released: dict[int, int] = {}
    reached: dict[int, int] = {number: 0 for number in range(len(offers)) if spare[number] > 0}
    holders: dict[int, list[int]] = {}
    for number, flow in enumerate(flows):
        for line, count in flow.items():
            if count > 0:
                holders.setdefault(line, []).append(number)
    waiting = list(reached)
    while waiting:
        improved: dict[int, None] = {}
        for number in waiting:
            base = reached[number]
            for line, weight in offers[number].weights.items():
                if base + weight > gains.get(line, 0):
                    gains[line] = base + weight
                    came[line] = number
                    improved[line] = None
        waiting_next: dict[int, None] = {}
        for line in improved:
            for number in holders.get(line, ()):
                gain = gains[line] - offers[number].weights[line]
                if number != came[line] and (number not in reached or gain > reached[number]):
                    reached[number] = gain
                    released[number] = line
                    waiting_next[number] = None
        waiting = list(waiting_next)
    return gains, came, released


Sets = list[dict[int, int]]
"""The units of the bundles of one offer, by line"""


def place_bundles(
    offers: Sequence[Offer], bundles: Sequence[BundleOffer], units: Mapping[int, int]
) -> tuple[Assignment, list[Sets]]:
    """The units of every bundle, and the assignment of the rest: the best of some starts."""
    singly = [bundle.as_offer() for bundle in bundles]
    relaxed = assign([*offers, *singly], units).flows[len(offers) :]
    best: _Placement | None = None
    for start in range(_STARTS):
        found = _Placement(offers, bundles, units)
        if start == 0:
            found.begin(relaxed)
        elif start > 1:
            found.foresee(singly, range(len(bundles))[:: 1 if start == 2 else -1])
        found.settle()
        found.exchange()
        if best is None or found.value > best.value:
            best = found
        if len(bundles) == 0:
            break
    return (found.rest, found.placed) if best is None else (best.rest, best.placed)


class _Placement:
    """Bundles with their units, and the best assignment of the rest; ``value`` of all together."""

    def __init__(self, offers: Sequence[Offer], bundles: Sequence[BundleOffer], units: Mapping[int, int]) -> None:
        self._offers = offers
        self._bundles = bundles
        self._left = dict(units)
        self.placed: list[Sets] = [[] for _ in bundles]
        self.rest = assign(offers, self._left)
        self.value = self.rest.value

    def begin(self, flows: Sequence[Mapping[int, int]]) -> None:
        """Form whole bundles of the units that an assignment of single units gave them."""
        for bundle, flow, sets in zip(self._bundles, flows, self.placed, strict=True):
            left = dict(flow)
            while len(sets) < bundle.times:
                units = _first_units(bundle, [(-bundle.weights[line], line, count) for line, count in left.items()])
                if units is None or bundle.value(units) == 0:
                    break
                _shift(left, units, -1)
                _shift(self._left, units, -1)
                sets.append(units)
        self._value_anew()

    def foresee(self, singly: Sequence[Offer], order: Sequence[int]) -> None:
        """Place the bundles in this order, as if those still to come could be had unit by unit."""
        for turn, number in enumerate(order):
            bundle, sets = self._bundles[number], self.placed[number]
            offers = [*self._offers, *[singly[later] for later in order[turn + 1 :]]]
            for _ in range(min(_TIMES_MAX, bundle.times)):
                without = assign(offers, self._left)
                units = _cheapest(bundle, without.costs)
                if units is None:
                    break
                _shift(self._left, units, -1)
                if assign(offers, self._left).value + bundle.value(units) <= without.value:
                    _shift(self._left, units, 1)
                    break
                sets.append(units)
        self._value_anew()

    def _value_anew(self) -> None:
        self.rest = assign(self._offers, self._left)
        bundled = zip(self._bundles, self.placed, strict=True)
        self.value = self.rest.value + sum([bundle.value(units) for bundle, sets in bundled for units in sets])

    def settle(self) -> None:
        """Place every bundle anew, one after the other, until that gives no more."""
        for _ in range(_ROUNDS):
            before = self.value
            for number in range(len(self._bundles)):
                for slot in range(min(_TIMES_MAX, self._bundles[number].times)):
                    self._place(number, slot)
            if self.value == before:
                return

    def _saved(self) -> tuple[dict[int, int], list[Sets], Assignment, int]:
        return dict(self._left), [list(sets) for sets in self.placed], self.rest, self.value

    def _keep_if_better(self, saved: tuple[dict[int, int], list[Sets], Assignment, int]) -> None:
        if self.value <= saved[3]:
            self._left, self.placed, self.rest, self.value = saved

    def _place(self, number: int, slot: int) -> None:
        bundle, sets = self._bundles[number], self.placed[number]
        if slot > len(sets) or slot >= min(_TIMES_MAX, bundle.times):
            return
        old = sets[slot] if slot < len(sets) else None
        if old is not None:
            self._take_back(number, slot)
        value = self.value
        new = _cheapest(bundle, self.rest.costs)
        if new is not None:
            self._put(number, slot, new)
            if self.value > value:
                value = self.value
            else:
                self._take_back(number, slot)
                new = None
        if old is not None and old != new:
            if new is not None:
                self._take_back(number, slot)
            self._put(number, slot, old)
            if self.value < value:
                self._take_back(number, slot)
                if new is not None:
                    self._put(number, slot, new)

    def _put(self, number: int, slot: int, units: dict[int, int]) -> None:
        _shift(self._left, units, -1)
        self.placed[number].insert(slot, units)
        self._value_anew()

    def _take_back(self, number: int, slot: int) -> None:
        _shift(self._left, self.placed[number].pop(slot), 1)
        self._value_anew()

    def exchange(self) -> None:
        """Take two bundles back and place others first in their stead, for as long as that gives more."""
        for one, other in permutations(range(len(self._bundles)), 2):
            if not self.placed[one]:
                continue
            saved = self._saved()
            self._take_back(one, len(self.placed[one]) - 1)
            if self.placed[other]:
                self._take_back(other, len(self.placed[other]) - 1)
            self._place(other, len(self.placed[other]))
            self._place(one, len(self.placed[one]))
            self._place(other, len(self.placed[other]))
            self._keep_if_better(saved)


def _shift(left: dict[int, int], units: Mapping[int, int], by: int) -> None:
    for line, count in units.items():
        left[line] += by * count


def _cheapest(bundle: BundleOffer, costs: Costs) -> dict[int, int] | None:
    """The units of one more bundle that give most beyond what they cost the others."""
    runs = [(cost, line, count) for line in bundle.weights for cost, count in costs.get(line, ())]
    if bundle.most is None:
        return _first_units(bundle, [(cost - bundle.weights[line], line, count) for cost, line, count in runs])
    lines = [line for line in bundle.weights if line in costs]
    if comb(len(lines) + bundle.quantity - 1, bundle.quantity) > _SETS_MAX:
        return _first_units(bundle, runs)
    best: tuple[int, dict[int, int] | None] = (-1, None)
    for chosen in combinations_with_replacement(lines, bundle.quantity):
        units = dict(Counter(chosen))
        cost = [_cost_of(costs[line], count) for line, count in units.items()]
        if None not in cost:
            best = max(best, (bundle.value(units) - sum([one or 0 for one in cost]), units), key=_gain)
    return best[1]


def _cost_of(runs: Sequence[tuple[int, int]], count: int) -> int | None:
    """What the first units of a line cost; None if there are not so many."""
    found = 0
    for cost, here in runs:
        found += cost * min(here, count)
        count -= min(here, count)
    return None if count else found


def _gain(found: tuple[int, dict[int, int] | None]) -> int:
    return found[0]


def _first_units(bundle: BundleOffer, runs: list[tuple[int, int, int]]) -> dict[int, int] | None:
    chosen: dict[int, int] = {}
    wanted = bundle.quantity
    for _, line, count in sorted(runs):
        here = min(wanted, count)
        if here > 0:
            chosen[line] = chosen.get(line, 0) + here
            wanted -= here
    return None if wanted else chosen
