"""The envelope of a subscription: the same events as CloudEvents, with the signature and headers of every webhook."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

import msgspec
import pytest
from standardwebhooks import Webhook

from promenade.events import TransactionCancelled, events
from promenade.store.driver.unit import Session
from promenade.workflows.authoring import Authoring
from promenade.workflows.webhooks.envelopes import subject_of
from promenade.workflows.webhooks.trial import payload_of, send_test
from tests.kit.receiver import Answer, Receiver, Request
from tests.workflows.shop import identity
from tests.workflows.webhooks.post import SECRET, Post

STRUCTURED = "application/cloudevents+json"


async def _sent(post: Post, path: str) -> Request:
    """Return the one request to a path; its signature is that of the body that was sent."""
    (request,) = post.receiver.requests(path)
    Webhook(SECRET).verify(request.body, dict(request.headers))
    return request


async def test_structured_mode_is_one_cloudevent_with_the_data_of_the_standard_envelope(post: Post) -> None:
    await post.subscribe("standard")
    await post.subscribe("cloud", envelope="CLOUDEVENTS")
    await post.emit("c1")
    await post.deliver()
    standard, cloud = await _sent(post, "/standard"), await _sent(post, "/cloud")
    assert (standard.headers["content-type"], cloud.headers["content-type"]) == ("application/json", STRUCTURED)
    told, event = json.loads(standard.body), json.loads(cloud.body)
    assert event == {
        "specversion": "1.0",
        "id": identity("c1"),
        "source": f"/promenade/{post.shop.tenant}",
        "type": "promenade.COUPON_EXPIRED",
        "subject": identity("c1"),
        "time": told["timestamp"],
        "datacontenttype": "application/json",
        "tenantid": post.shop.tenant,
        "minorversion": told["minorVersion"],
        "data": told["data"],
    }
    assert cloud.headers["webhook-id"] == standard.headers["webhook-id"] == event["id"]
    assert not [name for name in cloud.headers if name.startswith("ce-")]


async def test_binary_mode_has_the_data_as_body_and_the_attributes_as_headers(post: Post) -> None:
    await post.subscribe("structured", envelope="CLOUDEVENTS")
    await post.subscribe("binary", envelope="CLOUDEVENTS_BINARY")
    transaction = 'Bon 1%"ü'
    await post.tell(
        TransactionCancelled(
            transaction_id=transaction, transaction_counter=1, reason=None, grand_total=None, currency=None
        )
    )
    await post.deliver()
    binary, event = await _sent(post, "/binary"), json.loads((await _sent(post, "/structured")).body)
    assert binary.headers["content-type"] == "application/json"
    assert json.loads(binary.body) == event.pop("data")
    del event["datacontenttype"]
    attributes = {name[3:]: value for name, value in binary.headers.items() if name.startswith("ce-")}
    assert attributes["subject"] == "Bon%201%25%22%C3%BC", "as the HTTP binding of CloudEvents prescribes"
    assert {name: unquote(value) for name, value in attributes.items()} == {
        name: str(value) for name, value in event.items()
    }
    assert event["subject"] == transaction


async def test_retries_carry_the_same_cloudevent(post: Post) -> None:
    post.receiver.answers("/cloud", Answer(500), Answer(204))
    await post.subscribe("cloud", envelope="CLOUDEVENTS")
    await post.emit("c1")
    await post.deliver()
    post.later(seconds=5)
    await post.deliver()
    first, second = post.receiver.requests("/cloud")
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]


async def test_another_envelope_holds_for_what_still_waits(post: Post) -> None:
    post.receiver.answers("/cloud", Answer(500), Answer(204))
    await post.subscribe("cloud")
    await post.emit("c1")
    await post.deliver()
    await post.shop.change("WebhookSubscriptions", "cloud", envelope="CLOUDEVENTS")
    post.later(seconds=5)
    await post.deliver()
    first, second = post.receiver.requests("/cloud")
    assert [request.headers["content-type"] for request in (first, second)] == ["application/json", STRUCTURED]


@pytest.mark.parametrize("envelope", ["STANDARD", "CLOUDEVENTS", "CLOUDEVENTS_BINARY"])
async def test_a_test_has_the_envelope_and_shows_the_body_that_was_sent(
    post: Post, receiver: Receiver, envelope: str
) -> None:
    subscription = await post.subscribe("erp", envelope=envelope)
    context, at = post.context, post.context.clock()

    async def send(session: Session) -> str:
        return await send_test(
            Authoring(session, user="ann", at=at, new_id=context.new_id), session, subscription, at=at
        )

    log_id = await context.database.write(send, tenant=post.shop.tenant)
    await post.deliver()
    request = await _sent(post, "/erp")
    assert b'"isTest":true' in request.body
    shown = await context.database.read(lambda session: payload_of(session, log_id), tenant=post.shop.tenant)
    assert shown == request.body.decode(), "byte for byte"


async def test_the_address_of_a_job_gets_the_standard_envelope(post: Post) -> None:
    """It was given with the job: no subscription says anything about it, not even one to the same address."""
    await post.subscribe("job", "BUDGET_EXHAUSTED", envelope="CLOUDEVENTS")
    await post.emit("c1", callback_url=f"{post.receiver.url}/job")
    await post.deliver()
    request = await _sent(post, "/job")
    assert json.loads(request.body)["type"] == "COUPON_EXPIRED"


@pytest.mark.parametrize("kind", events())
def test_every_kind_is_about_something(kind: str) -> None:
    """Receivers keep the order of events about one thing by the subject."""
    cls = events()[kind]
    names = {field.name: field.encode_name for field in msgspec.structs.fields(cls)}
    assert cls.about, "no field"
    assert set(cls.about) <= set(names)
    data: dict[str, Any] = {names[name]: f"the {name}" for name in cls.about}
    envelope = {"type": kind, "timestamp": "2026-01-01T00:00:00Z", "minorVersion": 13, "tenantId": "t"}
    assert subject_of(json.dumps({**envelope, "data": data}).encode()) == f"the {cls.about[0]}"
    for name in cls.about[:-1]:
        data[names[name]] = None
    assert subject_of(json.dumps({**envelope, "data": data}).encode()) == f"the {cls.about[-1]}"


def test_a_kind_of_a_later_version_has_no_subject() -> None:
    body = {"type": "LATER", "timestamp": "2026-01-01T00:00:00Z", "minorVersion": 99, "tenantId": "t", "data": {"a": 1}}
    assert subject_of(json.dumps(body).encode()) is None
