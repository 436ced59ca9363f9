"""Groups of an outside token issuer, in a session of their tenant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, func, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_GROUPS = table("GroupRoles")


async def read_groups(session: Session, issuer: str) -> Sequence[Row[Any]]:
    """Return the tenant's groups of this issuer."""
    columns = (_GROUPS.c.id, _GROUPS.c.group_name, _GROUPS.c.scopes)
    return await session.execute(select(*columns).where(_GROUPS.c.issuer == issuer))


async def count_groups(session: Session) -> int:
    """Return how many groups the tenant has, of any issuer."""
    rows = await session.execute(select(func.count().label("groups")).select_from(_GROUPS))
    return int(rows[0].groups)
