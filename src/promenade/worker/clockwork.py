"""The clockwork of a worker: it runs the scheduled jobs that are due and sleeps until the next one.

One worker runs its jobs one after another, longest due first; other workers take the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any

from promenade.errors import Unavailable
from promenade.store.clockwork.jobs import ClockRow
from promenade.worker.loop import keep_going, wait
from promenade.worker.pace import BESIDE_SALES
from promenade.workflows.clockwork import ClockJob, clock_jobs
from promenade.workflows.clockwork.runs import due, next_due, read_rows, run
from promenade.workflows.context import Context

LOOK_SECONDS_MIN = 1.0  # how late a job may be; an idle worker checks no more often
LOOK_SECONDS_MAX = 5.0  # the clock may have been set, or a new version may have added a job
GRACE_SECONDS = 5.0  # for the running job when the worker is stopped


class Clockwork:
    """Runs due jobs until stopped. Times are in seconds."""

    def __init__(
        self,
        context: Context,
        jobs: Mapping[str, ClockJob] | None = None,
        *,
        look_seconds_min: float = LOOK_SECONDS_MIN,
    ) -> None:
        self._context = context
        self._jobs = clock_jobs() if jobs is None else jobs
        self._look_seconds_min = look_seconds_min
        self._own: set[str] = set()  # leases that could not be released

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; a running job is finished first, unless it takes long."""

        async def work() -> None:
            await wait(await self._round(stop), stop)

        await keep_going("clockwork", stop, work)

    async def run_once(self) -> int:
        """Run every due job once; return how many completed. Raises Unavailable if the database is unreachable."""
        ran = 0
        rows = await self._look()
        for row in due(self._jobs, rows, self._context.clock(), self._own):
            ran += await run(self._context, self._jobs[row.name], row, self._own) is not None
        return ran

    async def _look(self) -> list[ClockRow]:
        rows = await read_rows(self._context, self._jobs)
        self._own &= {row.lease_owner for row in rows}
        return rows

    async def _round(self, stop: asyncio.Event) -> float:
        """Run what is due; return the seconds to sleep."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        rows = await self._look()
        found = due(self._jobs, rows, self._context.clock(), self._own)
        for row in found:
            await stoppable(stop, run(self._context, self._jobs[row.name], row, self._own))
            if stop.is_set():
                return 0
            # Also between two jobs: each may have used its full time.
            await wait(BESIDE_SALES.after(loop.time() - began), stop)
            began = loop.time()
        if found:
            return 0
        at = self._context.clock()
        waits = [(next_due(self._jobs[row.name], row, at, self._own) - at).total_seconds() for row in rows]
        return max(self._look_seconds_min, min([LOOK_SECONDS_MAX, *waits]))


async def stoppable(stop: asyncio.Event, work: Coroutine[Any, Any, object]) -> None:
    """Await ``work``; once ``stop`` is set, only for `GRACE_SECONDS`."""
    task, stopping = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({task}, timeout=GRACE_SECONDS)
        if task.done():
            task.result()
    finally:
        stopping.cancel()
        if task.cancel():
            with suppress(asyncio.CancelledError, Unavailable):
                await task
