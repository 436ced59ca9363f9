"""Rounds of a worker: side effects of sales, and beside them what can wait, batches of codes and forecasts.

A worker that fails tries again later; it never ends by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from promenade.errors import Unavailable
from promenade.worker.drawing import SecretDraw
from promenade.workflows.context import Context
from promenade.workflows.coupon_generation import work_on_a_batch
from promenade.workflows.forecast_runs import run_forecasts
from promenade.workflows.side_effects import (
    ATTEMPTS_MAX,
    LEASE_SECONDS,
    ClaimedJob,
    Draw,
    claim_jobs,
    give_up,
    run_side_effects,
)

__all__ = ["Worker"]

BATCH = 16  # jobs of one claim run together: on SQLite they share a commit
POLL_SECONDS = 1.0  # how long work confirmed by another process may wait
PAUSE_SECONDS = 2.0  # after the database could not be reached
REST_SECONDS_MAX = 0.1  # codes and forecasts rest as long as they worked, up to this: tills have the other half

_log = structlog.get_logger(__name__)


class Worker:
    """Runs until told to stop. Times are in seconds; ``draw`` picks the characters of new coupon codes."""

    def __init__(
        self,
        context: Context,
        *,
        poll_seconds: float = POLL_SECONDS,
        lease_seconds: int = LEASE_SECONDS,
        attempts_max: int = ATTEMPTS_MAX,
        draw: Draw | None = None,
    ) -> None:
        self._context = context
        self._poll_seconds = poll_seconds
        self._lease_seconds = lease_seconds
        self._attempts_max = attempts_max
        self._draw = draw or SecretDraw()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; what is under way is finished first."""
        await asyncio.gather(self._run_sales(stop), self._run_rest(stop))

    async def _run_sales(self, stop: asyncio.Event) -> None:
        ready = self._context.jobs_ready
        while not stop.is_set():
            ready.clear()
            done = await self._attempted(stop, self.do_jobs)
            if done == 0:
                await _first_of(stop, ready, timeout_seconds=self._poll_seconds)

    async def _run_rest(self, stop: asyncio.Event) -> None:
        now = asyncio.get_running_loop().time
        while not stop.is_set():
            began = now()
            done = await self._attempted(stop, self.do_what_can_wait)
            rest = min(now() - began, REST_SECONDS_MAX) if done else self._poll_seconds
            if done is not None:
                await _first_of(stop, timeout_seconds=rest)

    async def _attempted(self, stop: asyncio.Event, work: Callable[[], Awaitable[int]]) -> int | None:
        """How much there was to do; None: that could not be told, and there was a pause."""
        try:
            return await work()
        except Unavailable as error:
            _log.warning("worker.paused", reason=error.message)
        except Exception:  # whatever it is: sales wait for this loop
            _log.exception("worker.paused")
        await _first_of(stop, timeout_seconds=PAUSE_SECONDS)
        return None

    async def run_once(self) -> int:
        """Do some of everything; how much there was to do. Raises Unavailable with the database away."""
        return await self.do_jobs() + await self.do_what_can_wait()

    async def do_jobs(self) -> int:
        """Carry out jobs of sales; how many there were. Raises Unavailable with the database away."""
        claimed = await claim_jobs(self._context, BATCH, self._lease_seconds)
        await asyncio.gather(*(self._carry_out(job) for job in claimed))
        return len(claimed)

    async def do_what_can_wait(self) -> int:
        """Make a portion of coupon codes, then a stretch of a forecast; how many of the two there were.

        Raises Unavailable with the database away.
        """
        return await work_on_a_batch(self._context, self._draw) + await run_forecasts(self._context)

    async def _carry_out(self, job: ClaimedJob) -> None:
        """Carry out one job; never raises, because its neighbours in the batch must not be left alone."""
        try:
            reason = await self._attempt(job)
            if reason is not None:
                await give_up(self._context, job, reason, self._attempts_max)
        except Unavailable as error:
            _log.warning("worker.job_put_off", job=job.id, reason=error.message)  # its lease will run out
        except Exception:
            _log.exception("worker.job_put_off", job=job.id)

    async def _attempt(self, job: ClaimedJob) -> str | None:
        """None, or why the attempt failed."""
        if job.attempts > self._attempts_max:
            return "The last attempt was not finished."  # whoever had it died in it
        try:
            if not await run_side_effects(self._context, job, self._draw, self._attempts_max):
                _log.info("worker.lease_lost", job=job.id)
        except Unavailable:
            raise
        except Exception as error:
            _log.exception("worker.job_failed", job=job.id, attempts=job.attempts)
            # Tills are told the reason. What databases say holds statements and rows, which are for the log alone.
            return f"It could not be carried out ({type(error).__name__}); the log of the service says more."
        return None


async def _first_of(*events: asyncio.Event, timeout_seconds: float) -> None:
    """Wait until one of the events is set, but no longer than the timeout."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=timeout_seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()
