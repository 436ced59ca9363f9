"""The queue of deliveries: which are due, who is at them, and when they are tried again.

Deliveries of one lane wait for each other, for no other. A claim is a lease: ``due_at`` moves to the end of the lease,
so that the index of lanes leads past what is under way, and whatever a killed worker held becomes due again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import case

from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = ["Queued", "enqueue", "lane_of"]

_QUEUE = table("webhook_queue")


@dataclass(frozen=True, slots=True)
class Queued:
    """A delivery to be tried from ``due_at`` on; ``delivery_id`` is its row of NotificationLogs."""

    delivery_id: str
    lane: str
    event_id: str
    due_at: datetime


def lane_of(subscription_id: str | None, callback_url: str) -> str:
    """The lane of what goes to a subscription, or, without one, to an address."""
    return subscription_id or hashlib.sha256(callback_url.encode()).hexdigest()


async def enqueue(session: Session, rows: Sequence[Queued]) -> None:
    """Put deliveries of the session's tenant into the queue, none tried so far.

    One that is there already is due then, unless an attempt is under way, and counts its attempts anew.
    """
    statement = upsert(session.dialect, _QUEUE)
    due_at = case((_QUEUE.c.lease_owner.is_(None), statement.excluded.due_at), else_=_QUEUE.c.due_at)
    changed = {"attempts": 0, "due_at": due_at}
    await session.execute_many(
        statement.on_conflict_do_update(index_elements=["tenant_id", "delivery_id"], set_=changed),
        [
            {
                "delivery_id": row.delivery_id,
                "lane": row.lane,
                "event_id": row.event_id,
                "attempts": 0,
                "due_at": row.due_at,
            }
            for row in rows
        ],
    )
