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

    entity = text(50, "The entity set that rows are imported into.", required=True, read_only=True, searchable=True)
    source = choice("BULK_IMPORT", "POS_BATCH", "MASTER_DATA_SOAP", "MASTER_DATA_REST", doc="How the rows came.",
                    required=True, read_only=True)  # fmt: skip
    status = choice(*_STATUSES, doc="Where the job stands.", default="QUEUED", read_only=True)
    status_criticality = status_criticality()
    total_rows = integer("Rows received.", default=0, read_only=True)
    rows_succeeded = integer("Rows stored so far.", default=0, read_only=True)
    rows_failed = integer("Rows refused so far.", default=0, read_only=True)
    rows_skipped = integer("Rows that were not to be stored.", default=0, read_only=True)
    continue_on_error = boolean("Whether good rows are kept when others fail.", read_only=True)
    idempotency_key = text(255, "The key that makes repeats of the request one job.", read_only=True)
    callback_url = text(2000, "Told when the job has ended.")
    started_at = timestamp("When work began.", read_only=True)
    completed_at = timestamp("When the job ended.", read_only=True)
    message = text(2000, "What became of it, in a sentence.", read_only=True)
    errors = children("ImportJobErrors", "The rows that failed.", by="job")


class ImportJobErrors(Entity, public=RO, admin=RO, indexes=(("job_id", "row_number"),)):
    """A row of an import job that failed, and why."""

    job = parent("ImportJobs", "The job.")
    row_number = integer("Which row, counted from 1.", required=True, read_only=True)
    property = text(255, "The property at fault.", read_only=True)
    code = text(50, "Stable code of the error.", required=True, read_only=True, searchable=True)
    message = text(2000, "What is wrong, in a sentence.", required=True, read_only=True, searchable=True)
    payload = text(None, "The row as received, without secrets, as JSON.", read_only=True)


class ArticleImportJobs(Entity, public=RO, admin=RO, deprecated=True):
    """An article batch from a POS. Deprecated: ImportJobs has the same job under the same ID."""

    name = text(255, "What the batch is called.", read_only=True, searchable=True)
    status = choice(*_STATUSES, doc="Where the job stands.", default="QUEUED", read_only=True)
    total_articles = integer("Articles received.", default=0, read_only=True)
    processed_articles = integer("Articles dealt with so far.", default=0, read_only=True)
    failed_articles = integer("Articles refused so far.", default=0, read_only=True)
    started_at = timestamp("When work began.", read_only=True)
    completed_at = timestamp("When the job ended.", read_only=True)
    status_criticality = status_criticality()
    failed_criticality = criticality("How failedArticles is to be coloured: 3 for none, else 1.")
    items = children("ArticleImportJobItems", "Its articles.", by="job")


class ArticleImportJobItems(Entity, public=RO, admin=RO, deprecated=True):
    """An article of a POS batch. Deprecated: see ImportJobErrors."""

    job = parent("ArticleImportJobs", "The job.")
    article_number = text(50, "Number of the article.", read_only=True, searchable=True)
    status = choice("created", "updated", "failed", doc="What became of it.", read_only=True)
    status_criticality = status_criticality()
    error = text(2000, "Why it failed.", read_only=True)


class RawPayloads(Entity, indexes=(("message_id",), ("received_at",))):
    """A message of master data as it was received; every message is stored, none is served."""

    message_id = text(255, "Its identifier, which makes repeats of it one message for 24 hours.", required=True)
    payload = blob("Its body.", required=True)
    content_type = text(255, "Content type of the body.", required=True)
    received_at = timestamp("When it was received.", required=True)
    job = to_one("ImportJobs", "The job that carries it out.", soft=True)
