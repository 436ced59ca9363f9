"""The first tables, which every database has had: a new one is made with the newest, so no step leads here.

The tests have the statements, in tests/store/driver/first_tables, and take all later steps from them.
"""

from __future__ import annotations

revision = "0001"
works_with = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Raise LookupError: a database without a revision is made with the newest tables."""
    raise LookupError("a database without a revision is made with the newest tables")
