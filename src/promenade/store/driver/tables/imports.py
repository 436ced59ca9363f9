"""System tables of imports: received rows that are not stored yet, request keys, and trusted certificates."""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from promenade.store.driver.tables.columns import Definition, content, count, identity, key, moment, text
from promenade.store.driver.types import Json


def import_definitions() -> Iterator[Definition]:
    """Return the definitions of all these tables."""
    yield from _work()
    yield from _received()
    yield from _trust()


def _work() -> Iterator[Definition]:
    yield (
        "import_work",
        "Import jobs that have not ended: who works on each, and how far. The row goes when its job ends.",
        True,
        (
            identity("job_id", "The row of ImportJobs."),
            text("source", 20, "As in the job: BULK_IMPORT, POS_BATCH, MASTER_DATA_SOAP or MASTER_DATA_REST."),
            text("user_name", 255, "For whom rows are written."),
            moment("enqueued_at", "When it was accepted; the oldest is taken first."),
            moment("due_at", "Not before this moment."),
            count("next_part", "The first of import_parts that is not dealt with; 0 again when all was rolled back."),
            count("attempts", "How often it was taken up since it last came on."),
            text("lease_owner", 36, "Token of the claim that holds it.", nullable=True),
            moment("lease_until", "When the claim runs out.", nullable=True),
            key("import_work", "job_id"),
            sa.Index("ix_import_work__source", "tenant_id", "source"),
            sa.Index("ix_import_work__due", "due_at"),
        ),
    )


def _received() -> Iterator[Definition]:
    yield (
        "import_parts",
        "Rows of import jobs as they were received, a few hundred to a part, until their job has ended.",
        True,
        (
            identity("job_id", "The row of ImportJobs; a part may be there a moment before it."),
            count("part", "Its place, counted from 0.", default=None),
            count("first_row", "Number of its first row, counted from 1.", default=None),
            count("row_count", "How many rows it has.", default=None),
            sa.Column(
                "row_numbers",
                Json(),
                nullable=True,
                doc="The number of each row, where rows were left out; null: they follow each other.",
            ),
            content("rows", "A JSON array of the rows, compressed (Zstandard)."),
            moment("received_at", "When it was received."),
            key("import_parts", "job_id", "part"),
            sa.Index("ix_import_parts__received", "received_at"),
        ),
    )
    yield (
        "import_keys",
        "Keys that make repeats of a request one job, for 24 hours.",
        True,
        (
            text("scope", 20, "BULK_IMPORT, or MASTER_DATA of messages, however they came."),
            text("idempotency_key", 255, "The key: a header, a member of the body, or a message's identifier."),
            identity("job_id", "The job that it stands for."),
            content("digest", "SHA-256 of the request, where another request with the key is refused.", nullable=True),
            moment("seen_at", "When the job was accepted."),
            key("import_keys", "scope", "idempotency_key"),
            sa.Index("ix_import_keys__seen", "seen_at"),
        ),
    )


def _trust() -> Iterator[Definition]:
    yield (
        "trusted_names",
        "Names of client certificates, and the tenant that each speaks for.",
        False,
        (
            text("name", 300, "mtls.cn.master-data.<common name>."),
            identity("speaks_for", "The tenant."),
            moment("added_at", "When it was trusted."),
            text("added_by", 255, "By whom."),
            moment("valid_until", "Until when, while another takes its place; null: without end.", nullable=True),
            key("trusted_names", "name", tenant=False),
            sa.Index("ix_trusted_names__tenant", "speaks_for"),
        ),
    )
