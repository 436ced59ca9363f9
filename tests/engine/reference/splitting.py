"""Rounding a discount and splitting it into whole minor units (section 7)."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from promenade.engine.definition import PromotionDefinition
from tests.engine.reference.sale import half_up


def rounded(promotion: PromotionDefinition, exact: Fraction, exponent: int) -> int:
    """Round the discount to whole minor units by the promotion's rounding mode."""
    precision = exponent if promotion.precision is None else min(promotion.precision, exponent)
    if promotion.rounding == "NONE":
        return half_up(exact)
    step: int = 10 ** (exponent - precision)
    steps = exact / step
    if promotion.rounding == "ROUND_DOWN":
        return floor(steps) * step
    return (ceil(steps) if promotion.rounding == "ROUND_UP" else half_up(steps)) * step


def split(mode: str, total: int, bases: list[Fraction], rooms: list[int], prices: list[Fraction]) -> list[int]:
    """Split ``total`` into whole parts, none above its room; ``total`` is at most the sum of the rooms."""
    if mode == "HIGHEST_FIRST":
        return highest_first(total, rooms, prices)
    if mode == "EQUAL":
        return proportional(total, [Fraction(1)] * len(rooms), rooms, odd_to_first=True)
    return proportional(total, bases, rooms)


def highest_first(total: int, rooms: list[int], prices: list[Fraction]) -> list[int]:
    parts = [0] * len(rooms)
    for index in sorted(range(len(rooms)), key=lambda each: (-prices[each], each)):
        parts[index] = min(rooms[index], total)
        total -= parts[index]
    return parts


def proportional(total: int, bases: list[Fraction], rooms: list[int], *, odd_to_first: bool = False) -> list[int]:
    """Split by the bases; excess over a room goes to the others by theirs; odd minor units by largest remainder."""
    parts = [0] * len(rooms)
    open_ones = [index for index in range(len(rooms)) if rooms[index] > 0]
    while open_ones:
        weight = sum((bases[index] for index in open_ones), Fraction(0))
        if weight == 0:
            return parts
        exact = {index: total * bases[index] / weight for index in open_ones}
        full = [index for index in open_ones if exact[index] > rooms[index]]
        if not full:
            break
        for index in full:
            parts[index] = rooms[index]
            total -= rooms[index]
            open_ones.remove(index)
    if not open_ones:
        return parts
    for index in open_ones:
        parts[index] = floor(exact[index])
    odd = total - sum(parts[index] for index in open_ones)
    by_remainder = sorted(open_ones, key=lambda index: (0 if odd_to_first else parts[index] - exact[index], index))
    for index in by_remainder:
        if odd > 0 and parts[index] < rooms[index]:
            parts[index] += 1
            odd -= 1
    return parts
