"""Tests that people send to a subscription, and the bodies of deliveries. Every function needs a tenant's session."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from promenade.events import WebhookTest
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_EVENTS = table("outbox_events")
_LOGS = table("NotificationLogs")
_SUBSCRIPTIONS = table("WebhookSubscriptions")


@dataclass(frozen=True, slots=True)
class KeptEvent:
    """An event as it is kept, and the envelope of the subscription that it went to; None: that has none."""

    id: str
    payload: bytes
    envelope: str | None


async def waiting_test(session: Session, subscription_id: str) -> str | None:
    """Return the ID of the latest test of a subscription if it is neither delivered nor given up."""
    statement = (
        select(_LOGS.c.id, _LOGS.c.status)
        # The expression keeps a planner without statistics from reading the whole log of the subscription.
        .where(_LOGS.c.event_type == WebhookTest.kind, _LOGS.c.subscription_id.concat("") == subscription_id)
        .order_by(_LOGS.c.created_at.desc())
        .limit(1)
    )
    rows = await session.execute(statement)
    return next((row.id for row in rows if row.status in ("PENDING", "RETRYING")), None)


async def event_of(session: Session, log_id: str) -> KeptEvent | None:
    """Return the event of a delivery; None: it is no longer kept, or there is no such delivery."""
    statement = (
        select(_EVENTS.c.id, _EVENTS.c.payload, _SUBSCRIPTIONS.c.envelope)
        .join(_LOGS, _LOGS.c.event_id == _EVENTS.c.id)
        .outerjoin(_SUBSCRIPTIONS, _SUBSCRIPTIONS.c.id == _LOGS.c.subscription_id)
        .where(_LOGS.c.id == log_id)
    )
    rows = await session.execute(statement)
    return next((KeptEvent(row.id, bytes(row.payload), row.envelope) for row in rows), None)
