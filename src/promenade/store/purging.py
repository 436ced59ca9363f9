"""What is old and goes, a little at a time, so that tills hardly notice; see `workflows.clockwork.purges`.

Iterations are walked in the order in which they were made, which costs an evaluation nothing on SQLite (rowid) and an
entry at the end of a short index on PostgreSQL. A place in that order is kept, so that each is looked at once when it
has come of age, and once more when the sale has.

A confirm reads its iteration before it begins to write. So one that may still be confirmed is condemned first: its
counter turns negative, which no confirm finds, and it goes minutes later unless a confirm that had found it has landed.
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
    literal_column,
    or_,
    select,
    true,
    tuple_,
    update,
)

from promenade.store.recurring import one_of
from promenade.store.schema import table
from promenade.store.types import from_microseconds, to_microseconds
from promenade.store.unit import Session
from promenade.store.webhook_queue import among

__all__ = [
    "START",
    "Place",
    "Stretch",
    "purge_events",
    "purge_iterations",
    "purge_jobs",
    "purge_notifications",
    "purge_secrets",
    "purge_sold_iterations",
    "remove_condemned",
]

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
    """How far a walk has come: when what it passed was made, and after which row it goes on."""

    at: datetime
    key: tuple[Any, ...]

    def encode(self) -> str:
        """As text; see `decode`."""
        return msgspec.json.encode((to_microseconds(self.at), self.key)).decode()

    @classmethod
    def decode(cls, text: str | None) -> Place:
        """What `encode` gave; None, and what cannot be read, is the beginning."""
        try:
            at, key = msgspec.json.decode(text or "", type=_PLACE_FORM)
        except msgspec.MsgspecError:
            return START
        return cls(from_microseconds(at), key)


START = Place(from_microseconds(0), ())
"""Before all rows."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a walk: how many rows were looked at and how many of them go; ``ended``: what follows is young."""

    place: Place
    looked: int
    gone: int
    ended: bool


async def purge_iterations(session: Session, place: Place, *, before: datetime, at: datetime, limit: int) -> Stretch:
    """Walk on from ``place`` over at most ``limit`` iterations made before a moment; those that were not confirmed go.

    Those of confirmed transactions at once, the others are condemned. Needs a system session, as all here.
    """
    if session.dialect == "sqlite":
        place = await _believed(session, place)
    rows = await session.execute(_following(session, place, before, limit))
    passed: list[Any] = []
    for row in rows:
        if before <= row.created_at <= at:
            break
        passed.append(row)  # also one from the future: a clock was wrong, and nothing is known of its age
    old = [row for row in passed if row.created_at < before and row.transaction_counter > 0]
    gone = [row for row in old if row.confirmed != row.transaction_counter]
    await _let_go(session, gone, at)
    if passed:
        last = passed[-1]
        place = Place(max(place.at, *(row.created_at for row in passed)), _key_of(session, last))
    return Stretch(place, len(passed), len(gone), ended=len(passed) < limit)


async def purge_sold_iterations(session: Session, *, before: datetime, at: datetime, limit: int) -> Stretch:
    """Delete iterations made before a moment, confirmed or not, the oldest of them."""
    rows = await session.execute(_following(session, START, before, limit))
    gone = [row for row in rows if row.created_at < before and row.transaction_counter > 0]
    await _let_go(session, gone, at)
    return Stretch(START, len(rows), len(gone), ended=not gone or len(rows) < limit)


def _following(session: Session, place: Place, before: datetime, limit: int) -> Select[Any]:
    """Iterations after a place in the order in which they were made, each with the counter that was confirmed."""
    confirmed = select(_CONFIRMATIONS.c.transaction_counter).where(_same_transaction(_CONFIRMATIONS))
    columns = select(*_KEY, _ITERATIONS.c.created_at, confirmed.scalar_subquery().label("confirmed"))
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


