"""What goes wrong meanwhile: processes are killed, the database is restarted, the cache goes away."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.kit.postgres import PostgresServer
from tests.kit.valkey import ValkeyServer
from tests.reliability.soak.system import System

__all__ = ["Chaos"]

DOWN_SECONDS = 1.0


@dataclass(slots=True)
class Chaos:
    """Breaks one thing after the other, each mended before the next; at ``pace`` seconds from one to the next."""

    system: System
    rng: random.Random
    postgres: PostgresServer | None
    valkey: ValkeyServer | None
    pace: float = 3.0
    done: Counter[str] = field(default_factory=Counter)

    async def run(self, stop: asyncio.Event) -> None:
        """Until told to stop; everything runs when it returns."""
        verbs: list[Callable[[], None]] = [self.kill_service, self.kill_worker]
        verbs += [self.restart_database] if self.postgres is not None else []
        verbs += [self.stop_cache] if self.valkey is not None else []
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
        """kill -9 one of them, and start it again."""
        service = self.rng.choice(self.system.services)
        service.kill()
        service.restart()

    def kill_worker(self) -> None:
        """The same of a worker."""
        if self.system.workers:
            worker = self.rng.choice(self.system.workers)
            worker.kill()
            worker.restart()

    def restart_database(self) -> None:
        """As after a crash of its machine's power supply, but for what the disk has not kept: it comes back at once."""
        assert self.postgres is not None
        self.postgres.crash()
        self.postgres.start()

    def stop_cache(self) -> None:
        """Away for a second."""
        assert self.valkey is not None
        self.valkey.stop()
        self.valkey.start()
