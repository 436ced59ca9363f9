"""Side-effect jobs: enqueued by confirm in its own transaction, claimed by workers under a lease (reliability T5).

A claim is one statement: on PostgreSQL with SKIP LOCKED, on SQLite inside the only writer. A worker writes its result
only while it still holds the lease it was given: ``lease_owner`` is the fencing token, new with every claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import CTE, ColumnElement, Row, Select, and_, case, insert, or_, select, tuple_, update

from odata_server.sql.connection import Kept
from promenade.store.recurring import one_of, parameter
from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = [
    "RETRY_SECONDS_MAX",
    "Claimed",
    "Done",
    "Requeued",
    "claim",
    "complete",
    "enqueue",
    "fail",
    "find",
    "hold",
    "list_jobs",
    "put_off",
    "requeue",
    "requeue_failed",
]

_JOBS = table("side_effect_jobs")

RETRY_SECONDS_MAX = 300  # the longest that a failed job is put off
REASON_MAX = 1000

_HELD = and_(
    _JOBS.c.tenant_id == parameter("given_tenant", _JOBS.c.tenant_id.type),
    _JOBS.c.id == parameter("given_id", _JOBS.c.id.type),
    _JOBS.c.status == "RUNNING",
    _JOBS.c.lease_owner == parameter("given_owner", _JOBS.c.lease_owner.type),
)
_HOLDING = Kept(
    update(_JOBS).where(_HELD).values(lease_owner=_JOBS.c.lease_owner).returning(_JOBS.c.post_purchase_coupons)
)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A job that this worker holds until ``lease_until``; ``attempts`` counts this one."""

    tenant_id: str
    id: str
    origin: str
    transaction_id: str
    transaction_counter: int
    payload: bytes
    attempts: int
    lease_owner: str
    lease_until: datetime


@dataclass(frozen=True, slots=True)
class Done:
    """What has been done up to the end of an attempt; the points are those of this attempt alone."""

    coupons_redeemed: int
    loyalty_points_earned: int
    coupons: Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Requeued:
    """A job that is due again; ``reason`` is why it had failed."""

    id: str
    transaction_id: str
    transaction_counter: int
    reason: str | None


async def enqueue(
    session: Session,
    *,
    job_id: str,
    origin: str,
    transaction_id: str,
    transaction_counter: int,
    payload: bytes,
    at: datetime,
    budgets_consumed: int = 0,
) -> None:
    """Add the job of a confirmed iteration, due at once, in the unit of work that confirms it."""
    row = {
        "id": job_id,
        "origin": origin,
        "transaction_id": transaction_id,
        "transaction_counter": transaction_counter,
        "status": "PENDING",
        "payload": payload,
        "enqueued_at": at,
        "due_at": at,
        "attempts": 0,
        "budgets_consumed": budgets_consumed,
    }
    await session.rowcount(insert(_JOBS), row)


async def claim(session: Session, *, lease_owner: str, at: datetime, lease_seconds: int, limit: int) -> list[Claimed]:
    """Take up to ``limit`` jobs that are due, or whose worker let its lease run out; needs a system session.

    ``lease_owner`` must be new for every claim: it is what `complete` and `fail` are checked against.
    """
    until = at + timedelta(seconds=lease_seconds)
    # A time farther ahead than any that could be given now was given by a clock that has been set back since: waiting
    # for it could take as long as the clock was wrong. The token keeps a worker that is still at it from finishing.
    due = or_(
        and_(
            _JOBS.c.status == "PENDING",
            or_(_JOBS.c.due_at <= at, _JOBS.c.due_at > at + timedelta(seconds=RETRY_SECONDS_MAX)),
        ),
        and_(_JOBS.c.status == "RUNNING", or_(_JOBS.c.lease_until <= at, _JOBS.c.lease_until > until)),
    )
    picked = select(_JOBS.c.tenant_id, _JOBS.c.id).where(due).order_by(_JOBS.c.due_at).limit(limit)
    if session.dialect == "postgresql":
        picked = picked.with_for_update(skip_locked=True)
    few = _once(picked)
    statement = (
        update(_JOBS)
        .where(tuple_(_JOBS.c.tenant_id, _JOBS.c.id).in_(select(few.c.tenant_id, few.c.id)))
        .values(status="RUNNING", lease_owner=lease_owner, lease_until=until, attempts=_JOBS.c.attempts + 1)
        .returning(
            _JOBS.c.tenant_id,
            _JOBS.c.id,
            _JOBS.c.origin,
            _JOBS.c.transaction_id,
            _JOBS.c.transaction_counter,
            _JOBS.c.payload,
            _JOBS.c.attempts,
        )
    )
    rows = await session.execute(statement)
    if rows:
        first = [(row.tenant_id, row.id) for row in rows if row.attempts == 1]
        if first:
            begun = one_of((_JOBS.c.tenant_id, _JOBS.c.id), first), _JOBS.c.started_at.is_(None)
            await session.rowcount(update(_JOBS).where(*begun).values(started_at=at))
    return [Claimed(**row._mapping, lease_owner=lease_owner, lease_until=until) for row in rows]


def _once(picked: Select[Any]) -> CTE:
    """As a sub-query it may be run more than once, as the planner likes, and then picks more than it may."""
    return picked.cte("few")


async def hold(session: Session, job: Claimed) -> list[dict[str, Any]] | None:
    """Hold the job's row until the unit of work ends; the answer is the coupons that attempts before have issued.

    None: the lease is lost, another worker has the job.
    """
    rows = await session.execute(_HOLDING, _key(job))
    return list(rows[0].post_purchase_coupons or ()) if rows else None


