"""The key by which names of callers become names in a shared cache."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"
works_with = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table, which holds one row once a process with a shared cache has started."""
    kinds = {
        "sqlite": ("VARCHAR(20)", "BLOB", "BIGINT"),
        "postgresql": ('VARCHAR(20) COLLATE "C"', "BYTEA", "TIMESTAMP WITH TIME ZONE"),
    }
    name, content, moment = kinds[op.get_bind().dialect.name]
    op.execute(
        f"CREATE TABLE cache_keys (purpose {name} NOT NULL, secret {content} NOT NULL, created_at {moment} NOT NULL,"
        " CONSTRAINT pk_cache_keys__key PRIMARY KEY (purpose))"
    )
