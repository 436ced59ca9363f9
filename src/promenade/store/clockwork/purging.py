"""Purges of old data, in portions small enough not to delay tills; see `workflows.clockwork.purges`.

Iterations are scanned in the order of their creation, which costs an evaluation nothing on SQLite (rowid) and an entry
at the end of a short index on PostgreSQL. The position in that order is stored, so that each iteration is looked at
once when it reaches its retention limit, and once more when the sale does.

A confirm reads its iteration before it begins to write. So an iteration that may still be confirmed is first condemned:
its counter becomes negative, which no confirm finds, and it is deleted minutes later unless a confirm that had already
read it was committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    and_,
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    or_,
    select,
    true,
    tuple_,
    update,
)

from promenade.store.driver.recurring import one_of
from promenade.store.driver.schema import table
from promenade.store.driver.types import from_microseconds, to_microseconds
from promenade.store.driver.unit import Session
from promenade.store.webhooks.publications import drop_publications
from promenade.store.webhooks.queue import among

_ITERATIONS = table("iterations")
_COUNTERS = table("iteration_counters")
_CONFIRMATIONS = table("confirmations")
_EVENTS = table("outbox_events")
_QUEUE = table("webhook_queue")
_LOGS = table("NotificationLogs")
_JOBS = table("side_effect_jobs")
_SUBSCRIPTIONS = table("WebhookSubscriptions")

_ROWID: ColumnElement[int] = literal_column("iterations.rowid", Integer)
_KEY = (
    _ITERATIONS.c.tenant_id,
    _ITERATIONS.c.origin,
    _ITERATIONS.c.transaction_id,
    _ITERATIONS.c.transaction_counter,
)
_PLACE_FORM = tuple[int, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a scan: the creation time reached, and the key of the last row."""

    at: datetime
    key: tuple[Any, ...]

    def encode(self) -> str:
        """Encode as text; see `decode`."""
        return msgspec.json.encode((to_microseconds(self.at), self.key)).decode()

    @classmethod
    def decode(cls, text: str | None) -> Place:
        """Decode the text of `encode`; for None and invalid texts return the start."""
        try:
            at, key = msgspec.json.decode(text or "", type=_PLACE_FORM)
        except msgspec.MsgspecError:
            return START
        return cls(from_microseconds(at), key)


START = Place(from_microseconds(0), ())
"""Before all rows."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The result of a portion: rows looked at and rows purged; ``ended``: all that follow are too young."""

    place: Place
    looked: int
    gone: int
    ended: bool


async def purge_iterations(session: Session, place: Place, *, before: datetime, at: datetime, limit: int) -> Stretch:
    """Scan at most ``limit`` iterations created before ``before`` from ``place`` on; purge the unconfirmed ones.

    Those of confirmed transactions are deleted at once, the others condemned. The base of a confirmed one stays with
    it. Needs a system session, like all functions here.
    """
    if session.dialect == "sqlite":
        place = await _valid_place(session, place)
    rows = await session.execute(_following(session, place, before, limit))
    passed: list[Any] = []
    for row in rows:
        if before <= row.created_at <= at:
            break
        passed.append(row)  # including rows from the future: a clock was wrong, so their age is unknown
    old = [row for row in passed if row.created_at < before and row.transaction_counter > 0]
    gone = [row for row in old if row.transaction_counter not in (row.confirmed, row.base)]
    await _delete_or_condemn(session, gone, at)
    if passed:
        last = passed[-1]
        place = Place(max(place.at, *(row.created_at for row in passed)), _key_of(session, last))
    return Stretch(place, len(passed), len(gone), ended=len(passed) < limit)


async def purge_sold_iterations(session: Session, *, before: datetime, at: datetime, limit: int) -> Stretch:
    """Purge the oldest iterations created before ``before``, confirmed or not."""
    rows = await session.execute(_following(session, START, before, limit))
    gone = [row for row in rows if row.created_at < before and row.transaction_counter > 0]
    await _delete_or_condemn(session, gone, at)
    return Stretch(START, len(rows), len(gone), ended=not gone or len(rows) < limit)


