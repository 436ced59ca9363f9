"""A slow, obviously correct pricing of plain promotions, to compare the engine with.

It covers only PERCENTAGE and ABSOLUTE on all units of named articles or on the receipt, exclusivity NONE, no
conditions, ADDITIVE or MULTIPLICATIVE, half up. It calculates with fractions and shares nothing with the engine but its
values.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor

from promenade.engine.basket import Basket
from promenade.engine.definition import ActionRow, PromotionDefinition

EXPONENTS = {"EUR": 2, "JPY": 0, "KWD": 3}


def half_up(value: Fraction) -> int:
    """Round to the nearest integer, halves away from zero (values here are never negative)."""
    return floor(value + Fraction(1, 2))


def naive_discounts(definitions: list[PromotionDefinition], basket: Basket) -> list[int] | None:
    """Return the discount of every line in minor units; promotions apply in the order given.

    None where some units of a line are free before others are, so few is left of it: it knows no units.
    """
    unit = 10 ** EXPONENTS[basket.pos_group.currency]
    totals = [
        half_up(Fraction(line.unit_price_hundredths * line.quantity_thousandths * unit, 100_000))
        if line.quantity_thousandths > 0
        else 0
        for line in basket.lines
    ]
    left = list(totals)
    for definition in definitions:
        (action,) = definition.actions
        if action.action_type == "RECEIPT":
            _receipt(definition, action, totals, left, unit)
        else:
            _article(definition, action, basket, left, unit)
        units = [line.quantity_thousandths // 1000 for line in basket.lines]
        if any(0 < rest < count for rest, count in zip(left, units, strict=True)):
            return None
    return [total - rest for total, rest in zip(totals, left, strict=True)]


def _article(definition: PromotionDefinition, action: ActionRow, basket: Basket, left: list[int], unit: int) -> None:
    assert action.discount_value_hundredths is not None
    value = Fraction(action.discount_value_hundredths, 100)
    for place, line in enumerate(basket.lines):
        if line.article_number != action.target_article_number or line.quantity_thousandths <= 0:
            continue
        if action.discount_type == "PERCENTAGE":
            # Prices have no fraction of a minor unit in this oracle's baskets.
            exact = Fraction(line.unit_price_hundredths * line.quantity_thousandths * unit, 100_000)
            base = exact if definition.calculation_mode == "ADDITIVE" else Fraction(left[place])
            wanted = half_up(base * value / 100)
        else:
            wanted = half_up(value * unit * (line.quantity_thousandths // 1000))
        left[place] -= min(wanted, left[place])


def _receipt(definition: PromotionDefinition, action: ActionRow, totals: list[int], left: list[int], unit: int) -> None:
    assert action.discount_value_hundredths is not None
    value = Fraction(action.discount_value_hundredths, 100)
    # Lines of which nothing is left count for no sum.
    additive = [total if rest else 0 for total, rest in zip(totals, left, strict=True)]
    bases = additive if definition.calculation_mode == "ADDITIVE" else list(left)
    wanted = half_up(sum(bases) * value / 100 if action.discount_type == "PERCENTAGE" else value * unit)
    rest = min(wanted, sum(left))
    taken = [0] * len(left)
    places = [place for place in range(len(left)) if bases[place] and left[place]]
    while rest:
        # A line with no room for its share is filled first, and the others share the rest anew.
        weight = sum(bases[place] for place in places)
        full = [place for place in places if Fraction(rest * bases[place], weight) >= left[place] - taken[place]]
        if not full:
            break
        for place in full:
            part = min(left[place] - taken[place], rest)
            taken[place] += part
            rest -= part
        places = [place for place in places if place not in full]
    if rest:
        weight = sum(bases[place] for place in places)
        shares = {place: Fraction(rest * bases[place], weight) for place in places}
        for place in places:
            taken[place] += floor(shares[place])
        odd = rest - sum(floor(share) for share in shares.values())
        for place in sorted(places, key=lambda place: (-(shares[place] - floor(shares[place])), place))[:odd]:
            taken[place] += 1
    for place, part in enumerate(taken):
        left[place] -= part
