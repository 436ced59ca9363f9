"""Import jobs as they come to be: the key of the request, the job's row, and the work that a worker takes up.

All of it is written by one unit of work: of requests with the same key, however many there are at the same time and in
whatever process, one makes a job and the others find it (reliability I1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, delete, func, insert, or_, select

from promenade.store.authored import hold
from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = [
    "KEY_LIFETIME",
    "JobStatus",
    "KeyUse",
    "NewJob",
    "add_job",
    "claim_key",
    "find_key",
    "read_job",
    "remove_remains",
    "unfinished",
]

KEY_LIFETIME = timedelta(hours=24)
"""For how long a key stands for its job (specification, Limits)."""

_JOBS = table("ImportJobs")
_KEYS = table("import_keys")
_WORK = table("import_work")


@dataclass(frozen=True, slots=True)
class KeyUse:
    """The job that a key stands for, and the digest of the request that made it, where one is kept."""

    job_id: str
    digest: bytes | None


@dataclass(frozen=True, slots=True)
class NewJob:
    """What is known of a job when it is accepted; ``user`` is who asked for it."""

    id: str
    entity: str
    source: str
    user: str
    continue_on_error: bool
    key: str | None
    callback_url: str | None
    total_rows: int
    rows_skipped: int


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A job as its status tells it; ``created_by`` is who asked for it."""

    id: str
    entity: str
    source: str
    status: str
    total_rows: int
    rows_succeeded: int
    rows_failed: int
    rows_skipped: int
    created_at: datetime
    created_by: str | None
    started_at: datetime | None
    completed_at: datetime | None
    message: str | None


def _is_over(at: datetime) -> ColumnElement[bool]:
    """Whether a key means nothing any more. One from the far future was seen by a clock that has been set back."""
    return or_(_KEYS.c.seen_at <= at - KEY_LIFETIME, _KEYS.c.seen_at > at + KEY_LIFETIME)


async def find_key(session: Session, scope: str, key: str, *, at: datetime) -> KeyUse | None:
    """What a key stands for; None: it was not seen within 24 hours."""
    is_it = and_(_KEYS.c.scope == scope, _KEYS.c.idempotency_key == key)
    rows = await session.execute(select(_KEYS.c.job_id, _KEYS.c.digest).where(is_it, ~_is_over(at)))
    return KeyUse(*tuple(rows[0])) if rows else None


async def claim_key(
    session: Session, scope: str, key: str, *, job_id: str, digest: bytes | None, at: datetime
) -> KeyUse | None:
    """Let a key stand for a new job; the answer is what it stands for already, and None when it does now.

    Who claims a key that another unit has just claimed waits until that one has ended.
    """
    adding = upsert(session.dialect, _KEYS)
    statement = adding.on_conflict_do_update(
        index_elements=[_KEYS.c.tenant_id, _KEYS.c.scope, _KEYS.c.idempotency_key],
        set_={
            "job_id": adding.excluded.job_id,
            "digest": adding.excluded.digest,
            "seen_at": adding.excluded.seen_at,
        },
        where=_is_over(at),
    )
    row = {"scope": scope, "idempotency_key": key, "job_id": job_id, "digest": digest, "seen_at": at}
    claimed = await session.execute(statement.returning(_KEYS.c.job_id), row)
    return None if claimed else await find_key(session, scope, key, at=at)


async def unfinished(session: Session, source: str, *, alone: bool = False) -> int:
    """How many jobs of the tenant from one source have not ended.

    ``alone``: no other unit of the tenant that asks so adds one until this unit ends.
    """
    if alone:
        await hold(session, f"imports/{source}")
    rows = await session.execute(select(func.count()).select_from(_WORK).where(_WORK.c.source == source))
    return int(rows[0][0])


async def add_job(session: Session, job: NewJob, *, at: datetime) -> None:
    """Add a job, QUEUED, and the work on it, due at once."""
    row = {
        "id": job.id,
        "entity": job.entity,
        "source": job.source,
        "status": "QUEUED",
        "total_rows": job.total_rows,
        "rows_skipped": job.rows_skipped,
        "continue_on_error": job.continue_on_error,
        "idempotency_key": job.key,
        "callback_url": job.callback_url,
        "created_at": at,
        "created_by": job.user,
        "modified_at": at,
        "modified_by": job.user,
    }
    await session.rowcount(insert(_JOBS), row)
    work = {
        "job_id": job.id,
        "source": job.source,
        "user_name": job.user,
        "enqueued_at": at,
        "due_at": at,
        "next_part": 0,
        "attempts": 0,
    }
    await session.rowcount(insert(_WORK), work)


async def read_job(session: Session, job_id: str) -> JobStatus | None:
    """Where a job stands; None: there is none of this ID."""
    columns = [_JOBS.c[name] for name in JobStatus.__dataclass_fields__]
    rows = await session.execute(select(*columns).where(_JOBS.c.id == job_id))
    return JobStatus(*tuple(rows[0])) if rows else None


async def remove_remains(session: Session, job_ids: Sequence[str]) -> None:
    """Delete what is kept for jobs that are deleted: rows that were received, work, the twin in ArticleImportJobs.

    Their keys stay for their 24 hours, for a repeat of the request is no new job; and so do messages of master data.
    """
    twins = table("ArticleImportJobs")
    for rows in (table("import_parts"), _WORK):
        await session.rowcount(delete(rows).where(rows.c.job_id.in_(job_ids)))
    await session.rowcount(delete(twins).where(twins.c.id.in_(job_ids)))
