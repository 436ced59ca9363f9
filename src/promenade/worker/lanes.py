"""A worker's state of the delivery lanes: how many deliveries each may have under way, and which are waiting.

A lane starts with one delivery at a time; each success doubles that, up to `LANE_MAX`. A failure resets it to one,
after a rest that doubles with each consecutive failure: a hanging receiver costs one place, not the work of others.
Times are in seconds of the event loop's clock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from promenade.workflows.webhooks.claiming import Claim, Message

LANE_MAX = 8  # concurrent deliveries of one lane
AHEAD_MIN, AHEAD_MAX = 16, 64  # factors for claims ahead: a lane does not wait for the database each time
REST_SECONDS = 0.02  # after the first failure
DOUBLINGS_MAX = 16


@dataclass(slots=True)
class Lane:
    """One lane. ``failures`` counts consecutive ones; nothing is claimed for it before ``rests_until``.

    ``finished`` counts the attempts finished since the last claim.
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
        """The number of claimed deliveries."""
        return self.under_way + len(self.waiting)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is claimed for this lane."""
        return not self.under_way and not self.waiting

    @property
    def can_start(self) -> bool:
        """Whether another delivery may be sent."""
        return bool(self.waiting) and self.under_way < self.limit

    def demand(self) -> int:
        """Return how many more deliveries it needs to use its full limit."""
        return max(0, self.limit - self.held)

    def demand_ahead(self) -> int:
        """Return how many more to claim ahead: twice the recent demand; none while half of that is still held."""
        if self.failures:
            return 0
        ahead = min(max(2 * self.finished, self.limit * AHEAD_MIN), self.limit * AHEAD_MAX)
        return ahead - self.held if self.held <= ahead // 2 else 0

    def succeeded(self) -> None:
        """Record a successful delivery."""
        self.failures = 0
        self.limit = min(2 * self.limit, LANE_MAX)

    def failed(self, now: float, rest_seconds_max: float) -> list[Claim]:
        """Record a failed delivery; return the claims ahead, which must be released."""
        rest = REST_SECONDS * 2 ** min(self.failures, DOUBLINGS_MAX)
        self.failures += 1
        self.limit = 1
        self.rests_until = now + min(rest, rest_seconds_max)
        return self.drop_waiting()

    def drop_waiting(self) -> list[Claim]:
        """Drop the deliveries claimed ahead and return their claims."""
        claims = [message.claim for _, message in self.waiting]
        self.waiting.clear()
        return claims
