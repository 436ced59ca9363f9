"""The outbox: events written in the transaction that caused them; a worker sends them on (reliability W1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import insert

from promenade.events import MINOR_VERSION, Envelope, Event
from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["emit", "emit_all"]

_ENCODER = msgspec.json.Encoder(decimal_format="number")


async def emit(session: Session, event: Event, *, event_id: str, at: datetime) -> None:
    """Write ``event`` to the outbox; it leaves if and when this unit of work is committed.

    ``event_id`` becomes the webhook-id of every delivery, ``at`` (aware) the time it happened. The body is encoded
    once, here, so that every retry sends the same bytes. Needs a session with a tenant.
    """
    await session.rowcount(insert(table("outbox_events")), _row(session, event, event_id, at))


async def emit_all(session: Session, events: Sequence[Event], *, new_id: Callable[[], str], at: datetime) -> None:
    """`emit` for many events in one statement."""
    rows = [_row(session, event, new_id(), at) for event in events]
    await session.execute_many(insert(table("outbox_events")), rows)


def _row(session: Session, event: Event, event_id: str, at: datetime) -> dict[str, Any]:
    if session.tenant is None:
        raise ValueError("an event belongs to a tenant")
    envelope = Envelope(event.kind, at, MINOR_VERSION, session.tenant, event)
    return {"id": event_id, "kind": event.kind, "payload": _ENCODER.encode(envelope), "created_at": at}
