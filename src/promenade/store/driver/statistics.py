"""Planner statistics of PostgreSQL for tables that have just been filled.

In a table that was never analyzed, the planner considers every index that begins with the tenant as good as the key,
and then reads all rows of the tenant for each foreign key check. A transaction that fills a table cannot wait for
autovacuum.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from promenade.store.driver.hot import HOT, HotStatement, hot_statement
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session


@hot_statement(
    "planned rows",
    postgresql="SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass($1::varchar::text)",
    tenant=None,
)
def _planned_rows(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    return []


async def planned_rows(session: Session, set_name: str) -> int | None:
    """Return the planner's row estimate for an entity set, across tenants; None: this database needs no estimate."""
    found = await session.hot("planned rows", (table(set_name).name,))
    return int(found[0][0]) if found else None


async def learn_growth(session: Session, set_names: Sequence[str], rows: int) -> None:
    """Analyze the sets if the planner's estimate for the first is less than half the ``rows`` just added."""
    planned = await planned_rows(session, set_names[0])
    if planned is None or planned >= rows // 2:
        return
    for set_name in set_names:
        name = f"analyze {set_name}"
        if name not in HOT:
            # Do not wait for another transaction that analyzes the table. A role without the privilege, before
            # PostgreSQL 17 every role that does not own the table, only gets a warning from the server.
            HOT[name] = HotStatement(f"ANALYZE (SKIP_LOCKED) {table(set_name).name}", _planned_rows, tenant=None)
        await session.hot(name, ())
