"""Failed deliveries: dead letters, and deactivated subscriptions (reliability W1, W5)."""

from __future__ import annotations

import msgspec
import pytest
from sqlalchemy import delete

from promenade import metrics
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.workflows.webhooks.claiming import claim_messages
from promenade.workflows.webhooks.outcomes import Outcome, record_outcomes
from promenade.workflows.webhooks.planning import plan_deliveries
from tests.kit.receiver import Answer, Redirect
from tests.workflows.shop import identity
from tests.workflows.webhooks.post import SCHEDULE, Post

KIND = "WEBHOOK_DELIVERY_DEAD_LETTER"


async def give_up(post: Post, *names: str) -> None:
    """Emit events, and deliver until no more attempts are made."""
    await post.emit(*names)
    for _ in range(len(SCHEDULE) + 1):
        await post.deliver()
        post.later(hours=1)


def counted(post: Post, status: str) -> float:
    return float(metrics.webhook_deliveries.labels(post.shop.tenant, status)._value.get())


async def test_the_last_failed_attempt_makes_a_dead_letter_and_notifies_other_subscribers(post: Post) -> None:
    post.receiver.answers("/deaf", Answer(500))
    await post.subscribe("deaf", "COUPON_EXPIRED")
    await post.subscribe("watch", KIND)
    failed, delivered = counted(post, "failed"), counted(post, "delivered")
    dead = metrics.webhook_dead_letters.labels(post.shop.tenant)._value.get()
    await give_up(post, "c1")
    log = await post.log(event_type="COUPON_EXPIRED")
    assert (log.status, log.attempts, log.http_status) == ("DEAD_LETTER", len(SCHEDULE) + 1, 500)
    assert (log.next_attempt_at, log.delivered_at) == (None, None)
    (request,) = post.receiver.requests("/watch")
    told = msgspec.json.decode(request.body)
    assert told["data"] == {
        "subscriptionId": identity("deaf"),
        "eventId": identity("c1"),
        "eventType": "COUPON_EXPIRED",
        "callbackUrl": f"{post.receiver.url}/deaf",
        "attempts": len(SCHEDULE) + 1,
        "lastError": "The receiver answered 500.",
        "subscriptionDisabled": False,
    }
    assert counted(post, "failed") - failed == len(SCHEDULE) + 1
    assert counted(post, "delivered") - delivered == 1
    assert metrics.webhook_dead_letters.labels(post.shop.tenant)._value.get() - dead == 1
    assert not await post.queued()


async def test_w5_a_dead_letter_about_a_dead_letter_sends_no_event(post: Post) -> None:
    post.receiver.answers("/deaf", Answer(500))
    await post.subscribe("deaf", "*")
    await give_up(post, "c1")
    await give_up(post)
    logs = {log.event_type: log.status for log in await post.logs()}
    assert logs == {"COUPON_EXPIRED": "DEAD_LETTER", KIND: "DEAD_LETTER"}
    assert len(await post.outbox(KIND)) == 1


async def test_five_dead_letters_in_a_row_deactivate_a_subscription(post: Post) -> None:
    post.receiver.answers("/deaf", Answer(500))
    await post.subscribe("deaf", "COUPON_EXPIRED")
    await give_up(post, *(f"c{number}" for number in range(4)))
    before = await post.subscription("deaf")
    assert (before.failure_count, before.is_active) == (4, True)
    await give_up(post, "c4")
    after = await post.subscription("deaf")
    assert (after.failure_count, after.is_active) == (5, False)
    assert after.disabled_at is not None
    assert after.version > before.version
    (audit,) = await post.shop.rows("AuditLogs", entity_id=identity("deaf"))
    assert (audit.actor, audit.entity_type, audit.entity_name) == ("system", "WebhookSubscriptions", "deaf")
    told = [msgspec.json.decode(event.payload)["data"] for event in await post.outbox(KIND)]
    assert sorted(one["subscriptionDisabled"] for one in told) == [False] * 4 + [True]
    await give_up(post, "c5")
    assert len(await post.logs()) == 5


async def test_a_success_resets_the_count_of_dead_letters(post: Post) -> None:
    post.receiver.answers("/deaf", Answer(500))
    await post.subscribe("deaf", "COUPON_EXPIRED")
    await give_up(post, *(f"c{number}" for number in range(4)))
    post.receiver.answers("/deaf", Answer(200))
    await give_up(post, "well")
    assert (await post.subscription("deaf")).failure_count == 0
    post.receiver.answers("/deaf", Answer(500))
    await give_up(post, *(f"d{number}" for number in range(4)))
    subscription = await post.subscription("deaf")
    assert (subscription.failure_count, subscription.is_active) == (4, True)


async def test_status_410_deactivates_a_subscription_at_once(post: Post) -> None:
    post.receiver.answers("/gone", Answer(410))
    await post.subscribe("gone", "COUPON_EXPIRED")
    await post.emit("c1", "c2", "c3")
    await post.deliver()
    assert {log.status for log in await post.logs()} == {"DEAD_LETTER"}
    assert not (await post.subscription("gone")).is_active
    assert len(post.receiver.requests()) == 1
    (event,) = await post.outbox(KIND)
    assert msgspec.json.decode(event.payload)["data"]["subscriptionDisabled"] is True


@pytest.mark.parametrize("how", ["switched off", "deleted"])
async def test_deliveries_without_an_active_subscription_become_dead_letters_silently(post: Post, how: str) -> None:
    post.receiver.answers("/shop", Answer(500))
    await post.subscribe("shop")
    await post.emit_many(700)
    async with post.delivery() as delivery:
        for _ in range(8):  # planned and partly tried
            await delivery.round()
    if how == "switched off":
        await post.shop.change("WebhookSubscriptions", "shop", is_active=False)
    else:

        async def remove(session: Session) -> None:
            await session.rowcount(delete(table("WebhookSubscriptions")))

        await post.context.database.write(remove, tenant=post.shop.tenant)
    post.later(minutes=2)  # leases of attempts in progress expire
    for _ in range(3):
        await post.deliver()
    assert {log.status for log in await post.logs()} == {"DEAD_LETTER"}
    assert not await post.queued()
    assert not await post.outbox(KIND)


async def test_redirects_are_failures_and_are_not_followed(post: Post) -> None:
    post.receiver.answers("/moved", Redirect(f"{post.receiver.url}/elsewhere", 307))
    await post.subscribe("moved")
    await post.emit("c1")
    await post.deliver()
    assert [request.path for request in post.receiver.requests()] == ["/moved"]
    log = await post.log()
    assert (log.status, log.http_status) == ("RETRYING", 307)
    assert "redirect" in log.last_error


async def test_results_that_arrive_together_count_in_their_order(post: Post) -> None:
    await post.subscribe("shop", "COUPON_EXPIRED")
    await post.emit(*(f"c{number}" for number in range(6)))
    await plan_deliveries(post.context, 10)
    at = post.context.clock()
    messages = await claim_messages(post.context, {identity("shop"): 6}, ())
    outcomes = [Outcome(message, "DEAD_LETTER", at, 500, "The receiver answered 500.") for message in messages]
    outcomes[4] = Outcome(messages[4], "DELIVERED", at, 200)
    await record_outcomes(post.context, outcomes)
    subscription = await post.subscription("shop")
    assert (subscription.failure_count, subscription.is_active) == (1, True)
