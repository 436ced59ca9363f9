"""W1 to W5 and A1: committed events are delivered or become dead letters, whatever happens (reliability.md)."""

from __future__ import annotations

import asyncio
import itertools
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promenade.events import CampaignLocked
from promenade.store.driver.cache import open_cache
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database
from promenade.worker import delivery as delivering
from promenade.worker.delivery import Delivery
from promenade.workflows.webhooks.claiming import claim_messages, waiting
from promenade.workflows.webhooks.planning import plan_deliveries
from tests.conftest import StartService
from tests.kit.moved_clock import MovedClock
from tests.kit.receiver import Answer, Hang, Receiver
from tests.kit.valkey import ValkeyServer
from tests.workflows.shop import identity
from tests.workflows.webhooks.post import Post, open_post

SOAK = (pytest.mark.soak, pytest.mark.timeout(600))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A real receiver."""
    with Receiver() as running:
        yield running


@pytest.fixture
async def post(database: Database, receiver: Receiver) -> Post:
    """A shop with subscriptions to it."""
    return await open_post(database, receiver)


async def until(is_so: Callable[[], Any], seconds: float, what: str) -> None:
    """Poll until ``is_so`` holds or the time is over; ``is_so`` may be a coroutine function."""
    deadline = time.monotonic() + seconds
    while True:
        found = is_so()
        if await found if asyncio.iscoroutine(found) else found:
            return
        assert time.monotonic() < deadline, what
        with suppress(TimeoutError):
            async with asyncio.timeout(0.05):
                await asyncio.Event().wait()


async def each_is_delivered(post: Post, number: int) -> None:
    """Every event of the outbox has one delivery, DELIVERED, and all requests of an event are equal but for the
    signature.
    """
    events = await post.outbox("COUPON_EXPIRED")
    logs = await post.logs()
    assert len(events) == number
    assert Counter(log.event_id for log in logs) == Counter(event.id for event in events), "planned other than once"
    assert {log.status for log in logs} == {"DELIVERED"}
    assert not await post.queued()
    payloads = {event.id: event.payload for event in events}
    requests = post.receiver.requests()
    assert {request.headers["webhook-id"] for request in requests} == set(payloads)
    for request in requests:
        assert request.body == payloads[request.headers["webhook-id"]]


# --- killed workers ---------------------------------------------------------------------------------------------------


@pytest.mark.check
@pytest.mark.parametrize(("events", "kills"), [(200, 2), pytest.param(3000, 20, marks=SOAK)])
async def test_w1_no_event_is_lost_when_workers_are_killed(
    post: Post, database_url: str, server: StartService, tmp_path: Path, seed: int, events: int, kills: int
) -> None:
    rng = random.Random(seed)
    clock = MovedClock(tmp_path / "clock")
    await post.subscribe("shop", "COUPON_EXPIRED")
    post.receiver.answers("/shop", *(Answer(500 if rng.random() < 0.05 else 200) for _ in range(events)), Answer(200))
    await post.emit_many(events)
    worker = server(
        *("--database-url", database_url, "--webhook-allow", "127.0.0.1", "--webhook-retry-schedule", "1,1,1,1,1,1"),
        verb="worker",
        ready_path=None,
        env={"CLOCK_FILE": str(tmp_path / "clock")},
        command=(sys.executable, "-m", "tests.kit.moved_clock"),
    )
    for kill in range(1, kills + 1):
        await post.receiver.waited(events * kill // (kills + 2))
        worker.kill()
        clock.move(minutes=2)  # leases of the dead worker expire
        worker.restart()

    async def is_done() -> bool:
        rows = await post.outbox("COUPON_EXPIRED")
        return all(row.dispatched_at for row in rows) and not await post.queued()

    await until(is_done, 90 + events / 30, f"deliveries are left: {worker.output()[-2000:]}")
    worker.kill()
    await each_is_delivered(post, events)


async def test_w2_a_crash_after_the_answer_sends_the_same_once_more(post: Post) -> None:
    await post.subscribe("shop")
    await post.emit("c1")
    async with post.delivery() as delivery:
        await delivery.round()
        await delivery.round()
        await post.receiver.waited(1)  # and the worker dies before it records the success
    await post.deliver()
    assert len(post.receiver.requests()) == 1, "another worker took what was held"
    post.later(seconds=61)
    await post.deliver()
    first, second = post.receiver.requests()
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == identity("c1")
    assert first.body == second.body
    await each_is_delivered(post, 1)


# --- several workers, several receivers -------------------------------------------------------------------------------


@pytest.mark.check
async def test_w1_two_workers_send_each_event_once(post: Post, database_url: str) -> None:
    await post.subscribe("shop")
    await post.subscribe("till")
    await post.emit_many(400)
    stop = asyncio.Event()
    async with AsyncExitStack() as stack:
        other = await open_database(database_url) if database_url.startswith("postgres") else post.context.database
        if other is not post.context.database:
            stack.push_async_callback(other.close)
        contexts = (post.context, replace(post.context, database=other))
        deliveries = [await stack.enter_async_context(Delivery(context, poll_seconds=0.05)) for context in contexts]
        running = asyncio.gather(*(delivery.run(stop) for delivery in deliveries))
        await post.receiver.waited(800, seconds=60)

        async def is_empty() -> bool:
            return not await post.queued()

        await until(is_empty, 60, "outcomes are left")
        stop.set()
        await running
    assert len(post.receiver.requests()) == 800
    seen = Counter((request.path, request.headers["webhook-id"]) for request in post.receiver.requests())
    assert set(seen.values()) == {1}


@pytest.mark.alone
@pytest.mark.parametrize("events", [2_000, pytest.param(10_000, marks=SOAK)])
async def test_w3_thousands_waiting_for_a_receiver_that_hangs_delay_no_other(
    post: Post, monkeypatch: pytest.MonkeyPatch, events: int
) -> None:
    monkeypatch.setattr(delivering, "STOP_SECONDS", 0)  # at the end nobody waits for the receiver that hangs
    post.receiver.answers("/hang", Hang())
    await post.subscribe("hang", "COUPON_EXPIRED")
    await post.subscribe("well", "CAMPAIGN_LOCKED")
    await post.emit_many(events)
    stop = asyncio.Event()
    waits: list[float] = []
    async with post.delivery(seconds_max=15) as delivery:
        running = asyncio.create_task(delivery.run(stop))
        await post.receiver.waited(1, path="/hang")

        async def all_planned() -> bool:
            return len(await post.queued()) == events

        await until(all_planned, 300, "planning does not end")
        for number in range(1, 11):
            began = time.monotonic()
            await post.tell(CampaignLocked("c", "C", "Campaign", None, None, "someone"))
            await post.receiver.waited(number, path="/well")
            waits.append(time.monotonic() - began)
        stop.set()
        await running
    assert sorted(waits)[len(waits) // 2] < 1, waits
    assert max(waits) < 5, waits
    assert post.receiver.hanging_max["/hang"] == 1, "more than one place was spent on a receiver that hangs"


@pytest.mark.alone
async def test_w3_more_receivers_that_hang_than_there_are_places_delay_no_other(
    post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, number in (("SENDING_MAX", 8), ("CONNECTIONS_MAX", 24), ("FAILING_MAX", 4), ("STOP_SECONDS", 0)):
        monkeypatch.setattr(delivering, name, number)
    for number in range(12):
        post.receiver.answers(f"/hang{number}", Hang())
        await post.subscribe(f"hang{number}", "COUPON_EXPIRED")
    await post.subscribe("well", "CAMPAIGN_LOCKED")
    await post.emit_many(20)
    stop = asyncio.Event()
    async with post.delivery() as delivery:
        running = asyncio.create_task(delivery.run(stop))
        for number in range(8):
            await post.receiver.waited(1, path=f"/hang{number}")
        began = time.monotonic()
        await post.tell(CampaignLocked("c", "C", "Campaign", None, None, "someone"))
        await post.receiver.waited(1, path="/well")
        assert time.monotonic() - began < 8, "it waited until the others gave up"
        stop.set()
        await running


# --- the cache --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("events", [300, pytest.param(10_000, marks=SOAK)])
async def test_a1_without_the_cache_events_wait_and_drain_later(
    post: Post, valkey_server: ValkeyServer, events: int
) -> None:
    post.shop.context = replace(post.context, cache=open_cache(valkey_server.url, bytes(32)))
    await post.subscribe("shop")
    await post.emit("before")
    stop = asyncio.Event()
    async with post.delivery() as delivery:
        running = asyncio.create_task(delivery.run(stop))
        await post.receiver.waited(1)
        valkey_server.stop()
        await until(lambda: not delivery.is_open, 60, "nobody noticed that the cache is away")
        await post.emit_many(events)
        rounds = itertools.count()
        await until(lambda: next(rounds) > 10, 60, "")
        assert len(post.receiver.requests()) == 1
        assert len(await post.logs()) == 1, "something was planned without the cache"
        valkey_server.start()
        began = time.monotonic()
        await post.receiver.waited(events + 1, seconds=120)
        print(f"{events} events drained in {time.monotonic() - began:.1f} s")
        stop.set()
        await running
    await post.context.cache.close()
    await each_is_delivered(post, events + 1)


# --- clocks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a4_deliveries_of_a_dead_worker_are_sent_whatever_the_clock_does(post: Post, hours: int) -> None:
    await post.subscribe("shop")
    await post.emit("c1", "c2")
    await plan_deliveries(post.context, 10)
    lanes = {lane: 10 for lane, _ in (await waiting(post.context)).lanes}
    assert len(await claim_messages(post.context, lanes, ())) == 2  # and their worker dies
    await post.emit("c3")
    post.later(hours=hours)
    await post.deliver()
    await each_is_delivered(post, 3)


async def test_a4_a_retry_does_not_wait_for_a_clock_that_was_set_back(post: Post) -> None:
    post.receiver.answers("/shop", Answer(500), Answer(200))
    await post.subscribe("shop")
    await post.emit("c1")
    async with post.delivery() as delivery:
        await delivery.drain()
        assert (await post.log()).status == "RETRYING"
        post.later(hours=-1)
        await delivery.drain()
    await each_is_delivered(post, 1)
