"""Rounds of a worker: side effects of sales, and beside them work that can wait: code batches and forecasts.

A worker that fails tries again later; it never ends by itself.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Sequence

from promenade.errors import Unavailable
from promenade.log import Logger
from promenade.tracing import resume
from promenade.worker.loop import keep_going, wait
from promenade.worker.pace import BESIDE_SALES
from promenade.workflows.context import Context
from promenade.workflows.coupons.generation import process_batch
from promenade.workflows.forecasts.runs import run_forecasts
from promenade.workflows.sales.side_effects import (
    ATTEMPTS_MAX,
    LEASE_SECONDS,
    ClaimedJob,
    Draw,
    claim_jobs,
    give_up,
    run_side_effects,
)

BATCH = 16  # jobs of one claim run concurrently: on SQLite they share a commit
POLL_SECONDS = 1.0  # how long work confirmed by another process may wait

_log = Logger(__name__)


class Worker:
    """Works until stopped. Times are in seconds; ``draw`` picks the characters of new coupon codes."""

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
        """Work until ``stop`` is set; running work is finished first."""
        await asyncio.gather(self._run_sales(stop), self._run_rest(stop))

    async def _run_sales(self, stop: asyncio.Event) -> None:
        ready = self._context.jobs_ready

        async def work() -> None:
            ready.clear()
            if not await self.do_jobs():
                await wait(self._poll_seconds, stop, ready)

        await keep_going("worker", stop, work)

    async def _run_rest(self, stop: asyncio.Event) -> None:
        now = asyncio.get_running_loop().time

        async def work() -> None:
            began = now()
            done = await self.do_what_can_wait()
            await wait(BESIDE_SALES.after(now() - began) if done else self._poll_seconds, stop)

        await keep_going("worker", stop, work)

    async def run_once(self) -> int:
        """Do some work of each kind; return how much there was. Raises Unavailable if the database is unreachable."""
        return await self.do_jobs() + await self.do_what_can_wait()

    async def do_jobs(self) -> int:
        """Run jobs of sales; return their number. Raises Unavailable if the database is unreachable."""
        claimed = await claim_jobs(self._context, BATCH, self._lease_seconds)
        await asyncio.gather(*(self._carry_out(job) for job in claimed))
        return len(claimed)

    async def do_what_can_wait(self) -> int:
        """Generate a portion of coupon codes, then a stretch of a forecast; return how many of the two there were.

        Raises Unavailable if the database is unreachable.
        """
        return await process_batch(self._context, self._draw) + await run_forecasts(self._context)

    async def _carry_out(self, job: ClaimedJob) -> None:
        """Run one job; never raises, because the other jobs of the batch must continue."""
        try:
            with resume("side effects", job.traceparent):
                reason = await self._attempt(job)
                if reason is not None:
                    await give_up(self._context, job, reason, self._attempts_max)
        except Unavailable as error:
            _log.warning("worker.job_put_off", job=job.id, reason=error.message)  # its lease will expire
        except Exception:
            _log.exception("worker.job_put_off", job=job.id)

    async def _attempt(self, job: ClaimedJob) -> str | None:
        """Attempt a job; return why it failed, or None."""
        if job.attempts > self._attempts_max:
            return "The last attempt did not finish."  # its worker died during the attempt
        try:
            if not await run_side_effects(self._context, job, self._draw, self._attempts_max):
                _log.info("worker.lease_lost", job=job.id)
        except Unavailable:
            raise
        except Exception as error:
            _log.exception("worker.job_failed", job=job.id, attempts=job.attempts)
            # Tills see the reason. Database error messages contain statements and rows, which belong in the log only.
            return f"It failed with an internal error ({type(error).__name__}); the log of the service says more."
        return None


# --- characters of coupon codes ---------------------------------------------------------------------------------------


class SecretDraw:
    """Like `secrets.choice`, but without a system call for each character, which takes longer than storing it."""

    def __call__(self, alphabet: Sequence[str], /) -> str:
        return secrets.choice(alphabet)

    def many(self, alphabet: str, number: int, /) -> str:
        """Return ``number`` characters, uniformly drawn from an alphabet of at most 256 ASCII characters.

        Each character stands for the same number of the 256 byte values; the few left over are discarded.
        """
        size = len(alphabet)
        fair = 256 - 256 % size
        table = bytes([ord(alphabet[value % size]) for value in range(256)])
        left_over = bytes(range(fair, 256))
        found = bytearray()
        while len(found) < number:
            found += os.urandom((number - len(found)) * 256 // fair + 1).translate(table, left_over)
        return found[:number].decode("ascii")
