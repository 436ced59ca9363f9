"""Entries of the audit trail can be deleted: after how many days, as the tenant has set."""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"
works_with = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the setting, which is null: nothing is deleted."""
    lower = "CONSTRAINT ck_tenants__audit_log_days_min CHECK (audit_log_days >= 365)"
    upper = "CONSTRAINT ck_tenants__audit_log_days_max CHECK (audit_log_days <= 36500)"
    op.execute(f"ALTER TABLE tenants ADD COLUMN audit_log_days INTEGER {lower} {upper}")
