"""The trace of a request goes on in its side effects and its events."""

from __future__ import annotations

from alembic import op

revision = "0002"
works_with = "0001"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add to both the trace that they belong to."""
    kind = 'VARCHAR(55) COLLATE "C"' if op.get_bind().dialect.name == "postgresql" else "VARCHAR(55)"
    for table in ("side_effect_jobs", "outbox_events"):
        op.execute(f"ALTER TABLE {table} ADD COLUMN traceparent {kind}")
