"""Replayed deliveries: the right ones, once each, whatever happens at the same time."""

from __future__ import annotations

import asyncio
import uuid
from datetime import timedelta
from typing import Any

import pytest

from promenade.errors import Conflict, Invalid, NotFound
from promenade.store.authoring.statements import read_rows
from promenade.store.driver.unit import Session
from promenade.store.webhooks.replay import hold_logs
from promenade.workflows.authoring import Authoring
from promenade.workflows.webhooks import replay as webhook_replay
from promenade.workflows.webhooks.replay import Period, Replayed, check_period, replay_delivery, replay_events
from tests.workflows.authoring.desk import NOON, OTHER, Desk
from tests.workflows.authoring.test_every_entity import refused
from tests.workflows.webhooks.authoring.deliveries import Outbox

LOGS, SUBSCRIPTIONS = "NotificationLogs", "WebhookSubscriptions"
HOUR = timedelta(hours=1)
LATER = NOON + 5 * HOUR
DAY = Period(NOON, NOON + timedelta(days=1))


class Operator(Desk):
    """Replays, with one unit of work per call."""

    async def replay(self, log_id: str) -> None:
        session_of = self._in_session(
            lambda authoring, session: replay_delivery(authoring, session, log_id, at=self.now)
        )
        await self.database.write(session_of, tenant=self.tenant)

    async def replay_events(self, subscription: str, period: Period = DAY, *, found: Any = None) -> Replayed:
        if found is None:
            found = await self.find(subscription, period)

        async def work(authoring: Authoring, session: Session) -> Replayed:
            return await replay_events(authoring, session, subscription, period, found, at=self.now)

        replayed: Replayed = await self.database.write(self._in_session(work), tenant=self.tenant)
        return replayed

    async def find(self, subscription: str, period: Period = DAY) -> Any:
        class Context:
            database = self.database

        return await webhook_replay.find_missed(Context, self.tenant, subscription, period)  # type: ignore[arg-type]

    def _in_session(self, work: Any) -> Any:
        async def run(session: Session) -> Any:
            authoring = Authoring(session, user="ann", at=self.now, new_id=lambda: str(uuid.uuid4()))
            answer = await work(authoring, session)
            await authoring.finish()
            return answer

        return run


@pytest.fixture
def desk(desk: Desk) -> Operator:
    operator = Operator(desk.database)
    operator.now = LATER
    return operator


@pytest.fixture
def outbox(desk: Operator) -> Outbox:
    return Outbox(desk.database, desk.tenant)


async def _subscription(desk: Desk, **more: Any) -> str:
    return await desk.given(SUBSCRIPTIONS, **{"eventTypes": ["*"], "name": "ERP", **more})


# --- one delivery -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["DEAD_LETTER", "DELIVERED"])
async def test_a_delivery_is_sent_again_whatever_became_of_it(desk: Operator, outbox: Outbox, status: str) -> None:
    subscription = await _subscription(desk, callbackUrl="https://new.example/hook")
    event = await outbox.event(at=NOON)
    log = await outbox.log(subscription, event, status, at=NOON, delivered_at=NOON if status == "DELIVERED" else None)
    before = await desk.row(LOGS, log)
    await desk.replay(log)
    row = await desk.row(LOGS, log)
    assert (row["status"], row["attempts"], row["nextAttemptAt"]) == ("PENDING", 0, LATER)
    assert (row["httpStatus"], row["lastError"], row["deliveredAt"], row["lastAttemptAt"]) == (None, None, None, NOON)
    assert (row["callbackUrl"], row["modifiedBy"]) == ("https://new.example/hook", "ann")
    assert row["version"] == before["version"] + 1, "whoever saw it before sees that it has changed"
    (queued,) = await outbox.queue()
    assert (queued["delivery_id"], queued["event_id"], queued["lane"]) == (log, event, subscription)
    assert (queued["attempts"], queued["due_at"], queued["lease_owner"]) == (0, LATER, None)
    (trail,) = await desk.rows("AuditLogs", action="REPLAY")
    assert (trail["entityType"], trail["entityId"], trail["actor"]) == (LOGS, log, "ann")
    assert (trail["entityName"], trail["note"]) == ("PROMOTION_UPDATED", f"was {status} after 3 attempts")


