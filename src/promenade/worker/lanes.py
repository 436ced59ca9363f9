"""What a worker knows of the lanes of deliveries: how much each may have under way, and what waits in it.

A lane begins with one delivery at a time and is given twice as many with each that gets through, up to `LANE_MAX`. One
that failed has one again, after a rest that doubles with each failure in a row: a receiver that hangs costs a place,
not the work of others. Times are in seconds of the event loop's clock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from promenade.workflows.webhooks.claiming import Claim, Message

__all__ = ["LANE_MAX", "Lane"]

LANE_MAX = 8  # deliveries of one lane under way at once
AHEAD_MIN, AHEAD_MAX = 16, 64  # as many times more are claimed ahead: a lane does not wait for the database each time
REST_SECONDS = 0.02  # after the first failure
DOUBLINGS_MAX = 16


@dataclass(slots=True)
class Lane:
    """One lane. ``failures`` counts those in a row; nothing is claimed for it before ``rests_until``.

    ``finished`` counts what has ended since the last claim.
    """

    name: str
    limit: int = 1
    failures: int = 0
    under_way: int = 0
    finished: int = 0
    rests_until: float = 0.0
    waiting: deque[tuple[float, Message]] = field(default_factory=deque)  # with the time of the claim

    @property
    def held(self) -> int:
        """How many deliveries are claimed for it."""
        return self.under_way + len(self.waiting)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is claimed for it."""
        return not self.under_way and not self.waiting

    @property
    def can_start(self) -> bool:
        """Whether another delivery may be sent."""
        return bool(self.waiting) and self.under_way < self.limit

    def wants(self) -> int:
        """How many more it needs to be as busy as it may be."""
        return max(0, self.limit - self.held)

    def wants_ahead(self) -> int:
        """How many more may be claimed ahead: twice what was needed since the last time; none while half is there."""
        if self.failures:
            return 0
        ahead = min(max(2 * self.finished, self.limit * AHEAD_MIN), self.limit * AHEAD_MAX)
        return ahead - self.held if self.held <= ahead // 2 else 0

    def succeeded(self) -> None:
        """A delivery got through."""
        self.failures = 0
        self.limit = min(2 * self.limit, LANE_MAX)

    def failed(self, now: float, rest_seconds_max: float) -> list[Claim]:
        """A delivery failed; returns what was claimed ahead and is to be given back."""
        rest = REST_SECONDS * 2 ** min(self.failures, DOUBLINGS_MAX)
        self.failures += 1
        self.limit = 1
        self.rests_until = now + min(rest, rest_seconds_max)
        return self.give_up_waiting()

    def give_up_waiting(self) -> list[Claim]:
        """Forget what was claimed ahead; returns it."""
        claims = [message.claim for _, message in self.waiting]
        self.waiting.clear()
        return claims