def _following(session: Session, place: Place, before: datetime, limit: int) -> Select[Any]:
    """Select the iterations after a position in order of creation, each with its transaction's confirmed counter."""
    columns = select(*_KEY, _ITERATIONS.c.created_at, *_confirmed())
    if session.dialect == "sqlite":
        after = int(place.key[0]) if place.key else 0
        walked = columns.add_columns(_ROWID.label("place")).where(after < _ROWID).order_by(_ROWID)
        return walked.where(_ITERATIONS.c.transaction_counter > 0).limit(limit)
    walked = columns.where(_ITERATIONS.c.created_at < before, _ITERATIONS.c.transaction_counter > 0)
    if place.key:
        order = (_ITERATIONS.c.created_at, *_KEY)
        walked = walked.where(tuple_(*order) > tuple_(place.at, *place.key))
    return walked.order_by(_ITERATIONS.c.created_at, *_KEY).limit(limit)


def _key_of(session: Session, row: Any) -> tuple[Any, ...]:
    if session.dialect == "sqlite":
        return (row.place,)
    return (row.tenant_id, row.origin, row.transaction_id, row.transaction_counter)


async def _valid_place(session: Session, place: Place) -> Place:
    """Return the position, or the start if rows before it are younger than it: SQLite has renumbered the rows.

    This happens if the table was empty for a while, and may happen if the file is vacuumed.
    """
    if not place.key:
        return place
    rows = await session.execute(
        select(_ITERATIONS.c.created_at)
        .where(int(place.key[0]) >= _ROWID, _ITERATIONS.c.transaction_counter > 0)
        .order_by(_ROWID.desc())
        .limit(1)
    )
    return START if rows and rows[0].created_at > place.at else place


async def _delete_or_condemn(session: Session, gone: Sequence[Any], at: datetime) -> None:
    """Delete iterations of confirmed transactions; condemn the others."""
    over = [row for row in gone if row.confirmed is not None]
    if over:
        await session.rowcount(delete(_ITERATIONS).where(_matches_any(session, over)))
    undecided = [row for row in gone if row.confirmed is None]
    if undecided:
        turned = {"transaction_counter": -_ITERATIONS.c.transaction_counter, "created_at": at}
        await session.rowcount(update(_ITERATIONS).where(_matches_any(session, undecided)).values(turned))


def _matches_any(session: Session, rows: Sequence[Any]) -> ColumnElement[bool]:
    if session.dialect == "sqlite":
        return _ROWID.in_([row.place for row in rows])
    return one_of(_KEY, [tuple(row)[: len(_KEY)] for row in rows])


async def oldest_iteration(session: Session) -> datetime | None:
    """Return when the oldest iteration was stored; None: there is none. Needs a system session."""
    order = _ROWID if session.dialect == "sqlite" else _ITERATIONS.c.created_at
    live = select(_ITERATIONS.c.created_at).where(_ITERATIONS.c.transaction_counter > 0).order_by(order).limit(1)
    # Once condemned, they have another time of creation.
    condemned = select(func.min(_ITERATIONS.c.evaluated_at)).where(literal_column("transaction_counter < 0"))
    found = [row[0] for row in (*await session.execute(live), *await session.execute(condemned)) if row[0] is not None]
    return min(found, default=None)


