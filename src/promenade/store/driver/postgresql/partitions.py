"""Tables of PostgreSQL that grow with time, partitioned by month (docs/how-to/scaling-out.md).

Of a table that becomes partitioned, what is there is the first partition, as it is, until the end of the current month.
Months follow, made before they begin; a partition without bounds takes what is written once they have run out, and
becomes one with bounds when new months are made. A month that is over and empty is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

import sqlalchemy as sa

from promenade.errors import Conflict
from promenade.store.driver.migrations import give_up_soon, in_transaction, when_free
from promenade.store.driver.months import BY_MONTH, end_of, parts_of
from promenade.store.driver.row_security import EVERY_TENANT, statement_for

__all__ = ["months_end", "partition"]

_OVER = timedelta(days=1)
"""How long after its end nothing is written in a month any more: transactions and clocks are not that slow."""
_OUT_OF_BOUNDS = "23514"  # what PostgreSQL says of a row that the bounds of a partition exclude
_INDEXES = sa.text("""
    SELECT CAST(indexrelid AS regclass) AS name, indisunique,
        regexp_replace(pg_get_indexdef(indexrelid), ' ON \\S+', ' ON ' || :table)
    FROM pg_index WHERE indrelid = to_regclass(:table)
""")
_POLICIES = sa.text("""
    SELECT polname, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)
    FROM pg_policy WHERE polrelid = to_regclass(:table)
""")
_ANY_ROW = "SELECT EXISTS (SELECT FROM {})"
_UNCONFIRMED = """
    SELECT EXISTS (SELECT FROM {} AND NOT EXISTS (
        SELECT FROM confirmations sale
        WHERE (sale.tenant_id, sale.origin, sale.transaction_id) = (part.tenant_id, part.origin, part.transaction_id)
    ))
