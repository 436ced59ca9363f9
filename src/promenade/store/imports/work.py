"""Import jobs that have not ended: claimed by workers under a lease, one job of a tenant at a time, tenants in turns.

A job is a row of ``import_work`` until it has ended. INVARIANT (I1): whatever a worker writes for a job, it writes in a
unit of work that holds the row under its lease (`driver.leases`), so a portion counts once. Where a database that lost
its power has forgotten the latest portions, the worker that stored them finds that the job has not come as far as it
believes, and ends its lease.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, case, delete, func, select, update

from promenade.log import Logger
from promenade.store.authoring.statements import hold
from promenade.store.driver.hot import hot_statement
from promenade.store.driver.leases import IMPORTS, LeaseLost
from promenade.store.driver.recurring import parameter
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.imports.parts import drop_parts

_WORK = table("import_work")
_PARTS = table("import_parts")
_JOBS = table("ImportJobs")
_ARTICLE_JOBS = table("ArticleImportJobs")

_IS_AS_FAR = and_(
    _WORK.c.next_part == parameter("seen_part", _WORK.c.next_part.type),
    select(_JOBS.c.id)
    .where(
        _JOBS.c.id == parameter("seen_job", _JOBS.c.id.type),
        _JOBS.c.rows_succeeded == parameter("seen_succeeded", _JOBS.c.rows_succeeded.type),
        _JOBS.c.rows_failed == parameter("seen_failed", _JOBS.c.rows_failed.type),
    )
    .exists(),
)
"""The job is as far as its worker believes."""

_log = Logger(__name__)


@dataclass(frozen=True, slots=True)
class ImportClaim:
    """An import job held by this worker, with its progress: ``offset`` rows of the part ``next_part`` are done.

    ``attempts`` includes this one. ``began`` is when work on the job first began.
    """

    tenant_id: str
    job_id: str
    source: str
    user: str
    entity: str
    continue_on_error: bool
    total_rows: int
    rows_succeeded: int
    rows_failed: int
    rows_skipped: int
    began: datetime
    attempts: int
    parts: int
    next_part: int
    offset: int
    lease_owner: str

    @property
    def rows(self) -> int:
        """The number of rows to be stored."""
        return self.total_rows - self.rows_skipped


async def is_anything_waiting(session: Session) -> bool:
    """Return whether any tenant has an unfinished job; needs a system session."""
    return bool(await session.execute(select(_WORK.c.job_id).limit(1)))


async def claim(
    session: Session, *, lease_owner: str, at: datetime, lease_seconds: int, after: str = ""
) -> ImportClaim | None:
    """Claim the oldest job of a tenant that is due or whose lease has expired, and set it to RUNNING.

    Tenants take turns in the order of their IDs, beginning after ``after``, however many jobs they have. Each tenant
    has at most one job at a time: jobs are processed in the order of their arrival. ``lease_owner`` must be new for
    every claim. Needs a system session.
    """
    await hold(session, "import_work")  # serializes claims, so that each sees the previous one
    until = at + timedelta(seconds=lease_seconds)
    busy = select(_WORK.c.tenant_id).where(~IMPORTS.is_free(at, until))
    turn = case((_WORK.c.tenant_id > after, 0), else_=1)
    rows = await IMPORTS.claim(
        session,
        lease_owner=lease_owner,
        at=at,
        until=until,
        where=_WORK.c.tenant_id.not_in(busy),
        order=(turn, _WORK.c.tenant_id, _WORK.c.enqueued_at, _WORK.c.job_id),
    )
    return await _standing(session, rows[0], at) if rows else None


async def _standing(session: Session, work: Any, at: datetime) -> ImportClaim | None:
    """Read the state of a job that was just claimed; None: the job was deleted, and its work item is deleted too."""
    job = await _begin(session, work, at)
    if job is None:
        _log.error("imports.deserted", job=work.job_id)
        its = _WORK.c.tenant_id == work.tenant_id, _WORK.c.job_id == work.job_id
        await session.rowcount(delete(_WORK).where(*its))  # its parts are deleted by the purge
        return None
    ahead = case((_PARTS.c.part < work.next_part, _PARTS.c.row_count), else_=0)
    rows = await session.execute(
        select(func.count(), func.coalesce(func.sum(ahead), 0)).where(
            _PARTS.c.tenant_id == work.tenant_id, _PARTS.c.job_id == work.job_id
        )
    )
    parts, dealt_with = tuple(rows[0])
    return ImportClaim(
        tenant_id=work.tenant_id,
        job_id=work.job_id,
        source=work.source,
        user=work.user_name,
        entity=job.entity,
        continue_on_error=job.continue_on_error,
        total_rows=job.total_rows,
        rows_succeeded=job.rows_succeeded,
        rows_failed=job.rows_failed,
        rows_skipped=job.rows_skipped,
        began=job.started_at,
        attempts=work.attempts,
        parts=parts,
        next_part=work.next_part,
        offset=max(0, job.rows_succeeded + job.rows_failed - dealt_with),
        lease_owner=work.lease_owner,
    )


async def _begin(session: Session, work: Any, at: datetime) -> Any:
    """Set a job to RUNNING with its start time, and return the job's row."""
    its = _JOBS.c.tenant_id == work.tenant_id, _JOBS.c.id == work.job_id
    begun = {"status": "RUNNING", "started_at": at, "modified_at": at, "version": _JOBS.c.version + 1}
    if await session.rowcount(update(_JOBS).where(*its, _JOBS.c.status == "QUEUED").values(begun)):
        same = _ARTICLE_JOBS.c.tenant_id == work.tenant_id, _ARTICLE_JOBS.c.id == work.job_id
        of_articles = begun | {"version": _ARTICLE_JOBS.c.version + 1}
        await session.rowcount(update(_ARTICLE_JOBS).where(*same).values(of_articles))
    rows = await session.execute(select(_JOBS).where(*its, _JOBS.c.status == "RUNNING"))
    return rows[0] if rows else None


