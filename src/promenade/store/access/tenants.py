"""The rows of Tenants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlalchemy import FromClause, Row, insert, literal_column, select, update

from promenade import model
from promenade.model.access.tenants import SETTINGS_ID
from promenade.store.driver.schema import table
from promenade.store.driver.tenancy import SESSION_TENANT
from promenade.store.driver.types import string
from promenade.store.driver.unit import Session

_TENANTS = table("Tenants")

SIGNIFICANCE_LEVEL = Decimal(str(model.entity("Tenants").field("significance_level").default))
"""The level of significance of a tenant that has set none."""


async def tenant_is_known(session: Session, tenant_id: str) -> bool:
    """Return whether the tenant exists; needs a system session or the tenant's own."""
    return bool(await session.execute(select(_TENANTS.c.tenant_id).where(_TENANTS.c.tenant_id == tenant_id)))


def tenant_settings() -> FromClause:
    """Return the query of the session's own tenant, as the only row of TenantSettings."""
    own = select(literal_column(f"'{SETTINGS_ID}'", string(36)).label("id"), *_TENANTS.c)
    return own.where(_TENANTS.c.tenant_id == SESSION_TENANT).subquery("tenant_settings")


async def hold_settings(session: Session) -> dict[str, Any] | None:
    """Lock and return the row of the session's tenant; None: it does not exist."""
    own = select(_TENANTS).where(_TENANTS.c.tenant_id == session.tenant)
    rows = await session.execute(own if session.dialect == "sqlite" else own.with_for_update())
    return dict(zip(_TENANTS.c.keys(), rows[0], strict=True)) if rows else None


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


async def basic_for_readers(session: Session, tenant_id: str) -> bool:
    """Return whether a tenant's readers may come without a token; needs a system session."""
    rows = await session.execute(select(_TENANTS.c.basic_for_readers).where(_TENANTS.c.tenant_id == tenant_id))
    return bool(rows and rows[0].basic_for_readers)


async def read_secret_policy(session: Session) -> tuple[int | None, int | None, int | None]:
    """Return what the session's tenant says of secrets: days, hours of overlap, days of grace."""
    columns = (_TENANTS.c.secret_days, _TENANTS.c.secret_overlap_hours, _TENANTS.c.secret_grace_days)
    rows = await session.execute(select(*columns).where(_TENANTS.c.tenant_id == session.tenant))
    return tuple(rows[0]) if rows else (None, None, None)


async def significance_level(session: Session) -> Decimal:
    """Return the level of significance of the session's tenant."""
    rows = await session.execute(select(_TENANTS.c.significance_level).where(_TENANTS.c.tenant_id == session.tenant))
    return rows[0].significance_level if rows else SIGNIFICANCE_LEVEL
