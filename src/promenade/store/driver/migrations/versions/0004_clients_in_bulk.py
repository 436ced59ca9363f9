"""Clients get a code by which imports find them, and enrolment codes; stores a next secret; tenants a policy."""

from alembic import op

revision = "0004"
down_revision = "0003"
works_with = "0001"
branch_labels = None
depends_on = None

_CLIENTS = """CREATE TABLE clients_new (
	tenant_id VARCHAR(36) NOT NULL,
	id VARCHAR(36) NOT NULL,
	code VARCHAR(50),
	client_id VARCHAR(100) NOT NULL,
	name VARCHAR(255),
	scopes TEXT NOT NULL,
	secret_digest VARCHAR(64),
	is_active BOOLEAN NOT NULL,
	rotated_at BIGINT,
	former_digest VARCHAR(64),
	former_until BIGINT,
	enrolment_digest VARCHAR(64),
	enrolment_until BIGINT,
	tokens_from BIGINT,
	last_used_at BIGINT,
	created_at BIGINT NOT NULL,
	created_by VARCHAR(255),
	modified_at BIGINT NOT NULL,
	modified_by VARCHAR(255),
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_clients__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_clients__code UNIQUE (tenant_id, code),
	CONSTRAINT uq_clients__client_id UNIQUE (client_id)
)"""
_SETTINGS = (("secret_days", 7, 3650), ("secret_overlap_hours", 1, 720), ("secret_grace_days", 1, 3650))
_KEPT = (
    "tenant_id, id, client_id, name, scopes, secret_digest, is_active, rotated_at, former_digest, former_until,"
    " tokens_from, last_used_at, created_at, created_by, modified_at, modified_by, version"
)


def upgrade() -> None:
    """Add columns that may be null; SQLite adds a constraint to a table by making the table anew."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(_CLIENTS)
        op.execute(f"INSERT INTO clients_new ({_KEPT}) SELECT {_KEPT} FROM clients")  # noqa: S608
        op.execute("DROP TABLE clients")
        op.execute("ALTER TABLE clients_new RENAME TO clients")
    else:
        op.execute('ALTER TABLE clients ADD COLUMN code VARCHAR(50) COLLATE "C"')
        op.execute('ALTER TABLE clients ADD COLUMN enrolment_digest VARCHAR(64) COLLATE "C"')
        op.execute("ALTER TABLE clients ADD COLUMN enrolment_until TIMESTAMP WITH TIME ZONE")
        op.execute("ALTER TABLE clients ADD CONSTRAINT uq_clients__code UNIQUE (tenant_id, code)")
    for name, least, most in _SETTINGS:
        lower = f"CONSTRAINT ck_tenants__{name}_min CHECK ({name} >= {least})"
        upper = f"CONSTRAINT ck_tenants__{name}_max CHECK ({name} <= {most})"
        op.execute(f"ALTER TABLE tenants ADD COLUMN {name} INTEGER {lower} {upper}")
    collation = "" if op.get_bind().dialect.name == "sqlite" else ' COLLATE "C"'
    op.execute(f"ALTER TABLE sync_link ADD COLUMN next_secret VARCHAR(1000){collation}")
