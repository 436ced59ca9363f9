"""Which tenant the name of a client certificate speaks for: rows that are read before a tenant is known.

Every function needs a system session. A name is kept as ``mtls.cn.master-data.<common name>``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import case, delete, or_, select, update

from promenade.store.schema import table
from promenade.store.unit import Session
from promenade.store.upsert import upsert

__all__ = [
    "COMMON_NAME_LENGTH_MAX",
    "TrustedName",
    "find_trusting_tenant",
    "forget_name",
    "lock_tenant",
    "read_names",
    "trust_name",
]

_NAMES = table("trusted_names")
_TENANTS = table("Tenants")
_PREFIX = "mtls.cn.master-data."
COMMON_NAME_LENGTH_MAX = 300 - len(_PREFIX)


@dataclass(frozen=True, slots=True)
class TrustedName:
    """A common name, the tenant that it speaks for, since when, and until when (None: without end)."""

    common_name: str
    tenant_id: str
    since: datetime
    until: datetime | None
    added_by: str


async def find_trusting_tenant(session: Session, common_name: str, at: datetime) -> str | None:
    """The tenant that ``common_name`` speaks for at that moment, letter for letter; None: nobody's."""
    if "\0" in common_name:  # no database keeps one, and PostgreSQL refuses to look for it
        return None
    is_valid = or_(_NAMES.c.valid_until.is_(None), _NAMES.c.valid_until > at)
    rows = await session.execute(select(_NAMES.c.speaks_for).where(_NAMES.c.name == _PREFIX + common_name, is_valid))
    return str(rows[0].speaks_for) if rows else None


async def lock_tenant(session: Session, tenant_id: str) -> bool:
    """Let nobody else change this tenant's names until the unit ends; whether there is such a tenant."""
    return bool(
        await session.execute(select(_TENANTS.c.tenant_id).where(_TENANTS.c.tenant_id == tenant_id).with_for_update())
    )


async def trust_name(
    session: Session, common_name: str, tenant_id: str, *, at: datetime, by: str, others_until: datetime
) -> bool:
    """Let ``common_name`` speak for the tenant without end, and its other names no longer than ``others_until``.

    False: it speaks for another tenant, and nothing was changed.
    """
    name = _PREFIX + common_name
    row = {"name": name, "speaks_for": tenant_id, "added_at": at, "added_by": by, "valid_until": None}
    # A name that has ended and is trusted anew counts from now; one that is still good keeps its beginning.
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


async def forget_name(session: Session, common_name: str) -> bool:
    """Trust a name no longer, from this moment on; whether it was known."""
    return bool(await session.rowcount(delete(_NAMES).where(_NAMES.c.name == _PREFIX + common_name)))


async def read_names(session: Session) -> Sequence[TrustedName]:
    """All names, those that have ended too, by tenant and then the oldest first."""
    order = (_NAMES.c.speaks_for, _NAMES.c.added_at, _NAMES.c.name)
    return [
        TrustedName(row.name.removeprefix(_PREFIX), row.speaks_for, row.added_at, row.valid_until, row.added_by)
        for row in await session.execute(select(_NAMES).order_by(*order))
    ]
