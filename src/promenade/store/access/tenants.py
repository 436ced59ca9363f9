"""The rows of Tenants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy import Row, insert, select, update

from promenade import model
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_TENANTS = table("Tenants")

SIGNIFICANCE_LEVEL = Decimal(str(model.entity("Tenants").field("significance_level").default))
"""The level of significance of a tenant that has set none."""


async def tenant_is_known(session: Session, tenant_id: str) -> bool:
    """Return whether the tenant exists; needs a system session or the tenant's own."""
    return bool(await session.execute(select(_TENANTS.c.tenant_id).where(_TENANTS.c.tenant_id == tenant_id)))


async def insert_tenant(session: Session, row: Mapping[str, Any]) -> None:
    """Insert a tenant."""
    await session.rowcount(insert(_TENANTS), row)


async def update_tenant(session: Session, tenant_id: str, values: Mapping[str, Any]) -> bool:
    """Change a tenant's settings; return whether it exists."""
    statement = update(_TENANTS).where(_TENANTS.c.tenant_id == tenant_id)
    return bool(await session.rowcount(statement.values(version=_TENANTS.c.version + 1, **values)))


async def read_tenants(session: Session) -> Sequence[Row[Any]]:
    """Return all tenants that the session may see, by ID."""
    return await session.execute(select(_TENANTS).order_by(_TENANTS.c.tenant_id))


async def significance_level(session: Session) -> Decimal:
    """Return the level of significance of the session's tenant."""
    rows = await session.execute(select(_TENANTS.c.significance_level).where(_TENANTS.c.tenant_id == session.tenant))
    return rows[0].significance_level if rows else SIGNIFICANCE_LEVEL
