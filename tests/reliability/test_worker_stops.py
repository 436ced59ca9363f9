"""A stopped worker ends cleanly and in time, whatever receivers do to it."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from promenade.store.driver.unit import Database
from tests.conftest import StartService
from tests.kit.receiver import Drip, Flood, Hang, Receiver
from tests.workflows.webhooks.post import Post, open_post

EACH = 12


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A real receiver that never answers on any path."""
    with Receiver() as running:
        running.answers("/hang", Hang())
        running.answers("/drip", Drip())
        running.answers("/body", Drip(of="body"))
        running.answers("/flood", Flood())
        yield running


@pytest.fixture
def deaf() -> Iterator[str]:
    """An https address that accepts connections and never starts TLS."""
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as listening:
        yield f"https://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
async def post(database: Database, receiver: Receiver, deaf: str) -> Post:
    """A shop with many subscriptions to all of these."""
    post = await open_post(database, receiver)
    for path in ("hang", "drip", "body", "flood"):
        for number in range(EACH):
            name = f"{path}{number}"
            await post.subscribe(name, "COUPON_EXPIRED", callback_url=f"{receiver.url}/{path}")
    for number in range(EACH):
        await post.subscribe(f"deaf{number}", "COUPON_EXPIRED", callback_url=f"{deaf}/{number}")
    return post


@pytest.mark.parametrize("verb", ["worker", "serve"])
async def test_a_stopped_worker_ends_cleanly_while_receivers_hang(
    post: Post, database: Database, database_url: str, server: StartService, verb: str
) -> None:
    await post.emit("one", "two")
    await database.close()  # a SQLite file belongs to one process
    service = server(
        *("--database-url", database_url, "--webhook-allow", "127.0.0.1"),
        verb=verb,
        ready_path=None if verb == "worker" else "/health",
    )
    await post.receiver.waited(EACH, path="/hang")
    assert service.stop() == 0, service.output()[-4000:]  # fails if it takes longer than 20 seconds
    assert "Traceback" not in service.output(), service.output()[-4000:]
