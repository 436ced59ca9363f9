"""The clockwork of a worker: it looks what is due next, runs that, and sleeps until then.

Jobs of one worker run one after another, those first that have been due for longest; other workers take the others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any

import structlog

from promenade.errors import Unavailable
from promenade.store.clockwork import ClockRow
from promenade.workflows.clockwork import ClockJob, clock_jobs
from promenade.workflows.clockwork.runs import due, look, next_due, run
from promenade.workflows.context import Context

__all__ = ["Clockwork"]

LOOK_SECONDS_MIN = 1.0  # by how much a job may be late; an idle worker asks no more often
LOOK_SECONDS_MAX = 5.0  # a clock may have been set, a job of a new version may have come
PAUSE_SECONDS = 2.0  # after the database could not be reached
REST_SECONDS_MAX = 0.1  # it rests as long as it worked, up to this: tills have the other half
GRACE_SECONDS = 5.0  # for the run that is under way when the worker is told to stop

_log = structlog.get_logger(__name__)


class Clockwork:
    """Runs until told to stop. Times are in seconds."""

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
        self._own: set[str] = set()  # leases that could not be given back

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; a run under way is finished first, unless it takes long."""
        while not stop.is_set():
            try:
                await _until(stop, await self._round(stop))
            except Unavailable as error:
                _log.warning("clockwork.paused", reason=error.message)
                await _until(stop, PAUSE_SECONDS)
            except Exception:  # whatever it is: everything that time brings waits for this loop
                _log.exception("clockwork.paused")
                await _until(stop, PAUSE_SECONDS)

    async def run_once(self) -> int:
        """Run every job that is due, once; how many ran to their end. Raises Unavailable with the database away."""
        ran = 0
        rows = await self._look()
        for row in due(self._jobs, rows, self._context.clock(), self._own):
            ran += await run(self._context, self._jobs[row.name], row, self._own) is not None
        return ran

    async def _look(self) -> list[ClockRow]:
        rows = await look(self._context, self._jobs)
        self._own &= {row.lease_owner for row in rows}
        return rows

    async def _round(self, stop: asyncio.Event) -> float:
        """Run what is due; the answer is how long to sleep."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        rows = await self._look()
        found = due(self._jobs, rows, self._context.clock(), self._own)
        for row in found:
            await _stoppable(stop, run(self._context, self._jobs[row.name], row, self._own))
            if stop.is_set():
                return 0
            # Between two jobs, too: each may have worked for as long as it may.
            await _until(stop, min(loop.time() - began, REST_SECONDS_MAX))
            began = loop.time()
        if found:
            return 0
        at = self._context.clock()
        waits = [(next_due(self._jobs[row.name], row, at, self._own) - at).total_seconds() for row in rows]
        return max(self._look_seconds_min, min([LOOK_SECONDS_MAX, *waits]))


async def _until(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), seconds)


async def _stoppable(stop: asyncio.Event, work: Coroutine[Any, Any, object]) -> None:
    """Await ``work``; told to stop, for a short while."""
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
