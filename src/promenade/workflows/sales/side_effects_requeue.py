"""Requeue failed side effects for an operator once the cause of the failure is fixed (data model, "Side effects")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from promenade.errors import Conflict, NotFound
from promenade.store.authoring.trail import Subject, trail_entry, write_trail
from promenade.store.driver.unit import Database, Session
from promenade.store.sales import jobs
from promenade.store.sales.jobs import Requeued
from promenade.workflows.context import Context
from promenade.workflows.sales.side_effects import SideEffects, keep_status, read_status

PORTION = 500  # jobs per commit


async def requeue_side_effects(
    context: Context, tenant_id: str, transaction_id: str, transaction_counter: int, *, user: str
) -> SideEffects:
    """Requeue the FAILED side effects of a confirmed iteration: due at once, with all attempts available again.

    Side effects that wait for another attempt become due at once; repeating the call before they have run returns the
    same answer. Completed side effects are not repeated. Raises NotFound (ITERATION_NOT_FOUND) and Conflict
    (NOT_FAILED).
    """
    found = await context.database.write(
        lambda session: requeue_one(
            session,
            context.origin,
            transaction_id,
            transaction_counter,
            user=user,
            at=context.clock(),
            new_id=context.new_id,
        ),
        tenant=tenant_id,
    )
    await keep_status(context, tenant_id, found)
    context.jobs_ready.set()
    return found


async def requeue_one(
    session: Session,
    origin: str,
    transaction_id: str,
    transaction_counter: int,
    *,
    user: str,
    at: datetime,
    new_id: Callable[[], str],
) -> SideEffects:
    """Run the unit of work of `requeue_side_effects`."""
    again = await jobs.requeue(session, origin, transaction_id, transaction_counter, at)
    found = await read_status(session, origin, transaction_id, transaction_counter)
    if found is None:
        raise NotFound("ITERATION_NOT_FOUND", "No such iteration was confirmed.", "transactionCounter")
    if again is not None:
        await _audit(session, [again], user, at, new_id)
    elif found.status != "PENDING" or found.reason is None:
        message = f"The side effects of this iteration are {found.status}; only failed ones can be run again."
        raise Conflict("NOT_FAILED", message, "transactionCounter")
    return found


async def requeue_all_failed(
    database: Database, tenant_id: str, *, user: str, at: datetime, new_id: Callable[[], str]
) -> int:
    """Requeue all FAILED side effects of a tenant, a portion at a time, and return their number."""

    async def portion(session: Session) -> int:
        again = await jobs.requeue_failed(session, at, PORTION)
        await _audit(session, again, user, at, new_id)
        return len(again)

    done = count = await database.write(portion, tenant=tenant_id)
    while count == PORTION:
        count = await database.write(portion, tenant=tenant_id)
        done += count
    return done


async def _audit(
    session: Session, again: Sequence[Requeued], user: str, at: datetime, new_id: Callable[[], str]
) -> None:
    rows = [
        trail_entry(
            new_id(),
            at,
            user,
            "REQUEUE",
            Subject("SideEffects", one.id, f"{one.transaction_id}/{one.transaction_counter}"),
            note=one.reason,
        )
        for one in again
    ]
    await write_trail(session, rows)


async def list_side_effects(
    database: Database, tenant_id: str, *, status: str | None = None, limit: int = 1000
) -> list[dict[str, Any]]:
    """Return a tenant's side effects, oldest first; ``status`` None: regardless of status."""
    rows = await database.read(lambda session: jobs.list_jobs(session, status, limit), tenant=tenant_id)
    return [
        {
            "transactionId": row.transaction_id,
            "transactionCounter": row.transaction_counter,
            "status": row.status,
            "attempts": row.attempts,
            "enqueuedAt": row.enqueued_at.isoformat(timespec="seconds"),
            "dueAt": row.due_at.isoformat(timespec="seconds") if row.status == "PENDING" else None,
            "completedAt": row.completed_at.isoformat(timespec="seconds") if row.completed_at else None,
            "reason": row.reason,
        }
        for row in rows
    ]
