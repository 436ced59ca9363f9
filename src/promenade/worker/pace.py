"""The pace of a worker, so that tills served by the same process are not delayed; see `workflows.pace`.

Times are in seconds.
"""

from __future__ import annotations

from promenade.workflows.pace import NO_REST, Pacer, Rest
from promenade.workflows.tills import Tills

BESIDE_SALES = Rest(seconds_max=0.1)
"""Codes, forecasts and jobs of the clock rest for as long as they worked: tills have the other half."""


# ---- deliveries ---------------------------------------------------------------------------------------------------

STEP_SECONDS = 0.005  # between two checks while there is something to send
RATE_MIN, RATE_MAX = 250.0, 1_000.0  # attempts per second; the minimum drains 10,000 in 40 s
RATE_START = 400.0
BURST_MAX = 6.0  # may begin together

LATE_SECONDS = 0.004  # from this delay on the event loop counts as busy
ON_TIME_SECONDS = 0.002
SLOWER, FASTER = 0.9, 5.0  # a factor, and attempts per second to add, at each check


class SendingRate:
    """A limit on the rate of attempts. ``now`` is any monotonic clock.

    Attempts run concurrently, so there is no portion to rest after: they begin a few at a time, every few milliseconds,
    and fewer while the event loop is late, because other work needs it or the machine is overloaded.
    """

    __slots__ = ("_allowed", "_at", "rate")

    def __init__(self) -> None:
        self.rate = RATE_START
        self._allowed = BURST_MAX
        self._at = float("-inf")

    def note_delay(self, late_by: float) -> None:
        """Adjust the rate after a check that came ``late_by`` seconds late."""
        if late_by > LATE_SECONDS:
            self.rate = max(RATE_MIN, self.rate * SLOWER)
        elif late_by < ON_TIME_SECONDS:
            self.rate = min(RATE_MAX, self.rate + FASTER)

    def allowed(self, now: float) -> int:
        """Return how many attempts may begin."""
        self._allowed = min(BURST_MAX, self._allowed + (now - self._at) * self.rate)
        self._at = now
        return int(self._allowed)

    def note_started(self, number: int) -> None:
        """Count attempts that have begun."""
        self._allowed -= number


# ---- imports ------------------------------------------------------------------------------------------------------

ROWS_MAX = 2_000  # of a slice; a part has no more
ROWS_MIN = 16  # each slice has a fixed cost for the database and for tills
GROWTH_MAX = 8  # times as many as in the previous slice, which may have been an easy one
SLICE_SECONDS = 0.06  # of CPU time: how long a basket may have to wait
# A slice delays tills, and its changes make them reload their catalogue: hence long rests, so that few baskets are
# affected, rather than slices so short that every basket is. On a busy machine tills wait for the wall-clock time.
BETWEEN_SLICES = Rest(times=2.0, busy_times=6.0, seconds_min=0.5, seconds_max=2.0)
WITHIN_A_TRANSACTION = Rest(times=0.0, busy_times=1.0, seconds_max=0.1)  # others wait for its rows and locks


class ImportPace:
    """The pace of one job, whose rows are of similar cost.

    The number of rows in a slice is derived from measurements, because a promotion with all its parts takes a hundred
    times as long as an article. Without tills, as in a worker's own process, there are no rests.
    """

    __slots__ = ("_pacer", "_rested_at", "_seconds_a_row", "_unrested")

    def __init__(self, tills: Tills) -> None:
        self._pacer = Pacer(BETWEEN_SLICES, tills=tills)
        self._seconds_a_row = SLICE_SECONDS / ROWS_MIN
        self._unrested = 0.0
        self._rested_at = self._pacer.now()

    @property
    def rows(self) -> int:
        """The number of rows for the next slice, 16 to 2 000."""
        return max(ROWS_MIN, min(ROWS_MAX, int(SLICE_SECONDS / self._seconds_a_row)))

    def worked(self, rows: int, seconds: float) -> None:
        """Record that a slice of ``rows`` rows was stored in ``seconds`` of CPU time."""
        latest = max(seconds, 1e-6) / max(1, rows)
        if latest < self._seconds_a_row:
            self._seconds_a_row = max(latest, self._seconds_a_row / GROWTH_MAX)
        else:
            self._seconds_a_row = (self._seconds_a_row + latest) / 2
        self._unrested += seconds

    async def rest(self) -> None:
        """Rest for the work since the last rest. Never call it while holding anything that tills need."""
        await self._rest(BETWEEN_SLICES)

    async def rest_within(self) -> None:
        """Rest within a transaction, as long as it worked, because others wait for its rows and locks."""
        await self._rest(WITHIN_A_TRANSACTION)

    async def _rest(self, rest: Rest) -> None:
        unrested, self._unrested = self._unrested, 0.0
        await self._pacer.rest_after(self._rested_at, unrested, rest if unrested else NO_REST)
        self._rested_at = self._pacer.now()
