"""INSERT ... ON CONFLICT for both dialects."""

# ruff: noqa: PLC0415 -- only the dialect that is used is imported

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import Table

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite


def upsert(dialect: str, table: Table) -> postgresql.Insert | sqlite.Insert:
    """Return an insert that supports ``on_conflict_do_nothing`` and ``on_conflict_do_update``."""
    if dialect == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as insert_postgresql

        return insert_postgresql(table)
    from sqlalchemy.dialects.sqlite import insert as insert_sqlite

    return insert_sqlite(table)
