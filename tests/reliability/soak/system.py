"""The system under load: services, workers, a cache and a webhook receiver on one database."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Select, func, or_, select
from sqlalchemy.dialects import sqlite

from promenade.store.coupons.transitions import EXPIRE
from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from tests.kit.databases import past_the_wall
from tests.kit.moved_clock import MovedClock
from tests.kit.processes import free_port
from tests.kit.receiver import Answer, Behaviour, Close, Receiver
from tests.kit.service import COMMAND, Service
from tests.reliability.soak.furnishing import TENANTS
from tests.reliability.soak.wire import pause

__all__ = ["Layout", "System"]

RETRIES = "1,1"
_FLAKY: tuple[Behaviour, ...] = tuple(Answer(503 if number % 9 == 4 else 200) for number in range(20_000))
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Layout:
    """The number of processes of each kind. A service of one process also does background work; one of several does
    none.
    """

    services: int = 2
    workers: int = 2
    processes: int = 1  # of each service


@dataclass(slots=True)
class System:
    """The system to start, load, wait for and stop. ``clock`` is the clock of all processes, in `directory`/clock."""

    database_url: str
    valkey_url: str | None
    directory: Path
    layout: Layout
    receiver: Receiver
    clock: MovedClock | None = None
    services: list[Service] = field(default_factory=list)
    workers: list[Service] = field(default_factory=list)

    @property
    def ports(self) -> Sequence[int]:
        """Return the ports of the services."""
        return [service.port for service in self.services]

    async def start(self) -> None:
        """Start every process; the receiver is running already."""
        for tenant in TENANTS:
            self.receiver.answers(f"/flaky/{tenant}", *_FLAKY)
            self.receiver.answers(f"/dead/{tenant}", Close())
        common = ["--database-url", self.database_url, "--data-dir", str(self.directory)]
        command: tuple[str, ...] = (COMMAND,)
        env = {"CLOCK_FILE": str(self.directory / "clock")}
        if self.clock is not None:
            command = (sys.executable, "-m", "tests.kit.moved_clock")
        common += ["--webhook-allow", "127.0.0.1", "--webhook-retry-schedule", RETRIES]
        if self.valkey_url is not None:
            common += ["--redis-url", self.valkey_url]
        ports = [free_port() for _ in range(self.layout.services)]
        for number, port in enumerate(ports):
            log = self.directory / f"service-{number}.log"
            public: tuple[str, ...] = ("--public-url", f"http://127.0.0.1:{ports[0]}")  # one issuer for all
            public += ("--workers", str(self.layout.processes))
            self.services.append(Service(log, *common, *public, port=port, env=env, command=command))
        for number in range(self.layout.workers):
            log = self.directory / f"worker-{number}.log"
            self.workers.append(Service(log, *common, verb="worker", ready_path=None, env=env, command=command))
        # In threads that last as long as the loop: a process ends with the thread that started it.
        await asyncio.gather(*(asyncio.to_thread(one.start) for one in (*self.services, *self.workers)))

    def stop(self) -> dict[str, int]:
        """Stop every process; return exit codes by name."""
        codes = {f"service {number}": one.stop() for number, one in enumerate(self.services)}
        return codes | {f"worker {number}": one.stop() for number, one in enumerate(self.workers)}

    async def supervise(self) -> int:
        """Restart processes that have exited, as a supervisor does: a process that starts without a database exits."""
        ended = [one for one in (*self.services, *self.workers) if not one.running]
        await asyncio.gather(*(asyncio.to_thread(one.restart) for one in ended))
        return len(ended)

    def kill(self) -> None:
        """Kill all processes that still run."""
        for one in (*self.services, *self.workers):
            one.kill()

    def tracebacks(self) -> list[str]:
        """Return the log of each process that printed a traceback."""
        return [str(one.log) for one in (*self.services, *self.workers) if "Traceback" in one.output()]

    async def until_quiet(self, seconds: float) -> None:
        """Wait until no work is left: sales' effects, events, deliveries, imports, codes to make and to expire."""
        if self.clock is not None:
            self.clock.move(minutes=2)  # the leases of killed processes have expired
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        async with _counting(past_the_wall(self.database_url)) as count:
            while left := {name: rows for name, one in _waiting(self._now()) if (rows := await count(one))}:
                assert loop.time() < deadline, f"not quiet after {seconds:g} s: {left}"
                await pause(_POLL_SECONDS)

    def _now(self) -> datetime:
        return datetime.now(UTC) if self.clock is None else self.clock()


Counting = Callable[[Select[Any]], Awaitable[int]]


def _waiting(at: datetime) -> Iterator[tuple[str, Select[Any]]]:
    """Return the number of rows that wait for a worker, by table."""
    jobs, events = table("side_effect_jobs"), table("outbox_events")
    imports, batches, codes = table("ImportJobs"), table("CouponCodeBatches"), table("CouponCodes")
    those = {
        "side_effect_jobs": jobs.c.status.in_(("PENDING", "RUNNING")),
        "outbox_events": events.c.dispatched_at.is_(None),
        "ImportJobs": imports.c.status.in_(("QUEUED", "RUNNING")),
        "CouponCodeBatches": batches.c.status.in_(("QUEUED", "RUNNING")),
        # Each of them ends with an event, which nobody would deliver if the processes stopped before.
        "CouponCodes": or_(*map(EXPIRE.in_state, EXPIRE.sources)) & (codes.c.valid_until <= at),
    }
    for name in (*those, "webhook_queue", "import_work"):
        counting = select(func.count()).select_from(table(name))
        yield name, counting.where(those[name]) if name in those else counting


@contextlib.asynccontextmanager
async def _counting(url: str) -> AsyncIterator[Counting]:
    """Open a served database to count in; a SQLite file is opened read-only, as it belongs to the serving process."""
    if url.startswith("sqlite"):
        path = url.removeprefix("sqlite:///")
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:

            async def count_in_file(statement: Select[Any]) -> int:
                text = statement.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True})
                return int(connection.execute(str(text)).fetchone()[0])

            yield count_in_file
        return
    database = await open_database(url)

    async def count(statement: Select[Any]) -> int:
        async def work(session: Session) -> int:
            return int((await session.execute(statement))[0][0])

        return await database.read(work, system=True)

    try:
        yield count
    finally:
        await database.close()
