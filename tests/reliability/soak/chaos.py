"""Faults during the load: processes are killed, the database is restarted or finds its disk full, the cache is stopped,
clocks jump.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event

from tests.kit.postgres import PostgresServer
from tests.kit.valkey import ValkeyServer
from tests.reliability.soak.history import History
from tests.reliability.soak.small_disk import SmallDisk
from tests.reliability.soak.system import System

__all__ = ["Chaos"]

DOWN_SECONDS = 1.0
FULL_SECONDS = 3.0
JUMP_SECONDS_MAX = 120.0


@dataclass(slots=True)
class Chaos:
    """Causes one fault after the other, each repaired before the next, every ``pace`` seconds."""

    system: System
    history: History
    rng: random.Random
    postgres: PostgresServer | None
    valkey: ValkeyServer | None
    disk: SmallDisk | None
    pace: float
    done: Counter[str] = field(default_factory=Counter)

    async def run(self, stop: asyncio.Event) -> None:
        """Run until stopped; everything is running again when it returns."""
        verbs: list[Callable[[], None]] = [self.kill_service, self.kill_worker]
        verbs += [self.restart_database] if self.postgres is not None else []
        verbs += [self.stop_cache] if self.valkey is not None else []
        verbs += [self.jump_clocks] if self.system.clock is not None else []
        verbs += [self.fill_disk] if self.disk is not None else []
        turn = 0
        while not stop.is_set():
            try:
                await asyncio.wait_for(stop.wait(), self.rng.uniform(0.5, 1.5) * self.pace)
            except TimeoutError:
                verb = verbs[turn % len(verbs)]
                turn += 1
                await asyncio.to_thread(verb)
                self.done[verb.__name__] += 1
            self.done["started by its supervisor"] += await self.system.supervise()
        await self.system.supervise()

    def kill_service(self) -> None:
        """Kill one service (SIGKILL) and restart it."""
        service = self.rng.choice(self.system.services)
        service.kill()
        service.restart()

    def kill_worker(self) -> None:
        """Kill one worker and restart it."""
        if self.system.workers:
            worker = self.rng.choice(self.system.workers)
            worker.kill()
            worker.restart()

    def restart_database(self) -> None:
        """Crash the database as in a power failure, but without loss of unsynced data; it restarts immediately."""
        assert self.postgres is not None
        before = time.monotonic()
        self.postgres.crash()
        self.postgres.start()
        self.history.database_crashes.append((before, time.monotonic()))

    def jump_clocks(self) -> None:
        """Set the clock of all processes forwards or backwards, to at most two minutes off."""
        assert self.system.clock is not None
        self.system.clock.set(seconds=self.rng.uniform(-1, 1) * JUMP_SECONDS_MAX)

    def fill_disk(self) -> None:
        """Leave the database no space for a while; it may end by itself, and is started once there is space again."""
        assert self.disk is not None
        assert self.postgres is not None
        before = time.monotonic()
        self.disk.fill()
        Event().wait(FULL_SECONDS)
        self.disk.empty()
        if not self.postgres.running:
            self.postgres.start()
            self.done["full disks that ended the database"] += 1
        self.history.database_crashes.append((before, time.monotonic()))

    def stop_cache(self) -> None:
        """Stop the cache for a second."""
        assert self.valkey is not None
        self.valkey.stop()
        self.valkey.start()
