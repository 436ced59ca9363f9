"""The most that a promotion can give, whatever else applies: the upper bounds of the best deal (section 5).

Other promotions may take units, lower what is left of them, or make it choose different units. None of these lets it
give more than a ceiling says.
"""

from __future__ import annotations

from collections.abc import Sequence

from promenade.engine.benefits.article import ArticleDiscount
from promenade.engine.benefits.bundle import BundleDiscount
from promenade.engine.benefits.choice import Choice
from promenade.engine.benefits.free_item import FreeItem
from promenade.engine.benefits.per_unit import PerUnit
from promenade.engine.benefits.receipt import ReceiptDiscount, ScaledReceiptDiscount
from promenade.engine.benefits.registry import REWARDS_ONLY, Benefit, Terms
from promenade.engine.benefits.tiers import QuantityTierDiscount
from promenade.engine.ledger import Ledger
from promenade.engine.money import limit_minor, rounding_step
from promenade.engine.turn import Shown, Turn

FINE = 10_000
"""Rates are in fractions of a minor unit: so many make one."""

_UNITS_TRIED = 20

Rates = dict[int, int]
"""By position: the most that one unit of the line is discounted, as the average of any number of them, times FINE"""


class Ceiling:
    """``total`` in minor units, the value of gifts included; ``rates`` None: a unit may lose all that is left of it.

    ``capacity``: the most units it discounts, None for any number.
    """

    __slots__ = ("capacity", "rates", "total")

    def __init__(self, total: int, rates: Rates | None, capacity: int | None = None) -> None:
        self.total = total
        self.rates = rates
        self.capacity = capacity


def ceiling_of(benefits: Sequence[Benefit], turn: Turn) -> Ceiling:
    """The ceiling of all benefits of a promotion; ``turn`` is at a fresh ledger, with the lines it may qualify by."""
    worth = turn.ledger.totals
    found: list[Ceiling] = []
    reached: set[int] = set()
    gifts = False
    for benefit in benefits:
        if benefit.stage == REWARDS_ONLY:
            continue
        positions = benefit.targets(turn)
        reached.update(positions)
        gifts = gifts or isinstance(benefit, FreeItem)
        found.append(_ceiling(benefit, turn, positions))
    most = sum([one.total for one in found])
    if not gifts:
        most = min(most, sum([worth[position] for position in reached]))
    if len(found) == 1:
        return Ceiling(most, found[0].rates, found[0].capacity)
    rates: Rates | None = {}
    for one in found:
        if one.rates is None or rates is None:
            rates = None
        else:
            for position, rate in one.rates.items():
                rates[position] = rates.get(position, 0) + rate
    return Ceiling(most, rates)


def _ceiling(benefit: Benefit, turn: Turn, positions: tuple[int, ...]) -> Ceiling:
    ledger = turn.ledger
    if isinstance(benefit, ArticleDiscount):
        rates: Rates = {}
        for position in positions:
            line = turn.view.lines[position]
            discount = benefit.fixed.get(line.article_number)
            if discount is None and line.ean:
                discount = benefit.fixed_by_ean.get(line.ean)
            discount = discount or benefit.discount
            rates[position] = 0 if discount is None else _rate(ledger, discount, position)
        return _of_units(ledger, rates, benefit.choice, benefit.maximum)
    if isinstance(benefit, QuantityTierDiscount):
        return _of_tiers(benefit, turn, positions)
    if isinstance(benefit, ReceiptDiscount):
        total = _of_sum(ledger, positions, benefit.choice, benefit.terms, benefit.shown)
        return Ceiling(_limited(ledger, total, benefit.maximum), None)
    if isinstance(benefit, ScaledReceiptDiscount):
        totals = [_of_sum(ledger, positions, benefit.choice, benefit.terms, shown) for _, shown in benefit.tiers]
        return Ceiling(_limited(ledger, max(totals, default=0), benefit.maximum), None)
    if isinstance(benefit, BundleDiscount):
        return Ceiling(_of_bundles(benefit, turn), None)
    if isinstance(benefit, FreeItem):
        return Ceiling(_of_gifts(benefit, turn, positions), None)
    return Ceiling(sum([ledger.totals[position] for position in positions]), None)


