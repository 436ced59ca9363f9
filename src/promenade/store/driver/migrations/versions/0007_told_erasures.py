"""Stores hear of the cloud's erasures: the cloud's key, how far they are, and an order to tell erasures in."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"
works_with = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add columns that may be null, and an index of a table that is small."""
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    content, collation = ("BYTEA", ' COLLATE "C"') if is_postgresql else ("BLOB", "")
    op.execute("ALTER TABLE customer_erasures ADD COLUMN cloud_walk INTEGER")
    for column in (
        f"cloud_secret {content}",
        f"cloud_cursor VARCHAR(200){collation}",
        "cloud_walk INTEGER",
        "cloud_told BIGINT",
        "cloud_searched BIGINT",
    ):
        op.execute(f"ALTER TABLE customer_erasure_keys ADD COLUMN {column}")
    op.execute("CREATE INDEX ix_customer_erasures__requested_at ON customer_erasures (tenant_id, requested_at, digest)")