async def test_a_waiting_delivery_becomes_due_and_a_running_one_is_not_disturbed(
    desk: Operator, outbox: Outbox
) -> None:
    subscription = await _subscription(desk)
    event = await outbox.event(at=NOON)
    log = await outbox.log(subscription, event, "RETRYING", at=NOON)
    await outbox.waits(log, event, due_at=LATER + 10 * HOUR)
    await desk.replay(log)
    (queued,) = await outbox.queue()
    assert (queued["due_at"], queued["attempts"]) == (LATER, 0)
    other = await outbox.event(at=NOON)
    busy = await outbox.log(subscription, other, "RETRYING", at=NOON)
    await outbox.waits(busy, other, due_at=LATER + HOUR, lease_owner="w", lease_until=LATER + HOUR)
    await desk.replay(busy)
    (_, queued) = await outbox.queue()
    assert (queued["lease_owner"], queued["due_at"], queued["attempts"]) == ("w", LATER + HOUR, 0)


async def test_a_job_callback_is_sent_again_to_its_url(desk: Operator, outbox: Outbox) -> None:
    event = await outbox.event(at=NOON)
    log = await outbox.log(None, event, "DEAD_LETTER", at=NOON)
    await desk.replay(log)
    (queued,) = await outbox.queue()
    assert queued["lane"] not in (log, event, "")
    assert (await desk.row(LOGS, log))["callbackUrl"] == "https://shop.example/hook"


async def test_a_delivery_that_cannot_be_repeated_states_the_reason_and_stays_unchanged(
    desk: Operator, outbox: Outbox
) -> None:
    kept, gone = await outbox.event(at=NOON), await outbox.event(at=NOON)
    active, inactive = await _subscription(desk), await _subscription(desk, isActive=False)
    deleted = await _subscription(desk)
    cases = [
        (await outbox.log(active, gone, "DEAD_LETTER", at=NOON), "EVENT_GONE"),
        (await outbox.log(inactive, kept, "DEAD_LETTER", at=NOON), "SUBSCRIPTION_INACTIVE"),
        (await outbox.log(deleted, kept, "DEAD_LETTER", at=NOON), "SUBSCRIPTION_GONE"),
    ]
    await desk.remove(SUBSCRIPTIONS, deleted)
    await outbox.purge(gone)
    for log, code in cases:
        before = await desk.row(LOGS, log)
        error = await refused(desk, Conflict, desk.replay(log))
        assert error.code == code
        assert await desk.row(LOGS, log) == before
    await refused(desk, NotFound, desk.replay("99999999-9999-4999-8999-999999999999"))
    assert await outbox.queue() == []
    assert await desk.rows("AuditLogs", action="REPLAY") == []
    await desk.update(SUBSCRIPTIONS, inactive, isActive=True)
    await desk.replay(cases[1][0])


async def test_another_tenants_delivery_is_not_there(desk: Operator, outbox: Outbox) -> None:
    subscription = await _subscription(desk)
    log = await outbox.log(subscription, await outbox.event(at=NOON), "DEAD_LETTER", at=NOON)
    stranger = Operator(desk.database, OTHER)
    error = await refused(stranger, NotFound, stranger.replay(log))
    assert error.message == (await refused(stranger, NotFound, stranger.replay("x" * 36))).message
    assert (await stranger.find(subscription)).events == ()
    await refused(stranger, NotFound, stranger.replay_events(subscription, found=await desk.find(subscription)))
    assert await outbox.queue() == []


# --- all that was missed ----------------------------------------------------------------------------------------------


