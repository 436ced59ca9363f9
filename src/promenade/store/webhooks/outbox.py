"""The outbox: events written in the transaction that caused them; a worker delivers them (reliability W1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import Insert, insert

from promenade import tracing
from promenade.events import Envelope, Event
from promenade.interface import MINOR_VERSION
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """An outbox row, for a statement that writes more than the event."""

    id: str
    kind: str
    payload: bytes


_ENCODER = msgspec.json.Encoder(decimal_format="number")


async def emit(session: Session, event: Event, *, event_id: str, at: datetime, callback_url: str | None = None) -> None:
    """Write ``event`` to the outbox; it is delivered only if this unit of work is committed.

    ``event_id`` becomes the webhook-id of every delivery, ``at`` (timezone-aware) the time it happened. The body is
    encoded once, here, so that every retry sends the same bytes. With a ``callback_url`` it is also sent there,
    whatever subscriptions there are. Needs a session with a tenant.
    """
    row = _row(_tenant_of(session), event, event_id, at)
    if callback_url is not None:
        row["callback_url"] = callback_url
    await session.rowcount(_inserting(), row)


async def emit_all(session: Session, events: Sequence[Event], *, new_id: Callable[[], str], at: datetime) -> None:
    """Write many events in one statement, as `emit` does."""
    await session.execute_many(*event_rows(session, events, new_id=new_id, at=at))


def event_rows(
    session: Session, events: Sequence[Event], *, new_id: Callable[[], str], at: datetime
) -> tuple[Insert, Sequence[dict[str, Any]]]:
    """Return the insert that `emit_all` carries out."""
    tenant = _tenant_of(session)
    return _inserting(), [_row(tenant, event, new_id(), at) for event in events]


async def emit_for(
    session: Session, events: Sequence[tuple[str, Event]], *, new_id: Callable[[], str], at: datetime
) -> None:
    """Write events of several tenants, each with its tenant, as `emit_all` does; needs a system session."""
    rows = [{"tenant_id": tenant, **_row(tenant, event, new_id(), at)} for tenant, event in events]
    await session.execute_many(_inserting(), rows)


def outbox_row(tenant_id: str, event: Event, *, event_id: str, at: datetime) -> OutboxRow:
    """Return the row that `emit` would write for ``event``."""
    return OutboxRow(event_id, event.kind, _body(tenant_id, event, at))


async def keep(session: Session, row: OutboxRow, *, happened_at: datetime, at: datetime) -> None:
    """Store an event that is planned for nobody; the caller plans its deliveries, ``at``."""
    values = {"id": row.id, "kind": row.kind, "payload": row.payload, "created_at": happened_at, "dispatched_at": at}
    await session.rowcount(_inserting(), values)


@cache
def _inserting() -> Insert:
    return insert(table("outbox_events"))


def _tenant_of(session: Session) -> str:
    if session.tenant is None:
        raise ValueError("an event belongs to a tenant")
    return session.tenant


def _row(tenant: str, event: Event, event_id: str, at: datetime) -> dict[str, Any]:
    row = {"id": event_id, "kind": event.kind, "payload": _body(tenant, event, at), "created_at": at}
    return row | {"traceparent": tracing.to_store()} if tracing.is_on() else row


def _body(tenant: str, event: Event, at: datetime) -> bytes:
    return _ENCODER.encode(Envelope(event.kind, at, MINOR_VERSION, tenant, event))
