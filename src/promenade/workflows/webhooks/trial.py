"""Tests of a subscription: an event that goes to it alone, on the way of all others; and the body of any delivery.

A test has a lane of its own: it waits for no other delivery, and is not given up because the subscription is inactive.
"""

from __future__ import annotations

from datetime import datetime

from promenade.errors import NotFound
from promenade.events import WebhookTest
from promenade.store.authoring.statements import read_rows
from promenade.store.driver.unit import Session
from promenade.store.webhooks import replay as replaying
from promenade.store.webhooks import trial as store
from promenade.store.webhooks.outbox import keep, outbox_row
from promenade.store.webhooks.queue import Queued, enqueue, lane_of
from promenade.store.webhooks.replay import MissedEvent
from promenade.workflows.authoring import Authoring
from promenade.workflows.webhooks.envelopes import enveloped
from promenade.workflows.webhooks.replay import replay_delivery, subject_of, too_many, write_audit


async def send_test(authoring: Authoring, session: Session, subscription_id: str, *, at: datetime) -> str:
    """Queue a test for a subscription, active or not, due at once; return the ID of its delivery.

    A subscription has one waiting test at most: while there is one, that is sent at once. Raises NotFound, and Invalid
    (TOO_MANY_ROWS).
    """
    # The lock lets two calls at once queue one test.
    subscriptions = await read_rows(session, "WebhookSubscriptions", "id", (subscription_id,), lock="update")
    if not subscriptions:
        raise NotFound("NOT_FOUND", "There is no such subscription.")
    waiting = await store.waiting_test(session, subscription_id)
    if waiting is not None:
        await replay_delivery(authoring, session, waiting, at=at)
        return waiting
    if not authoring.makes_room(1):
        raise too_many()
    subscription, log_id, event_id = subscriptions[0], authoring.new_id(), authoring.new_id()
    callback_url = str(subscription["callback_url"])
    event = WebhookTest(subscription_id=subscription_id, subscription_name=subscription["name"], actor=authoring.user)
    await keep(session, outbox_row(session.tenant or "", event, event_id=event_id, at=at), happened_at=at, at=at)
    log = (log_id, MissedEvent(event_id, event.kind, at))
    await replaying.insert_logs(
        session, [log], subscription_id=subscription_id, callback_url=callback_url, at=at, user=authoring.user
    )
    await enqueue(session, [Queued(log_id, lane_of(None, callback_url), event_id, at)])
    await write_audit(authoring, session, "SEND_TEST", subject_of(subscription), f"to {callback_url}", at)
    return log_id


async def payload_of(session: Session, log_id: str) -> str | None:
    """Return the body of a delivery as it would be sent now; None: the event is no longer kept."""
    event = await store.event_of(session, log_id)
    return None if event is None else enveloped(event.envelope, event.id, event.payload).body.decode()
