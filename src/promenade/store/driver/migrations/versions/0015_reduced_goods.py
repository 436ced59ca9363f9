"""Exclusions of lines by their additional fields."""

from __future__ import annotations

from alembic import op

revision = "0015"
down_revision = "0014"
works_with = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the field and its value, which are null for what is excluded otherwise.

    A store of the version before has dropped what its cloud told it of them, so it reads everything anew.
    """
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    collation = ' COLLATE "C"' if is_postgresql else ""
    templates = "template_discount_action_exclusions"
    for name in ("action_exclusions", templates, f"{templates}_drafts"):
        op.execute(f"ALTER TABLE {name} ADD COLUMN field_name VARCHAR(100){collation}")
        op.execute(f"ALTER TABLE {name} ADD COLUMN value VARCHAR(255){collation}")
    op.execute("UPDATE sync_link SET cursor = NULL")
    op.execute("TRUNCATE sync_pages" if is_postgresql else "DELETE FROM sync_pages")  # whatever tenants may see
