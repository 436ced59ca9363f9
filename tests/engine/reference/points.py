"""What each kind of loyalty action does to the points (section 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from promenade.engine.definition import LoyaltyRow
from tests.engine.reference.sale import Sale

More = Callable[[Sale, LoyaltyRow, Fraction, int], int]
"""The points that an action adds: to the points so far, for lines with this amount left to pay."""


@dataclass(frozen=True)
class Known:
    """A loyalty action type: the points it adds, and rows of it for random sales."""

    more: More
    made_up: tuple[dict[str, Any], ...]


def stated(row: LoyaltyRow) -> Fraction:
    return Fraction(row.points_hundredths or 0, 100)


def multiplied(sale: Sale, row: LoyaltyRow, left: Fraction, points: int) -> int:
    return floor(points * Fraction(row.multiplier_thousandths or 1000, 1000)) - points


def for_money(sale: Sale, row: LoyaltyRow, left: Fraction, points: int) -> int:
    step = sale.minor(row.currency_amount_hundredths or 0)
    return floor(stated(row) * (left // step)) if step else 0


STATED = tuple({"points_hundredths": points} for points in (100, 150, 1000))

REWARDS: dict[str, Known] = {
    "ADD_FIXED": Known(lambda sale, row, left, points: floor(stated(row)), STATED),
    "MULTIPLY_POINTS": Known(multiplied, ({"multiplier_thousandths": 2000}, {"multiplier_thousandths": 1500})),
    "CURRENCY_TO_POINTS": Known(
        for_money, tuple({**row, "currency_amount_hundredths": amount} for row in STATED for amount in (100, 250))
    ),
    "SUBTRACT_POINTS": Known(lambda sale, row, left, points: -floor(stated(row)), STATED),
}


def rewarded(sale: Sale, row: LoyaltyRow, left: Fraction, points: int) -> int:
    """Return the points after the action; never below zero, adding at most maxPoints."""
    more = REWARDS[row.action_type].more(sale, row, left, points)
    if row.max_points_hundredths is not None and row.action_type != "SUBTRACT_POINTS":
        more = min(more, row.max_points_hundredths // 100)
    return max(0, points + more)
