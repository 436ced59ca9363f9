"""Delete all rows of a tenant, whatever the tables: those that name it are found in the schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Column, Table, delete, select, tuple_, update

from promenade.store.driver import schema
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_NAMES = table("trusted_names")
_LAST = frozenset({"local_store"})  # never has the row of a tenant that may be deleted


def tables_of_tenants() -> Sequence[str]:
    """Return the tables with rows of tenants, the tenants' own first, then those that refer to others before these."""
    found = [one for one in reversed(schema.metadata.sorted_tables) if "tenant_id" in one.c and one.name not in _LAST]
    tenants = table("Tenants")
    return [tenants.name, *[one.name for one in found if one is not tenants]]


async def loosen(session: Session, name: str, tenant_id: str) -> None:
    """Let the rows of a tree no longer refer to each other, so that they can be deleted in any order."""
    rows = schema.metadata.tables[name]
    for column in _to_itself(rows):
        linked = update(rows).where(rows.c.tenant_id == tenant_id, column.is_not(None))
        await session.rowcount(linked.values({column.name: None}))


def _to_itself(rows: Table) -> Iterator[Column[Any]]:
    for key in rows.foreign_key_constraints:
        if key.referred_table is rows:
            yield from [column for column in key.columns if column.nullable]


async def delete_some(session: Session, name: str, tenant_id: str, limit: int) -> int:
    """Delete at most ``limit`` rows of a tenant and return how many there were; needs a system session."""
    rows = schema.metadata.tables[name]
    key = tuple_(*rows.primary_key.columns)
    some = select(*rows.primary_key.columns).where(rows.c.tenant_id == tenant_id).limit(limit)
    return await session.rowcount(delete(rows).where(key.in_(some)))


async def distrust(session: Session, tenant_id: str) -> int:
    """Let no client certificate speak for the tenant any more; return how many did."""
    return await session.rowcount(delete(_NAMES).where(_NAMES.c.speaks_for == tenant_id))
