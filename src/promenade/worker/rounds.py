"""Rounds of a worker: side effects of sales, batches of codes, forecasts.

A worker that fails tries again later; it never ends by itself.
"""

from __future__ import annotations

import asyncio
import secrets
from datetime import datetime, timedelta

import structlog

from promenade.errors import Unavailable
from promenade.workflows import drafts
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
PURGE_EVERY = timedelta(hours=1)

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
        draw: Draw = secrets.choice,
    ) -> None:
        self._context = context
        self._poll_seconds = poll_seconds
        self._lease_seconds = lease_seconds
        self._attempts_max = attempts_max
        self._draw = draw
        self._purged_at: datetime | None = None
        self._had_jobs = False

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; jobs under way are finished first."""
        while not stop.is_set():
            self._context.jobs_ready.clear()
            began = asyncio.get_running_loop().time()
            try:
                done = await self.run_once()
            except Unavailable as error:
                _log.warning("worker.paused", reason=error.message)
                await _first_of(stop, timeout_seconds=PAUSE_SECONDS)
                continue
            except Exception:  # whatever it is: sales wait for this loop
                _log.exception("worker.paused")
                await _first_of(stop, timeout_seconds=PAUSE_SECONDS)
                continue
            if not done:
                await _first_of(stop, self._context.jobs_ready, timeout_seconds=self._poll_seconds)
            elif not self._had_jobs:
                took = asyncio.get_running_loop().time() - began
                await _first_of(stop, self._context.jobs_ready, timeout_seconds=min(took, REST_SECONDS_MAX))

    async def run_once(self) -> int:
        """Carry out jobs, then make a portion of coupon codes, then a stretch of a forecast; how much there was to do.

        Sales come first: codes and forecasts never keep them waiting for longer than a portion takes, and forecasts
        rest while more of them are waiting. Now and then left drafts are deleted.
        Raises Unavailable with the database away.
        """
        claimed = await claim_jobs(self._context, BATCH, self._lease_seconds)
        self._had_jobs = bool(claimed)
        await asyncio.gather(*(self._carry_out(job) for job in claimed))
        done = len(claimed) + await self._purge() + await work_on_a_batch(self._context, self._draw)
        return done if len(claimed) == BATCH else done + await run_forecasts(self._context)

    async def _purge(self) -> int:
        """Delete what nobody has touched for long, when the worker begins and then every hour; how many there were."""
        at = self._context.clock()
        if self._purged_at is not None and at - self._purged_at < PURGE_EVERY:
            return 0
        gone = await drafts.purge(self._context)
        if not gone:  # otherwise there may be more, after what others wait for
            self._purged_at = at
        return gone

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
            if not await run_side_effects(self._context, job, self._draw):
                _log.info("worker.lease_lost", job=job.id)
        except Unavailable:
            raise
        except Exception as error:
            _log.exception("worker.job_failed", job=job.id, attempts=job.attempts)
            return f"{type(error).__name__}: {error}"
        return None


async def _first_of(*events: asyncio.Event, timeout_seconds: float) -> None:
    """Wait until one of the events is set, but no longer than the timeout."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, timeout=timeout_seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for one in waiting:
            one.cancel()
