"""Master data messages as received: every one is stored; none is served."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import insert

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_PAYLOADS = table("RawPayloads")


@dataclass(frozen=True, slots=True)
class RawPayload:
    """A message: its identifier, its body byte for byte, its Content-Type, and on whose behalf it was sent."""

    id: str
    message_id: str
    payload: bytes
    content_type: str
    received_at: datetime
    user: str


async def keep_raw_payload(session: Session, payload: RawPayload, *, job_id: str) -> None:
    """Store a message with the job that processes it."""
    row = {
        "id": payload.id,
        "message_id": payload.message_id,
        "payload": payload.payload,
        "content_type": payload.content_type,
        "received_at": payload.received_at,
        "created_at": payload.received_at,
        "created_by": payload.user,
        "modified_at": payload.received_at,
        "modified_by": payload.user,
        "job_id": job_id,
    }
    await session.rowcount(insert(_PAYLOADS), row)
