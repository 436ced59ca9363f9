"""Events of coupon codes can be deleted: after how many days, as the tenant has set."""

from __future__ import annotations

from alembic import op

revision = "0009"
down_revision = "0008"
works_with = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the setting, which is null: nothing is deleted."""
    lower = "CONSTRAINT ck_tenants__redemption_log_days_min CHECK (redemption_log_days >= 365)"
    upper = "CONSTRAINT ck_tenants__redemption_log_days_max CHECK (redemption_log_days <= 36500)"
    op.execute(f"ALTER TABLE tenants ADD COLUMN redemption_log_days INTEGER {lower} {upper}")
