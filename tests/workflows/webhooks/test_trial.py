"""Tests of a subscription: they go to it alone, on the way of every event, and change nothing but the log."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import pytest
from sqlalchemy import delete
from standardwebhooks import Webhook

from promenade.errors import NotFound
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.webhooks.replay import find_missed
from promenade.workflows.authoring import Authoring
from promenade.workflows.webhooks.claiming import clear_orphaned
from promenade.workflows.webhooks.replay import replay_delivery
from promenade.workflows.webhooks.trial import payload_of, send_test
from tests.kit.receiver import Answer, Drip, Receiver
from tests.workflows.shop import identity
from tests.workflows.webhooks.post import SCHEDULE, SECRET, Post


async def _test(post: Post, name: str) -> str:
    context, at = post.context, post.context.clock()

    async def work(session: Session) -> str:
        authoring = Authoring(session, user="ann", at=at, new_id=context.new_id)
        return await send_test(authoring, session, identity(name), at=at)

    return await context.database.write(work, tenant=post.shop.tenant)


async def _replay(post: Post, log_id: str) -> None:
    context, at = post.context, post.context.clock()

    async def work(session: Session) -> None:
        authoring = Authoring(session, user="ann", at=at, new_id=context.new_id)
        await replay_delivery(authoring, session, log_id, at=at)

    await context.database.write(work, tenant=post.shop.tenant)


async def _payload(post: Post, log_id: str) -> str | None:
    return await post.context.database.read(lambda session: payload_of(session, log_id), tenant=post.shop.tenant)


async def test_a_test_is_signed_and_goes_to_one_subscription_alone(post: Post, receiver: Receiver) -> None:
    await post.subscribe("erp", "BUDGET_EXHAUSTED")
    await post.subscribe("other", "*")
    log_id = await _test(post, "erp")
    await post.deliver()
    (request,) = receiver.requests()
    assert request.path == "/erp"
    event = Webhook(SECRET).verify(request.body, dict(request.headers))
    assert event["type"] == "WEBHOOK_TEST"
    assert event["data"] == {
        "subscriptionId": identity("erp"), "subscriptionName": "erp", "actor": "ann", "isTest": True
    }  # fmt: skip
    log = await post.log(id=log_id)
    assert (log.event_type, log.status, log.http_status, log.created_by) == ("WEBHOOK_TEST", "DELIVERED", 200, "ann")
    assert log.event_id == request.headers["webhook-id"]
    assert await _payload(post, log_id) == request.body.decode(), "byte for byte what was sent"
    assert SECRET.removeprefix("whsec_") not in request.body.decode()
    (trail,) = await post.shop.rows("AuditLogs", action="SEND_TEST")
    assert (trail.actor, trail.entity_type, trail.entity_id) == ("ann", "WebhookSubscriptions", identity("erp"))


async def test_an_inactive_subscription_gets_tests_and_a_deleted_one_does_not(post: Post, receiver: Receiver) -> None:
    await post.subscribe("paused", is_active=False)
    await post.subscribe("gone")
    paused, gone = await _test(post, "paused"), await _test(post, "gone")
    subscriptions = table("WebhookSubscriptions")
    await post.context.database.write(
        lambda session: session.rowcount(delete(subscriptions).where(subscriptions.c.id == identity("gone"))),
        tenant=post.shop.tenant,
    )
    assert await clear_orphaned(post.context) == 0, "a test waits in a lane of its own"
    await post.deliver()
    assert [one.path for one in receiver.requests()] == ["/paused"]
    assert (await post.log(id=paused)).status == "DELIVERED"
    assert (await post.log(id=gone)).status == "DEAD_LETTER"
    assert not (await post.subscription("paused")).is_active
    await _replay(post, paused)
    await post.deliver()
    assert len({one.headers["webhook-id"] for one in receiver.requests("/paused")}) == 1
    assert len(receiver.requests("/paused")) == 2
    with pytest.raises(NotFound):
        await _test(post, "gone")


async def test_a_subscription_has_one_waiting_test(post: Post, receiver: Receiver) -> None:
    await post.subscribe("erp")
    await post.subscribe("other")
    receiver.answers("/erp", Answer(500), Answer(200))
    first = set(await asyncio.gather(*(_test(post, "erp") for _ in range(5))))
    assert len(first) == len(await post.queued()) == 1
    await _test(post, "other")
    await post.deliver()
    (log_id,) = first
    assert (await post.log(id=log_id)).status == "RETRYING"
    assert await _test(post, "erp") == log_id, "it is sent at once, and no other"
    await post.deliver()
    assert (await post.log(id=log_id)).status == "DELIVERED"
    post.later(seconds=1)
    assert await _test(post, "erp") != log_id
    assert len(await post.outbox("WEBHOOK_TEST")) == 3


@pytest.mark.parametrize("status", [500, 410])
async def test_a_test_that_is_given_up_changes_nothing_else(post: Post, receiver: Receiver, status: int) -> None:
    await post.subscribe("erp", failure_count=4)
    receiver.answers("/erp", Answer(status))
    log_id = await _test(post, "erp")
    for seconds in (0, *SCHEDULE):
        post.later(seconds=seconds)
        await post.deliver()
    assert (await post.log(id=log_id)).status == "DEAD_LETTER"
    assert len(receiver.requests("/erp")) == (1 if status == 410 else len(SCHEDULE) + 1)
    subscription = await post.subscription("erp")
    assert (subscription.is_active, subscription.failure_count) == (True, 4)
    assert await post.outbox("WEBHOOK_DELIVERY_DEAD_LETTER") == []


async def test_a_test_is_not_among_what_others_have_missed(post: Post) -> None:
    await post.subscribe("erp")
    await post.subscribe("other")
    await post.emit("missed")
    await _test(post, "erp")
    await post.deliver()
    at = post.context.clock()
    await post.subscribe("late")

    async def missed(session: Session) -> list[str]:
        ends = (at - timedelta(days=1), at + timedelta(days=1))
        found = await find_missed(session, identity("late"), None, *ends, wanted=10, looked_at=10)
        return [one.kind for one in found.events]

    assert await post.context.database.read(missed, tenant=post.shop.tenant) == ["COUPON_EXPIRED"]


async def test_a_test_calls_no_internal_address(post: Post) -> None:
    await post.subscribe("inside", callback_url="https://10.1.2.3/hook")
    log_id = await _test(post, "inside")
    await post.deliver()
    log = await post.log(id=log_id)
    assert (log.status, log.http_status, log.response_body) == ("RETRYING", None, None)
    assert log.last_error == "The callback URL does not lead to a public address."


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (b"", None),
        (b'{"error": "<b>no</b>"}', '{"error": "<b>no</b>"}'),
        ("Größe €\r\n\tok".encode(), "Größe €\n\tok"),
        (b"a\x00b\xffc\x1bd", "a\ufffdb\ufffdc\ufffdd"),
        ("€".encode() * 5000, "€" * 1000),
        (b"x" * 1001, "x" * 1000),
    ],
)
async def test_the_beginning_of_an_answer_is_kept_as_text(
    post: Post, receiver: Receiver, body: bytes, kept: str | None
) -> None:
    await post.subscribe("erp")
    receiver.answers("/erp", Answer(400, body=body))
    await post.emit("event")
    await post.deliver()
    log = await post.log()
    assert (log.http_status, log.response_body) == (400, kept)
    assert log.duration_in_ms >= 0
    await _replay(post, log.id)
    again = await post.log()
    assert (again.response_body, again.duration_in_ms) == (None, None), "nothing has been answered yet"


async def test_what_came_of_an_endless_answer_is_kept(post: Post, receiver: Receiver) -> None:
    await post.subscribe("erp")
    receiver.answers("/erp", Drip(every_seconds=0.01, of="body"))
    await post.emit("event")
    await post.deliver()
    log = await post.log()
    assert log.status == "DELIVERED"
    assert set(log.response_body) == {"x"}
    assert log.duration_in_ms >= 1000, "the receiver was waited for"


async def test_a_payload_is_shown_while_its_event_is_kept(post: Post) -> None:
    await post.subscribe("erp")
    await post.emit("event")
    await post.deliver()
    log = await post.log()
    assert json.loads(await _payload(post, log.id) or "")["type"] == "COUPON_EXPIRED"
    events = table("outbox_events")
    await post.context.database.write(lambda session: session.rowcount(delete(events)), tenant=post.shop.tenant)
    assert await _payload(post, log.id) is None
