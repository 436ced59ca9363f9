"""The queue of deliveries: which are due, which worker holds them, and when they are retried.

Deliveries wait only for others of their lane. A claim is a lease: ``due_at`` moves to the end of the lease, so that the
index of lanes skips what is under way, and the deliveries of a killed worker become due again. All functions but
`enqueue` need a system session: workers search across tenants.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    Select,
    and_,
    case,
    delete,
    func,
    or_,
    select,
    true,
    update,
)

from promenade.store.driver.leases import DELIVERIES
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

_QUEUE = table("webhook_queue")
_LOGS = table("NotificationLogs")
_SUBSCRIPTIONS = table("WebhookSubscriptions")
_KEY = (_QUEUE.c.tenant_id, _QUEUE.c.delivery_id)
_SUBSCRIPTION_LANE_LENGTH = 36  # length of an ID; the hash of an address is longer
PUBLICATIONS = "events"
"""The lane of events for the operator's broker: one worker of all has it to itself, see `publications`."""

_CONSIDERED_MAX = 500  # rows read of a failing lane, as no index supports this order
_CLOCK_SKEW = timedelta(minutes=1)  # tolerated clock skew within one installation

Key = tuple[str, str]
"""(tenant, ID of the delivery)."""


@dataclass(frozen=True, slots=True)
class Queued:
    """A delivery to attempt from ``due_at`` on; ``delivery_id`` is its row of NotificationLogs."""

    delivery_id: str
    lane: str
    event_id: str
    due_at: datetime


@dataclass(frozen=True, slots=True)
class Claim:
    """A delivery that a worker holds; ``attempts``: the number so far, ``due_at``: when it was due."""

    tenant_id: str
    delivery_id: str
    event_id: str
    lane: str
    attempts: int
    due_at: datetime
    lease_owner: str

    @property
    def key(self) -> Key:
        """The identity of the delivery."""
        return self.tenant_id, self.delivery_id


def lane_of(subscription_id: str | None, callback_url: str) -> str:
    """Return the lane of deliveries to a subscription or, without one, to an address."""
    return subscription_id or hashlib.sha256(callback_url.encode()).hexdigest()


