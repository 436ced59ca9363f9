"""Copying the rows of one database to another, of any dialect."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import sqlalchemy as sa

from promenade.store.clockwork.purging import Place
from promenade.store.driver.migrations import in_transaction
from promenade.store.driver.schema import metadata
from tests.kit.databases import past_the_wall

__all__ = ["copy_rows"]

Rows = list[tuple[sa.Table, list[dict[str, Any]]]]

_KEY = ("tenant_id", "origin", "transaction_id", "transaction_counter")


def copy_rows(source: str, target: str) -> None:
    """Copy all rows of ``source`` to ``target``, a database made by `Databases.create` that is still unused."""
    rows = in_transaction(source, _rows_of)

    def write(connection: sa.Connection) -> None:
        _place_anew(connection.dialect.name, rows)
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("SET LOCAL session_replication_role = replica")  # rows refer to later ones
        for table, values in rows:
            connection.execute(sa.delete(table))  # what a new database has, too: which programs its tables suit
            connection.execute(sa.insert(table), values)

    in_transaction(past_the_wall(target), write)


def _place_anew(dialect: str, rows: Rows) -> None:
    """Record in PostgreSQL's format that all evaluations have been processed: on SQLite their positions are numbers."""
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
