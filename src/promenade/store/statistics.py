"""What PostgreSQL's planner knows of tables that have just been filled.

In a table that was never analyzed it takes every index that begins with the tenant for as good as the key, and then
goes through all rows of the tenant for each reference that it checks. What fills a table in one transaction cannot wait
for the autovacuum to come by.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from promenade.store.hot import HOT, HotStatement, hot_statement
from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = ["learn_growth", "planned_rows"]


@hot_statement(
    "planned rows",
    postgresql="SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass($1::varchar::text)",
    tenant=None,
)
def _planned_rows(connection: sqlite3.Connection, params: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    return []


async def planned_rows(session: Session, set_name: str) -> int | None:
    """How many rows the planner believes there are of an entity set, of all tenants; None: it does not ask."""
    found = await session.hot("planned rows", (table(set_name).name,))
    return int(found[0][0]) if found else None


async def learn_growth(session: Session, set_names: Sequence[str], rows: int) -> None:
    """Let the planner count anew when it knows of less than half the ``rows`` just added to the first of some sets."""
    planned = await planned_rows(session, set_names[0])
    if planned is None or planned >= rows // 2:
        return
    for set_name in set_names:
        name = f"analyze {set_name}"
        if name not in HOT:
            # Who is at it already, in another transaction, must not be waited for. Who may not do it, before
            # PostgreSQL 17 whoever does not own the table, is warned by the server and goes on.
            HOT[name] = HotStatement(f"ANALYZE (SKIP_LOCKED) {table(set_name).name}", _planned_rows, tenant=None)
        await session.hot(name, ())
