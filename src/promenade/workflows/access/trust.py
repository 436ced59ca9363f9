"""The mapping of client certificate names to tenants, maintained by operators from the command line."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from promenade.errors import Conflict, Invalid, NotFound
from promenade.store.access.trust import COMMON_NAME_LENGTH_MAX, delete_name, lock_tenant, read_names, trust_name
from promenade.store.driver.unit import Database, Session

OVERLAP_DAYS_MAX = 7


def require_common_name(common_name: str) -> None:
    """Raise Invalid (BAD_COMMON_NAME) for a name that no accepted certificate can have."""
    if not common_name or len(common_name) > COMMON_NAME_LENGTH_MAX or not common_name.isprintable():
        text = f"A common name must have 1 to {COMMON_NAME_LENGTH_MAX} printable characters."
        raise Invalid("BAD_COMMON_NAME", text, "commonName")


async def trust(
    database: Database, common_name: str, tenant_id: str, *, overlap_days: int, at: datetime, user: str
) -> None:
    """Map a certificate's common name to the tenant; its earlier names stay valid for ``overlap_days`` more days.

    Raises NotFound (TENANT_NOT_FOUND), Conflict (NAME_TAKEN) for a name of another tenant, and Invalid.
    """
    require_common_name(common_name)
    if not 0 <= overlap_days <= OVERLAP_DAYS_MAX:
        raise Invalid("BAD_OVERLAP", f"The overlap must be from 0 to {OVERLAP_DAYS_MAX} days.", "overlapDays")
    until = at + timedelta(days=overlap_days)

    async def work(session: Session) -> None:
        if "\0" in tenant_id or not await lock_tenant(session, tenant_id):
            text = f"There is no tenant {tenant_id}: create it with `promenade tenant create {tenant_id}`."
            raise NotFound("TENANT_NOT_FOUND", text, "tenant")
        if not await trust_name(session, common_name, tenant_id, at=at, by=user, others_until=until):
            text = (
                f"{common_name} already speaks for another tenant; run `promenade trust remove` first to change that."
            )
            raise Conflict("NAME_TAKEN", text, "commonName")

    await database.write(work, system=True)


async def distrust(database: Database, common_name: str) -> None:
    """Remove a name; it takes effect with its next request. Raises NotFound (NAME_NOT_TRUSTED)."""

    async def work(session: Session) -> None:
        if "\0" in common_name or not await delete_name(session, common_name):
            raise NotFound(
                "NAME_NOT_TRUSTED", f"{common_name} is not trusted, so there is nothing to remove.", "commonName"
            )

    await database.write(work, system=True)


async def list_trusted(database: Database) -> list[dict[str, Any]]:
    """Return all names: ``commonName``, ``tenantId``, ``since`` and ``until`` (None: without end), in ISO 8601."""

    async def work(session: Session) -> list[dict[str, Any]]:
        return [
            {
                "commonName": one.common_name,
                "tenantId": one.tenant_id,
                "since": one.since.isoformat(timespec="seconds"),
                "until": None if one.until is None else one.until.isoformat(timespec="seconds"),
            }
            for one in await read_names(session)
        ]

    return await database.read(work, system=True)
