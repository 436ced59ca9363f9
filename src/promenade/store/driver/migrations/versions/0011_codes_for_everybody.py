"""A tenant can require codes of an app from everybody who signs in with a password."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"
works_with = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the setting, which is null: nothing is required."""
    op.execute("ALTER TABLE tenants ADD COLUMN code_required BOOLEAN")
