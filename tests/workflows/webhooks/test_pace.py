"""The rate at which attempts start: a few at a time, fewer while the event loop is late, enough to drain in time."""

from __future__ import annotations

from promenade.worker.pace import BURST_MAX, LATE_SECONDS, RATE_MAX, RATE_MIN, STEP_SECONDS, SendingRate

EVENTS = 10_000
DRAIN_SECONDS_MAX = 120  # the guaranteed time for this number
LOOKS = 1_000


def test_after_a_rest_a_few_begin_at_once_and_the_others_one_by_one() -> None:
    pace = SendingRate()
    assert pace.allowed(100.0) == BURST_MAX
    pace.note_started(int(BURST_MAX))
    assert pace.allowed(100.0) == 0
    assert pace.allowed(100.0 + 2.5 / pace.rate) == 2
    pace.note_started(2)
    assert pace.allowed(100.0 + 3.5 / pace.rate) == 1
    assert pace.allowed(200.0) == BURST_MAX


def test_attempts_yield_to_a_late_event_loop_but_not_for_ever() -> None:
    pace = SendingRate()
    for _ in range(LOOKS):
        pace.note_delay(0.0)
    assert pace.rate == RATE_MAX
    for _ in range(LOOKS):
        pace.note_delay(LATE_SECONDS * 2)
    assert pace.rate == RATE_MIN
    assert EVENTS / pace.rate < DRAIN_SECONDS_MAX / 2


def test_the_rate_limits_the_attempts_started_per_second() -> None:
    pace, began = SendingRate(), 0
    for step in range(round(1 / STEP_SECONDS)):
        number = pace.allowed(step * STEP_SECONDS)
        pace.note_started(number)
        began += number
    assert abs(began - pace.rate) <= BURST_MAX
