"""W6: committed events reach the operator's broker at least once and in order, whatever is killed.

NATS is a real server; Kafka is the test cluster of its client library, which is in this process.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from promenade.store.driver.unit import Database
from tests.conftest import StartService
from tests.kit.kafka import MockKafka, headers_of
from tests.kit.moved_clock import MovedClock
from tests.kit.nats import NatsServer
from tests.kit.receiver import Receiver
from tests.kit.service import Service
from tests.workflows.webhooks.post import Post, open_post

SECONDS_MAX = 240
SOAK = (pytest.mark.soak, pytest.mark.timeout(1200))


@pytest.fixture
async def post(database: Database) -> Post:
    return await open_post(database, Receiver())


@asynccontextmanager
async def nats_server(log: Path) -> AsyncIterator[NatsServer]:
    server = NatsServer(log)
    server.start()
    try:
        await server.make_stream()
        yield server
    finally:
        server.close()


async def until(is_so: Callable[[], Any], what: Callable[[], str]) -> None:
    """Poll until the coroutine function ``is_so`` says so."""
    deadline = time.monotonic() + SECONDS_MAX
    while not await is_so():
        assert time.monotonic() < deadline, what()
        with suppress(TimeoutError):
            async with asyncio.timeout(0.02):
                await asyncio.Event().wait()


async def in_order(post: Post) -> list[str]:
    """Return the IDs of all events as they happened."""
    rows = await post.outbox("COUPON_EXPIRED")
    return [row.id for row in sorted(rows, key=lambda row: (row.created_at, row.id))]


class Worked:
    """A worker that is killed and started again; each start finds what the dead one held, as its lease is over."""

    def __init__(self, server: StartService, database_url: str, clock: Path, url: str) -> None:
        self._clock = MovedClock(clock)
        self.worker: Service = server(
            *("--database-url", database_url, "--events-to", url),
            verb="worker",
            ready_path=None,
            env={"CLOCK_FILE": str(clock)},
            command=(sys.executable, "-m", "tests.kit.moved_clock"),
        )

    def kill(self) -> None:
        self.worker.kill()

    def restart(self) -> None:
        self._clock.move(minutes=2)
        self.worker.restart()

    def told(self) -> str:
        return self.worker.output()[-3000:]


@pytest.mark.check
@pytest.mark.parametrize(("events", "kills"), [(1500, 3), pytest.param(20_000, 15, marks=SOAK)])
async def test_w6_killed_workers_and_outages_of_nats_lose_and_repeat_nothing(
    post: Post, database_url: str, server: StartService, tmp_path: Path, events: int, kills: int
) -> None:
    await post.emit_many(events)
    async with nats_server(tmp_path / "nats.log") as broker:
        worked = Worked(server, database_url, tmp_path / "clock", f"nats://{broker.server}")

        def has(number: int) -> Callable[[], Any]:
            async def enough() -> bool:
                return await broker.count() >= number

            return enough

        for kill in range(1, kills + 1):
            await until(has(events * kill // (kills + 2)), worked.told)
            worked.kill()
            broker.stop()  # not while it is asked how many it has
            worked.restart()
            broker.start()
        await until(has(events), worked.told)
        worked.kill()
        stored = [one.headers["Nats-Msg-Id"] for one in await broker.stored() if one.headers]
    assert stored == await in_order(post), "each once, in order"


@pytest.mark.check
async def test_w6_killed_workers_lose_nothing_on_kafka(
    post: Post, database_url: str, server: StartService, tmp_path: Path
) -> None:
    events, kills = 900, 2
    await post.emit_many(events)
    with MockKafka() as broker:
        worked = Worked(server, database_url, tmp_path / "clock", f"kafka://{broker.server}/promenade")

        def has(number: int) -> Callable[[], Any]:
            async def enough() -> bool:
                return len(set(await asyncio.to_thread(broker.ids))) >= number

            return enough

        for kill in range(1, kills + 1):
            await until(has(events * kill // (kills + 2)), worked.told)
            worked.kill()
            worked.restart()
        await until(has(events), worked.told)
        worked.kill()
        partitions = broker.stored()
    wanted = await in_order(post)
    places = {id_: place for place, id_ in enumerate(wanted)}
    found: set[str] = set()
    for messages in partitions.values():
        seen = list(dict.fromkeys(headers_of(one)["event-id"] for one in messages))
        assert [places[id_] for id_ in seen] == sorted(places[id_] for id_ in seen), "in order, but for repetitions"
        found |= set(seen)
    assert found == set(wanted)
