"""Statistics of baskets, from their exact sums: averages, t-tests, Pearson's chi-squared test, uplifts.

A statistic is None if there are too few values, or if all values are the same. Sums are exact integers, however many
values they add up; only the statistics themselves are floating-point numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist

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
    return tested(gap(one, other))


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    """The baskets of an arm before and during a trial."""

    before: Sample
    during: Sample


def difference_in_differences(treated: BeforeAfter, control: BeforeAfter) -> Finding | None:
    """Test whether the mean of one arm has changed by more than that of the other: Welch's test of four samples.

    t is positive if the treated arm gained more. None if any sample has fewer than two values, or none varies.
    """
    return tested(gap_of_gains(treated, control))


def gain_over_control(treated: BeforeAfter, control: BeforeAfter) -> Fraction | None:
    """By how many percent the treated arm's mean is above what it would be if it had changed as the control arm's has.

    None if a sample is empty, or the expected mean is not positive.
    """
    return uplift_percent(treated.during.mean, expected_mean(treated, control))


def expected_mean(treated: BeforeAfter, control: BeforeAfter) -> Fraction | None:
    """The treated arm's mean if it had changed as the control arm's has; None if a sample of these is empty."""
    means = (treated.before.mean, control.during.mean, control.before.mean)
    if any(mean is None for mean in means):
        return None
    before, usual, usual_before = (mean or Fraction(0) for mean in means)
    return before + usual - usual_before


@dataclass(frozen=True, slots=True)
class Gap:
    """A difference of means. ``error`` is the variance of it; degrees of freedom as of Welch and Satterthwaite."""

    difference: Fraction
    error: Fraction
    freedom: float


def gap(one: Sample, other: Sample) -> Gap | None:
    """By how much the mean of ``one`` is above that of ``other``; None: fewer than two values, or none varies."""
    return _gap((one,), (other,))


def gap_of_gains(treated: BeforeAfter, control: BeforeAfter) -> Gap | None:
    """By how much more the mean of one arm has grown than that of the other; None as of a `gap`."""
    return _gap((treated.during, control.before), (treated.before, control.during))


def _gap(plus: Sequence[Sample], minus: Sequence[Sample]) -> Gap | None:
    difference = error = parts = Fraction(0)
    for sign, one in (*((1, one) for one in plus), *((-1, one) for one in minus)):
        if one.mean is None or one.variance is None:
            return None
        of_mean = one.variance / one.count
        difference += sign * one.mean
        error += of_mean
        parts += of_mean * of_mean / (one.count - 1)
    return Gap(difference, error, float(error * error / parts)) if error else None


def tested(found: Gap | None) -> Finding | None:
    """Test whether a gap differs from zero; variances may differ."""
    if found is None:
        return None
    difference = found.difference
    t = math.copysign(math.sqrt(difference * difference / found.error), difference)
    return Finding(t, student_p_value(t, found.freedom))


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


def student_quantile(p_value: float, freedom: float) -> float:
    """The t of which `student_p_value` is ``p_value``, at most 0.05; ``freedom`` is at least one.

    Newton's method: the p-value falls ever more slowly in t, so that each step from the left stays left of the goal.
    """
    a = freedom / 2
    peak = math.exp(_log_gamma_step(a)) / math.sqrt(math.pi * freedom)
    t, last = NormalDist().inv_cdf(1 - p_value / 2), 0.0
    while t - last > 1e-13 * t:
        last = t
        density = 2 * peak * math.exp(-(a + 0.5) * math.log1p(t * t / freedom))
        t += (student_p_value(t, freedom) - p_value) / density
    return t


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