async def remove_condemned(session: Session, *, before: datetime, at: datetime, limit: int) -> int:
    """Delete iterations condemned before ``before``, and the counters of transactions that have nothing else left.

    An iteration that was confirmed in the meantime is restored. Returns the number of iterations processed.
    """
    condemned = select(*_KEY, *_confirmed())
    if session.dialect == "sqlite":
        condemned = condemned.add_columns(_ROWID.label("place"))
    # A time in the future comes from a clock that has been set back since.
    aged = or_(_ITERATIONS.c.created_at < before, _ITERATIONS.c.created_at > at)
    condemned = condemned.where(literal_column("transaction_counter < 0"), aged)
    rows = await session.execute(condemned.order_by(_ITERATIONS.c.created_at).limit(limit))
    kept = [row for row in rows if -row.transaction_counter in (row.confirmed, row.base)]
    if kept:
        turned = {"transaction_counter": -_ITERATIONS.c.transaction_counter, "created_at": _ITERATIONS.c.evaluated_at}
        await session.rowcount(update(_ITERATIONS).where(_matches_any(session, kept)).values(turned))
    gone = [row for row in rows if -row.transaction_counter not in (row.confirmed, row.base)]
    if gone:
        keys = sorted({(row.tenant_id, row.origin, row.transaction_id) for row in gone})
        await _hold_counters(session, keys)
        await session.rowcount(delete(_ITERATIONS).where(_matches_any(session, gone)))
        await _delete_counters(session, keys)
    return len(rows)


async def _hold_counters(session: Session, keys: Sequence[tuple[str, str, str]]) -> None:
    """Wait for evaluations that are raising one of the counters, so that their iterations become visible."""
    if session.dialect == "postgresql":
        key = (_COUNTERS.c.tenant_id, _COUNTERS.c.origin, _COUNTERS.c.transaction_id)
        held = select(_COUNTERS.c.last_counter).where(one_of(key, keys)).order_by(*key)
        await session.execute(held.with_for_update())


async def _delete_counters(session: Session, keys: Sequence[tuple[str, str, str]]) -> None:
    """Delete the counters of transactions that have neither an iteration nor a confirmation left.

    INVARIANT (T2): all other counters stay; otherwise the next iteration would get a number that was used before.
    """
    # One statement per key: for a list of multi-column keys SQLite would scan all counters.
    names = ("tenant_id", "origin", "transaction_id")
    left = [
        exists().where(*(of.c[name] == _COUNTERS.c[name] for name in names)) for of in (_ITERATIONS, _CONFIRMATIONS)
    ]
    one = [_COUNTERS.c[name] == bindparam(f"of_{name}") for name in names]
    await session.execute_many(
        delete(_COUNTERS).where(*one, *(~some for some in left)),
        [{f"of_{name}": value for name, value in zip(names, key, strict=True)} for key in keys],
    )


def _confirmed() -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    """Return which iteration of an iteration's transaction was confirmed, and which one is the base of that one."""
    confirmed = select(_CONFIRMATIONS.c.transaction_counter).where(_same_transaction(_CONFIRMATIONS))
    sold = _ITERATIONS.alias("sold")
    counter = _CONFIRMATIONS.c.transaction_counter
    base = select(sold.c.base_counter).where(
        _same_transaction(_CONFIRMATIONS),
        _same_transaction(sold),
        sold.c.transaction_counter.in_((counter, -counter)),  # below zero: condemned
    )
    return confirmed.scalar_subquery().label("confirmed"), base.scalar_subquery().label("base")


def _same_transaction(other: Any) -> ColumnElement[bool]:
    names = ("tenant_id", "origin", "transaction_id")
    return and_(*(other.c[name] == _ITERATIONS.c[name] for name in names))


async def purge_jobs(session: Session, *, status: str, before: datetime, limit: int) -> int:
    """Delete up to ``limit`` side-effect jobs with this final status, last due before ``before``; return how many.

    Jobs of sales that reports do not count yet stay: they mark these sales.
    """
    ended = _JOBS.c.status == status, _JOBS.c.due_at < before, _JOBS.c.reported == true()
    picked = select(_JOBS.c.tenant_id, _JOBS.c.id).where(*ended).order_by(_JOBS.c.due_at).limit(limit)
    if session.dialect == "postgresql":  # a job being requeued is locked
        picked = picked.with_for_update(skip_locked=True)
    keys = [(row.tenant_id, row.id) for row in await session.execute(picked)]
    if not keys:
        return 0
    return await session.rowcount(delete(_JOBS).where(among(_JOBS.c.tenant_id, _JOBS.c.id, keys), *ended))


