"""Time windows and periods on the POS group's clock: midnight, weekdays, daylight saving time (section 3)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

import pytest

from promenade.engine.conditions import parse_conditions
from promenade.engine.definition import DefinitionError
from promenade.engine.verdict import Missed
from tests.engine.given import check, holds, line, row, view


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# 2026-03-13 is a Friday
WINDOWS = [
    ("09:00", "17:00", None, "2026-03-13T09:00:00", True),
    ("09:00", "17:00", None, "2026-03-13T08:59:59.999999", False),
    ("09:00", "17:00", None, "2026-03-13T16:59:59.999999", True),
    ("09:00", "17:00", None, "2026-03-13T17:00:00", False),
    ("09:00", "17:00", "FRI", "2026-03-13T12:00:00", True),
    ("09:00", "17:00", "MON,TUE", "2026-03-13T12:00:00", False),
    ("22:00", "02:00", None, "2026-03-13T22:00:00", True),
    ("22:00", "02:00", None, "2026-03-13T21:59:59", False),
    ("22:00", "02:00", None, "2026-03-14T00:00:00", True),
    ("22:00", "02:00", None, "2026-03-14T01:59:59", True),
    ("22:00", "02:00", None, "2026-03-14T02:00:00", False),
    ("22:00", "02:00", "FRI", "2026-03-13T23:00:00", True),
    ("22:00", "02:00", "FRI", "2026-03-14T01:00:00", True),  # the night to Saturday still belongs to Friday
    ("22:00", "02:00", "FRI", "2026-03-13T01:00:00", False),  # and Friday's first hours belong to Thursday
    ("22:00", "02:00", "SUN", "2026-03-16T01:00:00", True),  # across the turn of the week
    ("22:00", "02:00", "SAT", "2026-03-14T01:00:00", False),
    (None, None, "SAT, sun", "2026-03-15T23:59:59", True),
    (None, None, "SAT,SUN", "2026-03-13T12:00:00", False),
    ("18:00", None, None, "2026-03-13T23:59:59", True),
    ("18:00", None, None, "2026-03-14T00:00:00", False),
    (None, "06:00", None, "2026-03-14T00:00:00", True),
    (None, "06:00", None, "2026-03-14T06:00:00", False),
    ("06:00", "06:00", "FRI", "2026-03-14T05:59:00", True),  # 24 hours from Friday 06:00
    ("06:00", "06:00", "FRI", "2026-03-14T06:00:00", False),
]


@pytest.mark.parametrize(("start", "end", "weekdays", "now", "expected"), WINDOWS)
def test_a_time_window_holds_at_the_specified_times(
    start: str | None, end: str | None, weekdays: str | None, now: str, expected: bool
) -> None:
    condition = row(
        "TIME_WINDOW",
        time_from=time.fromisoformat(start) if start else None,
        time_to=time.fromisoformat(end) if end else None,
        weekdays=weekdays,
    )
    assert holds(condition, view(line(), now=at(now))) is expected


PERIODS = [
    ("2026-03-10", "2026-03-14", "2026-03-10T00:00:00", True),
    ("2026-03-10", "2026-03-14", "2026-03-09T23:59:59", False),
    ("2026-03-10", "2026-03-14", "2026-03-14T23:59:59", True),
    ("2026-03-10", "2026-03-14", "2026-03-15T00:00:00", False),
    ("2026-03-10", None, "2031-01-01T00:00:00", True),
    (None, "2026-03-14", "2026-03-15T00:00:00", False),
]


@pytest.mark.parametrize(("first", "last", "now", "expected"), PERIODS)
def test_a_time_period_holds_on_the_specified_dates(
    first: str | None, last: str | None, now: str, expected: bool
) -> None:
    condition = row(
        "TIME_PERIOD",
        date_from=date.fromisoformat(first) if first else None,
        date_to=date.fromisoformat(last) if last else None,
    )
    assert holds(condition, view(line(), now=at(now))) is expected


def test_the_pos_groups_clock_decides_in_summer_and_winter() -> None:
    condition = row("TIME_WINDOW", time_from=time(9), time_to=time(10))
    for now, expected in [("2026-07-01T07:30", True), ("2026-01-05T07:30", False), ("2026-01-05T08:30", True)]:
        assert holds(condition, view(line(), zone="Europe/Berlin", now=at(now))) is expected


def test_the_pos_groups_date_decides() -> None:
    condition = row("TIME_PERIOD", date_from=date(2026, 3, 15), date_to=date(2026, 3, 15))
    assert holds(condition, view(line(), zone="Asia/Tokyo", now=at("2026-03-14T15:00")))
    assert not holds(condition, view(line(), zone="America/New_York", now=at("2026-03-15T03:00")))


@pytest.mark.parametrize("kind", ["TIME_WINDOW", "TIME_PERIOD"])
def test_time_conditions_fail_if_the_time_zone_is_unknown(kind: str) -> None:
    condition = row(kind, weekdays="MON,TUE,WED,THU,FRI,SAT,SUN", date_from=date(2000, 1, 1))
    missed = check(condition, view(line(), zone="Nowhere/Land"))
    assert isinstance(missed, Missed)
    assert missed.code == "TIME_ZONE_UNKNOWN"


@pytest.mark.parametrize(
    ("condition", "target"),
    [
        (row("TIME_WINDOW"), "timeFrom"),
        (row("TIME_WINDOW", weekdays="FUNDAY"), "weekdays"),
        (row("TIME_PERIOD"), "dateFrom"),
    ],
)
def test_a_time_condition_without_times_does_not_compile(condition: object, target: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        parse_conditions((condition,))  # type: ignore[arg-type]
    assert refused.value.target == f"Conditions(1)/{target}"