async def complete(
    session: Session,
    job: Claimed,
    *,
    at: datetime,
    coupons_redeemed: int,
    loyalty_points_earned: int,
    post_purchase_coupons: Sequence[dict[str, Any]],
) -> bool:
    """Write the result in the transaction of the local effects; False: the lease is lost, roll everything back."""
    done = Done(coupons_redeemed, loyalty_points_earned, post_purchase_coupons)
    return await _finish(session, job, status="COMPLETED", completed_at=at, reason=None, **_sums(done))


async def put_off(
    session: Session, job: Claimed, done: Done, *, payload: bytes, at: datetime, retry_at: datetime | None, reason: str
) -> bool:
    """Write what an attempt has done in its transaction, and give the job back with ``payload``, what is owed still.

    It is due at ``retry_at``, or FAILED (None); False: the lease is lost, roll everything back.
    """
    return await _finish(session, job, payload=payload, **_ended(at, retry_at, reason), **_sums(done))


def _sums(done: Done) -> dict[str, Any]:
    return {
        "coupons_redeemed": done.coupons_redeemed,
        "loyalty_points_earned": done.loyalty_points_earned,
        "post_purchase_coupons": list(done.coupons),
    }


async def fail(session: Session, job: Claimed, *, at: datetime, retry_at: datetime | None, reason: str) -> bool:
    """Give the job back, due at ``retry_at``, or for good (None); False: the lease is lost, another has it."""
    return await _finish(session, job, **_ended(at, retry_at, reason))


def _ended(at: datetime, retry_at: datetime | None, reason: str) -> dict[str, Any]:
    ended: dict[str, Any] = {"reason": reason[:REASON_MAX]}
    if retry_at is None:
        return {"status": "FAILED", "completed_at": at, **ended}
    return {"status": "PENDING", "due_at": retry_at, **ended}


async def _finish(session: Session, job: Claimed, **values: Any) -> bool:
    given = {f"new_{name}": value for name, value in values.items()}
    return await session.rowcount(_finishing(tuple(values)), {**_key(job), **given}) == 1


@cache
def _finishing(names: tuple[str, ...]) -> Kept:
    new: dict[str, Any] = {name: parameter(f"new_{name}", _JOBS.c[name].type) for name in names}
    if "loyalty_points_earned" in new:  # what attempts before have earned stays
        new["loyalty_points_earned"] += _JOBS.c.loyalty_points_earned
    return Kept(update(_JOBS).where(_HELD).values(lease_owner=None, lease_until=None, **new))


def _key(job: Claimed) -> dict[str, str]:
    return {"given_tenant": job.tenant_id, "given_id": job.id, "given_owner": job.lease_owner}


async def find(session: Session, origin: str, transaction_id: str, transaction_counter: int) -> Row[Any] | None:
    """The job of a confirmed iteration: all columns, or None."""
    rows = await session.execute(
        select(_JOBS).where(
            _JOBS.c.origin == origin,
            _JOBS.c.transaction_id == transaction_id,
            _JOBS.c.transaction_counter == transaction_counter,
        )
    )
    return rows[0] if rows else None


async def requeue(
    session: Session, origin: str, transaction_id: str, transaction_counter: int, at: datetime
) -> Requeued | None:
    """Make a job due at once that has FAILED, or that waits for another attempt; None: this one does neither.

    One that has failed gets all its attempts again. Its reason stays until it has run.
    """
    waits = and_(_JOBS.c.status == "PENDING", _JOBS.c.due_at > at)
    chosen = and_(
        _JOBS.c.origin == origin,
        _JOBS.c.transaction_id == transaction_id,
        _JOBS.c.transaction_counter == transaction_counter,
        or_(_JOBS.c.status == "FAILED", waits),
    )
    rows = await _requeue(session, chosen, at)
    return rows[0] if rows else None


async def requeue_failed(session: Session, at: datetime, limit: int) -> list[Requeued]:
    """`requeue` up to ``limit`` of the tenant's jobs that have FAILED, the oldest first."""
    failed: Select[Any] = select(_JOBS.c.id).where(_JOBS.c.status == "FAILED").order_by(_JOBS.c.due_at, _JOBS.c.id)
    picked = failed.limit(limit)
    if session.dialect == "postgresql":
        picked = picked.with_for_update(skip_locked=True)  # who else re-queues takes others
    few = _once(picked)
    return await _requeue(session, and_(_JOBS.c.id.in_(select(few.c.id)), _JOBS.c.status == "FAILED"), at)


async def _requeue(session: Session, chosen: ColumnElement[bool], at: datetime) -> list[Requeued]:
    rows = await session.execute(
        update(_JOBS)
        .where(chosen)
        .values(
            status="PENDING",
            due_at=at,
            completed_at=None,
            attempts=case((_JOBS.c.status == "FAILED", 0), else_=_JOBS.c.attempts),
        )
        .returning(_JOBS.c.id, _JOBS.c.transaction_id, _JOBS.c.transaction_counter, _JOBS.c.reason)
    )
    return [Requeued(*tuple(row)) for row in rows]


async def list_jobs(session: Session, status: str | None, limit: int) -> Sequence[Row[Any]]:
    """Up to ``limit`` jobs of the tenant, all columns but the payload, the oldest first; ``status`` None: of any."""
    shown = [column for column in _JOBS.c if column.name != "payload"]
    statement = select(*shown).order_by(_JOBS.c.due_at, _JOBS.c.id).limit(limit)
    return await session.execute(statement if status is None else statement.where(_JOBS.c.status == status))
