"""Events and deliveries in the state that the worker leaves, written directly into a database."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session

__all__ = ["Outbox"]


@dataclass(frozen=True, slots=True)
class Outbox:
    """The events of one tenant and their deliveries."""

    database: Database
    tenant: str

    async def event(self, kind: str = "PROMOTION_UPDATED", *, at: datetime, dispatched: bool = True) -> str:
        """Insert an event that happened ``at``."""
        (event_id,) = await self.events(kind, [at], dispatched=dispatched)
        return event_id

    async def events(self, kind: str, moments: Sequence[datetime], *, dispatched: bool = True) -> list[str]:
        """Insert events of a kind, each with its time."""
        rows = [
            {
                "id": str(uuid.uuid4()),
                "kind": kind,
                "payload": b'{"type":"' + kind.encode() + b'"}',
                "created_at": at,
                "dispatched_at": at if dispatched else None,
            }
            for at in moments
        ]
        await self._write(lambda session: session.execute_many(insert(table("outbox_events")), rows))
        return [str(row["id"]) for row in rows]

    async def log(self, subscription_id: str | None, event_id: str, status: str, *, at: datetime, **more: Any) -> str:
        """Insert a delivery with a ``status``."""
        row = {
            "id": str(uuid.uuid4()),
            "subscription_id": subscription_id,
            "event_id": event_id,
            "event_type": "PROMOTION_UPDATED",
            "callback_url": "https://shop.example/hook",
            "status": status,
            "attempts": 3,
            "http_status": 500,
            "last_error": "It answered 500.",
            "last_attempt_at": at,
            "created_at": at,
            "modified_at": at,
            **more,
        }
        await self._write(lambda session: session.execute_many(insert(table("NotificationLogs")), [row]))
        return str(row["id"])

    async def waits(self, delivery_id: str, event_id: str, *, due_at: datetime, **more: Any) -> None:
        """Insert a queued delivery."""
        row = {"delivery_id": delivery_id, "event_id": event_id, "lane": "x", "attempts": 2, "due_at": due_at, **more}
        await self._write(lambda session: session.execute_many(insert(table("webhook_queue")), [row]))

    async def purge(self, event_id: str) -> None:
        """Delete an event, as the clockwork does when it is old."""
        events = table("outbox_events")
        await self._write(lambda session: session.rowcount(delete(events).where(events.c.id == event_id)))

    async def queue(self) -> list[dict[str, Any]]:
        """Return the queue, by due time."""
        queue = table("webhook_queue")

        async def work(session: Session) -> list[dict[str, Any]]:
            return [dict(row._mapping) for row in await session.execute(select(queue).order_by(queue.c.due_at))]

        return await self.database.read(work, tenant=self.tenant)

    async def _write(self, work: Any) -> None:
        await self.database.write(work, tenant=self.tenant)
