"""What reports count of an evaluation is stored beside its record."""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0009"
works_with = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column that may be null: reports then read the record."""
    content = "BYTEA" if op.get_bind().dialect.name == "postgresql" else "BLOB"
    op.execute(f"ALTER TABLE iterations ADD COLUMN advice {content}")
