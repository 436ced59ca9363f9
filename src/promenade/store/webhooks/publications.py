"""Publications: the events that wait to be published to a broker, in a lane of their own, oldest first.

They have no log: nobody subscribed, and the operator sees what waits. Every function needs a system session, except
`drop_publications`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, delete, func, insert, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.webhooks.planning import Waiting
from promenade.store.webhooks.queue import PUBLICATIONS, Key, among

_EVENTS = table("outbox_events")
_QUEUE = table("webhook_queue")


@dataclass(frozen=True, slots=True)
class Publication:
    """An event to publish; ``payload`` None: it is no longer kept."""

    tenant_id: str
    id: str
    kind: str | None
    payload: bytes | None

    @property
    def key(self) -> Key:
        """The identity of the publication in the queue."""
        return self.tenant_id, self.id


async def plan_publications(session: Session, events: Sequence[Waiting]) -> None:
    """Queue events that this unit has locked; each is planned once, so its ID identifies the publication."""
    rows = [
        {
            "tenant_id": event.tenant_id,
            "delivery_id": event.id,
            "lane": PUBLICATIONS,
            "event_id": event.id,
            "attempts": 0,
            "due_at": event.created_at,
        }
        for event in events
    ]
    await session.execute_many(insert(_QUEUE), rows)


async def first_publications(session: Session, *, limit: int) -> list[Publication]:
    """Return the first of the queue, in the order in which they happened."""
    first = (
        select(_QUEUE.c.tenant_id, _QUEUE.c.event_id, _QUEUE.c.due_at)
        .where(_QUEUE.c.lane == PUBLICATIONS)
        .order_by(_QUEUE.c.due_at, _QUEUE.c.event_id)
        .limit(limit)
        .subquery()
    )
    event = and_(_EVENTS.c.tenant_id == first.c.tenant_id, _EVENTS.c.id == first.c.event_id)
    rows = await session.execute(
        select(first.c.tenant_id, first.c.event_id, _EVENTS.c.kind, _EVENTS.c.payload)
        .select_from(first.outerjoin(_EVENTS, event))
        .order_by(first.c.due_at, first.c.event_id)
    )
    return [
        Publication(row.tenant_id, row.event_id, row.kind, None if row.payload is None else bytes(row.payload))
        for row in rows
    ]


async def finish_publications(session: Session, keys: Sequence[Key]) -> None:
    """Take publications that are stored by the broker out of the queue."""
    if keys:
        chosen = among(_QUEUE.c.tenant_id, _QUEUE.c.delivery_id, keys)
        await session.rowcount(delete(_QUEUE).where(_QUEUE.c.lane == PUBLICATIONS, chosen))


async def oldest_unpublished(session: Session) -> datetime | None:
    """Return when the oldest event happened that is not published yet, planned or not; None: there is none."""
    queued = await session.execute(select(func.min(_QUEUE.c.due_at).label("at")).where(_QUEUE.c.lane == PUBLICATIONS))
    new = await session.execute(
        select(func.min(_EVENTS.c.created_at).label("at")).where(_EVENTS.c.dispatched_at.is_(None))
    )
    return min((row.at for row in (*queued, *new) if row.at is not None), default=None)


async def drop_publications(session: Session, event_ids: Collection[str]) -> None:
    """Take events of the session's tenant out of the queue unpublished."""
    await session.rowcount(
        delete(_QUEUE).where(_QUEUE.c.lane == PUBLICATIONS, _QUEUE.c.delivery_id.in_(sorted(event_ids)))
    )
