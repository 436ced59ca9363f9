"""Statistics match published values for known samples, and are empty where they are undefined."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pytest

from promenade.store.reports.arms import Sample
from promenade.workflows.reports import intervals
from promenade.workflows.reports.statistics import (
    BeforeAfter,
    Finding,
    chi_squared,
    chi_squared_p_value,
    difference_in_differences,
    gain_over_control,
    gap,
    gap_of_gains,
    is_significant,
    student_p_value,
    student_quantile,
    uplift_percent,
    welch,
)


def sample(values: str) -> Sample:
    """Return a sample of numbers with up to three decimals, in thousandths."""
    whole = [int(Decimal(value) * 1000) for value in values.split()]
    return Sample(len(whole), sum(whole), sum(one * one for one in whole))


def test_welch_test_matches_a_sample_with_unequal_variances() -> None:
    # Wikipedia, "Welch's t-test", the first two examples.
    one = sample("27.5 21.0 19.0 23.6 17.0 17.9 16.9 20.1 21.9 22.6 23.1 19.6 19.0 21.7 21.4")
    other = sample("27.1 22.0 20.8 23.4 23.4 23.5 25.8 22.0 24.8 20.2 21.9 22.1 22.9 20.5 24.4")
    found = welch(one, other)
    assert found is not None
    assert (round(found.statistic, 2), round(found.p_value, 3)) == (-2.46, 0.021)
    assert is_significant(found, Decimal("0.05"))
    assert welch(other, one) == Finding(-found.statistic, found.p_value)
    few = sample("17.2 20.9 22.6 18.1 21.7 21.4 23.5 24.2 14.7 21.8")
    many = sample("21.5 22.8 21.0 23.0 21.6 23.6 22.5 20.7 23.4 21.8 20.7 21.7 21.5 22.5 23.6 21.5 22.5 23.5 21.5 21.8")
    unequal = welch(few, many)
    assert unequal is not None
    assert (round(unequal.statistic, 2), round(unequal.p_value, 2)) == (-1.57, 0.15)
    assert not is_significant(unequal, Decimal("0.05"))
    assert is_significant(unequal, Decimal("0.2"))
    assert is_significant(None, Decimal("0.05")) is None


def test_welch_test_matches_the_published_sleep_data() -> None:
    # Student's sleep data, as R documents them for t.test: t = -1.8608, df = 17.776, p-value = 0.07939.
    one = sample("0.7 -1.6 -0.2 -1.2 -0.1 3.4 3.7 0.8 0.0 2.0")
    other = sample("1.9 0.8 1.1 0.1 -0.1 4.4 5.5 1.6 4.6 3.4")
    found = welch(one, other)
    assert found is not None
    assert (round(found.statistic, 4), round(found.p_value, 5)) == (-1.8608, 0.07939)


def test_chi_squared_test_matches_published_values_without_correction() -> None:
    # Agresti, Categorical Data Analysis: aspirin and heart attacks, 189 of 11034 and 104 of 11037: X2 = 25.01.
    aspirin = chi_squared(189, 11034, 104, 11037)
    assert aspirin is not None
    assert round(aspirin.statistic, 2) == 25.01
    assert aspirin.p_value == pytest.approx(5.69e-07, rel=0.01)
    equal = chi_squared(5, 10, 50, 100)
    assert equal == Finding(0.0, 1.0)


def test_both_tests_match_scipy_to_the_last_digits() -> None:
    from scipy.stats import chi2_contingency, ttest_ind

    left, right = [1250, 990, 1340, 8000, 1020, 15], [980, 1000, 1100, 955, 1007]
    mine = welch(*(Sample(len(one), sum(one), sum(x * x for x in one)) for one in (left, right)))
    theirs = ttest_ind(left, right, equal_var=False)
    assert mine is not None
    assert (mine.statistic, mine.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-12)
    table = chi2_contingency([[40, 160], [70, 150]], correction=False)
    found = chi_squared(40, 200, 70, 220)
    assert found is not None
    assert (found.statistic, found.p_value) == pytest.approx((table.statistic, table.pvalue), rel=1e-12)


def test_difference_in_differences_matches_scipy() -> None:
    from scipy.stats import t as student
    from scipy.stats import tstd, ttest_ind

    old, new = [2010, 1980, 2500, 1700, 2330], [2450, 2600, 2100, 2890, 2700, 2480]
    before, usual = [1000, 1100, 950], [1210, 1000, 1190, 1140]
    arms = [BeforeAfter(*(sample_of(one) for one in pair)) for pair in ((old, new), (before, usual))]
    found = difference_in_differences(*arms)
    parts = [tstd(one) ** 2 / len(one) for one in (old, new, before, usual)]
    means = [sum(one) / len(one) for one in (old, new, before, usual)]
    t = (means[1] - means[0] - (means[3] - means[2])) / math.sqrt(sum(parts))
    sizes = [len(one) - 1 for one in (old, new, before, usual)]
    freedom = sum(parts) ** 2 / sum(part * part / size for part, size in zip(parts, sizes, strict=True))
    assert found is not None
    assert (found.statistic, found.p_value) == pytest.approx((t, 2 * student.sf(abs(t), freedom)), rel=1e-12)
    # Where neither arm varied before, it is Welch's test of what each has gained.
    flat = [BeforeAfter(sample_of([first] * 9), sample_of(then)) for first, then in ((2000, new), (1000, usual))]
    gained = difference_in_differences(*flat)
    theirs = ttest_ind([one - 2000 for one in new], [one - 1000 for one in usual], equal_var=False)
    assert gained is not None
    assert (gained.statistic, gained.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-12)


def sample_of(values: list[int]) -> Sample:
    return Sample(len(values), sum(values), sum(one * one for one in values))


def test_the_gain_over_control_is_exact_and_needs_all_four_samples() -> None:
    first, then = sample("20 22"), sample("30 33")
    assert gain_over_control(BeforeAfter(first, then), BeforeAfter(sample("10 10"), sample("11 13"))) == Fraction(
        850, 23
    )
    assert gain_over_control(BeforeAfter(first, first), BeforeAfter(first, first)) == 0
    assert gain_over_control(BeforeAfter(first, then), BeforeAfter(sample("50"), sample("20"))) is None
    nothing = sample("")
    for one in ((nothing, then, first, then), (first, nothing, first, then), (first, then, nothing, then)):
        arms = BeforeAfter(*one[:2]), BeforeAfter(*one[2:])
        assert (gain_over_control(*arms), difference_in_differences(*arms)) == (None, None)


@pytest.mark.parametrize(
    ("freedom", "exactly"),
    [
        # Closed forms, Abramowitz and Stegun 26.7.3 and 26.7.4.
        (1, lambda t: math.atan2(1, t) * 2 / math.pi),
        (2, lambda t: 2 / (math.sqrt(t * t + 2) * (t + math.sqrt(t * t + 2)))),
        (3, lambda t: 2 / math.pi * (math.atan2(math.sqrt(3), t) - math.sqrt(3) * t / (3 + t * t))),
        (4, lambda t: 1 - t / math.sqrt(4 + t * t) * (1 + 2 / (4 + t * t))),
    ],
)
@pytest.mark.parametrize("t", [1e-9, 0.01, 0.5, 1.0, 1.7, 1.74, 2.0, 5.0, 12.5])
def test_student_has_its_closed_forms(freedom: int, exactly: Callable[[float], float], t: float) -> None:
    assert student_p_value(t, freedom) == pytest.approx(exactly(t), rel=2e-12)
    assert student_p_value(-t, freedom) == student_p_value(t, freedom)


# Table of critical values, two-sided: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
@pytest.mark.parametrize(
    ("freedom", "t", "p_value"),
    [(1, 12.706, 0.05), (5, 2.571, 0.05), (10, 2.228, 0.05), (10, 3.169, 0.01), (30, 2.042, 0.05), (100, 3.174, 0.002)],
)
def test_student_has_the_printed_critical_values(freedom: int, t: float, p_value: float) -> None:
    assert student_p_value(t, freedom) == pytest.approx(p_value, rel=1e-3)


def test_student_distribution_matches_scipy_for_any_degrees() -> None:
    from scipy.special import stdtr

    drawn = random.Random(18)
    for _ in range(4000):
        freedom, t = 10 ** drawn.uniform(-0.3, 10), 10 ** drawn.uniform(-6, 1.5)
        assert student_p_value(t, freedom) == pytest.approx(float(2 * stdtr(freedom, -t)), rel=1e-12), (freedom, t)


def test_student_falls_all_the_way_and_has_no_step_between_its_two_series() -> None:
    for freedom in (0.7, 1.0, 7.5, 80.0, 5e4, 3e8):
        values = [student_p_value(step / 200, freedom) for step in range(4001)]
        assert values[0] == 1.0
        assert all(0 < later < earlier for earlier, later in pairwise(values))
        edge = math.sqrt(3)
        before, after = (student_p_value(edge + side, freedom) for side in (-1e-9, 1e-9))
        assert after == pytest.approx(before, rel=1e-8)


def test_student_ends_where_no_number_is_small_enough() -> None:
    assert student_p_value(1e9, 1e6) == 0.0
    assert student_p_value(1e100, 1) == pytest.approx(2 / math.pi * 1e-100, rel=1e-12)


def test_chi_squared_distribution_of_one_degree_matches_scipy() -> None:
    from scipy.special import chdtrc

    assert chi_squared_p_value(0.0) == 1.0
    for step in range(1, 1200):
        statistic = 10 ** (step / 200 - 4)
        assert chi_squared_p_value(statistic) == pytest.approx(float(chdtrc(1, statistic)), rel=1e-12)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (sample(""), sample("")),
        (sample("1 2"), sample("")),
        (sample("1 2"), sample("3")),
        (sample("5 5 5"), sample("5 5")),
        (sample("5 5 5"), sample("7 7")),
    ],
)
def test_too_few_or_constant_baskets_give_no_test_result(one: Sample, other: Sample) -> None:
    assert welch(one, other) is None
    assert welch(other, one) is None


@pytest.mark.parametrize("table", [(0, 0, 0, 0), (1, 2, 0, 0), (0, 5, 0, 7), (5, 5, 7, 7)])
def test_empty_or_equal_shares_give_no_test_result(table: tuple[int, int, int, int]) -> None:
    assert chi_squared(*table) is None


def test_large_amounts_lose_no_precision() -> None:
    far = 10**15
    near = welch(Sample(3, 6, 14), Sample(3, 12, 56))
    values, others = [far + 1, far + 2, far + 3], [far + 2, far + 4, far + 6]
    assert near is not None
    assert welch(*(Sample(3, sum(one), sum(x * x for x in one)) for one in (values, others))) == near


def test_the_uplift_is_undefined_without_a_positive_base() -> None:
    assert uplift_percent(Fraction(11), Fraction(10)) == 10
    assert uplift_percent(Fraction(11), Fraction(0)) is None
    assert uplift_percent(Fraction(11), Fraction(-1)) is None
    assert uplift_percent(None, Fraction(10)) is None
    assert uplift_percent(Fraction(10), None) is None


# ---- intervals and sizes --------------------------------------------------------------------------------------------


def test_the_quantile_of_student_matches_scipy_for_any_degrees() -> None:
    from scipy.stats import t as student

    drawn = random.Random(7)
    for freedom in [1.0, 1.5, 2.0, 1e12, *(10 ** drawn.uniform(0, 9) for _ in range(500))]:
        exactly = float(student.isf(0.025, freedom))
        assert student_quantile(0.05, freedom) == pytest.approx(exactly, rel=1e-11), freedom


def floats(interval: intervals.Interval | None) -> tuple[float, float]:
    assert interval is not None
    return float(interval[0]), float(interval[1])


def test_intervals_of_means_match_scipy() -> None:
    from scipy.stats import t as student
    from scipy.stats import tsem, ttest_ind

    left, right = [1250, 990, 1340, 8000, 1020, 15], [980, 1000, 1100, 955, 1007]
    mean = sum(left) / len(left)
    theirs = student.interval(0.95, len(left) - 1, loc=mean, scale=tsem(left))
    assert floats(intervals.of_mean(sample_of(left))) == pytest.approx(theirs, rel=1e-11)
    base = sample_of(right).mean
    assert base is not None
    between = ttest_ind(left, right, equal_var=False).confidence_interval(0.95)
    mine = floats(intervals.of_uplift(gap(sample_of(left), sample_of(right)), base))
    assert mine == pytest.approx([float(one) / float(base) * 100 for one in between], rel=1e-11)


def test_the_interval_of_gains_is_that_of_what_was_gained_where_the_past_does_not_vary() -> None:
    from scipy.stats import ttest_ind

    new, usual = [2450, 2600, 2100, 2890, 2700, 2480], [1210, 1000, 1190, 1140]
    flat = [BeforeAfter(sample_of([first] * 9), sample_of(then)) for first, then in ((2000, new), (1000, usual))]
    gains = [one - 2000 for one in new], [one - 1000 for one in usual]
    between = ttest_ind(*gains, equal_var=False).confidence_interval(0.95)
    mine = floats(intervals.of_uplift(gap_of_gains(*flat), Fraction(2000)))
    assert mine == pytest.approx([float(one) / 20 for one in between], rel=1e-11)


def test_intervals_of_rates_match_scipy_and_stay_within_zero_and_all() -> None:
    from scipy.stats import binomtest

    for hits, count in ((1, 4), (40, 200), (0, 7), (9, 9), (3, 100_000)):
        theirs = binomtest(hits, count).proportion_ci(0.95, method="wilson")
        mine = floats(intervals.of_rate(hits, count))
        assert mine == pytest.approx([100 * theirs.low, 100 * theirs.high], rel=1e-9, abs=1e-12)
        assert mine[0] >= 0
        assert mine[1] <= 100
    assert intervals.of_rate(0, 0) is None


def test_no_interval_is_drawn_from_nothing() -> None:
    assert intervals.of_mean(sample("5")) is None
    assert intervals.of_uplift(None, Fraction(1)) is None
    assert intervals.of_uplift(gap(sample("1 2"), sample("-1 1")), Fraction(0)) is None


def power_after(days: float, noise: float, size: float, level: float, past_days: float | None) -> float:
    """Return how likely a trial of so many days is to find a difference, by the normal distribution."""
    from scipy.stats import norm

    error = math.sqrt(noise / days + (0 if past_days is None else noise / past_days))
    return float(norm.sf(norm.isf(level / 2) - size / error))


@pytest.mark.parametrize("level", ["0.05", "0.01"])
@pytest.mark.parametrize("size", [10, 40, 70, 200, 900])
def test_a_trial_of_the_planned_length_has_the_power_of_its_plan(size: int, level: str) -> None:
    noise = 4000
    alone = float(intervals.days_to_tell(Fraction(noise), Fraction(size), Decimal(level), None))
    assert power_after(alone, noise, size, float(level), None) == pytest.approx(0.8, abs=1e-9)
    days = float(intervals.days_to_tell(Fraction(noise), Fraction(size), Decimal(level), 28))
    assert power_after(days, noise, size, float(level), max(28, days)) == pytest.approx(0.8, abs=1e-9)
    assert alone < days <= 2 * alone * (1 + 1e-12)