async def keep(session: Session, held: ImportClaim, *, at: datetime, lease_seconds: int) -> None:
    """Renew the lease and lock the job until the unit of work ends; raises LeaseLost."""
    if not await IMPORTS.write(session, held, lease_until=at + timedelta(seconds=lease_seconds)):
        raise LeaseLost


async def advance(
    session: Session, held: ImportClaim, *, next_part: int, at: datetime, lease_seconds: int, durable: bool
) -> None:
    """Record the next part and renew the lease, in the unit of work that stores the rows; raises LeaseLost.

    Without ``durable`` its commit may be lost if the database loses power.
    """
    if not durable:
        await session.hot("commit later", ())
    is_written = await IMPORTS.write(
        session,
        held,
        _IS_AS_FAR,
        {
            "seen_job": held.job_id,
            "seen_succeeded": held.rows_succeeded,
            "seen_failed": held.rows_failed,
            "seen_part": held.next_part,
        },
        next_part=next_part,
        attempts=1,  # it made progress, so its attempts start again
        lease_until=at + timedelta(seconds=lease_seconds),
    )
    if not is_written:
        raise LeaseLost


@hot_statement("commit later", postgresql="SELECT set_config('synchronous_commit', 'off', true)", tenant=None)
def _commit_later(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    """SQLite's writer is told when it receives the unit of work."""
    return ()


async def release(session: Session, held: ImportClaim, *, due_at: datetime, attempts: int | None = None) -> bool:
    """Release a job, due again at ``due_at``; ``attempts`` replaces their number. False: the lease was lost."""
    values = {} if attempts is None else {"attempts": attempts}
    return await IMPORTS.release(session, held, due_at=due_at, **values)


async def drop(session: Session, held: ImportClaim) -> None:
    """Delete the work item and the parts, in the unit of work that ends the job; raises LeaseLost."""
    if not await IMPORTS.drop(session, held):
        raise LeaseLost
    await drop_parts(session, held.job_id)
