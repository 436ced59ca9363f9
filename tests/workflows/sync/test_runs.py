"""Which of several runs speaks for a store, in whatever order they are heard."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from promenade.workflows.sync.runs import KNOWN_MAX, WATCHED, Runs, read_runs, write_runs

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def hear(order: str, runs: Runs | None = None) -> tuple[Runs, str]:
    """Let runs with one letter speak in this order; return of each heartbeat S, C or F."""
    runs, told = runs or Runs(), ""
    for letter in order:
        told += runs.speak(letter, NOON).name[0]
        runs = read_runs(write_runs(runs))
    return runs, told


def test_a_store_that_is_started_again_and_again_is_no_clone() -> None:
    assert hear("AAABBCDDDE")[1] == "S" * 10
    runs, told = hear("".join(chr(200 + number) for number in range(100)))
    assert set(told) == {"S"}
    assert len(runs.known) == KNOWN_MAX
    assert len(write_runs(runs)) < 4000


def test_one_late_heartbeat_of_the_run_before_fences_nobody() -> None:
    assert hear("ABABBBBB")[1] == "S" * 8
    assert hear("AABBA")[1] == "SSSSS"


def test_the_machine_that_came_later_is_fenced_at_the_second_heartbeat_of_the_other() -> None:
    assert hear("ABABAB")[1] == "SSSSCF"
    assert hear("ABAAB")[1] == "SSSCF"
    assert hear("ABABA" + "AB" * 5)[1] == "SSSSC" + "SF" * 5


def test_a_start_after_a_clone_is_as_any_other() -> None:
    """The one late heartbeat that counted before does not count again."""
    assert hear("ABAANAN")[1] == "SSSCSSS"


def test_three_machines_from_one_image_are_noticed_and_two_stay_fenced() -> None:
    runs, told = hear("ABC" * 3)
    assert told == "SSSSSSCFF"
    assert hear("ABC" * 5, runs)[1] == "SFF" * 5


def test_a_copy_that_starts_again_and_again_never_fences_the_original() -> None:
    order = "A" + "".join(f"{chr(98 + number)}A" for number in range(20))
    runs, told = hear(order)
    assert set(told[::2]) <= {"S", "C"}
    assert "C" in told
    assert hear("A", runs)[1] in {"S", "C"}


@given(st.text("ABCD", max_size=60))
def test_somebody_always_speaks_and_the_first_one_is_never_fenced(order: str) -> None:
    runs, told = hear(order)
    if order:
        assert not runs.known[0].is_fenced or any(not one.is_fenced for one in runs.known)
        first = order[0]
        assert "F" not in {verdict for letter, verdict in zip(order, told, strict=True) if letter == first}


def test_a_run_that_begins_soon_after_a_clone_gets_no_shares_for_a_while() -> None:
    runs, _ = hear("ABAA")
    assert [runs.may_have_shares(one, NOON) for one in "ABX"] == [True, False, True]
    runs.speak("C", NOON, NOON)
    moments = [NOON + timedelta(minutes=minutes) for minutes in (0, 9, 10)]
    assert [runs.may_have_shares("C", at) for at in moments] == [False, False, True]
    assert runs.may_have_shares("A", NOON)
    runs.speak("D", NOON + WATCHED, NOON)
    assert runs.may_have_shares("D", NOON + WATCHED)
