"""Events for the operator's broker: planned with their deliveries, in order, until the broker has stored them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from promenade import metrics
from promenade.events import CampaignLocked
from promenade.settings import Settings
from promenade.store.clockwork.jobs import ClockRow, Leased, add_clock_rows, claim
from promenade.store.clockwork.purging import START, purge_events
from promenade.store.driver.leases import LeaseLost
from promenade.store.webhooks.outbox import emit_for
from promenade.worker import publication as publishing
from promenade.worker.publication import Publisher
from promenade.workflows.clockwork.sheet import clock_sheet
from promenade.workflows.context import Context
from promenade.workflows.webhooks.brokers import Broker, BrokerMessage, Stored
from promenade.workflows.webhooks.planning import Planned, plan_deliveries
from promenade.workflows.webhooks.publishing import Portion, publish_portion
from tests.workflows.shop import identity
from tests.workflows.webhooks.post import Post, an_event

PORTION_MAX = 384
BROKER = Settings(events_to="nats://127.0.0.1").broker


@dataclass
class Shelf(Broker):
    """A broker that stores in memory. ``capacity``: what it takes altogether; ``refuses``: what it never takes."""

    messages: list[BrokerMessage] = field(default_factory=list)
    capacity: int = 10**9
    refuses: frozenset[str] = frozenset()
    largest: int = 0

    async def publish(self, messages: Sequence[BrokerMessage]) -> Stored:
        self.largest = max(self.largest, len(messages))
        for place, message in enumerate(messages):
            if len(self.messages) >= self.capacity:
                return Stored(place, "It is full.", self._refused(messages[:place]))
            if message.id not in self.refuses:
                self.messages.append(message)
        return Stored(len(messages), None, self._refused(messages))

    def _refused(self, messages: Sequence[BrokerMessage]) -> dict[str, str]:
        return {one.id: "It is too large." for one in messages if one.id in self.refuses}

    async def close(self) -> None:
        pass

    @property
    def ids(self) -> list[str]:
        return [one.id for one in self.messages]


def value(name: str, **labels: str) -> float:
    return metrics.REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.fixture
def publishing_post(post: Post) -> Post:
    """A shop whose operator has a broker."""
    post.shop.context = replace(post.context, events_to=BROKER)
    return post


async def publish(post: Post, broker: Broker, context: Context | None = None, limit: int = 100) -> Portion:
    return await publish_portion(context or post.context, broker, "CLOUDEVENTS", limit)


async def test_events_are_published_in_the_order_in_which_they_happened(publishing_post: Post) -> None:
    post, shelf = publishing_post, Shelf()
    await post.subscribe("shop")
    for name, second in (("c", 3), ("a", 1), ("b", 2)):
        await post.emit(name, at=post.context.clock() - timedelta(seconds=10 - second))
    assert await plan_deliveries(post.context, 100) == Planned(3, 3)
    assert await publish(post, shelf, limit=2) == Portion(2, more=True)
    assert await publish(post, shelf, limit=2) == Portion(1, more=False)
    assert await publish(post, shelf) == Portion(0, more=False)
    assert shelf.ids == [identity("a"), identity("b"), identity("c")]
    first = shelf.messages[0]
    assert (first.tenant_id, first.kind, first.subject) == (post.shop.tenant, "COUPON_EXPIRED", identity("a"))
    assert first.key == f"{post.shop.tenant}/{identity('a')}"
    assert b'"specversion":"1.0"' in first.sent.body
    assert len(await post.queued()) == 3, "the deliveries to the subscription are left to others"
    await post.deliver()
    assert len(post.receiver.requests()) == 3
    assert {log.status for log in await post.logs()} == {"DELIVERED"}


async def test_nothing_is_queued_where_there_is_no_broker(post: Post) -> None:
    await post.emit("a")
    await plan_deliveries(post.context, 100)
    assert not await post.queued()


async def test_deliveries_to_receivers_leave_publications_alone(publishing_post: Post) -> None:
    """A worker for webhooks neither sends, gives up nor repairs what waits for the broker."""
    post = publishing_post
    await post.emit("a")
    await post.deliver()
    post.later(days=1)
    await post.deliver()
    (queued,) = await post.queued()
    assert (queued.lane, queued.attempts, queued.lease_owner) == ("events", 0, None)


async def test_a_broker_that_takes_a_part_gets_the_rest_later(publishing_post: Post) -> None:
    post, shelf = publishing_post, Shelf(capacity=3)
    await post.emit_many(5)
    await plan_deliveries(post.context, 100)
    failures = value("svc_events_publish_failures_total")
    assert await publish(post, shelf) == Portion(3, more=False, error="It is full.")
    assert value("svc_events_publish_failures_total") == failures + 1
    shelf.capacity = 10
    assert await publish(post, shelf) == Portion(2, more=False)
    assert len(set(shelf.ids)) == 5


async def test_what_a_broker_never_takes_holds_nothing_up(publishing_post: Post) -> None:
    post, shelf = publishing_post, Shelf(refuses=frozenset({identity("b")}))
    await post.emit("a", "b", "c")
    await plan_deliveries(post.context, 100)
    refused = value("svc_events_published_total", tenant=post.shop.tenant, status="refused")
    assert await publish(post, shelf) == Portion(3, more=False)
    assert sorted(shelf.ids) == sorted([identity("a"), identity("c")])
    assert value("svc_events_published_total", tenant=post.shop.tenant, status="refused") == refused + 1
    assert not await post.queued()


async def test_the_lag_is_the_age_of_the_oldest_event_planned_or_not(publishing_post: Post) -> None:
    post, shelf = publishing_post, Shelf(capacity=0)
    await post.emit("a")
    post.later(seconds=90)
    await publish(post, shelf)
    assert value("svc_events_publish_lag_seconds") == 90
    await plan_deliveries(post.context, 100)
    post.later(seconds=30)
    await publish(post, shelf)
    assert value("svc_events_publish_lag_seconds") == 120
    shelf.capacity = 1
    await publish(post, shelf)
    assert value("svc_events_publish_lag_seconds") == 0


async def test_events_of_all_tenants_are_published(publishing_post: Post) -> None:
    post, shelf = publishing_post, Shelf()
    other = CampaignLocked(
        campaign_id="k", campaign_code="K", campaign_name="K", start_at=None, end_at=None, actor="ann"
    )
    context = post.context
    await context.database.write(
        lambda session: emit_for(
            session, [("other", other), (post.shop.tenant, an_event())], new_id=context.new_id, at=context.clock()
        ),
        system=True,
    )
    await plan_deliveries(context, 100)
    await publish(post, shelf)
    assert {(one.tenant_id, one.kind) for one in shelf.messages} == {
        ("other", "CAMPAIGN_LOCKED"), (post.shop.tenant, "COUPON_EXPIRED"),
    }  # fmt: skip


@pytest.mark.parametrize("publishes", [True, False])
async def test_what_waits_for_a_broker_is_kept_while_there_is_one(publishing_post: Post, publishes: bool) -> None:
    post, shelf = publishing_post, Shelf()
    await post.emit("a")
    await plan_deliveries(post.context, 100)
    before = post.context.clock() + timedelta(days=1)
    gone, _ = await post.context.database.write(
        lambda session: purge_events(session, since=START.at, before=before, limit=10, publishes=publishes),
        tenant=post.shop.tenant,
    )
    assert gone == (0 if publishes else 1)
    assert len(await post.queued()) == (1 if publishes else 0)
    await publish(post, shelf)
    assert len(shelf.messages) == (1 if publishes else 0)


# --- one worker of all ------------------------------------------------------------------------------------------------


async def test_who_has_lost_the_lease_takes_nothing_out_of_the_queue(publishing_post: Post) -> None:
    """What it has sent meanwhile is sent once more by the next one, under the same IDs."""
    post, shelf = publishing_post, Shelf()
    await post.emit("a")
    await plan_deliveries(post.context, 100)
    database, at = post.context.database, post.context.clock()
    row = ClockRow(publishing.NAME, at, None, None, None, None, None)
    await database.write(lambda session: add_clock_rows(session, [publishing.NAME], at), system=True)
    first = await database.write(lambda session: claim(session, row, "first", at + timedelta(seconds=60)), system=True)
    assert first is not None
    await database.write(lambda session: claim(session, first, "second", at + timedelta(seconds=90)), system=True)
    with pytest.raises(LeaseLost):
        await publish(post, shelf, replace(post.context, database=Leased(database, first)))
    await publish(post, shelf)
    assert shelf.ids == [identity("a")] * 2


async def _until(is_so: Any) -> None:
    async with asyncio.timeout(60):
        while not is_so():
            with suppress(TimeoutError):
                async with asyncio.timeout(0.01):
                    await asyncio.Event().wait()


async def test_of_two_workers_one_publishes_and_the_other_follows_it(
    publishing_post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    post, shelves = publishing_post, [Shelf(), Shelf()]
    opened = iter(shelves)
    monkeypatch.setattr(publishing, "open_broker", lambda address: next(opened))
    monkeypatch.setattr(publishing, "LOOK_SECONDS", 0.01)
    stops = [asyncio.Event(), asyncio.Event()]
    workers = [asyncio.create_task(Publisher(post.context, poll_seconds=0.01).run(stop)) for stop in stops]
    await post.emit_many(300)
    while (await plan_deliveries(post.context, 100)).events:
        pass
    await _until(lambda: len(shelves[0].messages) + len(shelves[1].messages) == 300)
    publisher = 0 if shelves[0].messages else 1
    assert not shelves[1 - publisher].messages
    assert max(shelf.largest for shelf in shelves) <= PORTION_MAX, "memory is bounded"
    stops[publisher].set()
    await workers[publisher]
    await post.emit("late")
    await plan_deliveries(post.context, 100)
    await _until(lambda: shelves[1 - publisher].ids == [identity("late")])
    stops[1 - publisher].set()
    await workers[1 - publisher]
    assert len({one.id for shelf in shelves for one in shelf.messages}) == 301


async def test_operators_see_why_nothing_is_published(publishing_post: Post, monkeypatch: pytest.MonkeyPatch) -> None:
    post, shelf = publishing_post, Shelf(capacity=0)
    monkeypatch.setattr(publishing, "open_broker", lambda address: shelf)
    monkeypatch.setattr(publishing, "BACKOFF_SECONDS", 0.001)
    monkeypatch.setattr(publishing, "BACKOFF_SECONDS_MAX", 0.001)
    await post.emit("a")
    await plan_deliveries(post.context, 100)
    stop = asyncio.Event()
    working = asyncio.create_task(Publisher(post.context, turn_seconds=0.05, poll_seconds=0.01).run(stop))

    async def trouble() -> Any:
        sheet = await clock_sheet(post.context.database, post.context.clock())
        return next((one["lastError"] for one in sheet if one["job"] == publishing.NAME), None)

    async with asyncio.timeout(60):
        while await trouble() != "It is full.":
            pass
        shelf.capacity = 1
        while await trouble() is not None:
            pass
    stop.set()
    await working
    assert shelf.ids == [identity("a")]
