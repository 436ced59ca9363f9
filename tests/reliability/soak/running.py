"""One complete soak: furnish, start, load, wait until all work is done, stop, check."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from promenade.store.driver.session import open_database
from tests.kit.databases import past_the_wall
from tests.kit.moved_clock import MovedClock
from tests.kit.postgres import PostgresServer
from tests.kit.processor_time import busy_seconds
from tests.kit.receiver import Receiver
from tests.kit.valkey import ValkeyServer
from tests.reliability.soak.books import Books
from tests.reliability.soak.chaos import Chaos
from tests.reliability.soak.check_coupons import check_coupons
from tests.reliability.soak.check_money import check_money
from tests.reliability.soak.check_rest import check_rest
from tests.reliability.soak.check_sales import check_sales
from tests.reliability.soak.furnishing import furnish
from tests.reliability.soak.history import History
from tests.reliability.soak.load import Load
from tests.reliability.soak.report import Measured, measure, report
from tests.reliability.soak.small_disk import SmallDisk
from tests.reliability.soak.system import Layout, System

__all__ = ["Plan", "Result", "Trouble", "soak"]

Trouble = Callable[[System, Load], Awaitable[None]]
"""What happens while the load is running, in a test's own order; it may end the load."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The size of a soak. ``postgres``, ``valkey`` and ``disk`` are its own, which chaos may break."""

    database_url: str
    valkey_url: str | None
    directory: Path
    operations: int
    seed: int
    clients: int = 12
    rate: float | None = None  # calls a second at most
    layout: Layout = field(default_factory=Layout)
    with_chaos: bool = False
    pace: float = 3.0  # seconds from one fault to the next
    trouble: Trouble | None = None
    postgres: PostgresServer | None = None
    valkey: ValkeyServer | None = None
    disk: SmallDisk | None = None
    quiet_seconds: float = 120.0
    clock: MovedClock | None = None  # reads the file `clock` in the directory; None: real time


@dataclass(frozen=True, slots=True)
class Result:
    """The result; ``faults`` is empty if every invariant holds."""

    history: History
    faults: tuple[str, ...]
    chaos: dict[str, int]
    text: str

    @property
    def measured(self) -> Measured:
        """Return availability and response times."""
        return measure(self.history)


async def soak(plan: Plan) -> Result:
    """Run a soak. Everything it started has ended when this returns."""
    with Receiver() as receiver:
        await furnish(plan.database_url, plan.operations, receiver.url)
        system = System(plan.database_url, plan.valkey_url, plan.directory, plan.layout, receiver, plan.clock)
        try:
            await system.start()
            load = Load(system.ports, plan.operations, plan.clients, plan.seed, plan.rate)
            began, busy = time.monotonic(), busy_seconds()
            chaos = await _loaded(plan, system, load)
            seconds = time.monotonic() - began
            busy = (busy_seconds() - busy) / (seconds * (os.cpu_count() or 1))
            await system.until_quiet(plan.quiet_seconds)
            settled = time.monotonic() - began - seconds
            codes = await asyncio.to_thread(system.stop)
        finally:
            system.kill()
        books = await _checked(plan, load.history, receiver)
        faults = [*load.history.faults, *books.faults]
        faults += [f"{name} ended with {code}" for name, code in codes.items() if code]
        faults += [f"traceback in {log}" for log in system.tracebacks()]
    text = report(load.history, seconds, busy, settled, dict(books.checked), faults)
    if chaos:
        text += f"\nbroken meanwhile: {chaos}"
    return Result(load.history, tuple(faults), chaos, text)


async def _loaded(plan: Plan, system: System, load: Load) -> dict[str, int]:
    """Run the load, with chaos if requested; return the number of faults by kind."""
    rng = random.Random(f"chaos {plan.seed}")
    chaos = Chaos(system, load.history, rng, plan.postgres, plan.valkey, plan.disk, plan.pace)
    stop = asyncio.Event()
    breaking = asyncio.create_task(chaos.run(stop)) if plan.with_chaos else None
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(load.run())
            if plan.trouble is not None:
                tasks.create_task(_whole(plan.trouble(system, load)))
    finally:
        stop.set()
        if breaking is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await breaking
    return dict(chaos.done)


async def _whole(trouble: Awaitable[None]) -> None:
    await trouble


async def _checked(plan: Plan, history: History, receiver: Receiver) -> Books:
    database = await open_database(past_the_wall(plan.database_url))  # so that no policy hides faults
    try:
        books = Books(database, history, receiver.requests())
        await check_money(books)
        await check_sales(books)
        await check_coupons(books)
        await check_rest(books)
        return books
    finally:
        await database.close()
