"""Purges of old import data, in small portions; see `workflows.clockwork.imports`."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, exists, or_, select

from promenade.store.driver.recurring import one_of
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.imports.jobs import KEY_LIFETIME

_KEYS = table("import_keys")
_PARTS = table("import_parts")
_WORK = table("import_work")
_JOBS = table("ImportJobs")
_ERRORS = table("ImportJobErrors")
_ARTICLE_JOBS = table("ArticleImportJobs")
_ITEMS = table("ArticleImportJobItems")
_PAYLOADS = table("RawPayloads")

ORPHANED_AFTER = timedelta(days=1)  # longer than receiving any request takes
_JOBS_AT_ONCE = 10


async def purge_import_keys(session: Session, *, at: datetime, limit: int) -> int:
    """Delete expired keys and return how many. Needs a system session, as does `purge_import_parts`."""
    over = _aged(_KEYS.c.seen_at, at, KEY_LIFETIME)
    key = (_KEYS.c.tenant_id, _KEYS.c.scope, _KEYS.c.idempotency_key)
    rows = await session.execute(select(*key).where(over).order_by(_KEYS.c.seen_at).limit(limit))
    if rows:
        # A key that was reused for a new job in the meantime has not expired.
        await session.rowcount(delete(_KEYS).where(one_of(key, rows), over))
    return len(rows)


async def purge_import_parts(session: Session, *, at: datetime, limit: int) -> int:
    """Delete parts whose job was never created or has ended, and return how many."""
    owned = exists().where(_WORK.c.tenant_id == _PARTS.c.tenant_id, _WORK.c.job_id == _PARTS.c.job_id)
    key = (_PARTS.c.tenant_id, _PARTS.c.job_id, _PARTS.c.part)
    orphaned = select(*key).where(_aged(_PARTS.c.received_at, at, ORPHANED_AFTER), ~owned)
    rows = await session.execute(orphaned.order_by(_PARTS.c.received_at).limit(limit))
    if rows:
        await session.rowcount(delete(_PARTS).where(one_of(key, rows)))
    return len(rows)


def _aged(moment: ColumnElement[datetime], at: datetime, life: timedelta) -> ColumnElement[bool]:
    """Return the condition "older than its lifetime, or so far in the future that the clock was wrong"."""
    return or_(moment < at - life, moment > at + life)


async def purge_import_jobs(session: Session, *, before: datetime, limit: int) -> tuple[int, bool]:
    """Delete the tenant's jobs that ended before ``before``, the oldest first, with all their rows.

    Deletes up to ``limit`` rows and a few jobs; returns the number of rows, and whether there may be more.
    """
    ended = _JOBS.c.status.in_(("SUCCEEDED", "FAILED")), _JOBS.c.completed_at < before
    oldest = select(_JOBS.c.id).where(*ended).order_by(_JOBS.c.completed_at).limit(min(limit, _JOBS_AT_ONCE))
    jobs = [row.id for row in await session.execute(oldest)]
    if not jobs:
        return 0, False
    gone = 0
    for rows in (_ERRORS, _ITEMS):
        of_them = select(rows.c.id).where(rows.c.job_id.in_(jobs)).limit(limit - gone)
        ids = [row.id for row in await session.execute(of_them)]
        if ids:
            gone += await session.rowcount(delete(rows).where(rows.c.id.in_(ids)))
        if gone >= limit:
            return gone, True
    await session.rowcount(delete(_ARTICLE_JOBS).where(_ARTICLE_JOBS.c.id.in_(jobs)))
    gone += await session.rowcount(delete(_JOBS).where(_JOBS.c.id.in_(jobs), *ended))
    return gone, True


async def purge_raw_payloads(session: Session, *, before: datetime, limit: int) -> int:
    """Delete messages that the tenant received before ``before``, the oldest first; return how many."""
    old = select(_PAYLOADS.c.id).where(_PAYLOADS.c.received_at < before).order_by(_PAYLOADS.c.received_at)
    ids = [row.id for row in await session.execute(old.limit(limit))]
    if ids:
        await session.rowcount(delete(_PAYLOADS).where(_PAYLOADS.c.id.in_(ids)))
    return len(ids)
