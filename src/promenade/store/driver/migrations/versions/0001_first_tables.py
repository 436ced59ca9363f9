"""The first tables.

The statements are in 0001_sqlite.sql and 0001_postgresql.sql beside this file.
"""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0001"
works_with = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create every table of the first version."""
    connection = op.get_bind()
    statements = Path(__file__).with_name(f"0001_{connection.dialect.name}.sql").read_text(encoding="utf-8")
    for statement in statements.removesuffix(";\n").split(";\n\n"):
        connection.exec_driver_sql(statement)
