"""Side effects that an operator lets run again, after what kept them from it is mended (data model, "Side effects")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from promenade.errors import Conflict, NotFound
from promenade.store import jobs
from promenade.store.authored import insert_rows
from promenade.store.jobs import Requeued
from promenade.store.unit import Database, Session
from promenade.workflows.context import Context
from promenade.workflows.side_effects import SideEffects, keep_status, read_status

__all__ = ["list_side_effects", "requeue_all_failed", "requeue_one", "requeue_side_effects"]

PORTION = 500  # jobs of one commit


async def requeue_side_effects(
    context: Context, tenant_id: str, transaction_id: str, transaction_counter: int, *, user: str
) -> SideEffects:
    """Let the side effects of a confirmed iteration that have FAILED run again, at once and with all their attempts.

    Those that wait for another attempt get it at once; asked again before they have run, the answer is the same.
    What was done stays done: only what is owed is tried. Raises NotFound (ITERATION_NOT_FOUND) and Conflict
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
    """The unit of work of `requeue_side_effects`."""
    again = await jobs.requeue(session, origin, transaction_id, transaction_counter, at)
    found = await read_status(session, origin, transaction_id, transaction_counter)
    if found is None:
        raise NotFound("ITERATION_NOT_FOUND", "No such iteration was confirmed.", "transactionCounter")
    if again is not None:
        await _audit(session, [again], user, at, new_id)
    elif found.status != "PENDING" or found.reason is None:
        message = f"The side effects of this iteration are {found.status}; only those that have failed run again."
        raise Conflict("NOT_FAILED", message, "transactionCounter")
    return found


async def requeue_all_failed(
    database: Database, tenant_id: str, *, user: str, at: datetime, new_id: Callable[[], str]
) -> int:
    """Let all side effects of a tenant that have FAILED run again, a portion at a time; how many there were."""

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
        {
            "id": new_id(),
            "timestamp": at,
            "actor": user[:255],
            "action": "REQUEUE",
            "entity_type": "SideEffects",
            "entity_id": one.id,
            "entity_name": f"{one.transaction_id}/{one.transaction_counter}",
            "note": one.reason,
        }
        for one in again
    ]
    await insert_rows(session, "AuditLogs", rows)


async def list_side_effects(
    database: Database, tenant_id: str, *, status: str | None = None, limit: int = 1000
) -> list[dict[str, Any]]:
    """A tenant's side effects for its operator, the oldest first; ``status`` None: whatever they are."""
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