def _rate(ledger: Ledger, discount: PerUnit, position: int) -> int:
    """The most per unit that any number of units of the line gives, rounding included."""
    (want,) = discount.wants(ledger, position, [(0, 1, 0)])
    denominator = ledger.scale * {"PERCENTAGE": 10_000, "UNIT_PRICE": 1000}.get(discount.kind, 1)
    step = 1 if discount.precision is None else rounding_step(discount.precision, ledger.view.exponent)
    units = ledger.units[position]
    if want * units % (denominator * step) == want % (denominator * step) == 0:
        return want * FINE // denominator  # nothing is rounded
    most = 0
    for count in range(1, min(units, _UNITS_TRIED) + 1):
        most = max(most, -(-discount.rounded(ledger, want * count, denominator) * FINE // count))
    if units > _UNITS_TRIED:
        most = max(most, -(-want * FINE // denominator) + -(-step * FINE // _UNITS_TRIED))
    return most


def _of_units(ledger: Ledger, rates: Rates, choice: Choice, maximum: int | None) -> Ceiling:
    units = ledger.units
    capacity = None if choice.mode == "ALL" else choice.limit
    if choice.selection != "ALL":
        one_line = [rate * _least(units[position], capacity) for position, rate in rates.items()]
        total = max(one_line, default=0)
    elif capacity is None:
        total = sum([rate * units[position] for position, rate in rates.items()])
    else:
        total = 0
        room = capacity
        for position in sorted(rates, key=lambda position: -rates[position]):
            here = min(room, units[position])
            total += here * rates[position]
            room -= here
    return Ceiling(_limited(ledger, total // FINE, maximum), rates, capacity)


def _least(units: int, capacity: int | None) -> int:
    return units if capacity is None else min(units, capacity)


def _of_tiers(benefit: QuantityTierDiscount, turn: Turn, positions: tuple[int, ...]) -> Ceiling:
    ledger = turn.ledger
    reached = benefit.quantity_thousandths(turn, positions)
    at_once = 0
    rates: Rates | None = {}
    for needed, discount in benefit.tiers:
        if needed > reached:
            continue
        if discount.kind == "ABSOLUTE":
            at_once = max(at_once, _of_sum(ledger, positions, benefit.choice, benefit.terms, discount.shown))
        elif rates is not None:
            for position in positions:
                rates[position] = max(rates.get(position, 0), _rate(ledger, discount, position))
    per_unit = _of_units(ledger, rates or {}, benefit.choice, benefit.maximum)
    if at_once == 0:
        return per_unit
    return Ceiling(_limited(ledger, max(at_once, per_unit.total), benefit.maximum), None)


def _of_sum(ledger: Ledger, positions: tuple[int, ...], choice: Choice, terms: Terms, shown: Shown) -> int:
    """PERCENTAGE of the dearest units that may be chosen, or the amount; rounded up."""
    kind, value = shown
    if kind == "PERCENTAGE":
        scale = ledger.scale
        worths = ledger.unit_worths
        if choice.mode == "ALL":
            base = sum([max(ledger.totals[position] * scale, worths[position]) for position in positions])
        else:
            base = sum(_dearest(ledger, positions, choice.limit))
        numerator, denominator = base * value, 10_000 * scale
    else:
        numerator, denominator = value * ledger.factor, ledger.scale
    return _up(ledger, terms, numerator, denominator)


def _up(ledger: Ledger, terms: Terms, numerator: int, denominator: int) -> int:
    step = 1 if terms.precision is None else rounding_step(terms.precision, ledger.view.exponent)
    return -(-numerator // (denominator * step)) * step


def _limited(ledger: Ledger, total: int, maximum: int | None) -> int:
    return total if maximum is None else min(total, limit_minor(maximum, ledger.view.exponent))


def _dearest(ledger: Ledger, positions: Sequence[int], most: int) -> list[int]:
    """The worths of the dearest units of these lines, at most so many: one entry for the units of each line."""
    worths = ledger.unit_worths
    found: list[int] = []
    for position in sorted(positions, key=lambda position: -worths[position]):
        here = min(most, ledger.units[position])
        found.append(here * worths[position])
        most -= here
    return found


def _of_bundles(benefit: BundleDiscount, turn: Turn) -> int:
    """The best sum of bundles, as if a unit could serve every component at once."""
    ledger = turn.ledger
    lines = benefit.lines_by_component(turn)
    bundles = min(
        [
            sum([ledger.units[position] for position in positions]) // component.quantity
            for component, positions in zip(benefit.components, lines, strict=True)
        ]
    )
    for limit in (benefit.max_bundles, turn.applications_max):
        bundles = bundles if limit is None else min(bundles, limit)
    kind, value = benefit.shown
    scale = ledger.scale
    discounted = 0  # worth of the units that may be discounted
    everything: list[tuple[Sequence[int], int]] = []
    for component, positions in zip(benefit.components, lines, strict=True):
        everything.append((positions, component.quantity))
        if component.discounted:
            discounted += sum(_dearest(ledger, positions, bundles * component.quantity))
    numerator, denominator = discounted, scale
    if kind == "PERCENTAGE":
        numerator, denominator = discounted * value, scale * 10_000
    elif kind == "ABSOLUTE":
        numerator = min(discounted, bundles * value * ledger.factor)
    else:
        numerator = min(discounted, _above(ledger, everything, bundles, value * ledger.factor))
    return _limited(ledger, _up(ledger, benefit.terms, numerator, denominator), benefit.maximum)


def _above(ledger: Ledger, parts: list[tuple[Sequence[int], int]], bundles: int, price: int) -> int:
    """The most by which the dearest units of some bundles exceed the price of these bundles."""
    most = 0
    for count in {1, bundles, *range(1, min(bundles, _UNITS_TRIED))}:
        worth = sum([sum(_dearest(ledger, positions, count * quantity)) for positions, quantity in parts])
        most = max(most, worth - count * price)
    if bundles > _UNITS_TRIED:
        most = max(most, sum([sum(_dearest(ledger, places, bundles * quantity)) for places, quantity in parts]) - price)
    return most


def _of_gifts(benefit: FreeItem, turn: Turn, positions: tuple[int, ...]) -> int:
    ledger = turn.ledger
    units = benefit.most_units(turn)
    dearest = max([ledger.unit_worths[position] for position in positions], default=0)
    return units * max(-(-dearest // ledger.scale), benefit.grant_price_minor(turn))
