"""Import jobs that have not ended: claimed by workers under a lease, one job of a tenant at a time, tenants in turns.

A job is a row of ``import_work`` until it has ended. INVARIANT (I1): whatever a worker writes for a job, it writes in a
unit that has found its token (``lease_owner``, new with every claim) in that row and holds the row until it ends; so of
two that both believe to have a job, after a clock has jumped, one can do anything, and a portion counts once. Where a
database that lost its power has forgotten the latest portions, the worker that stored them finds the job less far than
it believes, and lets go of it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import ColumnElement, and_, case, delete, func, or_, select, tuple_, update

from promenade.store.authored import hold
from promenade.store.hot import hot_statement
from promenade.store.import_parts import drop_parts
from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = [
    "RETRY_SECONDS_MAX",
    "ImportClaim",
    "LeaseLost",
    "advance",
    "claim",
    "drop",
    "give_back",
    "is_anything_waiting",
    "keep",
]

_WORK = table("import_work")
_PARTS = table("import_parts")
_JOBS = table("ImportJobs")
_ARTICLE_JOBS = table("ArticleImportJobs")

RETRY_SECONDS_MAX = 300  # the longest that a job is put off

_log = structlog.get_logger(__name__)


class LeaseLost(Exception):
    """Another worker has this job by now, or it has ended; nothing of the unit was stored."""


@dataclass(frozen=True, slots=True)
class ImportClaim:
    """An import job that this worker holds, and how far it is: ``offset`` rows of the part ``next_part`` are done.

    ``attempts`` counts this one. ``began`` is when work on the job first began.
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
        """How many rows there are to be stored."""
        return self.total_rows - self.rows_skipped


async def is_anything_waiting(session: Session) -> bool:
    """Whether any tenant has a job that has not ended; needs a system session."""
    return bool(await session.execute(select(_WORK.c.job_id).limit(1)))


async def claim(
    session: Session, *, lease_owner: str, at: datetime, lease_seconds: int, after: str = ""
) -> ImportClaim | None:
    """Take a job that is due, or whose worker let its lease run out: the oldest of its tenant, RUNNING from now on.

    Tenants have turns in the order of their IDs, the one that follows ``after`` first, however many jobs they have. No
    tenant has two at a time: what was sent first is there first. ``lease_owner`` must be new for every claim. Needs a
    system session.
    """
    await hold(session, "import_work")  # of two that claim at once, one sees what the other has taken
    until = at + timedelta(seconds=lease_seconds)
    # A time farther ahead than any that could be given now was given by a clock that has been set back since.
    idle = or_(_WORK.c.lease_owner.is_(None), _WORK.c.lease_until <= at, _WORK.c.lease_until > until)
    due = or_(_WORK.c.due_at <= at, _WORK.c.due_at > at + timedelta(seconds=RETRY_SECONDS_MAX))
    busy = select(_WORK.c.tenant_id).where(~idle)
    turn = case((_WORK.c.tenant_id > after, 0), else_=1)
    picked = (
        select(_WORK.c.tenant_id, _WORK.c.job_id)
        .where(idle, due, _WORK.c.tenant_id.not_in(busy))
        .order_by(turn, _WORK.c.tenant_id, _WORK.c.enqueued_at, _WORK.c.job_id)
        .limit(1)
    )
    if session.dialect == "postgresql":
        picked = picked.with_for_update(skip_locked=True)
    one = picked.cte("one")  # a sub-query may be run more than once, and then takes more than one
    rows = await session.execute(
        update(_WORK)
        .where(tuple_(_WORK.c.tenant_id, _WORK.c.job_id).in_(select(one.c.tenant_id, one.c.job_id)))
        .values(lease_owner=lease_owner, lease_until=until, attempts=_WORK.c.attempts + 1)
        .returning(_WORK)
    )
    return await _standing(session, rows[0], at) if rows else None