async def _believed(session: Session, place: Place) -> Place:
    """The place, or the beginning when rows before it are younger than all it passed: SQLite has numbered anew.

    It does so when the table was empty for a while, and may when the file is vacuumed.
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


async def _let_go(session: Session, gone: Sequence[Any], at: datetime) -> None:
    """Delete iterations of confirmed transactions; condemn the others."""
    over = [row for row in gone if row.confirmed is not None]
    if over:
        await session.rowcount(delete(_ITERATIONS).where(_are(session, over)))
    undecided = [row for row in gone if row.confirmed is None]
    if undecided:
        turned = {"transaction_counter": -_ITERATIONS.c.transaction_counter, "created_at": at}
        await session.rowcount(update(_ITERATIONS).where(_are(session, undecided)).values(turned))


def _are(session: Session, rows: Sequence[Any]) -> ColumnElement[bool]:
    if session.dialect == "sqlite":
        return _ROWID.in_([row.place for row in rows])
    return one_of(_KEY, [tuple(row)[: len(_KEY)] for row in rows])


async def remove_condemned(session: Session, *, before: datetime, at: datetime, limit: int) -> int:
    """Delete iterations condemned before a moment, and the counters of transactions that are then forgotten.

    One that was confirmed meanwhile is put back. The answer is how many there were.
    """
    confirmed = select(_CONFIRMATIONS.c.transaction_counter).where(_same_transaction(_CONFIRMATIONS))
    condemned = select(*_KEY, confirmed.scalar_subquery().label("confirmed"))
    if session.dialect == "sqlite":
        condemned = condemned.add_columns(_ROWID.label("place"))
    # What was condemned in the future was so by a clock that has been set back since.
    aged = or_(_ITERATIONS.c.created_at < before, _ITERATIONS.c.created_at > at)
    condemned = condemned.where(literal_column("transaction_counter < 0"), aged)
    rows = await session.execute(condemned.order_by(_ITERATIONS.c.created_at).limit(limit))
    kept = [row for row in rows if row.confirmed == -row.transaction_counter]
    if kept:
        turned = {"transaction_counter": -_ITERATIONS.c.transaction_counter, "created_at": _ITERATIONS.c.evaluated_at}
        await session.rowcount(update(_ITERATIONS).where(_are(session, kept)).values(turned))
    gone = [row for row in rows if row.confirmed != -row.transaction_counter]
    if gone:
        keys = sorted({(row.tenant_id, row.origin, row.transaction_id) for row in gone})
        await _hold_counters(session, keys)
        await session.rowcount(delete(_ITERATIONS).where(_are(session, gone)))
        await _forget(session, keys)
    return len(rows)


async def _hold_counters(session: Session, keys: Sequence[tuple[str, str, str]]) -> None:
    """Wait for evaluations that are raising one of the counters, so that their iterations can be seen afterwards."""
    if session.dialect == "postgresql":
        key = (_COUNTERS.c.tenant_id, _COUNTERS.c.origin, _COUNTERS.c.transaction_id)
        held = select(_COUNTERS.c.last_counter).where(one_of(key, keys)).order_by(*key)
        await session.execute(held.with_for_update())


async def _forget(session: Session, keys: Sequence[tuple[str, str, str]]) -> None:
    """Delete the counters of transactions that have neither an iteration nor a confirmation left.

    INVARIANT (T2): the counter of any other stays, or its next iteration would get a number that was given before.
    """
    # A statement each: SQLite would look through all counters for a list of keys of several columns.
    names = ("tenant_id", "origin", "transaction_id")
    left = [
        exists().where(*(of.c[name] == _COUNTERS.c[name] for name in names)) for of in (_ITERATIONS, _CONFIRMATIONS)
    ]
    one = [_COUNTERS.c[name] == bindparam(f"of_{name}") for name in names]
    await session.execute_many(
        delete(_COUNTERS).where(*one, *(~some for some in left)),
        [{f"of_{name}": value for name, value in zip(names, key, strict=True)} for key in keys],
    )


def _same_transaction(other: Any) -> ColumnElement[bool]:
    names = ("tenant_id", "origin", "transaction_id")
    return and_(*(other.c[name] == _ITERATIONS.c[name] for name in names))


async def purge_jobs(session: Session, *, status: str, before: datetime, limit: int) -> int:
    """Delete up to ``limit`` side effect jobs that ended so and were last due before a moment; how many.

    Those of sales that reports do not count yet stay: they are what tells so.
    """
    ended = _JOBS.c.status == status, _JOBS.c.due_at < before, _JOBS.c.reported == true()
    picked = select(_JOBS.c.tenant_id, _JOBS.c.id).where(*ended).order_by(_JOBS.c.due_at).limit(limit)
    if session.dialect == "postgresql":  # who puts one back has it
        picked = picked.with_for_update(skip_locked=True)
    keys = [(row.tenant_id, row.id) for row in await session.execute(picked)]
    if not keys:
        return 0
    return await session.rowcount(delete(_JOBS).where(among(_JOBS.c.tenant_id, _JOBS.c.id, keys), *ended))


async def purge_secrets(session: Session, *, at: datetime) -> int:
    """Forget secrets of webhooks that sign no more since a moment, in all tenants; how many. Nobody sees it."""
    over = _SUBSCRIPTIONS.c.previous_secret.is_not(None), _SUBSCRIPTIONS.c.previous_secret_until <= at
    return await session.rowcount(update(_SUBSCRIPTIONS).where(*over).values(previous_secret=None))


# --- Events and deliveries: tenant by tenant -------------------------------------------------------------------------


async def purge_events(
    session: Session, *, since: datetime, before: datetime, limit: int
) -> tuple[int, datetime | None]:
    """Delete the tenant's events that happened from ``since`` to ``before``, were dispatched and wait for no delivery.

    How many went, and from when on there may be more; None: there are none.
    """
    waits = exists().where(
        _LOGS.c.tenant_id == _EVENTS.c.tenant_id,
        _LOGS.c.event_id == _EVENTS.c.id,
        _QUEUE.c.tenant_id == _LOGS.c.tenant_id,
        _QUEUE.c.delivery_id == _LOGS.c.id,
    )
    old = select(_EVENTS.c.id, _EVENTS.c.created_at, _EVENTS.c.dispatched_at)
    old = old.where(_EVENTS.c.created_at >= since, _EVENTS.c.created_at < before)
    rows = await session.execute(old.order_by(_EVENTS.c.created_at).limit(limit))
    ids = [row.id for row in rows if row.dispatched_at is not None]
    gone = 0
    if ids:
        if session.dialect == "postgresql":  # whoever puts one back into the queue holds it
            held = select(_EVENTS.c.id).where(_EVENTS.c.id.in_(ids)).with_for_update(skip_locked=True)
            ids = [row.id for row in await session.execute(held)]
        gone = await session.rowcount(delete(_EVENTS).where(_EVENTS.c.id.in_(ids), ~waits))
    if len(rows) < limit:
        return gone, None
    # Events of one moment that stay must not hold up the walk.
    last: datetime = rows[-1].created_at
    return gone, last if gone or last > since else from_microseconds(to_microseconds(last) + 1)


async def purge_notifications(
    session: Session, *, subscription: str | None, before: datetime, limit: int
) -> tuple[int, str | None]:
    """Delete finished deliveries of the subscription that follows one (by ID), made before a moment.

    An empty ``subscription``: the first; None: deliveries to a job's callbackUrl, which come last. A delivery stays as
    long as its event does. How many went, and whose they were; None: they were the last ones.
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
