"""A2, T3: PostgreSQL is restarted and a service killed under load; acknowledged data is stored, and errors stop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.kit.databases import Databases
from tests.kit.migrate import grant, migrate
from tests.kit.moved_clock import MovedClock
from tests.kit.postgres import PostgresServer
from tests.kit.valkey import ValkeyServer
from tests.reliability.soak.history import Call
from tests.reliability.soak.load import Load
from tests.reliability.soak.running import Plan, soak
from tests.reliability.soak.system import Layout, System
from tests.reliability.soak.wire import pause

OPERATIONS_MAX = 5_000
BEFORE, AFTER, AT_LAST = 150, 150, 100
RECOVERY_SECONDS = 10.0


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[PostgresServer]:
    """A separate server, since a restart would affect other tests."""
    started = PostgresServer(tmp_path / "postgres.log")
    started.start()
    yield started
    started.stop()


@dataclass
class Trouble:
    """When each server was down, on the monotonic clock."""

    postgres: PostgresServer
    crashed: float = 0.0
    back: float = 0.0
    killing: float = 0.0
    killed: float = 0.0

    async def __call__(self, system: System, load: Load) -> None:
        await load.until_made(BEFORE)
        self.crashed = time.monotonic()
        await asyncio.to_thread(self.postgres.crash)
        await asyncio.to_thread(self.postgres.start)
        self.back = time.monotonic()
        load.history.database_crashes.append((self.crashed, self.back))
        while not any(call.outcome == "ok" and call.began > self.back for call in load.history.calls[-50:]):
            assert time.monotonic() < self.back + RECOVERY_SECONDS, "nothing is answered"
            await pause(0.02)
        await load.until_made(AFTER)
        self.killing = time.monotonic()
        await asyncio.to_thread(system.services[0].kill)
        self.killed = time.monotonic()
        await asyncio.to_thread(system.services[0].restart)
        await load.until_made(AT_LAST)
        load.operations = 0

    def explains(self, call: Call) -> bool:
        """Return whether a call may have failed or remained unanswered."""
        ended = call.began + call.seconds
        if call.status:
            return call.began < self.back + RECOVERY_SECONDS and ended > self.crashed
        return call.began < self.killed and ended > self.killing  # it was in progress at the killed service


@pytest.mark.alone
async def test_a_restart_of_postgresql_and_a_kill_lose_nothing_and_errors_end_with_them(
    postgres: PostgresServer, valkey_server: ValkeyServer, tmp_path: Path, seed: int
) -> None:
    databases = Databases(tmp_path, lambda: postgres.url, migrate, grant)
    trouble = Trouble(postgres)
    plan = Plan(
        *(databases.create("postgresql"), valkey_server.url, tmp_path, OPERATIONS_MAX, seed),
        layout=Layout(services=2, workers=1),
        trouble=trouble,
        clock=MovedClock(tmp_path / "clock"),
    )
    result = await soak(plan)
    print(result.text)
    assert not result.faults, result.text
    failed = [call for call in result.history.calls if call.outcome == "unknown"]
    assert failed, "nobody noticed that the database was away"
    assert [call for call in failed if not trouble.explains(call)] == []
    late = [call.began - trouble.back for call in failed if call.status and call.began > trouble.back]
    assert max(late, default=0.0) < RECOVERY_SECONDS
