"""Manual replay of webhooks: a single delivery whatever its status, or all that a subscription missed in a period.

The event is sent again unchanged: the same webhook-id, the same bytes. For the receiver it is another attempt, which it
ignores if it has already processed the event (reliability W1, W2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from promenade.errors import Conflict, Invalid, NotFound
from promenade.events import WebhookTest
from promenade.store.authoring.statements import Columns, Lock, read_rows
from promenade.store.authoring.trail import Action, Subject, trail_entry, write_trail
from promenade.store.driver.unit import Session
from promenade.store.webhooks import replay as store
from promenade.store.webhooks.queue import Queued, enqueue, lane_of
from promenade.store.webhooks.replay import MissedEvent, MissedEvents
from promenade.workflows.authoring import Authoring
from promenade.workflows.authoring.agents import refuse_agents_access
from promenade.workflows.context import Context

EVENTS_MAX = 500
"""Events that one call plans: some 40 ms, for which tills wait on SQLite."""

_EXAMINED_MAX = 200_000  # events examined per call, which takes about a second


@dataclass(frozen=True, slots=True)
class Period:
    """The period from ``start`` until ``end`` (exclusive)."""

    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Replayed:
    """The number of events planned; all events before ``until`` were examined."""

    events: int
    until: datetime


# --- one delivery -----------------------------------------------------------------------------------------------------


async def replay_delivery(authoring: Authoring, session: Session, log_id: str, *, at: datetime) -> None:
    """Queue a delivery again, due at once, with its attempts reset to 0.

    A delivery that is still queued becomes due; one in progress is completed, and retried if it fails. Raises NotFound,
    and Conflict: EVENT_GONE, SUBSCRIPTION_GONE, SUBSCRIPTION_INACTIVE.
    """
    # The subscription is locked before its logs, as by `replay_events`: two replays that differ could deadlock.
    callback_url = await _address_of(session, await _read_log(session, log_id))
    log = await _read_log(session, log_id, lock="update")
    if not await store.hold_events(session, (log["event_id"],)):
        message = "The event is no longer kept; what happened since is in AuditLogs and in the rows themselves."
        raise Conflict("EVENT_GONE", message)
    if not authoring.makes_room(1):
        raise too_many()
    await store.renew_logs(session, (log_id,), callback_url=callback_url, at=at, user=authoring.user)
    lane = lane_of(None if log["event_type"] == WebhookTest.kind else log["subscription_id"], callback_url)
    await enqueue(session, [Queued(log_id, lane, log["event_id"], at)])
    note = f"was {log['status']} after {log['attempts']} attempts"
    subject = Subject("NotificationLogs", log_id, log["event_type"])
    await write_audit(authoring, session, "REPLAY", subject, note, at)


async def _read_log(session: Session, log_id: str, *, lock: Lock = None) -> Columns:
    logs = await read_rows(session, "NotificationLogs", "id", (log_id,), lock=lock)
    if not logs:
        raise NotFound("NOT_FOUND", "There is no such delivery.")
    return logs[0]


async def _address_of(session: Session, log: Columns) -> str:
    """Return the URL of a delivery: that of its subscription as it is now, which is locked, or a job's callback URL."""
    if log["subscription_id"] is None:
        return str(log["callback_url"])
    found = await read_rows(session, "WebhookSubscriptions", "id", (log["subscription_id"],), lock="share")
    if not found:
        raise Conflict("SUBSCRIPTION_GONE", "The subscription that it was for has been deleted.")
    if log["event_type"] != WebhookTest.kind:
        _check_active(found[0])
    return str(found[0]["callback_url"])


def _check_active(subscription: Columns) -> None:
    if not subscription["is_active"]:
        message = "The subscription is switched off: set isActive to true, then send again."
        raise Conflict("SUBSCRIPTION_INACTIVE", message)


# --- all that was missed ----------------------------------------------------------------------------------------------


def check_period(start: datetime, end: datetime) -> Period:
    """Return the period. Raises Invalid (PERIOD_EMPTY)."""
    if start >= end:
        raise Invalid("PERIOD_EMPTY", "to must be after from.", "to")
    return Period(start, end)


