"""Planning of deliveries: each event of the outbox is processed once, all its deliveries in one transaction.

Every function but `plan` needs a system session: portions span tenants.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert
from promenade.store.webhooks.queue import among, lane_of

_EVENTS = table("outbox_events")
_LOGS = table("NotificationLogs")
_QUEUE = table("webhook_queue")
_SUBSCRIPTIONS = table("WebhookSubscriptions")


@dataclass(frozen=True, slots=True)
class Waiting:
    """An event without planned deliveries; ``callback_url``: an additional address to send it to."""

    tenant_id: str
    id: str
    kind: str
    callback_url: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Subscription:
    """An active subscription to the kinds ``event_types``, which may contain `*`."""

    tenant_id: str
    id: str
    callback_url: str
    event_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery of an event to an address; ``subscription_id`` None: to the event's own callback URL."""

    id: str
    event: Waiting
    subscription_id: str | None
    callback_url: str


async def has_waiting(session: Session) -> bool:
    """Return whether there are events without planned deliveries."""
    return bool(await session.execute(select(_EVENTS.c.id).where(_EVENTS.c.dispatched_at.is_(None)).limit(1)))


async def hold_waiting(session: Session, *, limit: int) -> list[Waiting]:
    """Lock and return up to ``limit`` waiting events, oldest first; no other unit gets them."""
    picked = (
        select(_EVENTS.c.tenant_id, _EVENTS.c.id, _EVENTS.c.kind, _EVENTS.c.callback_url, _EVENTS.c.created_at)
        .where(_EVENTS.c.dispatched_at.is_(None))
        .order_by(_EVENTS.c.created_at, _EVENTS.c.id)
        .limit(limit)
    )
    if session.dialect == "postgresql":
        picked = picked.with_for_update(skip_locked=True)
    return [Waiting(*tuple(row)) for row in await session.execute(picked)]


async def mark_planned(session: Session, events: Sequence[Waiting], *, at: datetime) -> None:
    """Mark events that this unit has locked, at least one, as planned."""
    keys = [(event.tenant_id, event.id) for event in events]
    await session.rowcount(
        update(_EVENTS).where(among(_EVENTS.c.tenant_id, _EVENTS.c.id, keys)).values(dispatched_at=at)
    )


async def subscriptions_of(session: Session, tenants: Iterable[str]) -> list[Subscription]:
    """Return the active subscriptions of these tenants."""
    columns = (
        _SUBSCRIPTIONS.c.tenant_id,
        _SUBSCRIPTIONS.c.id,
        _SUBSCRIPTIONS.c.callback_url,
        _SUBSCRIPTIONS.c.event_types,
    )
    rows = await session.execute(
        select(*columns).where(_SUBSCRIPTIONS.c.tenant_id.in_(sorted(tenants)), _SUBSCRIPTIONS.c.is_active)
    )
    return [Subscription(row.tenant_id, row.id, row.callback_url, tuple(row.event_types or ())) for row in rows]


async def plan(session: Session, deliveries: Sequence[Delivery], *, at: datetime) -> None:
    """Write the logs and queue rows of deliveries; in a lane they are due in the order of their events.

    The log of a delivery that was planned manually in the meantime (a replay) is kept; the second queue row has no
    effect.
    """
    logs = upsert(session.dialect, _LOGS).on_conflict_do_nothing()
    await session.execute_many(logs, [_log_row(delivery, at) for delivery in deliveries])
    await session.execute_many(insert(_QUEUE), [_queue_row(delivery, at) for delivery in deliveries])


def _log_row(delivery: Delivery, at: datetime) -> dict[str, Any]:
    due_at = min(delivery.event.created_at, at)
    return {
        "tenant_id": delivery.event.tenant_id,
        "id": delivery.id,
        "subscription_id": delivery.subscription_id,
        "event_id": delivery.event.id,
        "event_type": delivery.event.kind,
        "callback_url": delivery.callback_url,
        "status": "PENDING",
        "attempts": 0,
        "next_attempt_at": due_at,
        "created_at": at,
        "created_by": "system",
        "modified_at": at,
        "modified_by": "system",
    }


def _queue_row(delivery: Delivery, at: datetime) -> dict[str, Any]:
    return {
        "tenant_id": delivery.event.tenant_id,
        "delivery_id": delivery.id,
        "lane": lane_of(delivery.subscription_id, delivery.callback_url),
        "event_id": delivery.event.id,
        "attempts": 0,
        # Not before its event, but not in the future either, in case the clock has been set back since.
        "due_at": min(delivery.event.created_at, at),
    }