async def _standing(session: Session, work: Any, at: datetime) -> ImportClaim | None:
    """What is known of a job that was claimed just now; None: it is gone, and its work with it."""
    job = await _begin(session, work, at)
    if job is None:
        _log.error("imports.deserted", job=work.job_id)
        its = _WORK.c.tenant_id == work.tenant_id, _WORK.c.job_id == work.job_id
        await session.rowcount(delete(_WORK).where(*its))  # the purge finds its parts
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
    """Say that a job is RUNNING and since when; the job's row."""
    its = _JOBS.c.tenant_id == work.tenant_id, _JOBS.c.id == work.job_id
    begun = {"status": "RUNNING", "started_at": at, "modified_at": at, "version": _JOBS.c.version + 1}
    if await session.rowcount(update(_JOBS).where(*its, _JOBS.c.status == "QUEUED").values(begun)):
        same = _ARTICLE_JOBS.c.tenant_id == work.tenant_id, _ARTICLE_JOBS.c.id == work.job_id
        of_articles = begun | {"version": _ARTICLE_JOBS.c.version + 1}
        await session.rowcount(update(_ARTICLE_JOBS).where(*same).values(of_articles))
    rows = await session.execute(select(_JOBS).where(*its, _JOBS.c.status == "RUNNING"))
    return rows[0] if rows else None


async def keep(session: Session, held: ImportClaim, *, at: datetime, lease_seconds: int) -> None:
    """Renew the lease, and hold the job until the unit ends; raises LeaseLost."""
    await _written(session, held, lease_until=at + timedelta(seconds=lease_seconds))


async def advance(
    session: Session, held: ImportClaim, *, next_part: int, at: datetime, lease_seconds: int, durable: bool
) -> None:
    """Note in the unit that stores rows which part is next, and that the job has come on; raises LeaseLost.

    Without ``durable`` its commit may be lost with the database's power.
    """
    if not durable:
        await session.hot("commit later", ())
    until = at + timedelta(seconds=lease_seconds)
    as_far = select(_JOBS.c.id).where(
        _JOBS.c.id == held.job_id,
        _JOBS.c.rows_succeeded == held.rows_succeeded,
        _JOBS.c.rows_failed == held.rows_failed,
    )
    written = update(_WORK).where(_held(held), _WORK.c.next_part == held.next_part, as_far.exists())
    values = {"next_part": next_part, "attempts": 1, "lease_until": until}  # this one has more to do
    if await session.rowcount(written.values(values)) != 1:
        raise LeaseLost


@hot_statement("commit later", postgresql="SELECT set_config('synchronous_commit', 'off', true)", tenant=None)
def _commit_later(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    """SQLite's writer is told when it is given the unit."""
    return ()


async def give_back(session: Session, held: ImportClaim, *, due_at: datetime, attempts: int | None = None) -> bool:
    """Let another have the job, from ``due_at`` on; ``attempts`` replaces their number. False: it is another's."""
    values: dict[str, Any] = {"due_at": due_at, "lease_owner": None, "lease_until": None}
    if attempts is not None:
        values["attempts"] = attempts
    return await session.rowcount(update(_WORK).where(_held(held)).values(values)) == 1


async def drop(session: Session, held: ImportClaim) -> None:
    """Forget the job and its rows in the unit that ends it; raises LeaseLost."""
    if await session.rowcount(delete(_WORK).where(_held(held))) != 1:
        raise LeaseLost
    await drop_parts(session, held.job_id)


async def _written(session: Session, held: ImportClaim, **values: Any) -> None:
    if await session.rowcount(update(_WORK).where(_held(held)).values(values)) != 1:
        raise LeaseLost


def _held(held: ImportClaim) -> ColumnElement[bool]:
    return and_(
        _WORK.c.tenant_id == held.tenant_id, _WORK.c.job_id == held.job_id, _WORK.c.lease_owner == held.lease_owner
    )
