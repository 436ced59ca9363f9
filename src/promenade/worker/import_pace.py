"""How much of an import is done at a time, so that tills of the same process are not kept waiting.

Rows are stored in slices: of a length that suits the database while no till is there, short ones, each followed by a
rest, while one is. How many rows that makes is measured, for a promotion with all its parts takes a hundred times as
long as an article. Where no till asks, as in a worker's own process, there are no rests. Times are in seconds.
"""

from __future__ import annotations

import asyncio

from promenade.workflows.tills import Tills

__all__ = ["ImportPace"]

ROWS_MAX = 250  # of a slice; a part has no more
ROWS_AT_FIRST = 8
ALONE_SECONDS = 0.1  # of a slice: the first till to come waits no longer than that
BESIDE_SECONDS = 0.01  # of a slice beside tills
REST = 1.5  # times as long as it worked
REST_SECONDS_MAX = 0.5  # after a slice that took far longer than was foreseen
GROWTH_MAX = 4.0  # times as many rows as in the slice before


class ImportPace:
    """The pace of one job, whose rows are much alike."""

    __slots__ = ("_rows_last", "_seconds_a_row", "_tills", "_unrested")

    def __init__(self, tills: Tills) -> None:
        self._tills = tills
        self._rows_last = ROWS_AT_FIRST / GROWTH_MAX
        self._seconds_a_row = 0.0
        self._unrested = 0.0

    @property
    def rows(self) -> int:
        """How many rows the next slice should have, 1 to 250."""
        seconds = BESIDE_SECONDS if self._tills.are_there() else ALONE_SECONDS
        fitting = seconds / self._seconds_a_row if self._seconds_a_row else ROWS_MAX
        return max(1, min(ROWS_MAX, int(fitting), int(self._rows_last * GROWTH_MAX)))

    def worked(self, rows: int, seconds: float) -> None:
        """A slice of so many rows was stored, or judged, and took so long."""
        latest = seconds / max(1, rows)
        # A slice that was slow counts at once, one that was fast only in part: tills pay for what is underrated.
        self._seconds_a_row = latest if latest > self._seconds_a_row else (self._seconds_a_row + latest) / 2
        self._rows_last = max(1, rows)
        self._unrested += seconds

    async def rest(self) -> None:
        """Let tills have their turn, if any are there. Never while something is held that they need."""
        unrested, self._unrested = self._unrested, 0.0
        resting = min(REST * unrested, REST_SECONDS_MAX) if self._tills.are_there() else 0.0
        await asyncio.sleep(resting)
