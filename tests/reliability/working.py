"""Workers that tests kill: `python -m tests.reliability.working URL WORKERS SECONDS JOBS ATTEMPTS`.

Their clocks are SECONDS off. They print a line for each finished job, and end when the database has no unfinished job.
After JOBS jobs (0: never) they print `held` instead and keep what they have claimed until they are killed. A job that
was claimed ATTEMPTS times has failed.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import select

from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.worker import Worker
from promenade.workflows.context import Context
from promenade.workflows.sales.side_effects import ClaimedJob
from tests.workflows.shop import open_shop

LEASE_SECONDS = 1
POLL_SECONDS = 0.05


class TellingWorker(Worker):
    """A worker that reports each finished job, and stops when no job is left."""

    def __init__(self, context: Context, stop: asyncio.Event, jobs: int, attempts: int) -> None:
        super().__init__(context, poll_seconds=POLL_SECONDS, lease_seconds=LEASE_SECONDS, attempts_max=attempts)
        self._stop = stop
        self._jobs_left = jobs or sys.maxsize

    async def do_jobs(self) -> int:
        done = await super().do_jobs()
        if not done and not await self._context.database.read(is_unfinished, system=True):
            self._stop.set()
        return done

    async def _carry_out(self, job: ClaimedJob) -> None:
        self._jobs_left -= 1
        if self._jobs_left < 0:
            print("held", flush=True)
            await asyncio.Event().wait()
        await super()._carry_out(job)
        print("done", flush=True)


async def is_unfinished(session: Session) -> bool:
    jobs = table("side_effect_jobs")
    return bool(await session.execute(select(jobs.c.id).where(jobs.c.status.in_(("PENDING", "RUNNING"))).limit(1)))


async def main(url: str, workers: int, seconds_off: float, jobs: int, attempts: int) -> None:
    database = await open_database(url)
    shop = await open_shop(database, is_new=False)
    context = replace(
        shop.context,
        clock=lambda: datetime.now(UTC) + timedelta(seconds=seconds_off),
        new_id=lambda: str(uuid.uuid4()),
    )
    stop = asyncio.Event()
    await asyncio.gather(*(TellingWorker(context, stop, jobs, attempts).run(stop) for _ in range(workers)))
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])))