async def test_a_subscription_gets_exactly_the_events_it_missed(desk: Operator, outbox: Outbox) -> None:
    subscription = await _subscription(desk, eventTypes=["PROMOTION_UPDATED", "BUDGET_EXHAUSTED"])
    other = await _subscription(desk)
    never, budget, dead, delivered, waiting, retrying, elsewhere, edge = await outbox.events(
        "PROMOTION_UPDATED", [NOON + timedelta(minutes=minute) for minute in range(8)]
    )
    unwanted = await outbox.event("COUPON_ISSUED", at=NOON + HOUR)
    unplanned = await outbox.event(at=NOON + HOUR, dispatched=False)
    before = await outbox.event(at=NOON - timedelta(microseconds=1))
    at_the_end = await outbox.event(at=DAY.end)
    last = await outbox.event("BUDGET_EXHAUSTED", at=DAY.end - timedelta(microseconds=1))
    dead_log = await outbox.log(subscription, dead, "DEAD_LETTER", at=NOON)
    for event, status in ((delivered, "DELIVERED"), (waiting, "PENDING"), (retrying, "RETRYING")):
        await outbox.log(subscription, event, status, at=NOON)
    await outbox.log(other, elsewhere, "DELIVERED", at=NOON)
    desk.now = DAY.end + HOUR
    assert await desk.replay_events(subscription) == Replayed(6, DAY.end)
    queue = await outbox.queue()
    assert [row["event_id"] for row in queue] == [never, budget, dead, elsewhere, edge, last], "in their order"
    assert {row["lane"] for row in queue} == {subscription}
    assert queue[2]["delivery_id"] == dead_log
    assert not {unwanted, unplanned, before, at_the_end} & {row["event_id"] for row in queue}
    for row in queue:
        log = await desk.row(LOGS, row["delivery_id"])
        assert (log["eventId"], log["subscription_ID"], log["status"]) == (row["event_id"], subscription, "PENDING")
        assert (log["attempts"], log["lastError"], log["nextAttemptAt"]) == (0, None, desk.now)
    assert {row["event_id"]: row for row in queue}[last]
    (kind,) = [row["eventType"] for row in await desk.rows(LOGS, eventId=last)]
    assert kind == "BUDGET_EXHAUSTED"
    (trail,) = await desk.rows("AuditLogs", action="REPLAY")
    assert (trail["entityType"], trail["entityId"], trail["entityName"]) == (SUBSCRIPTIONS, subscription, "ERP")
    assert trail["note"].startswith("6 events from 2026-03-02T12:00:00")
    assert await desk.replay_events(subscription) == Replayed(0, DAY.end), "what waits is not planned again"
    assert len(await outbox.queue()) == 6


