"""Rounding and splitting, compared with exact fractions and checked for their invariants (sections 1 and 7)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promenade.engine.money import (
    decimal_text,
    divide,
    line_total_minor,
    minor_digits,
    minor_from_hundredths,
    rounding_step,
    split,
    split_equal,
    split_highest_first,
    split_proportional,
    threshold_minor,
)


@pytest.mark.parametrize(
    ("currency", "digits"),
    [("EUR", 2), ("USD", 2), ("JPY", 0), ("KRW", 0), ("KWD", 3), ("TND", 3), ("CLF", 4), ("XAU", 0), ("???", 2)],
)
def test_minor_units_are_those_of_iso_4217(currency: str, digits: int) -> None:
    assert minor_digits(currency) == digits


@pytest.mark.parametrize(
    ("numerator", "half_up", "down", "up"),
    [(10, 1, 1, 1), (14, 1, 1, 2), (15, 2, 1, 2), (16, 2, 1, 2), (-14, -1, -1, -2), (-15, -2, -1, -2), (0, 0, 0, 0)],
)
def test_rounding_is_symmetric_about_zero(numerator: int, half_up: int, down: int, up: int) -> None:
    assert divide(numerator, 10) == half_up
    assert divide(numerator, 10, "NONE") == half_up
    assert divide(numerator, 10, "ROUND_DOWN") == down
    assert divide(numerator, 10, "ROUND_UP") == up


@given(st.integers(-(10**30), 10**30), st.integers(1, 10**12))
def test_half_up_rounding_is_off_by_at_most_one_half(numerator: int, denominator: int) -> None:
    off = Fraction(numerator, denominator) - divide(numerator, denominator)
    assert abs(off) <= Fraction(1, 2)
    assert divide(-numerator, denominator) == -divide(numerator, denominator)


@pytest.mark.parametrize(
    ("price_hundredths", "quantity_thousandths", "exponent", "total"),
    [
        (1099, 2000, 2, 2198),
        (333, 1500, 2, 500),  # 3.33 x 1.5 = 4.995
        (333, -1500, 2, -500),
        (1050, 1000, 0, 11),  # 10.50 yen
        (100, 1, 3, 1),  # 1.00 x 0.001 = 0.001 dinar
    ],
)
def test_a_line_total_is_rounded_half_up_to_the_minor_unit(
    price_hundredths: int, quantity_thousandths: int, exponent: int, total: int
) -> None:
    assert line_total_minor(price_hundredths, quantity_thousandths, exponent) == total


def test_face_values_become_minor_units() -> None:
    assert minor_from_hundredths(1250, 2) == 1250
    assert minor_from_hundredths(1250, 3) == 12500
    assert minor_from_hundredths(1250, 0) == 13
    assert minor_from_hundredths(-1250, 0) == -13


def test_a_threshold_is_reached_by_the_first_amount_that_is_not_below_it() -> None:
    assert threshold_minor(4950, 0) == 50
    assert threshold_minor(4901, 0) == 50
    assert threshold_minor(4900, 0) == 49
    assert threshold_minor(4950, 3) == 49500


def test_amounts_read_as_decimals() -> None:
    assert decimal_text(1250, 2) == "12.50"
    assert decimal_text(-5, 2) == "-0.05"
    assert decimal_text(7, 0) == "7"
    assert decimal_text(1500, 3, trim=True) == "1.5"
    assert decimal_text(2000, 3, trim=True) == "2"


@pytest.mark.parametrize(
    ("precision", "exponent", "step"),
    [(None, 2, 1), (2, 2, 1), (5, 2, 1), (1, 2, 10), (0, 2, 100), (-1, 2, 1000), (0, 0, 1)],
)
def test_a_precision_finer_than_the_minor_unit_is_limited_to_it(
    precision: int | None, exponent: int, step: int
) -> None:
    assert rounding_step(precision, exponent) == step


def test_largest_remainders_get_the_odd_cents_and_ties_go_by_basket_order() -> None:
    assert split_proportional(10, [1, 1, 1], [100, 100, 100]) == [4, 3, 3]
    assert split_proportional(100, [1, 2, 4], [1000] * 3) == [14, 29, 57]  # 14.29, 28.57, 57.14


def test_the_excess_of_a_capped_line_is_split_proportionally_among_the_others() -> None:
    assert split_proportional(100, [50, 30, 20], [10, 1000, 1000]) == [10, 54, 36]
    assert split_proportional(100, [0, 5], [1000, 60]) == [40, 60]


def test_equal_parts_put_odd_cents_first() -> None:
    assert split_equal(10, [100, 100, 100]) == [4, 3, 3]
    assert split_equal(100, [10, 100, 100]) == [10, 45, 45]
    assert split_equal(11, [3, 3, 3]) == [3, 3, 3]


def test_the_most_expensive_line_is_filled_first() -> None:
    assert split_highest_first(25, [10, 20, 20], [300, 500, 500]) == [0, 20, 5]


_PLACES = st.lists(
    st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**5)), min_size=1, max_size=12
)


@given(_PLACES, st.integers(0, 5 * 10**6), st.sampled_from([None, "PROPORTIONAL", "EQUAL", "HIGHEST_FIRST"]))
def test_parts_are_integers_within_their_caps_and_add_up(
    places: list[tuple[int, int, int]], total: int, mode: str | None
) -> None:
    bases = [base for base, _, _ in places]
    caps = [cap for _, cap, _ in places]
    prices = [price for _, _, price in places]
    parts = split(mode, total, bases, caps, prices)
    assert sum(parts) == min(total, sum(caps))
    assert all(0 <= part <= cap for part, cap in zip(parts, caps, strict=True))


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=10), st.integers(0, 10**6))
def test_proportional_parts_are_within_a_cent_of_the_exact_share(bases: list[int], total: int) -> None:
    parts = split_proportional(total, bases, [total + 1] * len(bases))
    for part, base in zip(parts, bases, strict=True):
        assert abs(Fraction(total * base, sum(bases)) - part) < 1
