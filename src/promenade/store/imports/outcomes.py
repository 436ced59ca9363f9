"""Results of import rows, written in the unit of work that stores them, and the final results of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select, update

from promenade.store.authoring.statements import Columns, insert_rows
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_JOBS = table("ImportJobs")
_ARTICLE_JOBS = table("ArticleImportJobs")
_TENANTS = table("Tenants")


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of rows of a job that were stored and rejected so far."""

    succeeded: int
    failed: int


async def note_counts(
    session: Session, job_id: str, counts: Counts, at: datetime, *, errors: Sequence[Columns], items: Sequence[Columns]
) -> None:
    """Write the progress of a job, with row errors and, for an article batch, the result of each article."""
    values = {"rows_succeeded": counts.succeeded, "rows_failed": counts.failed}
    await _set(session, "ImportJobs", job_id, at, values)
    if errors:
        await insert_rows(session, "ImportJobErrors", errors)
    if items:
        await _set(session, "ArticleImportJobs", job_id, at, _articles(counts))
        await insert_rows(session, "ArticleImportJobItems", items)


async def note_message(session: Session, job_id: str, message: str, at: datetime) -> None:
    """Write a progress message of an unfinished job."""
    running = update(_JOBS).where(_JOBS.c.id == job_id, _JOBS.c.status == "RUNNING")
    await session.rowcount(running.values(message=message, modified_at=at, version=_JOBS.c.version + 1))


async def end_job(
    session: Session, job_id: str, *, status: str, counts: Counts, message: str, at: datetime
) -> str | None:
    """Write the result of a job; return its current callbackUrl, which cannot be changed from now on."""
    ended = {
        "status": status,
        "rows_succeeded": counts.succeeded,
        "rows_failed": counts.failed,
        "message": message,
        "completed_at": at,
        "modified_at": at,
        "version": _JOBS.c.version + 1,
    }
    rows = await session.execute(
        update(_JOBS).where(_JOBS.c.id == job_id).values(ended).returning(_JOBS.c.callback_url)
    )
    return rows[0].callback_url if rows else None


async def end_article_job(session: Session, job_id: str, *, status: str, counts: Counts, at: datetime) -> None:
    """Write the result of an article batch's job."""
    await _set(session, "ArticleImportJobs", job_id, at, _articles(counts) | {"status": status, "completed_at": at})


async def read_master_data_callback(session: Session, tenant_id: str) -> str | None:
    """Return the tenant's callback URL for master data imports.

    Rows of Tenants belong to no tenant, so the tenant is passed explicitly.
    """
    rows = await session.execute(select(_TENANTS.c.master_data_callback_url).where(_TENANTS.c.tenant_id == tenant_id))
    return rows[0][0] if rows else None


def _articles(counts: Counts) -> dict[str, Any]:
    return {"processed_articles": counts.succeeded + counts.failed, "failed_articles": counts.failed}


async def _set(session: Session, set_name: str, job_id: str, at: datetime, values: dict[str, Any]) -> None:
    jobs = table(set_name)
    changed = values | {"modified_at": at, "version": jobs.c.version + 1}
    await session.rowcount(update(jobs).where(jobs.c.id == job_id).values(changed))
