"""Events reach their subscribers: signed, once each, with the same bytes in all retries (reliability W1, W2)."""

from __future__ import annotations

from base64 import b64encode
from datetime import timedelta

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from promenade.store.driver.unit import Session
from promenade.store.webhooks.outbox import emit
from promenade.workflows.webhooks.claiming import claim_messages, waiting
from promenade.workflows.webhooks.outcomes import Outcome, record_outcomes
from promenade.workflows.webhooks.planning import Planned, plan_deliveries
from tests.kit.receiver import Answer, Close
from tests.workflows.shop import identity
from tests.workflows.webhooks.post import SECRET, Post, an_event, open_post


async def test_an_event_reaches_its_subscriber_signed(post: Post) -> None:
    await post.subscribe("shop", "COUPON_EXPIRED")
    await post.emit("c1")
    await post.deliver()
    (request,) = post.receiver.requests()
    assert (request.method, request.path) == ("POST", "/shop")
    assert request.headers["webhook-id"] == identity("c1")
    assert request.headers["content-type"] == "application/json"
    assert request.headers["host"] == f"127.0.0.1:{post.receiver.port}"
    assert request.headers["user-agent"].startswith("Promenade/")
    told = Webhook(SECRET).verify(request.body, dict(request.headers))
    assert (told["type"], told["tenantId"]) == ("COUPON_EXPIRED", post.shop.tenant)
    assert told["data"]["couponId"] == identity("c1")
    log = await post.log()
    assert (log.status, log.attempts, log.http_status) == ("DELIVERED", 1, 200)
    assert log.delivered_at == log.last_attempt_at == post.context.clock()
    assert (log.next_attempt_at, log.last_error) == (None, None)
    assert not await post.queued()


async def test_each_subscriber_gets_the_kinds_it_asked_for_once(post: Post) -> None:
    await post.subscribe("all", "*")
    await post.subscribe("both", "COUPON_EXPIRED", "*")
    await post.subscribe("other", "BUDGET_EXHAUSTED")
    await post.subscribe("off", "*", is_active=False)
    await post.emit("c1", "c2")
    await post.deliver()
    await post.deliver()
    seen = sorted((request.path, request.headers["webhook-id"]) for request in post.receiver.requests())
    assert seen == sorted((path, identity(name)) for path in ("/all", "/both") for name in ("c1", "c2"))


async def test_an_event_without_subscribers_is_only_marked(post: Post) -> None:
    await post.emit("c1")
    await post.deliver()
    (event,) = await post.outbox("COUPON_EXPIRED")
    assert event.dispatched_at == post.context.clock()
    assert not await post.logs()


async def test_an_event_with_many_subscribers_is_planned_in_small_units(post: Post) -> None:
    """Tills wait for each unit on SQLite, so its deliveries are limited, however many subscribers an event has."""
    for number in range(30):
        await post.subscribe(f"s{number}")
    await post.emit_many(10)
    assert await plan_deliveries(post.context, 250, 100) == Planned(3, 90)
    assert await plan_deliveries(post.context, 250, 10) == Planned(1, 30), "one alone is planned whatever it takes"
    assert await plan_deliveries(post.context, 250, 100) == Planned(3, 90)
    assert await plan_deliveries(post.context, 250) == Planned(3, 90)
    assert await plan_deliveries(post.context, 250) == Planned(0, 0)
    assert len(await post.queued()) == 300


async def test_a_rolled_back_event_never_leaves(post: Post) -> None:
    await post.subscribe("shop")

    async def work(session: Session) -> None:
        await emit(session, an_event("gone"), event_id=identity("gone"), at=post.context.clock())
        raise RuntimeError("the sale was not to be")

    with pytest.raises(RuntimeError, match="not to be"):
        await post.context.database.write(work, tenant=post.shop.tenant)
    await post.emit("c1")
    await post.deliver()
    assert [request.headers["webhook-id"] for request in post.receiver.requests()] == [identity("c1")]


async def test_retries_carry_the_same_id_and_bytes_at_the_times_of_the_schedule(post: Post) -> None:
    post.receiver.answers("/shop", Answer(500), Close(), Answer(404), Answer(204))
    await post.subscribe("shop")
    await post.emit("c1")
    for number, (seconds, error) in enumerate(((5, "answered 500"), (300, "closed the connection"), (1800, "404")), 1):
        await post.deliver()
        log = await post.log()
        assert (log.status, log.attempts) == ("RETRYING", number)
        assert error in log.last_error
        assert log.next_attempt_at - post.context.clock() == timedelta(seconds=seconds)
        post.later(seconds=seconds - 1)
        await post.deliver()
        assert len(post.receiver.requests()) == number, "it was tried again too early"
        post.later(seconds=1)
    await post.deliver()
    log = await post.log()
    assert (log.status, log.attempts, log.http_status, log.last_error) == ("DELIVERED", 4, 204, None)
    requests = post.receiver.requests()
    assert len({(request.headers["webhook-id"], request.body) for request in requests}) == 1
    stamps = [int(request.headers["webhook-timestamp"]) for request in requests]
    assert [later - stamps[0] for later in stamps] == [0, 5, 305, 2105]
    assert len({request.headers["webhook-signature"] for request in requests}) == 4  # each attempt signs its own time


