"""How much of an import is done at a time, so that tills of the same process are not kept waiting.

Rows are stored in slices. A slice holds up tills, and what it changed makes them read their catalogue again: beside
tills slices are followed by long rests, so that few baskets meet one, rather than made so short that every basket
does. How many rows a slice has is measured, for a promotion with all its parts takes a hundred times as long as an
article. Where no till asks, as in a worker's own process, there are no rests. Times are in seconds.
"""

from __future__ import annotations

import asyncio
import time

from promenade.workflows.tills import Tills

__all__ = ["ImportPace"]

ROWS_MAX = 2_000  # of a slice; a part has no more
ROWS_MIN = 16  # each slice has costs of its own, for the database and for tills
GROWTH_MAX = 8  # times as many as the slice before: that may have been an easy one
SLICE_SECONDS = 0.06  # of processor time: what a basket may have to wait for
REST = 6.0  # times as long as it kept a processor busy, beside tills
REST_BY_CLOCK = 2.0  # times as long as the slice took by the clock: on a busy machine tills wait for that
REST_SECONDS_MIN, REST_SECONDS_MAX = 0.5, 2.0
REST_WITHIN_SECONDS_MAX = 0.1


class ImportPace:
    """The pace of one job, whose rows are much alike."""

    __slots__ = ("_rested_at", "_seconds_a_row", "_tills", "_unrested")

    def __init__(self, tills: Tills) -> None:
        self._tills = tills
        self._seconds_a_row = SLICE_SECONDS / ROWS_MIN
        self._unrested = 0.0
        self._rested_at = time.monotonic()

    @property
    def rows(self) -> int:
        """How many rows the next slice should have, 16 to 2 000."""
        return max(ROWS_MIN, min(ROWS_MAX, int(SLICE_SECONDS / self._seconds_a_row)))

    def worked(self, rows: int, seconds: float) -> None:
        """A slice of so many rows was stored and took so much processor time."""
        latest = max(seconds, 1e-6) / max(1, rows)
        if latest < self._seconds_a_row:
            self._seconds_a_row = max(latest, self._seconds_a_row / GROWTH_MAX)
        else:
            self._seconds_a_row = (self._seconds_a_row + latest) / 2
        self._unrested += seconds

    async def rest(self) -> None:
        """Let tills have their turn, if any are there. Never while something is held that they need."""
        by_clock = REST_BY_CLOCK * (time.monotonic() - self._rested_at)
        await self._rest(max(REST_SECONDS_MIN, by_clock, REST * self._unrested), REST_SECONDS_MAX)

    async def rest_within(self) -> None:
        """Rest for as long as it worked: within a transaction, whose rows and locks others wait for."""
        await self._rest(self._unrested, REST_WITHIN_SECONDS_MAX)

    async def _rest(self, seconds: float, seconds_max: float) -> None:
        unrested, self._unrested = self._unrested, 0.0
        await asyncio.sleep(min(seconds, seconds_max) if unrested and self._tills.are_there() else 0)
        self._rested_at = time.monotonic()
