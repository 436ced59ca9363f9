"""Customers can be erased: their requests, and indexes that find what is stored under an ID."""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
works_with = "0001"
branch_labels = None
depends_on = None

_OWN = """CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END"""
_ERASURES = """
CREATE TABLE customer_erasures (
	tenant_id VARCHAR(36){collation} NOT NULL,
	digest VARCHAR(64){collation} NOT NULL,
	id VARCHAR(36){collation} NOT NULL,
	customer_id VARCHAR(50){collation},
	pseudonym VARCHAR(50){collation},
	status VARCHAR(10){collation} NOT NULL,
	requested_at {moment} NOT NULL,
	due_at {moment} NOT NULL,
	completed_at {moment},
	changed_rows BIGINT NOT NULL,
	CONSTRAINT pk_customer_erasures__key PRIMARY KEY (tenant_id, digest),
	CONSTRAINT ck_customer_erasures__status CHECK (status IN ('PENDING', 'COMPLETED'))
)
"""
_KEYS = """
CREATE TABLE customer_erasure_keys (
	tenant_id VARCHAR(36){collation} NOT NULL,
	secret {content} NOT NULL,
	created_at {moment} NOT NULL,
	CONSTRAINT pk_customer_erasure_keys__key PRIMARY KEY (tenant_id)
)
"""
_INDEXES = (
    "ix_customer_erasures__due ON customer_erasures (due_at) WHERE status = 'PENDING'",
    "ix_coupon_claims__customer_id ON coupon_claims (tenant_id, customer_id) WHERE customer_id IS NOT NULL",
    "ix_coupon_reservations__customer_id ON coupon_reservations (tenant_id, customer_id) WHERE customer_id IS NOT NULL",
    "ix_coupon_usage__customer_id ON coupon_usage (tenant_id, customer_id, coupon_type_id)",
    "ix_promotion_usage__customer_id ON promotion_usage (tenant_id, customer_id, promotion_id)",
    "ix_redemption_logs__customer_id_occurred_at ON redemption_logs (tenant_id, customer_id, occurred_at)",
)


def upgrade() -> None:
    """Add the two tables, and the indexes, which an operator may have made before, without a lock."""
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    kinds = (
        {"collation": ' COLLATE "C"', "moment": "TIMESTAMP WITH TIME ZONE", "content": "BYTEA"}
        if is_postgresql
        else {"collation": "", "moment": "BIGINT", "content": "BLOB"}
    )
    for name, table in (("customer_erasures", _ERASURES), ("customer_erasure_keys", _KEYS)):
        op.execute(table.format(**kinds))
        if is_postgresql:
            op.execute(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY")
            op.execute(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")
            op.execute(f"CREATE POLICY tenant ON {name} USING ({_OWN} <> 'no') WITH CHECK ({_OWN} <> 'no')")
    for index in _INDEXES:
        op.execute(f"CREATE INDEX IF NOT EXISTS {index}")
