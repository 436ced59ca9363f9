"""A2: PostgreSQL is restarted in the middle of deliveries, and everything recovers by itself (reliability.md)."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database
from tests.conftest import StartService
from tests.kit.databases import Databases
from tests.kit.migrate import grant, migrate
from tests.kit.moved_clock import MovedClock
from tests.kit.postgres import PostgresServer
from tests.kit.receiver import Answer, Receiver
from tests.reliability.test_webhooks import each_is_delivered, until
from tests.workflows.webhooks.post import open_post

EVENTS = 300
RESTARTS = 2


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[PostgresServer]:
    """A separate server, since a restart would affect other tests."""
    started = PostgresServer(tmp_path / "postgres.log", {})
    started.start()
    yield started
    started.stop()


@pytest.fixture
def url(postgres: PostgresServer, tmp_path: Path) -> str:
    """The URL of a migrated database on it."""
    return Databases(tmp_path, lambda: postgres.url, migrate, grant).create("postgresql")


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    """The database, opened."""
    opened = await open_database(url)
    yield opened
    await opened.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A real receiver that fails one in fifty calls."""
    with Receiver() as running:
        running.answers("/shop", *(Answer(503 if number % 50 == 3 else 200) for number in range(EVENTS)), Answer(200))
        yield running


async def test_a2_a_restart_of_postgresql_loses_no_event_and_needs_none_of_the_worker(
    database: Database, url: str, postgres: PostgresServer, receiver: Receiver, server: StartService, tmp_path: Path
) -> None:
    post = await open_post(database, receiver)
    clock = MovedClock(tmp_path / "clock")
    await post.subscribe("shop", "COUPON_EXPIRED")
    await post.emit_many(EVENTS)
    worker = server(
        *("--database-url", url, "--webhook-allow", "127.0.0.1", "--webhook-retry-schedule", "1,1,1,1,1,1"),
        verb="worker",
        ready_path=None,
        env={"CLOCK_FILE": str(tmp_path / "clock")},
        command=(sys.executable, "-m", "tests.kit.moved_clock"),
    )
    for restart in range(1, RESTARTS + 1):
        await receiver.waited(EVENTS * restart // (RESTARTS + 3))
        await asyncio.to_thread(postgres.crash)
        await asyncio.to_thread(postgres.start)
        clock.move(minutes=2)  # messages of a claim that was committed without an answer are due again

    async def is_done() -> bool:
        rows = await post.outbox("COUPON_EXPIRED")
        return all(row.dispatched_at for row in rows) and not await post.queued()

    await until(is_done, 60, f"deliveries are left: {worker.output()[-2000:]}")
    assert worker.running, "the worker has gone through it"
    assert worker.stop() == 0
    assert "Traceback" not in worker.output(), worker.output()[-4000:]
    await each_is_delivered(post, EVENTS)
    twice = Counter(request.headers["webhook-id"] for request in receiver.requests())
    assert sum(twice.values()) - len(twice) < EVENTS, "what was recorded is not sent again"
