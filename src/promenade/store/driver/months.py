"""Which tables of PostgreSQL can be partitioned by month, and which partitions a database has."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

__all__ = ["BY_MONTH", "Part", "differs_by_partitions", "end_of", "parts_of"]

BY_MONTH: Mapping[str, str] = {
    "iterations": "created_at",
    "redemption_logs": "occurred_at",
    "audit_logs": "timestamp",
    "calculation_log_parts": "created_at",  # before the logs, to which its first rows refer
    "calculation_logs": "created_at",
}
"""The tables, each with the time by which it is partitioned."""

_PARTITION = re.compile(rf"({'|'.join(BY_MONTH)})_(\d{{4}}_\d\d|until_\d{{4}}_\d\d|later)")

_PARTS = sa.text("""
    SELECT relname, CAST(substring(bounds FROM $$FROM \\('(.*)'\\) TO$$) AS timestamptz),
        CAST(substring(bounds FROM $$TO \\('(.*)'\\)$$) AS timestamptz)
    FROM pg_inherits JOIN pg_class part ON part.oid = inhrelid, pg_get_expr(relpartbound, part.oid) bounds
    WHERE inhparent = to_regclass(:table) AND relispartition ORDER BY 3
""")


class Part(NamedTuple):
    """A partition and its bounds.

    ``start``: None, it has what is older than all others; ``end``: the first moment after it; None, it takes what no
    other does.
    """

    name: str
    start: datetime | None
    end: datetime | None


def parts_of(connection: sa.Connection, table: str) -> Sequence[Part]:
    """Return the partitions in their order, the one without bounds last; empty: the table is not partitioned."""
    connection.exec_driver_sql("SET LOCAL timezone = 'UTC'")  # in which bounds are written
    return [Part(*row) for row in connection.execute(_PARTS, {"table": table})]


def end_of(parts: Sequence[Part]) -> datetime:
    """Return the first moment for which there is no month; the beginning of time if there is none at all."""
    return max((part.end for part in parts if part.end is not None), default=datetime.min.replace(tzinfo=UTC))


def differs_by_partitions(connection: sa.Connection) -> Callable[[Any, str, str], bool]:
    """Return what tells Alembic's objects (with name and kind) that are, or lack, because tables are partitioned."""
    is_postgresql = connection.dialect.name == "postgresql"
    partitioned = {table for table in BY_MONTH if is_postgresql and parts_of(connection, table)}

    def differs(found: Any, name: str, kind: str) -> bool:
        if kind == "table":
            return _PARTITION.fullmatch(name) is not None
        is_of_partitioned = getattr(getattr(found, "table", None), "name", None) in partitioned
        return is_of_partitioned and (kind == "foreign_key_constraint" or name.startswith("pk_"))

    return differs
