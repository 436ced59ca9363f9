"""The tenants that client certificate names authenticate for: read before the tenant is known.

Every function needs a system session. A name is stored as ``mtls.cn.master-data.<common name>``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, case, delete, or_, select, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

_NAMES = table("trusted_names")
_TENANTS = table("Tenants")
_PREFIX = "mtls.cn.master-data."
COMMON_NAME_LENGTH_MAX = 300 - len(_PREFIX)


@dataclass(frozen=True, slots=True)
class TrustedName:
    """A common name, the tenant it authenticates for, since when, and until when (None: unlimited)."""

    common_name: str
    tenant_id: str
    since: datetime
    until: datetime | None
    added_by: str


async def find_trusting_tenant(session: Session, common_name: str, at: datetime) -> str | None:
    """Return the tenant that ``common_name`` (exact match) authenticates for at that time; None: unknown."""
    if "\0" in common_name:  # no database stores NUL, and PostgreSQL refuses it in a query
        return None
    named = select(_NAMES.c.speaks_for).where(_NAMES.c.name == _PREFIX + common_name, _is_valid(at))
    rows = await session.execute(named)
    return str(rows[0].speaks_for) if rows else None


async def lock_tenant(session: Session, tenant_id: str) -> bool:
    """Lock the tenant, so that nobody else changes its names until the unit ends; return whether it exists."""
    return bool(
        await session.execute(select(_TENANTS.c.tenant_id).where(_TENANTS.c.tenant_id == tenant_id).with_for_update())
    )


async def trust_name(
    session: Session, common_name: str, tenant_id: str, *, at: datetime, by: str, others_until: datetime
) -> bool:
    """Trust ``common_name`` for the tenant without end, and its other names only until ``others_until``.

    False: the name belongs to another tenant, and nothing was changed.
    """
    name = _PREFIX + common_name
    row = {"name": name, "speaks_for": tenant_id, "added_at": at, "added_by": by, "valid_until": None}
    # An expired name that is trusted again starts now; one that is still valid keeps its start.
    has_ended = _NAMES.c.valid_until <= at
    added = upsert(session.dialect, _NAMES).on_conflict_do_update(
        index_elements=[_NAMES.c.name],
        set_={
            "valid_until": None,
            "added_at": case((has_ended, at), else_=_NAMES.c.added_at),
            "added_by": by,
        },
        where=_NAMES.c.speaks_for == tenant_id,
    )
    if not await session.rowcount(added, row):
        return False
    goes_on = or_(_NAMES.c.valid_until.is_(None), _NAMES.c.valid_until > others_until)
    others = update(_NAMES).where(_NAMES.c.speaks_for == tenant_id, _NAMES.c.name != name, goes_on)
    await session.rowcount(others.values(valid_until=others_until))
    return True


async def delete_name(session: Session, common_name: str) -> bool:
    """Stop trusting a name immediately; return whether it was known."""
    return bool(await session.rowcount(delete(_NAMES).where(_NAMES.c.name == _PREFIX + common_name)))


async def read_names(session: Session) -> Sequence[TrustedName]:
    """Return all names, including expired ones, by tenant and then oldest first."""
    order = (_NAMES.c.speaks_for, _NAMES.c.added_at, _NAMES.c.name)
    return [_named(row) for row in await session.execute(select(_NAMES).order_by(*order))]


async def read_names_of(session: Session, tenant_id: str, at: datetime, limit: int) -> Sequence[TrustedName]:
    """Return the names that authenticate for a tenant at that time, the newest first."""
    own = select(_NAMES).where(_NAMES.c.speaks_for == tenant_id, _is_valid(at))
    newest = own.order_by(_NAMES.c.added_at.desc(), _NAMES.c.name).limit(limit)
    return [_named(row) for row in await session.execute(newest)]


def _is_valid(at: datetime) -> ColumnElement[bool]:
    return or_(_NAMES.c.valid_until.is_(None), _NAMES.c.valid_until > at)


def _named(row: Row[Any]) -> TrustedName:
    return TrustedName(row.name.removeprefix(_PREFIX), row.speaks_for, row.added_at, row.valid_until, row.added_by)
