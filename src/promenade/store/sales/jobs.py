"""Side-effect jobs: enqueued by confirm in its own transaction, claimed by workers under a lease (reliability T5).

A worker writes its result only while it still holds the lease that it was given (`store.driver.leases`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Insert, Row, Select, and_, case, insert, or_, select, update

from promenade import tracing
from promenade.store.driver.leases import SALES
from promenade.store.driver.recurring import one_of
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_JOBS = table("side_effect_jobs")
_INSERT = insert(_JOBS)

REASON_MAX = 1000
_CLAIMED = ("tenant_id", "id", "origin", "transaction_id", "transaction_counter", "payload", "attempts", "traceparent")


@dataclass(frozen=True, slots=True)
class Claimed:
    """A job that this worker holds until ``lease_until``; ``attempts`` includes this one."""

    tenant_id: str
    id: str
    origin: str
    transaction_id: str
    transaction_counter: int
    payload: bytes
    attempts: int
    lease_owner: str
    lease_until: datetime
    traceparent: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """The result of an attempt; the points are those of this attempt alone."""

    coupons_redeemed: int
    loyalty_points_earned: int
    coupons: Sequence[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Requeued:
    """A job that is due again; ``reason`` is that of its last failure."""

    id: str
    transaction_id: str
    transaction_counter: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class Locked:
    """A job that this unit of work has locked. ``payload`` is what it has yet to do, or, if complete, what it did."""

    id: str
    is_complete: bool
    payload: bytes


def job_row(
    *,
    job_id: str,
    origin: str,
    transaction_id: str,
    transaction_counter: int,
    payload: bytes,
    at: datetime,
    budgets_consumed: int = 0,
) -> tuple[Insert, Sequence[dict[str, Any]]]:
    """Return the insert of the job of a confirmed iteration, due at once, for the unit of work that confirms it."""
    row: dict[str, Any] = {
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
    if tracing.is_on():
        row["traceparent"] = tracing.to_store()
    return _INSERT, [row]


async def claim(session: Session, *, lease_owner: str, at: datetime, lease_seconds: int, limit: int) -> list[Claimed]:
    """Claim up to ``limit`` jobs that are due or whose lease has expired; needs a system session.

    ``lease_owner`` must be new for every claim: `complete` and `fail` check it.
    """
    until = at + timedelta(seconds=lease_seconds)
    rows = await SALES.claim(session, lease_owner=lease_owner, at=at, until=until, limit=limit, returning=_CLAIMED)
    first = [(row.tenant_id, row.id) for row in rows if row.attempts == 1]
    if first:
        begun = one_of((_JOBS.c.tenant_id, _JOBS.c.id), first), _JOBS.c.started_at.is_(None)
        await session.rowcount(update(_JOBS).where(*begun).values(started_at=at))
    return [Claimed(**row._mapping, lease_owner=lease_owner, lease_until=until) for row in rows]


async def hold(session: Session, job: Claimed) -> list[dict[str, Any]] | None:
    """Lock the job's row until the unit of work ends, and return the coupons issued by earlier attempts.

    None: the lease was lost, another worker has the job.
    """
    row = await SALES.hold(session, job, "post_purchase_coupons")
    return None if row is None else list(row.post_purchase_coupons or ())


async def complete(
    session: Session,
    job: Claimed,
    *,
    at: datetime,
    coupons_redeemed: int,
    loyalty_points_earned: int,
    post_purchase_coupons: Sequence[dict[str, Any]],
) -> bool:
    """Write the result in the transaction of the local effects; False: the lease was lost, roll everything back."""
    done = Done(coupons_redeemed, loyalty_points_earned, post_purchase_coupons)
    return await SALES.finish(session, job, status="COMPLETED", completed_at=at, reason=None, **_sums(done))


async def postpone(
    session: Session, job: Claimed, done: Done, *, payload: bytes, at: datetime, retry_at: datetime | None, reason: str
) -> bool:
    """Write the partial result of an attempt in its transaction, and release the job with the remaining ``payload``.

    It is due again at ``retry_at``, or FAILED (None); False: the lease was lost, roll everything back.
    """
    return await _postpone(session, job, at, retry_at, reason, payload=payload, **_sums(done))


def _sums(done: Done) -> dict[str, Any]:
    return {
        "coupons_redeemed": done.coupons_redeemed,
        "loyalty_points_earned": done.loyalty_points_earned,
        "post_purchase_coupons": list(done.coupons),
    }


async def fail(session: Session, job: Claimed, *, at: datetime, retry_at: datetime | None, reason: str) -> bool:
    """Release the job, due at ``retry_at`` or finally FAILED (None); False: the lease was lost."""
    return await _postpone(session, job, at, retry_at, reason)


async def _postpone(
    session: Session, job: Claimed, at: datetime, retry_at: datetime | None, reason: str, **values: Any
) -> bool:
    values["reason"] = reason[:REASON_MAX]
    if retry_at is None:
        return await SALES.finish(session, job, status="FAILED", completed_at=at, **values)
    return await SALES.release(session, job, due_at=retry_at, **values)


async def find(session: Session, origin: str, transaction_id: str, transaction_counter: int) -> Row[Any] | None:
    """Return the job of a confirmed iteration with all columns, or None."""
    rows = await session.execute(
        select(_JOBS).where(
            _JOBS.c.origin == origin,
            _JOBS.c.transaction_id == transaction_id,
            _JOBS.c.transaction_counter == transaction_counter,
        )
    )
    return rows[0] if rows else None


async def lock(session: Session, origin: str, transaction_id: str, transaction_counter: int) -> Locked | None:
    """Lock the job of a confirmed iteration until the unit of work ends; None: it was deleted, as it had ended.

    A worker that is about to commit its result is waited for.
    """
    rows = await session.execute(
        select(_JOBS.c.id, _JOBS.c.status, _JOBS.c.payload)
        .where(
            _JOBS.c.origin == origin,
            _JOBS.c.transaction_id == transaction_id,
            _JOBS.c.transaction_counter == transaction_counter,
        )
        .with_for_update()
    )
    return Locked(rows[0].id, rows[0].status == "COMPLETED", rows[0].payload) if rows else None


async def stop(session: Session, job: Locked, at: datetime) -> None:
    """End the job of a sale that is being cancelled, whatever its state.

    A worker that is carrying it out loses its lease, and with it everything that it has not committed.
    """
    ended: dict[str, Any] = {"status": "CANCELLED", "lease_owner": None, "lease_until": None}
    if not job.is_complete:
        ended["completed_at"] = at
    await session.rowcount(update(_JOBS).where(_JOBS.c.id == job.id).values(**ended))


async def replace_payload(session: Session, job_id: str, payload: bytes, at: datetime) -> None:
    """Give an unfinished job less to do. A worker that is carrying it out loses its lease, as in `stop`."""
    unfinished = _JOBS.c.id == job_id, _JOBS.c.status.not_in(("COMPLETED", "CANCELLED"))
    await session.rowcount(update(_JOBS).where(*unfinished).values(payload=payload))
    running = update(_JOBS).where(_JOBS.c.id == job_id, _JOBS.c.status == "RUNNING")
    await session.rowcount(running.values(status="PENDING", due_at=at, lease_owner=None, lease_until=None))


async def requeue(
    session: Session, origin: str, transaction_id: str, transaction_counter: int, at: datetime
) -> Requeued | None:
    """Make a job due at once that has FAILED or waits for a retry; None: it is in neither state.

    A failed job gets all its attempts again. Its reason stays until it has run.
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
    """`requeue` up to ``limit`` of the tenant's FAILED jobs, the oldest first."""
    failed: Select[Any] = select(_JOBS.c.id).where(_JOBS.c.status == "FAILED").order_by(_JOBS.c.due_at, _JOBS.c.id)
    # Concurrent callers requeue other jobs.
    few = failed.limit(limit).with_for_update(skip_locked=True).cte("few")
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
    """Return up to ``limit`` jobs of the tenant without the payload, the oldest first; ``status`` None: of any."""
    shown = [column for column in _JOBS.c if column.name != "payload"]
    statement = select(*shown).order_by(_JOBS.c.due_at, _JOBS.c.id).limit(limit)
    return await session.execute(statement if status is None else statement.where(_JOBS.c.status == status))
