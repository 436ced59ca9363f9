"""Events reach their subscribers: signed, once each, with the same bytes over retries (reliability W1, W2)."""

from __future__ import annotations

from standardwebhooks import Webhook

from tests.workflows.shop import identity
from tests.workflows.webhooks.post import SECRET, Post


async def test_an_event_reaches_its_subscriber_signed(post: Post) -> None:
    await post.subscribe("shop", "COUPON_EXPIRED")
    await post.emit("c1")
    await post.deliver()
    (request,) = post.receiver.requests()
    assert (request.method, request.path) == ("POST", "/shop")
    assert request.headers["webhook-id"] == identity("c1")
    assert request.headers["content-type"] == "application/json"
    assert request.headers["host"] == f"127.0.0.1:{post.receiver.port}"
    told = Webhook(SECRET).verify(request.body, dict(request.headers))
    assert (told["type"], told["tenantId"]) == ("COUPON_EXPIRED", post.shop.tenant)
    assert told["data"]["couponId"] == identity("c1")
    log = await post.log()
    assert (log.status, log.attempts, log.http_status) == ("DELIVERED", 1, 200)
    assert log.delivered_at == log.last_attempt_at == post.context.clock()
    assert (log.next_attempt_at, log.last_error) == (None, None)
    assert not await post.queued()
