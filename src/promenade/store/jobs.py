"""Side-effect jobs: enqueued by confirm in its own transaction, claimed by workers under a lease (reliability T5).

A claim is one statement: on PostgreSQL with SKIP LOCKED, on SQLite inside the only writer. A worker writes its result
only while it still holds the lease it was given: ``lease_owner`` is the fencing token, new with every claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, insert, or_, select, tuple_, update

from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["RETRY_SECONDS_MAX", "Claimed", "claim", "complete", "enqueue", "fail", "find", "hold"]

_JOBS = table("side_effect_jobs")

RETRY_SECONDS_MAX = 300  # the longest that a failed job is put off


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
    statement = (
        update(_JOBS)
        .where(tuple_(_JOBS.c.tenant_id, _JOBS.c.id).in_(picked))
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
            await session.rowcount(
                update(_JOBS).where(tuple_(_JOBS.c.tenant_id, _JOBS.c.id).in_(first)).values(started_at=at)
            )
    return [Claimed(**row._mapping, lease_owner=lease_owner, lease_until=until) for row in rows]


async def hold(session: Session, job: Claimed) -> bool:
    """Hold the job's row until the unit of work ends; False: the lease is lost, another worker has the job."""
    held = _held(job)
    return await session.rowcount(update(_JOBS).where(held).values(lease_owner=_JOBS.c.lease_owner)) == 1


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
    return await _finish(
        session,
        job,
        status="COMPLETED",
        completed_at=at,
        coupons_redeemed=coupons_redeemed,
        loyalty_points_earned=loyalty_points_earned,
        post_purchase_coupons=list(post_purchase_coupons),
        reason=None,
    )


async def fail(session: Session, job: Claimed, *, at: datetime, retry_at: datetime | None, reason: str) -> bool:
    """Give the job back, due at ``retry_at``, or for good (None); False: the lease is lost, another has it."""
    if retry_at is None:
        return await _finish(session, job, status="FAILED", completed_at=at, reason=reason[:1000])
    return await _finish(session, job, status="PENDING", due_at=retry_at, reason=reason[:1000])


async def _finish(session: Session, job: Claimed, **values: Any) -> bool:
    statement = update(_JOBS).where(_held(job)).values(lease_owner=None, lease_until=None, **values)
    return await session.rowcount(statement) == 1


def _held(job: Claimed) -> ColumnElement[bool]:
    return and_(
        _JOBS.c.tenant_id == job.tenant_id,
        _JOBS.c.id == job.id,
        _JOBS.c.status == "RUNNING",
        _JOBS.c.lease_owner == job.lease_owner,
    )


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
