"""How much stores get: never more than is free, all that they need while there is plenty, no reserve when it is not."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from promenade.workflows.replica.allotting import (
    HALVINGS_MAX,
    Habit,
    allot,
    halvings,
    reserve,
    should_fill,
    should_give_back,
)

MONDAY = date(2026, 11, 2)
AMOUNTS = st.decimals(0, 10**6, places=2)
USES = st.lists(st.tuples(st.integers(0, 40), AMOUNTS), max_size=20)


def habit_of(uses: list[tuple[int, Decimal]]) -> Habit:
    habit = Habit()
    for day, use in sorted(uses):
        habit = habit.after(use, MONDAY + timedelta(days=day))
    return habit


@given(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS)
def test_a_store_gets_at_most_what_is_free_and_at_least_what_its_sale_lacks(
    free: Decimal, lacking: Decimal, held: Decimal, target: Decimal
) -> None:
    given_ = allot(free, lacking, held, target)
    assert given_ <= free
    assert given_ >= lacking or lacking > free
    assert given_ <= lacking + max(target - held, Decimal(0))


@given(AMOUNTS, st.lists(AMOUNTS, min_size=1, max_size=30), AMOUNTS)
def test_reserves_of_all_stores_leave_a_quarter_of_what_is_free(
    free: Decimal, forecasts: list[Decimal], piece: Decimal
) -> None:
    times = halvings(free, sum(forecasts, Decimal(0)))
    wanted = sum((reserve(one, piece, times) for one in forecasts), Decimal(0))
    assert wanted <= 3 * free
    assert times == 0 or halvings(free * 2, sum(forecasts, Decimal(0))) <= times
    if times < HALVINGS_MAX:
        assert sum(forecasts, Decimal(0)) <= free * 3 * 2**times


@given(AMOUNTS, AMOUNTS, st.integers(0, HALVINGS_MAX))
def test_a_halved_reserve_is_whole_pieces(forecast: Decimal, piece: Decimal, times: int) -> None:
    amount = reserve(forecast, piece, times)
    assert 0 <= amount <= forecast
    assert not piece or amount % piece == 0


@given(USES)
def test_a_forecast_covers_the_mean_and_the_day_under_way(uses: list[tuple[int, Decimal]]) -> None:
    habit = habit_of(uses)
    assert habit.mean is None or habit.forecast >= max(habit.mean, habit.today)
    assert habit.variance >= 0


def test_what_a_store_no_longer_uses_fades_and_is_given_back() -> None:
    habit = habit_of([(day, Decimal(100)) for day in range(10)])
    assert 100 <= habit.forecast < 150
    assert not should_give_back(Decimal(100), habit.forecast, 0)
    idle = habit.after(Decimal(0), MONDAY + timedelta(days=30))
    assert idle.forecast < 20
    assert should_give_back(Decimal(100), idle.forecast, 0)
    assert habit.after(Decimal(0), MONDAY + timedelta(days=200)).forecast < Decimal("0.01")


def test_unsteady_use_needs_more_than_steady_use_of_the_same_mean() -> None:
    steady = habit_of([(day, Decimal(50)) for day in range(20)])
    unsteady = habit_of([(day, Decimal(100 * (day % 2))) for day in range(20)])
    assert unsteady.forecast > 2 * steady.forecast


def test_a_day_that_is_past_is_not_begun_again() -> None:
    """A clock that was set back."""
    habit = habit_of([(3, Decimal(7))])
    assert habit.after(Decimal(5), MONDAY) == habit_of([(3, Decimal(12))])


def test_a_reserve_is_filled_up_without_haste_unless_it_runs_low() -> None:
    target = Decimal(100)
    assert not should_fill(Decimal(100), target, timedelta(days=1))
    assert not should_fill(Decimal(90), target, timedelta(hours=1))
    assert should_fill(Decimal(90), target, timedelta(hours=6))
    assert should_fill(Decimal(70), target, timedelta(minutes=5))
    assert not should_fill(Decimal(70), target, timedelta(minutes=4))