async def enqueue(session: Session, rows: Sequence[Queued]) -> None:
    """Add deliveries of the session's tenant to the queue, with no attempts yet.

    For a delivery that is already queued, the attempts are reset, and ``due_at`` is changed unless an attempt is under
    way.
    """
    statement = upsert(session.dialect, _QUEUE)
    due_at = case((_QUEUE.c.lease_owner.is_(None), statement.excluded.due_at), else_=_QUEUE.c.due_at)
    await session.execute_many(
        statement.on_conflict_do_update(
            index_elements=["tenant_id", "delivery_id"], set_={"attempts": 0, "due_at": due_at}
        ),
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


# --- what is due ------------------------------------------------------------------------------------------------------


def _lanes() -> CTE:
    """Return every lane with a waiting delivery, at the cost of one index lookup each."""
    first = select(func.min(_QUEUE.c.lane).label("lane")).cte("lanes", recursive=True)
    next_one = select(func.min(_QUEUE.c.lane)).where(_QUEUE.c.lane > first.c.lane).scalar_subquery()
    return first.union_all(select(next_one).where(first.c.lane.is_not(None)))


async def due_lanes(session: Session, *, at: datetime) -> list[tuple[str, datetime]]:
    """Return the lanes of receivers with due deliveries and since when, longest waiting first."""
    lanes = _lanes()
    first_due = select(func.min(_QUEUE.c.due_at)).where(_QUEUE.c.lane == lanes.c.lane).scalar_subquery()
    looked = select(lanes.c.lane, first_due.label("due_at")).where(lanes.c.lane.is_not(None)).subquery()
    of_receivers = select(looked).where(looked.c.lane != PUBLICATIONS)
    rows = await session.execute(of_receivers.where(looked.c.due_at <= at).order_by(looked.c.due_at))
    return [(row.lane, row.due_at) for row in rows]


async def orphaned_lanes(session: Session) -> list[str]:
    """Return the lanes of subscriptions that are inactive or deleted."""
    lanes = _lanes()
    tenant = select(_QUEUE.c.tenant_id).where(_QUEUE.c.lane == lanes.c.lane).limit(1).scalar_subquery()
    looked = (
        select(lanes.c.lane, tenant.label("tenant_id"))
        .where(func.length(lanes.c.lane) == _SUBSCRIPTION_LANE_LENGTH)
        .subquery()
    )
    active = select(_SUBSCRIPTIONS.c.id).where(
        _SUBSCRIPTIONS.c.tenant_id == looked.c.tenant_id,
        _SUBSCRIPTIONS.c.id == looked.c.lane,
        _SUBSCRIPTIONS.c.is_active,
    )
    rows = await session.execute(select(looked.c.lane).where(~active.exists()))
    return [row.lane for row in rows]


async def claim(
    session: Session,
    lanes: Mapping[str, int],
    *,
    persistent: Iterable[str] = (),
    lease_owner: str,
    at: datetime,
    until: datetime,
) -> list[Claim]:
    """Claim due deliveries of ``lanes``, up to the given number for each, longest due first.

    For lanes in ``persistent`` (failing ones), the most recently due deliveries are considered, those with the most
    attempts first, so that deliveries can reach their last attempt. ``lease_owner`` must be new for every claim.
    """
    insistent = frozenset(persistent)
    found: list[Claim] = []
    for lane, limit in lanes.items():
        keys = await _most_attempted(session, lane, limit, at) if lane in insistent else None
        if keys is not None and not keys:
            continue
        found += [
            Claim(row.tenant_id, row.delivery_id, row.event_id, lane, row.attempts, row.due_at, lease_owner)
            for row in await session.execute(_due_in(lane, limit, at, keys))
        ]
    if found:
        chosen = among(*_KEY, [one.key for one in found])
        await DELIVERIES.take(session, chosen, lease_owner=lease_owner, until=until)
    return found


async def _most_attempted(session: Session, lane: str, limit: int, at: datetime) -> list[Key]:
    """Return the most attempted of the latest `_CONSIDERED_MAX` due deliveries, however long the lane is."""
    columns = (*_KEY, _QUEUE.c.attempts, _QUEUE.c.due_at)
    latest = select(*columns).where(_QUEUE.c.lane == lane, _QUEUE.c.due_at <= at).order_by(_QUEUE.c.due_at.desc())
    few = latest.limit(_CONSIDERED_MAX).subquery()
    rows = await session.execute(select(few).order_by(few.c.attempts.desc(), few.c.due_at).limit(limit))
    return [(row.tenant_id, row.delivery_id) for row in rows]


def _due_in(lane: str, limit: int, at: datetime, keys: Sequence[Key] | None) -> Select[Any]:
    statement = (
        select(_QUEUE.c.tenant_id, _QUEUE.c.delivery_id, _QUEUE.c.event_id, _QUEUE.c.attempts, _QUEUE.c.due_at)
        .where(_QUEUE.c.lane == lane, _QUEUE.c.due_at <= at)
        .order_by(_QUEUE.c.due_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    return statement if keys is None else statement.where(among(*_KEY, keys))


async def release(session: Session, claims: Sequence[Claim]) -> None:
    """Return unattempted claims to the queue, due as before, unless another worker has claimed them since."""
    await DELIVERIES.release_all(session, [(one, {"due_at": one.due_at}) for one in claims])


# --- what is not to be sent, and what waits too long ------------------------------------------------------------------


async def dead_letter_lane(session: Session, lane: str, reason: str, *, at: datetime, limit: int) -> list[str]:
    """Dead-letter up to ``limit`` deliveries of a lane that no worker holds; return the tenant of each."""
    picked = select(_QUEUE.c.tenant_id, _QUEUE.c.delivery_id).where(
        _QUEUE.c.lane == lane, or_(_QUEUE.c.lease_owner.is_(None), _QUEUE.c.due_at <= at)
    )
    picked = picked.order_by(_QUEUE.c.due_at).limit(limit).with_for_update(skip_locked=True)
    keys = [(row.tenant_id, row.delivery_id) for row in await session.execute(picked)]
    await dead_letter(session, keys, reason, at=at)
    return [tenant for tenant, _ in keys]


async def dead_letter(session: Session, keys: Sequence[Key], reason: str, *, at: datetime) -> None:
    """Dead-letter deliveries that this unit of work has locked, without an event."""
    if not keys:
        return
    await session.rowcount(
        update(_LOGS)
        .where(among(_LOGS.c.tenant_id, _LOGS.c.id, keys))
        .values(
            status="DEAD_LETTER",
            last_error=reason,
            next_attempt_at=None,
            modified_at=at,
            modified_by="system",
            version=_LOGS.c.version + 1,
        )
    )
    await session.rowcount(delete(_QUEUE).where(among(*_KEY, keys)))


async def find_misdated(session: Session, *, at: datetime, lease: timedelta, limit: int) -> list[Key]:
    """Return deliveries whose due time can only stem from a clock that has been set back since.

    That is: a lease longer than any granted now; a delivery without attempts, or whose last attempt is in the future.
    Checks everything that is not due.
    """
    latest = at + _CLOCK_SKEW
    of_the_future = select(_LOGS.c.id).where(
        _LOGS.c.tenant_id == _QUEUE.c.tenant_id, _LOGS.c.id == _QUEUE.c.delivery_id, _LOGS.c.last_attempt_at > latest
    )
    wrong = case(
        (_QUEUE.c.lease_owner.is_not(None), _QUEUE.c.due_at > latest + lease),
        (_QUEUE.c.attempts == 0, true()),
        else_=of_the_future.exists(),
    )
    rows = await session.execute(
        select(_QUEUE.c.tenant_id, _QUEUE.c.delivery_id).where(_QUEUE.c.due_at > latest, wrong).limit(limit)
    )
    return [(row.tenant_id, row.delivery_id) for row in rows]


async def make_due(session: Session, keys: Sequence[Key], *, at: datetime) -> None:
    """Make these deliveries due now; a worker that still holds one cannot write its result."""
    await DELIVERIES.end(session, at, among(*_KEY, keys))


def among(tenant: ColumnElement[str], id_: ColumnElement[str], keys: Sequence[Key]) -> ColumnElement[bool]:
    """Return the condition that a row's tenant and ID are one of ``keys`` (at least one).

    The IDs of each tenant are padded to a power of two, so that only a few different statements occur.
    """
    by_tenant: dict[str, list[str]] = defaultdict(list)
    for key_tenant, key_id in keys:
        by_tenant[key_tenant].append(key_id)
    return or_(
        *(
            and_(tenant == one, id_.in_([*ids, *[ids[-1]] * ((1 << (len(ids) - 1).bit_length()) - len(ids))]))
            for one, ids in sorted(by_tenant.items())
        )
    )
