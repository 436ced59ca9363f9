"""The checker of the fights finds a contradiction exactly where there is one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from math import inf

import pytest

from tests.reliability.fights.history import Call, Contradiction, explain

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def call(kind: str, began: float, ended: float, outcome: str = "ok") -> Call:
    return Call(kind, {}, began, ended, NOON, NOON, outcome)  # type: ignore[arg-type]


def one_piece(taken: bool, call: Call) -> Iterable[bool]:
    """Model a single item that can be taken and returned."""
    if call.kind == "take":
        return [True] if call.outcome != "refused" and not taken else [taken] * (call.outcome == "refused" and taken)
    return [False] if taken and call.outcome != "refused" else [taken] * (call.outcome == "refused" and not taken)


def test_only_one_of_two_concurrent_calls_can_take_the_same_piece() -> None:
    assert explain([call("take", 1, 9), call("take", 2, 8, "refused")], False, one_piece)
    with pytest.raises(Contradiction):
        explain([call("take", 1, 9), call("take", 2, 8)], False, one_piece)


def test_a_call_answered_before_another_began_precedes_it() -> None:
    assert explain([call("take", 1, 9, "refused"), call("take", 2, 8)], False, one_piece)
    with pytest.raises(Contradiction):
        explain([call("take", 1, 2, "refused"), call("take", 3, 4)], False, one_piece)


def test_an_unknown_call_may_have_had_its_effect_at_any_later_time_or_never() -> None:
    lost = call("bring", 1, inf, "unknown")
    late = [call("take", 0, 0.5), lost, call("take", 2, 3, "refused"), call("take", 4, 5)]
    assert explain(late, False, one_piece)
    assert explain([call("take", 0, 0.5), lost, call("take", 2, 3, "refused")], False, one_piece)
    with pytest.raises(Contradiction):
        explain([call("take", 0, 0.5), call("take", 1, 2), call("bring", 3, inf, "unknown")], False, one_piece)


def test_a_long_history_is_explained_quickly() -> None:
    calls = []
    for turn in range(300):
        start = 10.0 * turn
        calls += [call("take", start, start + 4), call("bring", start + 1, start + 9)]
        calls += [call("take", start + 1, start + 8, "refused") for _ in range(6)]
    assert not explain(calls, False, one_piece)
