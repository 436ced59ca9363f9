"""The calls and answers of a fight, and a check that they are linearizable.

Every call is ok, refused (with a code) or unknown (the connection broke before the answer). `explain` looks for an
order of the calls, each between its request and its answer, in which a small sequential model would have given exactly
the same answers. If there is none, the service has contradicted itself (linearizability, after Wing and Gong).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from typing import Any, Literal, TypeVar

__all__ = ["Call", "Contradiction", "Outcome", "explain"]

Outcome = Literal["ok", "refused", "unknown"]
S = TypeVar("S", bound=Hashable)
STEPS_MAX = 400_000


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    ``began`` and ``ended`` are on one monotonic clock (inf: unknown), ``since`` and ``until`` on the service's.
    ``said`` is the request body, ``answer`` the response body, ``code`` the reason for a refusal.
    """

    kind: str
    said: dict[str, Any]
    began: float
    ended: float
    since: datetime
    until: datetime
    outcome: Outcome
    status: int = 0
    code: str = ""
    answer: dict[str, Any] = field(default_factory=dict)
    retry_after: str = ""

    def __str__(self) -> str:
        told = self.code or {key: value for key, value in self.answer.items() if key not in {"message", "minorVersion"}}
        return f"{self.began:.6f} {self.ended:.6f} {self.kind} {self.said} {self.outcome} {told}"


class Contradiction(AssertionError):
    """No order of the calls explains their answers."""


Step = Callable[[S, Call], Iterable[S]]
"""The states that a model can be in after a call with this very answer; none: it would never answer so.

Of a call that is unknown: the states after it had its effect.
"""


def explain(calls: Sequence[Call], initial: S, step: Step[S]) -> S:
    """Return the state after the calls, in the first order found that explains every answer.

    Raise Contradiction if there is none. A call that changes nothing is never better placed later, so no alternative to
    it is tried; unknown calls may have taken effect at any time after they began, or never.
    """
    ordered = sorted(calls, key=lambda call: call.began)
    sure = sum(1 << number for number, call in enumerate(ordered) if call.outcome != "unknown")
    seen: set[tuple[int, S]] = set()
    waiting: list[tuple[int, S]] = [(0, initial)]
    furthest = 0
    while waiting:
        done, state = waiting.pop()
        if done & sure == sure:
            return state
        if (done, state) in seen:
            continue
        seen.add((done, state))
        if done.bit_count() > furthest.bit_count():
            furthest = done
        if len(seen) > STEPS_MAX:
            raise AssertionError(f"undecided after {STEPS_MAX} steps, at\n{_around(ordered, furthest)}")
        waiting.extend(_next(ordered, done, state, step))
    raise Contradiction(f"no order explains these answers, {furthest.bit_count()} calls before them do:\n"
                        f"{_around(ordered, furthest)}")  # fmt: skip


def _next(ordered: Sequence[Call], done: int, state: S, step: Step[S]) -> list[tuple[int, S]]:
    """Return the possible next steps, the most likely last; only the step that changes nothing, if there is one."""
    found: list[tuple[float, int, S]] = []
    for number in _first(ordered, done):
        call = ordered[number]
        for after in step(state, call):
            if after == state:
                if call.outcome != "unknown":
                    return [(done | 1 << number, state)]
                continue
            found.append((call.ended, done | 1 << number, after))
    found.sort(key=lambda one: -one[0])  # the call that was answered first probably took effect first
    return [(after_done, after) for _, after_done, after in found]


def _first(ordered: Sequence[Call], done: int) -> list[int]:
    """Return the calls that may come next: those that began before any other remaining call was answered."""
    first: list[int] = []
    earliest_end = inf
    for number in range((~done & (done + 1)).bit_length() - 1, len(ordered)):
        call = ordered[number]
        if call.began > earliest_end:
            break
        if not done >> number & 1:
            first.append(number)
            earliest_end = min(earliest_end, call.ended)
    return first


def _around(ordered: Sequence[Call], done: int) -> str:
    return "\n".join(str(ordered[number]) for number in _first(ordered, done))
