"""People see in which browsers they are signed in."""

from __future__ import annotations

from alembic import op

revision = "0012"
down_revision = "0011"
works_with = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the browser; for sessions that began before, it is null until their next token."""
    kind = 'VARCHAR(40) COLLATE "C"' if op.get_bind().dialect.name == "postgresql" else "VARCHAR(40)"
    op.execute(f"ALTER TABLE person_sessions ADD COLUMN browser {kind}")