async def purge_secrets(session: Session, *, at: datetime) -> int:
    """Delete previous webhook secrets that no longer sign at ``at``, in all tenants; return how many.

    No version is raised.
    """
    over = _SUBSCRIPTIONS.c.previous_secret.is_not(None), _SUBSCRIPTIONS.c.previous_secret_until <= at
    return await session.rowcount(update(_SUBSCRIPTIONS).where(*over).values(previous_secret=None))


# --- Events and deliveries: tenant by tenant -------------------------------------------------------------------------


async def purge_events(
    session: Session, *, since: datetime, before: datetime, limit: int, publishes: bool = False
) -> tuple[int, datetime | None]:
    """Delete the tenant's events from ``since`` to ``before`` that were dispatched and have no pending delivery.

    ``publishes``: events that wait for a broker stay, too; else nobody will publish them.

    Returns how many, and the time from which there may be more; None: there are no more.
    """
    waits = exists().where(
        _LOGS.c.tenant_id == _EVENTS.c.tenant_id,
        _LOGS.c.event_id == _EVENTS.c.id,
        _QUEUE.c.tenant_id == _LOGS.c.tenant_id,
        _QUEUE.c.delivery_id == _LOGS.c.id,
    )
    unpublished = exists().where(_QUEUE.c.tenant_id == _EVENTS.c.tenant_id, _QUEUE.c.delivery_id == _EVENTS.c.id)
    old = select(_EVENTS.c.id, _EVENTS.c.created_at, _EVENTS.c.dispatched_at)
    old = old.where(_EVENTS.c.created_at >= since, _EVENTS.c.created_at < before)
    rows = await session.execute(old.order_by(_EVENTS.c.created_at).limit(limit))
    ids = [row.id for row in rows if row.dispatched_at is not None]
    gone = 0
    if ids:
        if session.dialect == "postgresql":  # an event being requeued is locked
            held = select(_EVENTS.c.id).where(_EVENTS.c.id.in_(ids)).with_for_update(skip_locked=True)
            ids = [row.id for row in await session.execute(held)]
        stays = or_(waits, unpublished) if publishes else waits
        gone = await session.rowcount(delete(_EVENTS).where(_EVENTS.c.id.in_(ids), ~stays))
        if not publishes:
            await drop_publications(session, ids)
    if len(rows) < limit:
        return gone, None
    # Events with equal timestamps that stay must not block the scan.
    last: datetime = rows[-1].created_at
    return gone, last if gone or last > since else from_microseconds(to_microseconds(last) + 1)


async def purge_notifications(
    session: Session, *, subscription: str | None, before: datetime, limit: int
) -> tuple[int, str | None]:
    """Delete finished deliveries created before ``before`` of the next subscription after ``subscription`` (by ID).

    An empty ``subscription``: the first; None: deliveries to a job's callbackUrl, which come last. A delivery stays as
    long as its event. Returns how many, and whose they were; None: they were the last ones.
    """
    of: str | None = None
    if subscription is not None:
        following = select(_LOGS.c.subscription_id).where(_LOGS.c.subscription_id > subscription)
        found = await session.execute(following.order_by(_LOGS.c.subscription_id).limit(1))
        of = found[0].subscription_id if found else None
    whose = _LOGS.c.subscription_id == of if of is not None else _LOGS.c.subscription_id.is_(None)
    finished = _LOGS.c.status.in_(("DELIVERED", "DEAD_LETTER"))
    queued = exists().where(_QUEUE.c.tenant_id == _LOGS.c.tenant_id, _QUEUE.c.delivery_id == _LOGS.c.id)
    told = exists().where(_EVENTS.c.tenant_id == _LOGS.c.tenant_id, _EVENTS.c.id == _LOGS.c.event_id)
    old = select(_LOGS.c.id).where(whose, finished, _LOGS.c.created_at < before, ~queued, ~told)
    rows = await session.execute(old.order_by(_LOGS.c.created_at).limit(limit))
    if rows:
        ids = [row.id for row in rows]
        await session.rowcount(delete(_LOGS).where(_LOGS.c.id.in_(ids), finished))
    return len(rows), of
