"""Write a tenant's promotions as documents, and name those that no document is of."""

from __future__ import annotations

from collections.abc import Sequence

from promenade.errors import NotFound
from promenade.store.access.tenants import tenant_is_known
from promenade.store.driver.unit import Database, Session
from promenade.store.promotions.naming import read_names
from promenade.workflows.documents.normal import Document
from promenade.workflows.documents.stored import find_promotions, read_stored

_PORTION = 500  # promotions that are read together


async def require_tenant(database: Database, tenant: str) -> None:
    """Raise NotFound (TENANT_NOT_FOUND) if there is no such tenant."""
    if not await database.read(lambda session: tenant_is_known(session, tenant), tenant=tenant):
        raise NotFound("TENANT_NOT_FOUND", f"There is no tenant {tenant}.", "tenant")


async def export_promotions(
    database: Database, tenant: str, codes: Sequence[str], *, with_definitions: bool = False
) -> list[Document]:
    """Return the promotions with these codes, or all, by their codes. Raises NotFound (NO_SUCH_PROMOTION)."""
    await require_tenant(database, tenant)

    async def work(session: Session) -> list[Document]:
        ids = await _wanted(session, codes)
        found = []
        for start in range(0, len(ids), _PORTION):
            part = ids[start : start + _PORTION]
            found += [one.document for one in await read_stored(session, part, with_definitions=with_definitions)]
        return found

    return await database.read(work, tenant=tenant)


async def export_promotion(session: Session, promotion_id: str, *, with_definitions: bool = False) -> Document:
    """Return a promotion of the session's tenant by its ID. Raises NotFound (NOT_FOUND)."""
    found = await read_stored(session, [promotion_id], with_definitions=with_definitions)
    if not found:
        raise NotFound("NOT_FOUND", "There is no row of Promotions with this ID.")
    return found[0].document


async def _wanted(session: Session, codes: Sequence[str]) -> list[str]:
    if not codes:
        return [row.id for row in await read_names(session)]
    found = await find_promotions(session, {(code, "") for code in codes})
    unknown = [code for code in codes if (code, "") not in found]
    if unknown:
        raise NotFound("NO_SUCH_PROMOTION", f"There is no promotion with the code {unknown[0]}.")
    by_code = sorted((code, ids[0]) for (code, _), ids in found.items())
    return [row_id for _, row_id in by_code]


async def others(database: Database, tenant: str, documents: Sequence[Document]) -> list[str]:
    """Return the codes and names of the tenant's promotions that no document is of."""
    told = {one.identity for one in documents}
    rows = await database.read(read_names, tenant=tenant)
    return [
        f"{row.code} {row.name}" if row.code is not None else row.name
        for row in rows
        if ((row.code, "") if row.code is not None else (None, row.name)) not in told
    ]
