"""Values that would be stored wrongly are refused before they reach a database."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promenade.store.driver.types import ExactDecimal, from_microseconds, to_microseconds

MONEY = ExactDecimal(15, 2)


@pytest.mark.parametrize(
    ("value", "scaled"),
    [("12.34", 1234), ("-0.01", -1), ("5", 500), ("1E+2", 10000), ("1.50000", 150), ("0E+50", 0), ("0E-50", 0)],
)
def test_decimals_are_stored_exactly(value: str, scaled: int) -> None:
    assert MONEY.scaled(Decimal(value)) == scaled


@pytest.mark.parametrize(
    "value", ["0.001", "1E-400", "1E+400", "10000000000000", "NaN", "Infinity", "-Infinity", "99999999999999.99"]
)
def test_decimals_that_do_not_fit_are_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"digits|decimals|not a number"):
        MONEY.scaled(Decimal(value))


def test_a_float_is_refused() -> None:
    number: Any = 0.1
    with pytest.raises(TypeError):
        MONEY.scaled(number)


@given(st.integers(-(10**15) + 1, 10**15 - 1))
def test_scaling_a_decimal_is_lossless(scaled: int) -> None:
    assert MONEY.scaled(Decimal(scaled).scaleb(-2)) == scaled


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC)))  # noqa: DTZ001
def test_converting_to_microseconds_is_lossless(moment: datetime) -> None:
    assert from_microseconds(to_microseconds(moment)) == moment


def test_a_moment_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        to_microseconds(datetime(2026, 3, 1))  # noqa: DTZ001
