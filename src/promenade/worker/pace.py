"""How fast attempts begin, so that tills of the same process find the event loop free in between.

Attempts begin a few at a time, every few thousandths of a second, and fewer of them while the event loop is late: then
somebody else needs it, or the machine has too much to do. Times are in seconds.
"""

from __future__ import annotations

__all__ = ["RATE_MAX", "RATE_MIN", "STEP_SECONDS", "Pace"]

STEP_SECONDS = 0.005  # between two looks, while there is something to send
RATE_MIN, RATE_MAX = 250.0, 1_000.0  # attempts a second; the least is what drains 10,000 in 40 s
RATE_AT_FIRST = 400.0
AT_ONCE_MAX = 6.0  # begin together

LATE_SECONDS = 0.004  # from here on the event loop is busy
IN_TIME_SECONDS = 0.002
SLOWER, FASTER = 0.9, 5.0  # times, and attempts a second more, with each look


class Pace:
    """What may begin now. ``now`` is any clock that only moves on."""

    __slots__ = ("_allowed", "_at", "rate")

    def __init__(self) -> None:
        self.rate = RATE_AT_FIRST
        self._allowed = AT_ONCE_MAX
        self._at = float("-inf")

    def looked(self, late_by: float) -> None:
        """A look came ``late_by`` seconds later than was asked for."""
        if late_by > LATE_SECONDS:
            self.rate = max(RATE_MIN, self.rate * SLOWER)
        elif late_by < IN_TIME_SECONDS:
            self.rate = min(RATE_MAX, self.rate + FASTER)

    def allowed(self, now: float) -> int:
        """How many attempts may begin."""
        self._allowed = min(AT_ONCE_MAX, self._allowed + (now - self._at) * self.rate)
        self._at = now
        return int(self._allowed)

    def began(self, number: int) -> None:
        """So many of those allowed have begun."""
        self._allowed -= number
