"""From events to deliveries: each event of the outbox is taken once, with all that follows from it in one transaction.

Every function needs a system session: portions go across tenants.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update

from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert
from promenade.store.webhook_queue import among, lane_of

__all__ = ["Delivery", "Subscription", "Waiting", "any_waiting", "hold_waiting", "mark", "plan", "subscriptions_of"]

_EVENTS = table("outbox_events")
_LOGS = table("NotificationLogs")
_QUEUE = table("webhook_queue")
_SUBSCRIPTIONS = table("WebhookSubscriptions")


@dataclass(frozen=True, slots=True)
class Waiting:
    """An event that nothing was planned for so far; ``callback_url``: where it is sent besides."""

    tenant_id: str
    id: str
    kind: str
    callback_url: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Subscription:
    """An active subscription to the kinds ``event_types``, of which one may be `*`."""

    tenant_id: str
    id: str
    callback_url: str
    event_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Delivery:
    """What is to be sent where; ``subscription_id`` None: to the event's own callback URL."""

    id: str
    event: Waiting
    subscription_id: str | None
    callback_url: str


async def any_waiting(session: Session) -> bool:
    """Whether there are events that nothing was planned for."""
    return bool(await session.execute(select(_EVENTS.c.id).where(_EVENTS.c.dispatched_at.is_(None)).limit(1)))


async def hold_waiting(session: Session, *, limit: int) -> list[Waiting]:
    """Up to ``limit`` waiting events, oldest first; nobody else gets them before the unit ends."""
    picked = (
        select(_EVENTS.c.tenant_id, _EVENTS.c.id, _EVENTS.c.kind, _EVENTS.c.callback_url, _EVENTS.c.created_at)
        .where(_EVENTS.c.dispatched_at.is_(None))
        .order_by(_EVENTS.c.created_at, _EVENTS.c.id)
        .limit(limit)
    )
    if session.dialect == "postgresql":
        picked = picked.with_for_update(skip_locked=True)
    return [Waiting(*tuple(row)) for row in await session.execute(picked)]


async def mark(session: Session, events: Sequence[Waiting], *, at: datetime) -> None:
    """Note of events that this unit holds, at least one, that all has been planned that follows from them."""
    keys = [(event.tenant_id, event.id) for event in events]
    await session.rowcount(
        update(_EVENTS).where(among(_EVENTS.c.tenant_id, _EVENTS.c.id, keys)).values(dispatched_at=at)
    )


async def subscriptions_of(session: Session, tenants: Iterable[str]) -> list[Subscription]:
    """The active subscriptions of these tenants."""
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
    """Write the logs and the queue of deliveries; in a lane they are due in the order of their events.

    What has been planned by hand in the meantime (a replay) stays; its second place in the queue leads to nothing.
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
        # Not before its event, but neither in a future that only a clock set back since has seen.
        "due_at": min(delivery.event.created_at, at),
    }
