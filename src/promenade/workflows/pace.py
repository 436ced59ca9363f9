"""Pacing of deferrable work, so that tills of the same process come first: portions, each followed by a pause.

Times are in seconds. Loops pass the length of their pauses as parameters; measuring and waiting is done here.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from promenade.workflows.tills import Tills


@dataclass(frozen=True, slots=True)
class Rest:
    """How long to pause after a portion of work.

    ``times`` its wall-clock time or ``busy_times`` its CPU time, whichever is longer, within the two bounds.
    """

    times: float = 1.0
    busy_times: float = 0.0
    seconds_min: float = 0.0
    seconds_max: float = math.inf

    def after(self, seconds: float, busy_seconds: float = 0.0) -> float:
        """Return the pause after a portion that took this long."""
        wanted = max(self.seconds_min, self.times * seconds, self.busy_times * busy_seconds)
        return min(wanted, self.seconds_max)


NO_REST = Rest(times=0.0)


class Pacer:
    """Runs portions one after another, each followed by a pause, until ``run_seconds`` have passed.

    With ``tills``, it only pauses while tills of this process send pricing requests. ``done`` sums up the portions'
    counts.
    """

    def __init__(self, rest: Rest, *, run_seconds: float = math.inf, tills: Tills | None = None) -> None:
        self.now = time.monotonic
        self.done = 0
        self._rest = rest
        self._tills = tills
        self._ends = self.now() + run_seconds

    @property
    def is_over(self) -> bool:
        """Whether the run's time is up."""
        return self.now() >= self._ends

    async def rest_after(self, began: float, busy_seconds: float = 0.0, rest: Rest | None = None) -> None:
        """Pause after a portion that began at the moment ``began`` of `now`; ``rest`` overrides the default for it."""
        seconds = (rest or self._rest).after(self.now() - began, busy_seconds)
        await asyncio.sleep(seconds if self._tills is None or self._tills.are_there() else 0)

    async def while_more(self, portion: Callable[[], Awaitable[tuple[int, bool]]]) -> bool:
        """Repeat ``portion``, which returns its count and whether there is more; False: the time is up."""
        while not self.is_over:
            began = self.now()
            done, more = await portion()
            self.done += done
            if done or more:
                await self.rest_after(began)
            if not more:
                return True
        return False
