"""Customers of whom nothing is heard for long can be forgotten: after how many days, as the tenant has set."""

from __future__ import annotations

from alembic import op

revision = "0013"
down_revision = "0012"
works_with = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the settings, which are null: nobody is forgotten."""
    lower = "CONSTRAINT ck_tenants__idle_customer_days_min CHECK (idle_customer_days >= 30)"
    upper = "CONSTRAINT ck_tenants__idle_customer_days_max CHECK (idle_customer_days <= 36500)"
    op.execute(f"ALTER TABLE tenants ADD COLUMN idle_customer_days INTEGER {lower} {upper}")
    op.execute("ALTER TABLE tenants ADD COLUMN idle_points_lapse BOOLEAN")
    moment = "BIGINT" if op.get_bind().dialect.name == "sqlite" else "TIMESTAMP WITH TIME ZONE"
    op.execute(f"ALTER TABLE customer_erasures ADD COLUMN idle_since {moment}")
