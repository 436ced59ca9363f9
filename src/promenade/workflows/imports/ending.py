"""How an import job ends: what it came to, who is told, and what is left of it, in one unit of work."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from promenade import metrics
from promenade.events import (
    ArticleImportJobCompleted,
    ArticleImportJobFailed,
    Event,
    ImportJobCompleted,
    ImportJobFailed,
)
from promenade.store.authored import insert_rows
from promenade.store.import_outcomes import Counts, end_article_job, end_job, read_master_data_callback
from promenade.store.import_work import ImportClaim, drop
from promenade.store.outbox import emit
from promenade.store.unit import Session
from promenade.workflows.context import Context
from promenade.workflows.imports.progress import storable

__all__ = ["Ended", "end", "record_metrics", "succeeded"]

MASTER_DATA = ("MASTER_DATA_SOAP", "MASTER_DATA_REST")
INTERFACE = "ProductMerchandiseViewReplicationBulkRequest"
_MESSAGE_MAX = 2000


@dataclass(frozen=True, slots=True)
class Ended:
    """What a job came to: ``status`` is SUCCEEDED or FAILED, ``message`` a sentence for whoever sent the rows."""

    status: str
    counts: Counts
    message: str


def succeeded(held: ImportClaim, counts: Counts) -> Ended:
    """A job whose rows were all dealt with."""
    message = f"{counts.succeeded} of {held.rows} rows were imported"
    message += f", {counts.failed} failed." if counts.failed else "."
    if held.rows_skipped:
        message += f" {held.rows_skipped} were skipped."
    return Ended("SUCCEEDED", counts, message)


async def end(context: Context, session: Session, held: ImportClaim, ended: Ended, at: datetime) -> None:
    """Write what a job came to, tell subscribers and its callbackUrl, and forget its rows; raises LeaseLost.

    Whoever changes the callbackUrl meanwhile does so before the job's row is written here, and is heeded, or finds it
    ended.
    """
    await drop(session, held)
    message = storable(ended.message, _MESSAGE_MAX)
    callback_url = await end_job(session, held.job_id, status=ended.status, counts=ended.counts, message=message, at=at)
    if callback_url is None and held.source in MASTER_DATA:
        callback_url = await read_master_data_callback(session, held.tenant_id)
    await emit(session, _event(held, ended), event_id=context.new_id(), at=at, callback_url=callback_url)
    if held.source == "POS_BATCH":
        await end_article_job(session, held.job_id, status=ended.status, counts=ended.counts, at=at)
        await emit(session, _article_event(held, ended), event_id=context.new_id(), at=at)
    if held.entity == "Articles":
        await _record_in_the_trail(context, session, held, message, at)


def _event(held: ImportClaim, ended: Ended) -> Event:
    counts = ended.counts
    numbers = (held.total_rows, counts.succeeded, counts.failed, held.rows_skipped)
    if ended.status == "SUCCEEDED":
        return ImportJobCompleted(held.job_id, held.entity, held.source, *numbers)
    return ImportJobFailed(held.job_id, held.entity, held.source, *numbers, ended.message)


def _article_event(held: ImportClaim, ended: Ended) -> Event:
    counts = ended.counts
    numbers = (held.total_rows, counts.succeeded + counts.failed, counts.failed)  # As the job's row has them.
    if ended.status == "SUCCEEDED":
        return ArticleImportJobCompleted(held.job_id, *numbers)
    return ArticleImportJobFailed(held.job_id, *numbers, ended.message)


async def _record_in_the_trail(
    context: Context, session: Session, held: ImportClaim, message: str, at: datetime
) -> None:
    """One entry for all articles of a job; what other rows become is recorded row by row as they are stored."""
    entry = {
        "id": context.new_id(),
        "timestamp": at,
        "actor": held.user,
        "action": "IMPORT",
        "entity_type": "Articles",
        "entity_id": held.job_id,
        "entity_name": held.source,
        "note": message,
    }
    await insert_rows(session, "AuditLogs", [entry])


def record_metrics(held: ImportClaim, ended: Ended, at: datetime) -> None:
    """Count a job that has ended, once it is committed."""
    seconds = max(0.0, (at - held.began).total_seconds())
    metrics.imports.labels(held.tenant_id, held.source, ended.status).inc()
    metrics.imports_duration.labels(held.tenant_id, held.source).observe(seconds)
    if held.source in MASTER_DATA:
        metrics.drfout_job_duration.labels(held.tenant_id, INTERFACE).observe(seconds)
