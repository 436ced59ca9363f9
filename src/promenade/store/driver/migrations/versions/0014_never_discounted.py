"""Goods that are never discounted, and whether they count towards thresholds."""

from __future__ import annotations

from alembic import op

revision = "0014"
down_revision = "0013"
works_with = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the reasons and the settings, which are null: all goods may be discounted, and count.

    A store of the version before has dropped what its cloud told it of them, so it reads everything anew.
    """
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    kind = 'VARCHAR(30) COLLATE "C"' if is_postgresql else "VARCHAR(30)"
    for name in ("articles", "articles_drafts", "article_groups", "article_groups_drafts"):
        op.execute(f"ALTER TABLE {name} ADD COLUMN never_discounted {kind}")
    for name in ("tenants", "promotions", "promotions_drafts"):
        op.execute(f"ALTER TABLE {name} ADD COLUMN counts_towards_threshold BOOLEAN")
        op.execute(f"ALTER TABLE {name} ADD COLUMN excluded_counts_towards_threshold BOOLEAN")
    op.execute("UPDATE sync_link SET cursor = NULL")
    op.execute("TRUNCATE sync_pages" if is_postgresql else "DELETE FROM sync_pages")  # whatever tenants may see
