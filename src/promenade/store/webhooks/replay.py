"""What is sent again by hand: events that are still kept, and the logs of their deliveries.

The queue itself is `store.webhooks.queue`. Every function needs a session with a tenant.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, func, insert, select, update

from promenade.events import WebhookTest
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_EVENTS = table("outbox_events")
_LOGS = table("NotificationLogs")

SLICE = 20_000  # events that one statement reads: some tens of milliseconds
_IDS_MAX = 10_000  # values in one statement; both databases accept 32 766
_LEAST = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class MissedEvent:
    """An event that was not delivered to a subscription; ``created_at`` is when it happened."""

    event_id: str
    kind: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class MissedEvents:
    """The missed events; everything before ``until`` has been searched."""

    events: tuple[MissedEvent, ...]
    until: datetime


async def find_missed(
    session: Session,
    subscription_id: str,
    kinds: Collection[str] | None,
    start: datetime,
    end: datetime,
    *,
    wanted: int,
    looked_at: int,
) -> MissedEvents:
    """Find events from ``start`` to ``end`` (excluded), oldest first, that were planned and not delivered.

    Of ``kinds``, or of all (None). At most ``wanted`` are returned, and not many more than ``looked_at`` are searched.
    """
    found: list[MissedEvent] = []
    seen = 0
    while start < end and seen < looked_at:
        stop = await _end_of_slice(session, start, end)
        statement = _missed(subscription_id, kinds, start, stop).limit(wanted + 1 - len(found))
        found += [MissedEvent(row.id, row.kind, row.created_at) for row in await session.execute(statement)]
        if len(found) > wanted:
            return MissedEvents(tuple(found[:wanted]), found[wanted].created_at)
        seen, start = seen + SLICE, stop
    return MissedEvents(tuple(found), start)


async def _end_of_slice(session: Session, start: datetime, end: datetime) -> datetime:
    """Return the time before which there are `SLICE` events; always later than ``start``."""
    there = select(_EVENTS.c.created_at).where(_EVENTS.c.created_at >= start, _EVENTS.c.created_at < end)
    rows = await session.execute(there.order_by(_EVENTS.c.created_at).offset(SLICE).limit(1))
    return max(rows[0].created_at, start + _LEAST) if rows else end


def _missed(
    subscription_id: str, kinds: Collection[str] | None, start: datetime, end: datetime
) -> Select[tuple[str, str, datetime]]:
    # Not a join: a planner without statistics may read all logs of the subscription for each event.
    status = select(_LOGS.c.status).where(_LOGS.c.event_id == _EVENTS.c.id, _is_of(subscription_id))
    conditions: list[ColumnElement[bool]] = [
        _EVENTS.c.created_at >= start,
        _EVENTS.c.created_at < end,
        _EVENTS.c.dispatched_at.is_not(None),  # others will be planned anyway
        _EVENTS.c.kind != WebhookTest.kind,  # it was for one subscription alone
        func.coalesce(status.correlate(_EVENTS).scalar_subquery(), "DEAD_LETTER") == "DEAD_LETTER",
    ]
    if kinds is not None:
        conditions.append(_EVENTS.c.kind.in_(sorted(kinds)))
    statement = select(_EVENTS.c.id, _EVENTS.c.kind, _EVENTS.c.created_at)
    return statement.where(*conditions).order_by(_EVENTS.c.created_at, _EVENTS.c.id)


def _is_of(subscription_id: str) -> ColumnElement[bool]:
    """Condition on the subscription of a log, written so that logs are looked up by their event only."""
    return _LOGS.c.subscription_id.concat("") == subscription_id


async def hold_events(session: Session, event_ids: Collection[str]) -> set[str]:
    """Return those events that are still stored; they are locked against deletion until the unit ends."""
    kept: set[str] = set()
    for ids in _parts(event_ids):
        statement = select(_EVENTS.c.id).where(_EVENTS.c.id.in_(ids))
        if session.dialect == "postgresql":
            statement = statement.order_by(_EVENTS.c.id).with_for_update(read=True, key_share=True)
        kept.update([row.id for row in await session.execute(statement)])
    return kept


async def hold_logs(session: Session, subscription_id: str, event_ids: Collection[str]) -> dict[str, tuple[str, str]]:
    """Lock the subscription's logs of these events; return (ID, status) by event."""
    held: dict[str, tuple[str, str]] = {}
    for ids in _parts(event_ids):
        statement = select(_LOGS.c.event_id, _LOGS.c.id, _LOGS.c.status).where(
            _LOGS.c.event_id.in_(ids), _is_of(subscription_id)
        )
        if session.dialect == "postgresql":
            statement = statement.order_by(_LOGS.c.id).with_for_update()
        held |= {row.event_id: (row.id, row.status) for row in await session.execute(statement)}
    return held


async def insert_logs(
    session: Session,
    logs: Sequence[tuple[str, MissedEvent]],
    *,
    subscription_id: str,
    callback_url: str,
    at: datetime,
    user: str,
) -> None:
    """Insert logs, with new IDs, of deliveries that were never planned."""
    rows = [
        {
            "id": log_id,
            "subscription_id": subscription_id,
            "event_id": event.event_id,
            "event_type": event.kind,
            **_reset_values(callback_url, at, user),
            "created_at": at,
            "created_by": user,
        }
        for log_id, event in logs
    ]
    await session.execute_many(insert(_LOGS), rows)


async def renew_logs(session: Session, log_ids: Collection[str], *, callback_url: str, at: datetime, user: str) -> None:
    """Reset deliveries as if they had never been attempted; the time of the last attempt is kept."""
    for ids in _parts(log_ids):
        values = _reset_values(callback_url, at, user) | {"version": _LOGS.c.version + 1}
        await session.rowcount(update(_LOGS).where(_LOGS.c.id.in_(ids)).values(values))


def _reset_values(callback_url: str, at: datetime, user: str) -> dict[str, Any]:
    return {
        "callback_url": callback_url,
        "status": "PENDING",
        "attempts": 0,
        "http_status": None,
        "last_error": None,
        "response_body": None,
        "duration_in_ms": None,
        "next_attempt_at": at,
        "delivered_at": None,
        "modified_at": at,
        "modified_by": user,
    }


def _parts(values: Collection[str]) -> list[list[str]]:
    listed = sorted(values)
    return [listed[at : at + _IDS_MAX] for at in range(0, len(listed), _IDS_MAX)]