"""


def months_end(url: str) -> Mapping[str, datetime]:
    """Return by partitioned table the first moment for which it has no month; empty: none is partitioned.

    Raises the driver's errors.
    """

    def work(connection: sa.Connection) -> Mapping[str, datetime]:
        return {table: end_of(parts) for table in BY_MONTH if (parts := parts_of(connection, table))}

    return {} if url.startswith("sqlite") else in_transaction(url, work)


def partition(url: str, *, now: datetime, months: int, evaluations_days: int | None = None) -> Iterator[str]:
    """Partition the tables, make their months up to ``months`` after the current one, and drop what is over and empty.

    Run it as the owner of the tables. Each change is a transaction of its own, which holds its table; the first one of
    a table looks through its rows and makes the index of its key again. What is done is yielded as sentences, one for
    each change. ``evaluations_days`` after its end, a month of evaluations is dropped though it is not empty, unless it
    has one whose transaction was not confirmed.

    Raises Conflict (ROWS_OF_MONTHS_TO_COME), once all else is done, for tables where a wrong clock wrote rows of months
    that are made now, which stay as they are; and at once the driver's errors, also if others use a table for a minute
    without a pause.
    """
    last = _month(now, months + 1)
    ahead = []
    for table in in_transaction(url, lambda connection: _tables_without(connection, last)):
        try:
            yield from when_free(url, partial(_prepare, table=table, now=now, last=last))
        except sa.exc.IntegrityError as error:
            if getattr(error.orig, "sqlstate", None) != _OUT_OF_BOUNDS:
                raise
            ahead.append(table)
    kept = None if evaluations_days is None else timedelta(days=evaluations_days)
    for table, name, is_empty in in_transaction(url, lambda connection: _months_over(connection, now, kept)):
        if when_free(url, partial(_drop, table=table, name=name, must_be_empty=is_empty)):
            yield f"{name} is dropped."
    if ahead:
        written = "rows of months to come, which a wrong clock wrote: correct or delete them first."
        raise Conflict("ROWS_OF_MONTHS_TO_COME", f"{', '.join(ahead)}: {written}")


def _tables_without(connection: sa.Connection, last: datetime) -> Sequence[str]:
    """Return the tables that have no months until ``last``."""
    return [table for table in BY_MONTH if not (parts := parts_of(connection, table)) or end_of(parts) < last]


def _prepare(connection: sa.Connection, table: str, now: datetime, last: datetime) -> Sequence[str]:
    next_month = _month(now, 1)
    _hold(connection, table)
    parts = parts_of(connection, table)
    told = []
    if not parts:
        first = f"{table}_until_{next_month:%Y_%m}"
        _begin(connection, table, first)
        _bound(connection, table, first, None, next_month)
        end = next_month
        told.append(f"{table} is partitioned by month; {first} has what was there.")
    elif (end := end_of(parts)) <= now:
        late = f"{table}_until_{next_month:%Y_%m}"
        connection.exec_driver_sql(f"ALTER TABLE {table} DETACH PARTITION {table}_later")
        connection.exec_driver_sql(f"ALTER TABLE {table}_later RENAME TO {late}")
        _bound(connection, table, late, end, next_month)
        end = next_month
        told.append(f"{table} had no months any more; {late} has what was written since.")
    while end < last:
        after = _month(end, 1)
        name = f"{table}_{end:%Y_%m}"
        _make(connection, name, f"PARTITION OF {table} FOR VALUES FROM ('{end}') TO ('{after}')")
        end = after
    return [*told, f"{table} has months until {last:%Y-%m-%d}."]


def _begin(connection: sa.Connection, table: str, first: str) -> None:
    """Give the table another name, and make a partitioned one like it without rows, whose indexes have their names."""
    column = BY_MONTH[table]
    indexes = connection.execute(_INDEXES, {"table": table}).all()
    policies = connection.execute(_POLICIES, {"table": table}).all()
    connection.exec_driver_sql(f"ALTER TABLE {table} RENAME TO {first}")
    copied = "INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE"
    _make(connection, table, f"(LIKE {first} {copied}) PARTITION BY RANGE ({column})")
    for number, (name, is_unique, definition) in enumerate(indexes, 1):
        connection.exec_driver_sql(f"ALTER INDEX {name} RENAME TO {first}_{number}")
        # A unique index of a partitioned table has to hold the column that it is partitioned by.
        connection.exec_driver_sql(f"{definition[:-1]}, {column})" if is_unique else definition)
    for name, shown, written in policies:
        connection.exec_driver_sql(f"CREATE POLICY {name} ON {table} USING ({shown}) WITH CHECK ({written})")


def _bound(connection: sa.Connection, table: str, name: str, since: datetime | None, end: datetime) -> None:
    """Make a partition of what has no bounds, and another partition without."""
    begin = "MINVALUE" if since is None else f"'{since}'"
    connection.exec_driver_sql(f"ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ({begin}) TO ('{end}')")
    _make(connection, f"{table}_later", f"PARTITION OF {table} DEFAULT")


def _make(connection: sa.Connection, name: str, definition: str) -> None:
    """Row-level security is the table's; a partition that somebody reads by its own name shows nothing."""
    connection.exec_driver_sql(f"CREATE TABLE {name} {definition}")
    connection.exec_driver_sql(f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")


def _months_over(connection: sa.Connection, now: datetime, kept: timedelta | None) -> Sequence[tuple[str, str, bool]]:
    """Return the partitions that may be dropped: table, name, and whether it is empty."""
    connection.exec_driver_sql(statement_for(EVERY_TENANT, local=True))
    found = []
    for table, column in BY_MONTH.items():
        for name, start, end in parts_of(connection, table):
            if end is None or end + _OVER > now:
                continue
            # Asked by its own name, it shows nothing.
            rows = f"{table} part WHERE {column} < '{end}'" + (f" AND {column} >= '{start}'" if start else "")
            is_empty = not _is_true(connection, _ANY_ROW.format(rows))
            is_old = table == "iterations" and kept is not None and end + kept <= now
            if is_empty or (is_old and not _is_true(connection, _UNCONFIRMED.format(rows))):
                found.append((table, name, is_empty))
    return found


def _drop(connection: sa.Connection, table: str, name: str, *, must_be_empty: bool) -> bool:
    """Drop a partition and return whether it was done: it is not if it has rows and must be empty."""
    _hold(connection, table)
    connection.exec_driver_sql(f"ALTER TABLE {name} NO FORCE ROW LEVEL SECURITY")  # its owner sees what is there
    if must_be_empty and _is_true(connection, _ANY_ROW.format(name)):
        connection.exec_driver_sql(f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY")
        return False
    connection.exec_driver_sql(f"DROP TABLE {name}")
    return True


def _hold(connection: sa.Connection, table: str) -> None:
    give_up_soon(connection)
    connection.exec_driver_sql(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")


def _is_true(connection: sa.Connection, question: str) -> bool:
    return bool(connection.exec_driver_sql(question).scalar_one())


def _month(at: datetime, later: int) -> datetime:
    """Return the beginning of a month of UTC, so many months after that of ``at``."""
    years, month = divmod(at.month - 1 + later, 12)
    return at.replace(year=at.year + years, month=month + 1, day=1, hour=0, minute=0, second=0, microsecond=0)
