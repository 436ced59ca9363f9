"""The queue of deliveries: which are due, who is at them, and when they are tried again.

Deliveries of one lane wait for each other, for no other. A claim is a lease: ``due_at`` moves to the end of the lease,
so that the index of lanes leads past what is under way, and whatever a killed worker held becomes due again.
All but `enqueue` need a system session: workers look across tenants.
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
    bindparam,
    case,
    delete,
    func,
    or_,
    select,
    true,
    update,
)

from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = [
    "Claim",
    "Key",
    "Queued",
    "abandon",
    "among",
    "bury",
    "claim",
    "deserted_lanes",
    "due_lanes",
    "enqueue",
    "lane_of",
    "misdated",
    "pull_forward",
    "release",
]

_QUEUE = table("webhook_queue")
_LOGS = table("NotificationLogs")
_SUBSCRIPTIONS = table("WebhookSubscriptions")
_KEY = (_QUEUE.c.tenant_id, _QUEUE.c.delivery_id)
_SUBSCRIPTION_LANE_LENGTH = 36  # of an ID; the hash of an address is longer
_LOOKED_AT_MAX = 500  # of a lane where little gets through, for which there is no index
_CLOCKS_APART = timedelta(minutes=1)  # what clocks of one installation may differ by without anything being wrong

Key = tuple[str, str]
"""(tenant, ID of the delivery)."""


@dataclass(frozen=True, slots=True)
class Queued:
    """A delivery to be tried from ``due_at`` on; ``delivery_id`` is its row of NotificationLogs."""

    delivery_id: str
    lane: str
    event_id: str
    due_at: datetime


@dataclass(frozen=True, slots=True)
class Claim:
    """A delivery that a worker holds under ``token``; ``attempts`` were made before, it was due at ``due_at``."""

    tenant_id: str
    delivery_id: str
    event_id: str
    lane: str
    attempts: int
    due_at: datetime
    token: str

    @property
    def key(self) -> Key:
        """What identifies the delivery."""
        return self.tenant_id, self.delivery_id


def lane_of(subscription_id: str | None, callback_url: str) -> str:
    """The lane of what goes to a subscription, or, without one, to an address."""
    return subscription_id or hashlib.sha256(callback_url.encode()).hexdigest()


async def enqueue(session: Session, rows: Sequence[Queued]) -> None:
    """Put deliveries of the session's tenant into the queue, none tried so far.

    One that is there already is due then, unless an attempt is under way, and counts its attempts anew.
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
    """Every lane that anything waits in, at the cost of one look into the index for each."""
    first = select(func.min(_QUEUE.c.lane).label("lane")).cte("lanes", recursive=True)
    next_one = select(func.min(_QUEUE.c.lane)).where(_QUEUE.c.lane > first.c.lane).scalar_subquery()
    return first.union_all(select(next_one).where(first.c.lane.is_not(None)))


async def due_lanes(session: Session, *, at: datetime) -> list[tuple[str, datetime]]:
    """Lanes in which something is due, with since when, the one that has waited longest first."""
    lanes = _lanes()
    first_due = select(func.min(_QUEUE.c.due_at)).where(_QUEUE.c.lane == lanes.c.lane).scalar_subquery()
    looked = select(lanes.c.lane, first_due.label("due_at")).where(lanes.c.lane.is_not(None)).subquery()
    rows = await session.execute(select(looked).where(looked.c.due_at <= at).order_by(looked.c.due_at))
    return [(row.lane, row.due_at) for row in rows]


async def deserted_lanes(session: Session) -> list[str]:
    """Lanes of subscriptions that are inactive or gone."""
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
    token: str,
    at: datetime,
    until: datetime,
) -> list[Claim]:
    """Take what is due in ``lanes``, of each at most so many, those first that have been due longest.

    Of lanes that are ``persistent`` those come first that were tried most often, among those that became due last:
    where little gets through, what is near its end comes to it. ``token`` must be new for every claim.
    """
    insistent = frozenset(persistent)
    found: list[Claim] = []
    for lane, limit in lanes.items():
        keys = await _most_tried(session, lane, limit, at) if lane in insistent else None
        if keys is not None and not keys:
            continue
        rows = await session.execute(_due_in(session.dialect, lane, limit, at, keys))
        found += [
            Claim(row.tenant_id, row.delivery_id, row.event_id, lane, row.attempts, row.due_at, token) for row in rows
        ]
    if found:
        taken = update(_QUEUE).where(among(*_KEY, [one.key for one in found]))
        await session.rowcount(taken.values(lease_owner=token, lease_until=until, due_at=until))
    return found


