"""Enumerates the tenants that have rows in a table, for statements over all tenants."""

from __future__ import annotations

from sqlalchemy import CTE, Table, func, select


def each_tenant(rows: Table) -> CTE:
    """Return a CTE with the ``tenant_id`` of every tenant with a row, and one null, each found by one key lookup.

    Keys and indexes begin with the tenant, so a statement that joins this can use them. Needs a system session.
    """
    first = select(func.min(rows.c.tenant_id).label("tenant_id")).cte("tenants", recursive=True)
    following = select(func.min(rows.c.tenant_id)).where(rows.c.tenant_id > first.c.tenant_id).scalar_subquery()
    return first.union_all(select(following).where(first.c.tenant_id.is_not(None)))
