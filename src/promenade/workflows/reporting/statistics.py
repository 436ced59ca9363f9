"""Statistics of baskets, from their exact sums: averages, Welch's t-test, Pearson's chi-squared test, uplifts.

What cannot be told of too few values, or of values that are all the same, is None. Sums are whole numbers and exact,
however many values they are of; only the statistics themselves are floating-point numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import Any

__all__ = ["SIGNIFICANCE", "Finding", "Sample", "chi_squared", "load", "uplift_percent", "welch"]

SIGNIFICANCE = 0.05


@cache
def load() -> Any:
    """What the distributions are computed with. It takes a while to load: beside tills it is to be done in a thread."""
    return import_module("scipy.special")


@dataclass(frozen=True, slots=True)
class Sample:
    """``count`` whole numbers, of which the sum is ``total`` and the sum of the squares ``squares``."""

    count: int = 0
    total: int = 0
    squares: int = 0

    def plus(self, other: Sample) -> Sample:
        """Both together."""
        return Sample(self.count + other.count, self.total + other.total, self.squares + other.squares)

    @property
    def mean(self) -> Fraction | None:
        """None of no values."""
        return Fraction(self.total, self.count) if self.count else None

    @property
    def variance(self) -> Fraction | None:
        """Of a sample: the squared deviations by one less than the count. None of fewer than two values."""
        if self.count < 2:
            return None
        return Fraction(self.count * self.squares - self.total * self.total, self.count * (self.count - 1))


@dataclass(frozen=True, slots=True)
class Finding:
    """What a test came to."""

    statistic: float
    p_value: float

    @property
    def is_significant(self) -> bool:
        """At 5 percent."""
        return self.p_value < SIGNIFICANCE


def welch(one: Sample, other: Sample) -> Finding | None:
    """Welch's t-test, two-sided; t is above zero where the mean of ``one`` is.

    None where either has fewer than two values, or neither varies.
    """
    if one.mean is None or other.mean is None or one.variance is None or other.variance is None:
        return None
    of_one, of_other = one.variance / one.count, other.variance / other.count
    error = of_one + of_other
    if not error:
        return None
    difference = one.mean - other.mean
    t = math.copysign(math.sqrt(difference * difference / error), difference)
    freedom = error * error / (of_one * of_one / (one.count - 1) + of_other * of_other / (other.count - 1))
    return Finding(t, min(1.0, 2 * float(load().stdtr(float(freedom), -abs(t)))))


def chi_squared(hits: int, count: int, other_hits: int, other_count: int) -> Finding | None:
    """Pearson's chi-squared test of two shares, without correction, one degree of freedom.

    None where either is a share of nothing, or where all are hits, or none.
    """
    misses, other_misses = count - hits, other_count - other_hits
    margins = count * other_count * (hits + other_hits) * (misses + other_misses)
    if not margins:
        return None
    cross = hits * other_misses - misses * other_hits
    statistic = float(Fraction((count + other_count) * cross * cross, margins))
    return Finding(statistic, float(load().chdtrc(1, statistic)))


def uplift_percent(now: Fraction | None, before: Fraction | None) -> Fraction | None:
    """By how many percent ``now`` is above ``before``; None where either is missing or the latter is not above 0."""
    if now is None or before is None or before <= 0:
        return None
    return (now - before) / before * 100