async def _most_tried(session: Session, lane: str, limit: int, at: datetime) -> list[Key]:
    """Of the latest `_LOOKED_AT_MAX` that are due those that were tried most often: however long a lane has become."""
    columns = (*_KEY, _QUEUE.c.attempts, _QUEUE.c.due_at)
    latest = select(*columns).where(_QUEUE.c.lane == lane, _QUEUE.c.due_at <= at).order_by(_QUEUE.c.due_at.desc())
    few = latest.limit(_LOOKED_AT_MAX).subquery()
    rows = await session.execute(select(few).order_by(few.c.attempts.desc(), few.c.due_at).limit(limit))
    return [(row.tenant_id, row.delivery_id) for row in rows]


def _due_in(dialect: str, lane: str, limit: int, at: datetime, keys: Sequence[Key] | None) -> Select[Any]:
    statement = (
        select(_QUEUE.c.tenant_id, _QUEUE.c.delivery_id, _QUEUE.c.event_id, _QUEUE.c.attempts, _QUEUE.c.due_at)
        .where(_QUEUE.c.lane == lane, _QUEUE.c.due_at <= at)
        .order_by(_QUEUE.c.due_at)
        .limit(limit)
    )
    if keys is not None:
        statement = statement.where(among(*_KEY, keys))
    return statement.with_for_update(skip_locked=True) if dialect == "postgresql" else statement


async def release(session: Session, claims: Sequence[Claim]) -> None:
    """Give back what was claimed and not tried, due as before; what another has claimed since is left to it."""
    statement = update(_QUEUE).where(
        _QUEUE.c.tenant_id == bindparam("of_tenant"),
        _QUEUE.c.delivery_id == bindparam("of_delivery"),
        _QUEUE.c.lease_owner == bindparam("of_token"),
    )
    await session.execute_many(
        statement.values(lease_owner=None, lease_until=None, due_at=bindparam("was_due_at")),
        [
            {
                "of_tenant": one.tenant_id,
                "of_delivery": one.delivery_id,
                "of_token": one.token,
                "was_due_at": one.due_at,
            }
            for one in claims
        ],
    )


# --- what is not to be sent, and what waits too long ------------------------------------------------------------------


async def abandon(session: Session, lane: str, reason: str, *, at: datetime, limit: int) -> list[str]:
    """Make dead letters of up to ``limit`` deliveries of a lane that nobody is at; their tenants, one for each."""
    picked = select(_QUEUE.c.tenant_id, _QUEUE.c.delivery_id).where(
        _QUEUE.c.lane == lane, or_(_QUEUE.c.lease_owner.is_(None), _QUEUE.c.due_at <= at)
    )
    picked = picked.order_by(_QUEUE.c.due_at).limit(limit)
    if session.dialect == "postgresql":
        picked = picked.with_for_update(skip_locked=True)
    keys = [(row.tenant_id, row.delivery_id) for row in await session.execute(picked)]
    await bury(session, keys, reason, at=at)
    return [tenant for tenant, _ in keys]


async def bury(session: Session, keys: Sequence[Key], reason: str, *, at: datetime) -> None:
    """Make dead letters of deliveries that this unit of work holds, without an event."""
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


async def misdated(session: Session, *, at: datetime, lease: timedelta, limit: int) -> list[Key]:
    """Deliveries that wait for a moment which only a clock that has been set back since can have given them.

    A lease that lasts longer than any given now would; what was never tried, or was last tried in the future.
    Looks at everything that is not due.
    """
    latest = at + _CLOCKS_APART
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


async def pull_forward(session: Session, keys: Sequence[Key], *, at: datetime) -> None:
    """Let these deliveries be due now; a worker that is still at one is kept from writing its result."""
    statement = update(_QUEUE).where(among(*_KEY, keys))
    await session.rowcount(statement.values(due_at=at, lease_owner=None, lease_until=None))


def among(tenant: ColumnElement[str], id_: ColumnElement[str], keys: Sequence[Key]) -> ColumnElement[bool]:
    """Whether a row's tenant and ID are one of ``keys``, of which there is at least one.

    The IDs of each tenant are filled up to a power of two: the text of the statement is then one of a few.
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
