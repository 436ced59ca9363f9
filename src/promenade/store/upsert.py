"""INSERT ... ON CONFLICT, in the words of the session's dialect."""

from __future__ import annotations

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql, sqlite

from promenade.store.unit import Session

__all__ = ["upsert"]


def upsert(session: Session, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An insert that takes ``on_conflict_do_nothing`` and ``on_conflict_do_update``."""
    return postgresql.insert(table) if session.dialect == "postgresql" else sqlite.insert(table)
