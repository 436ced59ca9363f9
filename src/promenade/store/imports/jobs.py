"""Creation of import jobs: the key of the request, the job's row, and its work item for the workers.

All are written by one unit of work: of requests with the same key, however many run at the same time in any process,
one creates a job and the others find it (reliability I1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, delete, func, insert, or_, select

from promenade.store.authoring.statements import hold
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

KEY_LIFETIME = timedelta(hours=24)
"""For how long a key stands for its job (specification, Limits)."""

_JOBS = table("ImportJobs")
_KEYS = table("import_keys")
_WORK = table("import_work")


@dataclass(frozen=True, slots=True)
class KeyUse:
    """The job that belongs to a key, and the digest of the request that created it, if it is stored."""

    job_id: str
    digest: bytes | None


@dataclass(frozen=True, slots=True)
class NewJob:
    """The data of a job when it is accepted; ``user`` requested it."""

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
    """The status of a job; ``created_by`` requested it."""

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
    """Return the condition that the key has expired; a time far in the future comes from a clock that was set back."""
    return or_(_KEYS.c.seen_at <= at - KEY_LIFETIME, _KEYS.c.seen_at > at + KEY_LIFETIME)


async def find_key(session: Session, scope: str, key: str, *, at: datetime) -> KeyUse | None:
    """Return the use of a key; None: it was not used within the last 24 hours."""
    is_it = and_(_KEYS.c.scope == scope, _KEYS.c.idempotency_key == key)
    rows = await session.execute(select(_KEYS.c.job_id, _KEYS.c.digest).where(is_it, ~_is_over(at)))
    return KeyUse(*tuple(rows[0])) if rows else None


async def claim_key(
    session: Session, scope: str, key: str, *, job_id: str, digest: bytes | None, at: datetime
) -> KeyUse | None:
    """Claim a key for a new job; return its existing use, or None if it is claimed now.

    If a concurrent unit of work has just claimed the key, this waits until that one has ended.
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
    """Count the unfinished jobs of the tenant from one source.

    ``alone``: until this unit of work ends, no other one of the tenant that also uses ``alone`` can add a job.
    """
    if alone:
        await hold(session, f"imports/{source}")
    rows = await session.execute(select(func.count()).select_from(_WORK).where(_WORK.c.source == source))
    return int(rows[0][0])


async def add_job(session: Session, job: NewJob, *, at: datetime) -> None:
    """Insert a job with status QUEUED and its work item, due at once."""
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
    """Return the status of a job; None: no job has this ID."""
    columns = [_JOBS.c[name] for name in JobStatus.__dataclass_fields__]
    rows = await session.execute(select(*columns).where(_JOBS.c.id == job_id))
    return JobStatus(*tuple(rows[0])) if rows else None


async def remove_remains(session: Session, job_ids: Sequence[str]) -> None:
    """Delete the data of deleted jobs: received rows, work items, the corresponding rows in ArticleImportJobs.

    Their keys stay for the 24 hours, because a repeated request is not a new job; master data messages stay too.
    """
    twins = table("ArticleImportJobs")
    for rows in (table("import_parts"), _WORK):
        await session.rowcount(delete(rows).where(rows.c.job_id.in_(job_ids)))
    await session.rowcount(delete(twins).where(twins.c.id.in_(job_ids)))
