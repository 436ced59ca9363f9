"""Import jobs, and the raw messages of master data."""

from __future__ import annotations

from promenade.model.declare import (
    RO,
    RW_RESTRICTED,
    Entity,
    blob,
    boolean,
    children,
    choice,
    integer,
    parent,
    text,
    timestamp,
    to_one,
)
from promenade.model.ui.criticality import criticality, status_criticality

__all__ = ["ArticleImportJobItems", "ArticleImportJobs", "ImportJobErrors", "ImportJobs", "RawPayloads"]

_STATUSES = ("QUEUED", "RUNNING", "SUCCEEDED", "FAILED")


class ImportJobs(
    Entity,
    public=RW_RESTRICTED,
    admin=RO,
    patchable=("callback_url",),
    indexes=(("status", "created_at"), ("completed_at",)),
):
    """A bulk import of any kind; only the callback URL can be changed, and only finished jobs deleted."""

    entity = text(50, "The entity set into which rows are imported.", required=True, read_only=True, searchable=True)
    source = choice("BULK_IMPORT", "POS_BATCH", "MASTER_DATA_SOAP", "MASTER_DATA_REST",
                    doc="How the rows were received.", required=True, read_only=True)  # fmt: skip
    status = choice(*_STATUSES, doc="Status of the job.", default="QUEUED", read_only=True)
    status_criticality = status_criticality()
    total_rows = integer("Number of rows received.", default=0, read_only=True)
    rows_succeeded = integer("Number of rows stored so far.", default=0, read_only=True)
    rows_failed = integer("Number of rows refused so far.", default=0, read_only=True)
    rows_skipped = integer("Number of rows skipped, because they were not to be stored.", default=0, read_only=True)
    continue_on_error = boolean("Whether valid rows are stored when others fail.", read_only=True)
    idempotency_key = text(255, "The idempotency key: repeated requests with the same key are one job.", read_only=True)
    callback_url = text(2000, "URL that is notified when the job has ended, at once if it already has.")
    started_at = timestamp("Time at which processing started.", read_only=True)
    completed_at = timestamp("Time at which the job ended.", read_only=True)
    message = text(2000, "The result, as a sentence.", read_only=True)
    errors = children("ImportJobErrors", "The rows that failed.", by="job")


class ImportJobErrors(Entity, public=RO, admin=RO, indexes=(("job_id", "row_number"),)):
    """A row of an import job that failed, with the error."""

    job = parent("ImportJobs", "The job.")
    row_number = integer("Position of the row in the request, from 1.", required=True, read_only=True)
    property = text(255, "The invalid property.", read_only=True)
    code = text(50, "Stable code of the error.", required=True, read_only=True, searchable=True)
    message = text(2000, "The error as a sentence.", required=True, read_only=True, searchable=True)
    payload = text(None, "The row as received, without secrets, as JSON.", read_only=True)


class ArticleImportJobs(Entity, public=RO, admin=RO, deprecated=True):
    """An article batch from a POS. Deprecated: ImportJobs has the same job under the same ID."""

    name = text(255, "Name of the batch.", read_only=True, searchable=True)
    status = choice(*_STATUSES, doc="Status of the job.", default="QUEUED", read_only=True)
    total_articles = integer("Number of articles received.", default=0, read_only=True)
    processed_articles = integer("Number of articles processed so far.", default=0, read_only=True)
    failed_articles = integer("Number of articles refused so far.", default=0, read_only=True)
    started_at = timestamp("Time at which processing started.", read_only=True)
    completed_at = timestamp("Time at which the job ended.", read_only=True)
    status_criticality = status_criticality()
    failed_criticality = criticality("Colour of failedArticles: 3 if it is 0, else 1.")
    items = children("ArticleImportJobItems", "Its articles.", by="job")


class ArticleImportJobItems(Entity, public=RO, admin=RO, deprecated=True):
    """An article of a POS batch. Deprecated: see ImportJobErrors."""

    job = parent("ArticleImportJobs", "The job.")
    article_number = text(50, "Number of the article.", read_only=True, searchable=True)
    status = choice("created", "updated", "failed", doc="Result for the article.", read_only=True)
    status_criticality = status_criticality()
    error = text(2000, "Reason why it failed.", read_only=True)


class RawPayloads(Entity, indexes=(("message_id",), ("received_at",))):
    """A master data message as received; every message is stored, but no service returns it."""

    message_id = text(
        255, "Identifier of the message: repeats within 24 hours are treated as the same message.", required=True
    )
    payload = blob("Body of the message.", required=True)
    content_type = text(255, "Content type of the body.", required=True)
    received_at = timestamp("Time at which it was received.", required=True)
    job = to_one("ImportJobs", "The job that processes it.", soft=True)
