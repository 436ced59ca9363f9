"""Statistics of baskets, from their exact sums: averages, Welch's t-test, Pearson's chi-squared test, uplifts.

A statistic is None if there are too few values, or if all values are the same. Sums are exact integers, however many
values they add up; only the statistics themselves are floating-point numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from promenade.store.reports.arms import Sample


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a test."""

    statistic: float
    p_value: float


def is_significant(test: Finding | None, level: Decimal) -> bool | None:
    """Whether the p-value is below the level of significance; None without a test."""
    return None if test is None else test.p_value < level


def welch(one: Sample, other: Sample) -> Finding | None:
    """Welch's t-test, two-sided; t is positive if the mean of ``one`` is greater.

    None if either has fewer than two values, or neither varies.
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
    return Finding(t, student_p_value(t, float(freedom)))


def chi_squared(hits: int, count: int, other_hits: int, other_count: int) -> Finding | None:
    """Pearson's chi-squared test of two proportions, without correction, one degree of freedom.

    None if either count is zero, or if all or none are hits.
    """
    misses, other_misses = count - hits, other_count - other_hits
    margins = count * other_count * (hits + other_hits) * (misses + other_misses)
    if not margins:
        return None
    cross = hits * other_misses - misses * other_hits
    statistic = float(Fraction((count + other_count) * cross * cross, margins))
    return Finding(statistic, chi_squared_p_value(statistic))


def uplift_percent(now: Fraction | None, before: Fraction | None) -> Fraction | None:
    """The increase of ``now`` over ``before`` in percent; None if either is missing or ``before`` is not positive."""
    if now is None or before is None or before <= 0:
        return None
    return (now - before) / before * 100


# ---- distributions: p-values to some twelve digits -------------------------------------------------------------------


def chi_squared_p_value(statistic: float) -> float:
    """The probability of ``statistic`` (zero or above) or more under chi-squared with one degree of freedom."""
    return math.erfc(math.sqrt(statistic / 2))


def student_p_value(t: float, freedom: float) -> float:
    """The two-sided probability of ``abs(t)`` or more under Student's t-distribution; ``freedom`` is above zero.

    It is the regularised incomplete beta function of x = freedom / (freedom + t^2) at (freedom / 2, 1/2).
    """
    if not t:
        return 1.0
    a, square = freedom / 2, t * t
    x, y = freedom / (freedom + square), square / (freedom + square)
    # x^a * y^(1/2) / B(a, 1/2). log1p: for many degrees of freedom x is so close to 1 that log(x) would lose digits.
    scale = math.exp(_log_gamma_step(a) - a * math.log1p(square / freedom)) * math.sqrt(y / math.pi)
    if square > 3:
        return min(1.0, scale * _tail(a, x, y, (a * square - freedom / 2) / (freedom + square)))
    return 1.0 - scale * _middle(a, y)


def _log_gamma_step(a: float) -> float:
    """log(gamma(a + 1/2) / gamma(a)). Uses the asymptotic series for a large ``a``, to avoid cancellation."""
    if a < 25:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    square = 1 / (a * a)
    series = -1 / 8 + square * (1 / 192 + square * (-1 / 640 + square * (17 / 14336 - square * 31 / 18432)))
    return 0.5 * math.log(a) + series / a


def _middle(a: float, y: float) -> float:
    """The power series of the incomplete beta function of ``y`` at (1/2, a), divided by x^a * y^(1/2) / B(a, 1/2)."""
    term = total = 2.0
    n = 0
    while term > total * 1e-17:
        term *= (a + 0.5 + n) / (1.5 + n) * y
        total += term
        n += 1
    return total


def _tail(a: float, x: float, y: float, ahead: float) -> float:
    """The incomplete beta function of ``x`` at (a, 1/2), divided by x^a * y^(1/2) / B(a, 1/2).

    ``ahead`` is a - (a + 1/2) * x. Uses the continued fraction of Didonato and Morris, ACM TOMS algorithm 708 (BFRAC):
    no step of it subtracts nearly equal numbers.
    """
    c, c1 = 1.0 + ahead, 1.0 + 1.0 / a
    p, s = 1.0, a + 1.0
    above, below = (0.0, 1.0), (1.0, c / c1)
    value, n = c1 / c, 0
    while True:
        n += 1
        t, w, e = n / a, n * (0.5 - n) * x, a / s
        alpha = p * (p + 0.5 / a) * e * e * (w * x)
        beta = n + w / s + (1.0 + t) / (c1 + t + t) * (c + n * (1.0 + y))
        p, s = 1.0 + t, s + 2.0
        above = (above[1], alpha * above[0] + beta * above[1])
        below = (below[1], alpha * below[0] + beta * below[1])
        last, value = value, above[1] / below[1]
        if abs(value - last) <= 1e-15 * value:
            return value
        above = (above[0] / below[1], value)  # scaled, otherwise both would overflow a float
        below = (below[0] / below[1], 1.0)
