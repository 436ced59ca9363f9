"""Rows of one database in another, of whatever dialect."""

from __future__ import annotations

import sqlalchemy as sa

from promenade.store.migrations import in_transaction
from promenade.store.schema import metadata
from tests.kit.databases import past_the_wall

__all__ = ["copy_rows"]


def copy_rows(source: str, target: str) -> None:
    """Bring all rows of ``source`` to ``target``, which `Databases.create` made and nobody has written to."""
    rows = in_transaction(source, _rows_of)

    def write(connection: sa.Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("SET LOCAL session_replication_role = replica")  # rows refer to later ones
        for table, values in rows:
            connection.execute(sa.insert(table), values)

    in_transaction(past_the_wall(target), write)


def _rows_of(connection: sa.Connection) -> list[tuple[sa.Table, list[dict[str, object]]]]:
    found = [
        (table, [dict(row) for row in connection.execute(sa.select(table)).mappings()])
        for table in metadata.sorted_tables
    ]
    return [(table, values) for table, values in found if values]