@pytest.mark.parametrize(("draw", "seconds"), [(0, 270), (-1, 330)])
async def test_retries_spread_by_a_tenth(post: Post, draw: int, seconds: int) -> None:
    post.receiver.answers("/shop", Answer(500))
    await post.subscribe("shop")
    await post.emit("c1")
    await post.deliver(draw=lambda below: draw % below)
    post.later(seconds=6)
    await post.deliver(draw=lambda below: draw % below)
    assert (await post.log()).next_attempt_at - post.context.clock() == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("status", "header", "seconds"),
    [(429, "60", 60), (503, "3", 5), (503, "999999", 86_400), (429, "soon", 5), (500, "60", 5), (503, "-5", 5)],
)
async def test_a_retry_after_header_delays_the_next_attempt(post: Post, status: int, header: str, seconds: int) -> None:
    post.receiver.answers("/shop", Answer(status, {"retry-after": header}))
    await post.subscribe("shop")
    await post.emit("c1")
    await post.deliver()
    assert (await post.log()).next_attempt_at - post.context.clock() == timedelta(seconds=seconds)


async def test_a_retry_after_header_may_be_a_date(post: Post) -> None:
    until = post.context.clock() + timedelta(minutes=7)
    post.receiver.answers("/shop", Answer(503, {"retry-after": until.strftime("%a, %d %b %Y %H:%M:%S GMT")}))
    await post.subscribe("shop")
    await post.emit("c1")
    await post.deliver()
    assert (await post.log()).next_attempt_at == until


async def test_both_secrets_sign_during_a_rotation(post: Post) -> None:
    before = f"whsec_{b64encode(b'the secret from the day before').decode()}"
    until = post.context.clock() + timedelta(hours=24)
    await post.subscribe("shop", previous_secret=before, previous_secret_until=until)
    await post.emit("c1")
    await post.deliver()
    (request,) = post.receiver.requests()
    assert len(request.headers["webhook-signature"].split(" ")) == 2
    for secret in (SECRET, before):
        Webhook(secret).verify(request.body, dict(request.headers))
    post.later(hours=24)
    await post.emit("c2")
    await post.deliver()
    assert len(post.receiver.requests()[-1].headers["webhook-signature"].split(" ")) == 1


async def test_an_unreadable_secret_is_reported(post: Post) -> None:
    await post.subscribe("shop", secret="five5")
    await post.emit("c1")
    await post.deliver()
    assert not post.receiver.requests()
    assert "secret" in (await post.log()).last_error


async def test_a_jobs_callback_is_also_sent_and_unsigned(post: Post) -> None:
    await post.subscribe("shop")
    await post.emit("c1", callback_url=f"{post.receiver.url}/job")
    await post.deliver()
    assert sorted(request.path for request in post.receiver.requests()) == ["/job", "/shop"]
    (request,) = post.receiver.requests("/job")
    assert request.headers["webhook-id"] == identity("c1")
    assert "webhook-signature" not in request.headers
    assert (await post.log(subscription_id=None)).status == "DELIVERED"


async def test_a_callback_is_signed_with_the_secret_of_a_subscription_to_the_same_address(post: Post) -> None:
    await post.subscribe("job", "BUDGET_EXHAUSTED")
    await post.emit("c1", callback_url=f"{post.receiver.url}/job")
    await post.deliver()
    (request,) = post.receiver.requests()
    Webhook(SECRET).verify(request.body, dict(request.headers))
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(request.body + b" ", dict(request.headers))


async def test_a_callback_that_never_answers_is_a_dead_letter_that_names_no_subscription(post: Post) -> None:
    post.receiver.answers("/job", Answer(500))
    await post.emit("c1", callback_url=f"{post.receiver.url}/job")
    for _ in range(4):
        await post.deliver()
        post.later(hours=1)
    assert (await post.log()).status == "DEAD_LETTER"
    (event,) = await post.outbox("WEBHOOK_DELIVERY_DEAD_LETTER")
    assert b'"subscriptionId":null' in event.payload


async def test_waiting_deliveries_use_a_corrected_address(post: Post) -> None:
    post.receiver.answers("/wrong", Answer(500))
    await post.subscribe("wrong")
    await post.emit("c1")
    await post.deliver()
    await post.shop.change("WebhookSubscriptions", "wrong", callback_url=f"{post.receiver.url}/right")
    post.later(seconds=5)
    await post.deliver()
    assert len(post.receiver.requests("/right")) == 1
    assert (await post.log()).callback_url == f"{post.receiver.url}/right"


async def test_s1_subscribers_of_another_tenant_get_nothing(post: Post) -> None:
    other = await open_post(post.context.database, post.receiver, "tenant-b")
    await other.subscribe("theirs", "*")
    await post.subscribe("ours", "*")
    await post.emit("c1")
    await other.emit("c2")
    await post.deliver()
    seen = {(request.path, request.headers["webhook-id"]) for request in post.receiver.requests()}
    assert seen == {("/ours", identity("c1")), ("/theirs", identity("c2"))}
    assert [log.event_id for log in await other.logs()] == [identity("c2")]


async def test_a_worker_that_lost_its_lease_writes_nothing(post: Post) -> None:
    await post.subscribe("shop")
    await post.emit("c1")
    await plan_deliveries(post.context, 10)
    (lane,) = [name for name, _ in (await waiting(post.context)).lanes]
    (message,) = await claim_messages(post.context, {lane: 1}, ())
    post.later(minutes=2)
    await post.deliver()
    late = Outcome(message, "DEAD_LETTER", post.context.clock(), 500, "The receiver answered 500.")
    await record_outcomes(post.context, [late])
    assert (await post.log()).status == "DELIVERED"
    assert not await post.outbox("WEBHOOK_DELIVERY_DEAD_LETTER")
    assert (await post.subscription("shop")).failure_count == 0