async def test_a_long_period_is_walked_through_call_by_call(
    desk: Operator, outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call plans and examines a limited number, and nothing is missed between two calls."""
    monkeypatch.setattr(webhook_replay, "EVENTS_MAX", 7)
    monkeypatch.setattr(webhook_replay, "_EXAMINED_MAX", 10)
    monkeypatch.setattr("promenade.store.webhooks.replay.SLICE", 5)
    subscription = await _subscription(desk)
    moments = [NOON + timedelta(seconds=second // 3) for second in range(60)]  # three happen at once
    events = await outbox.events("PROMOTION_UPDATED", moments)
    for event in events[20:45]:
        await outbox.log(subscription, event, "DELIVERED", at=NOON)
    start, planned, calls = DAY.start, 0, 0
    while start < DAY.end:
        replayed = await desk.replay_events(subscription, Period(start, DAY.end))
        assert replayed.events <= 7
        assert replayed.until > start or replayed.events
        start, planned, calls = replayed.until, planned + replayed.events, calls + 1
        desk.now += HOUR
        assert calls < 60
    assert planned == 35
    queued = [row["event_id"] for row in await outbox.queue()]
    assert sorted(queued) == sorted([*events[:20], *events[45:]])


async def test_only_subscribed_stored_and_active_deliveries_are_planned(desk: Operator, outbox: Outbox) -> None:
    """Everything may have changed between selecting and planning."""
    subscription = await _subscription(desk)
    kept = await outbox.event("BUDGET_EXHAUSTED", at=NOON)
    gone = await outbox.event("BUDGET_EXHAUSTED", at=NOON)
    unwanted = await outbox.event("COUPON_ISSUED", at=NOON)
    sent = await outbox.event("BUDGET_EXHAUSTED", at=NOON)
    found = await desk.find(subscription)
    assert len(found.events) == 4
    await outbox.purge(gone)
    await outbox.log(subscription, sent, "DELIVERED", at=NOON)
    await desk.update(SUBSCRIPTIONS, subscription, eventTypes=["BUDGET_EXHAUSTED"], isActive=False)
    error = await refused(desk, Conflict, desk.replay_events(subscription, found=found))
    assert error.code == "SUBSCRIPTION_INACTIVE"
    await desk.update(SUBSCRIPTIONS, subscription, isActive=True)
    assert (await desk.replay_events(subscription, found=found)).events == 1
    assert [row["event_id"] for row in await outbox.queue()] == [kept]
    assert unwanted not in str(await desk.rows(LOGS))


def test_an_empty_or_reversed_period_is_refused() -> None:
    for start, end in ((NOON, NOON), (NOON + HOUR, NOON)):
        with pytest.raises(Invalid) as caught:
            check_period(start, end)
        assert (caught.value.code, caught.value.target) == ("PERIOD_EMPTY", "to")
    assert check_period(NOON, NOON + HOUR) == Period(NOON, NOON + HOUR)


@pytest.mark.parametrize("dialect", ["postgresql"])  # SQLite has one writer at a time
async def test_replaying_one_delivery_does_not_deadlock_with_replaying_all(desk: Operator, outbox: Outbox) -> None:
    subscription = await _subscription(desk)
    (event,) = await outbox.events("PROMOTION_UPDATED", [NOON])
    log = await outbox.log(subscription, event, "DEAD_LETTER", at=NOON)
    runs: list[str] = []  # a unit that a deadlock ended is run again

    async def replay_one(authoring: Authoring, session: Session) -> None:
        runs.append("one delivery")
        await replay_delivery(authoring, session, log, at=LATER)

    async def like_replay_events(session: Session) -> None:
        runs.append("all")
        await read_rows(session, "WebhookSubscriptions", "id", (subscription,), lock="update")
        waiting.append(asyncio.create_task(desk.database.write(desk._in_session(replay_one), tenant=desk.tenant)))
        await asyncio.wait(waiting, timeout=0.3)  # it cannot end before this unit does
        await hold_logs(session, subscription, (event,))

    waiting: list[asyncio.Task[None]] = []
    await desk.database.write(like_replay_events, tenant=desk.tenant)
    await asyncio.gather(*waiting)
    assert runs == ["all", "one delivery"]


async def test_however_many_send_again_at_once_each_delivery_waits_once(desk: Operator, outbox: Outbox) -> None:
    subscription = await _subscription(desk)
    events = await outbox.events("PROMOTION_UPDATED", [NOON + timedelta(seconds=second) for second in range(40)])
    logs = [await outbox.log(subscription, event, "DEAD_LETTER", at=NOON) for event in events[:10]]
    calls = [desk.replay_events(subscription) for _ in range(6)]
    calls += [desk.replay(log) for log in logs for _ in range(2)]  # type: ignore[misc]
    answers = await asyncio.gather(*calls)
    planned = sum(answer.events for answer in answers if isinstance(answer, Replayed))
    assert 30 <= planned <= 40, "what one has planned no other counts"
    queue = await outbox.queue()
    assert sorted(row["event_id"] for row in queue) == sorted(events)
    stored = await desk.rows(LOGS)
    assert sorted(row["eventId"] for row in stored) == sorted(events)
    assert {row["status"] for row in stored} == {"PENDING"}
    assert sorted(row["delivery_id"] for row in queue) == sorted(row["ID"] for row in stored)
