"""Logs of sales can be dropped: until when they are, which archive has them, and what the tenant has set."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"
works_with = "0001"
branch_labels = None
depends_on = None

_OWN = """CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END"""
_MARKS = """
CREATE TABLE retention_marks (
	tenant_id VARCHAR(36){collation} NOT NULL,
	kind VARCHAR(20){collation} NOT NULL,
	purged_before {moment},
	spared_before {moment},
	unchanged_since {moment},
	archived_before {moment},
	archived_at {moment},
	CONSTRAINT pk_retention_marks__key PRIMARY KEY (tenant_id, kind)
)
"""


def upgrade() -> None:
    """Add the table, and the settings, which are null: nothing is dropped."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(_MARKS.format(collation=' COLLATE "C"', moment="TIMESTAMP WITH TIME ZONE"))
        op.execute("ALTER TABLE retention_marks ENABLE ROW LEVEL SECURITY")
        op.execute("ALTER TABLE retention_marks FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON retention_marks USING ({_OWN} <> 'no') WITH CHECK ({_OWN} <> 'no')")
    else:
        op.execute(_MARKS.format(collation="", moment="BIGINT"))
    lower = "CONSTRAINT ck_tenants__sales_log_days_min CHECK (sales_log_days >= 30)"
    upper = "CONSTRAINT ck_tenants__sales_log_days_max CHECK (sales_log_days <= 36500)"
    op.execute(f"ALTER TABLE tenants ADD COLUMN sales_log_days INTEGER {lower} {upper}")
    op.execute("ALTER TABLE tenants ADD COLUMN sales_logs_unarchived BOOLEAN")
