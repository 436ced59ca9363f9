"""Rows of one database in another, of whatever dialect."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import sqlalchemy as sa

from promenade.store.migrations import in_transaction
from promenade.store.purging import Place
from promenade.store.schema import metadata
from tests.kit.databases import past_the_wall

__all__ = ["copy_rows"]

Rows = list[tuple[sa.Table, list[dict[str, Any]]]]

_KEY = ("tenant_id", "origin", "transaction_id", "transaction_counter")


def copy_rows(source: str, target: str) -> None:
    """Bring all rows of ``source`` to ``target``, which `Databases.create` made and nobody has written to."""
    rows = in_transaction(source, _rows_of)

    def write(connection: sa.Connection) -> None:
        _place_anew(connection.dialect.name, rows)
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("SET LOCAL session_replication_role = replica")  # rows refer to later ones
        for table, values in rows:
            connection.execute(sa.insert(table), values)

    in_transaction(past_the_wall(target), write)


def _place_anew(dialect: str, rows: Rows) -> None:
    """Say in the terms of PostgreSQL that all evaluations are looked through: on SQLite their places are numbers."""
    if dialect == "postgresql":
        places = next((values for table, values in rows if table.name == "advice_walk"), [])
        evaluations = next((values for table, values in rows if table.name == "iterations"), [])
        for row in places:
            last = max(evaluations, key=itemgetter("created_at", *_KEY))
            row["place"] = Place(last["created_at"], itemgetter(*_KEY)(last)).encode()


def _rows_of(connection: sa.Connection) -> Rows:
    found = [
        (table, [dict(row) for row in connection.execute(sa.select(table)).mappings()])
        for table in metadata.sorted_tables
    ]
    return [(table, values) for table, values in found if values]
