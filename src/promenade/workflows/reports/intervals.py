"""How far the truth may be from what was measured, and how many baskets it takes to tell a difference of some size.

Intervals hold the truth in 95 of 100 cases. They are None where the test of the same figures is.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from statistics import NormalDist

from promenade.store.reports.arms import Sample
from promenade.workflows.reports.statistics import Gap, student_quantile

POWER = Decimal("0.8")
"""How likely a trial of the planned size finds a difference of the planned size."""

_DOUBT = 0.05
Interval = tuple[Fraction, Fraction]


def of_mean(values: Sample) -> Interval | None:
    """Student's interval of a mean; None for fewer than two values."""
    if values.mean is None or values.variance is None:
        return None
    return _around(values.mean, values.variance / values.count, values.count - 1)


def of_uplift(found: Gap | None, base: Fraction | None) -> Interval | None:
    """Welch's interval of a difference, in percent of ``base``, which counts as certain.

    None without a gap, or if ``base`` is not positive.
    """
    if found is None or base is None or base <= 0:
        return None
    low, high = _around(found.difference, found.error, found.freedom)
    return low / base * 100, high / base * 100


def _around(middle: Fraction, error: Fraction, freedom: float) -> Interval:
    reach = Fraction(student_quantile(_DOUBT, freedom) * math.sqrt(error))
    return middle - reach, middle + reach


def of_rate(hits: int, count: int) -> Interval | None:
    """Wilson's interval of a rate, in percent; None if there is nothing to count."""
    if not count:
        return None
    square = NormalDist().inv_cdf(1 - _DOUBT / 2) ** 2
    share = hits / count
    middle = share + square / (2 * count)
    reach = math.sqrt(square * (share * (1 - share) / count + square / (4 * count * count)))
    whole = (1 + square / count) / 100
    # What is never, or always, is so at the bound too: rounding would leave a trace below zero.
    low = Fraction(0) if not hits else Fraction((middle - reach) / whole)
    high = Fraction(100) if hits == count else Fraction((middle + reach) / whole)
    return low, high


def days_to_tell(noise: Fraction, difference: Fraction, level: Decimal, past_days_min: int | None) -> Fraction:
    """After how many days a trial tells a difference from chance, with a likelihood of `POWER`.

    ``noise`` is the variance of the difference of both means, times the number of days; ``difference`` is in the same
    unit as the means. ``past_days_min``: the arms are compared with their own past, of as many days as the trial has
    and at least so many; None: with each other alone.
    """
    normal = NormalDist()
    sigmas = normal.inv_cdf(1 - float(level) / 2) + normal.inv_cdf(float(POWER))
    days = noise * Fraction(sigmas) ** 2 / (difference * difference)
    if past_days_min is None:
        return days
    # The past adds noise of its own: as much as the trial from as many days on, before that a fixed amount.
    return 2 * days if 2 * days >= past_days_min else 1 / (1 / days - Fraction(1, past_days_min))
