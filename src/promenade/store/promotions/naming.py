"""The codes and names of all promotions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session


async def read_names(session: Session) -> Sequence[Row[Any]]:
    """Return ID, code and name of every promotion of the tenant: by code, then those without one by name."""
    rows = table("Promotions").c
    found = await session.execute(select(rows.id, rows.code, rows.name))
    # Here rather than in the database, whose collation may differ from that of another one.
    return sorted(found, key=lambda row: (row.code is None, row.code, row.name, row.id))
