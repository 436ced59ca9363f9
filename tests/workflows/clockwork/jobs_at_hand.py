"""Test jobs, and workers that share a database and a clock that stands still until it is moved."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from promenade.store.clockwork.jobs import ClockRow, read_clock
from promenade.store.driver.unit import Database
from promenade.worker import Clockwork
from promenade.workflows.clockwork import ClockJob, JobResult
from promenade.workflows.context import Context
from tests.workflows.shop import Shop

__all__ = ["Bench"]

Run = Callable[[Context, str | None], Awaitable[JobResult]]


@dataclass
class Bench:
    """A shop's clockwork with its own jobs; ``log`` has the jobs that ran, in order."""

    shop: Shop
    jobs: dict[str, ClockJob] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)

    def job(self, name: str, run: Run | None = None, *, every: float = 5) -> None:
        """Add a job that logs its name, then calls ``run``, if given."""

        async def noted(context: Context, cursor: str | None) -> JobResult:
            self.log.append(name)
            return JobResult(1) if run is None else await run(context, cursor)

        self.jobs[name] = ClockJob(name, timedelta(seconds=every), noted)

    def worker(self, *, ahead: float = 0, database: Database | None = None) -> Clockwork:
        """Return a worker whose clock is this many seconds ahead of the others'."""
        context = replace(
            self.shop.context,
            clock=lambda: self.shop.now[0] + timedelta(seconds=ahead),
            new_id=lambda: str(uuid.uuid4()),
            instance_id=f"worker-{uuid.uuid4()}",
            database=database or self.shop.context.database,
        )
        return Clockwork(context, self.jobs)

    @property
    def now(self) -> datetime:
        return self.shop.now[0]

    def later(self, seconds: float) -> None:
        self.shop.later(seconds=seconds)

    def ran(self) -> list[str]:
        """Return the jobs that ran since the last call."""
        log = list(self.log)
        self.log.clear()
        return log

    async def row(self, name: str) -> ClockRow:
        rows = await self.shop.context.database.read(read_clock, system=True)
        return next(row for row in rows if row.name == name)
