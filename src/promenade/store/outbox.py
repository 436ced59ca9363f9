"""The outbox: events written in the transaction that caused them; a worker sends them on (reliability W1)."""

from __future__ import annotations

from datetime import datetime

import msgspec
from sqlalchemy import insert

from promenade.events import MINOR_VERSION, Envelope, Event
from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["emit"]

_ENCODER = msgspec.json.Encoder(decimal_format="number")


async def emit(session: Session, event: Event, *, event_id: str, at: datetime) -> None:
    """Write ``event`` to the outbox; it leaves if and when this unit of work is committed.

    ``event_id`` becomes the webhook-id of every delivery, ``at`` (aware) the time it happened. The body is encoded
    once, here, so that every retry sends the same bytes. Needs a session with a tenant.
    """
    if session.tenant is None:
        raise ValueError("an event belongs to a tenant")
    envelope = Envelope(event.kind, at, MINOR_VERSION, session.tenant, event)
    row = {"id": event_id, "kind": event.kind, "payload": _ENCODER.encode(envelope), "created_at": at}
    await session.rowcount(insert(table("outbox_events")), row)