async def find_missed(context: Context, tenant_id: str, subscription_id: str, period: Period) -> MissedEvents:
    """Return the events of a period that a subscription wants and did not receive, up to what one call can plan.

    These are dead letters, and events from before the subscription existed or while it was inactive. It only reads, so
    tills do not wait for it.
    """

    async def work(session: Session) -> MissedEvents:
        subscriptions = await read_rows(session, "WebhookSubscriptions", "id", (subscription_id,))
        if not subscriptions:
            return MissedEvents((), period.start)
        kinds = None if "*" in subscriptions[0]["event_types"] else subscriptions[0]["event_types"]
        return await store.find_missed(
            session,
            subscription_id,
            kinds,
            period.start,
            period.end,
            wanted=EVENTS_MAX,
            looked_at=_EXAMINED_MAX,
        )

    return await context.database.read(work, tenant=tenant_id)


async def replay_events(
    authoring: Authoring, session: Session, subscription_id: str, period: Period, found: MissedEvents, *, at: datetime
) -> Replayed:
    """Plan deliveries of the events that `find_missed` returned, except those planned in the meantime.

    Each event has one log and one queue row, even if others plan it concurrently. Raises NotFound, Conflict
    (SUBSCRIPTION_INACTIVE) and Invalid (TOO_MANY_ROWS).
    """
    subscriptions = await read_rows(session, "WebhookSubscriptions", "id", (subscription_id,), lock="update")
    if not subscriptions:
        raise NotFound("NOT_FOUND", "There is no such subscription.")
    subscription = subscriptions[0]
    _check_active(subscription)
    planned = await _still_missed(session, subscription, found.events)
    if not authoring.makes_room(len(planned)):
        raise too_many()
    added = [(log_id or authoring.new_id(), log_id is None, event) for log_id, event in planned]
    whither = {"callback_url": subscription["callback_url"], "at": at, "user": authoring.user}
    new = [(log_id, event) for log_id, is_new, event in added if is_new]
    await store.insert_logs(session, new, subscription_id=subscription_id, **whither)
    await store.renew_logs(session, [log_id for log_id, is_new, _ in added if not is_new], **whither)
    lane = lane_of(subscription_id, subscription["callback_url"])
    # In the order in which they occurred, after everything already in the queue.
    queued = [
        Queued(log_id, lane, event.event_id, at + timedelta(microseconds=place))
        for place, (log_id, _, event) in enumerate(added)
    ]
    await enqueue(session, queued)
    note = f"{len(added)} events from {period.start.isoformat()} to {found.until.isoformat()}"
    await write_audit(authoring, session, "REPLAY", subject_of(subscription), note, at)
    return Replayed(len(added), found.until)


async def _still_missed(
    session: Session, subscription: Columns, events: Sequence[MissedEvent]
) -> list[tuple[str | None, MissedEvent]]:
    """Return the events that still exist, are wanted and not planned yet, each with its dead letter's log ID, if
    any.
    """
    ids = [event.event_id for event in events]
    kept = await store.hold_events(session, ids)
    held = await store.hold_logs(session, subscription["id"], ids)
    kinds = subscription["event_types"]
    missed: list[tuple[str | None, MissedEvent]] = []
    for event in events:
        log_id, status = held.get(event.event_id, (None, "DEAD_LETTER"))
        if event.event_id in kept and status == "DEAD_LETTER" and ("*" in kinds or event.kind in kinds):
            missed.append((log_id, event))
    return missed


# --- what is told of it -----------------------------------------------------------------------------------------------


async def write_audit(
    authoring: Authoring, session: Session, action: Action, subject: Subject, note: str, at: datetime
) -> None:
    """Write to the audit trail that somebody has something sent. Raises Forbidden for an agent."""
    refuse_agents_access(session)
    await write_trail(session, [trail_entry(authoring.new_id(), at, authoring.user, action, subject, note=note)])


def subject_of(subscription: Columns) -> Subject:
    """Return a subscription as the audit trail names it."""
    return Subject("WebhookSubscriptions", str(subscription["id"]), str(subscription["name"] or subscription["id"]))


def too_many() -> Invalid:
    """Return the refusal to send more in one unit of work."""
    return Invalid("TOO_MANY_ROWS", "One change set cannot send so many events again; use several.")
