"""INSERT ... ON CONFLICT, in the words of a dialect."""

from __future__ import annotations

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite

__all__ = ["upsert"]


def upsert(dialect: str, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An insert that takes ``on_conflict_do_nothing`` and ``on_conflict_do_update``."""
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
