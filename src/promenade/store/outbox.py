"""The outbox: events written in the transaction that caused them; a worker sends them on (reliability W1)."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Protocol

import msgspec
from sqlalchemy import insert

from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["Event", "emit"]

MINOR_VERSION = 13

_ENCODER = msgspec.json.Encoder(decimal_format="number")


class Event(Protocol):
    """An event of `promenade.events`: a Struct or dataclass whose fields are the envelope's ``data``."""

    @property
    def kind(self) -> str:
        """Such as ``BUDGET_EXHAUSTED``."""


async def emit(session: Session, event: Event, *, event_id: str, at: datetime) -> None:
    """Write ``event`` to the outbox; it leaves if and when this unit of work is committed.

    ``event_id`` becomes the webhook-id of every delivery, ``at`` (aware) the time it happened. The body is encoded
    once, here, so that every retry sends the same bytes.
    """
    body: dict[str, Any] = {
        "type": event.kind,
        "timestamp": at,
        "minorVersion": MINOR_VERSION,
        "tenantId": session.tenant,
        "data": event,
    }
    row = {"id": event_id, "kind": event.kind, "payload": _ENCODER.encode(body), "created_at": at}
    await session.rowcount(insert(table("outbox_events")), row)
