"""Delete a tenant with all of its data, for the operator."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from promenade.errors import Conflict, NotFound
from promenade.store.access import erasing as store
from promenade.store.access.local_store import read_store_tenant
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.tenants import TenantDirectory

PORTION = 1000  # rows per unit of work: other tenants' tills do not wait for longer
FORGOTTEN_AFTER = TenantDirectory.SECONDS_KEPT + 5
"""Seconds after which every running process refuses requests for a tenant whose row is gone."""


async def delete_tenant(database: Database, tenant_id: str, *, wait: Callable[[float], Awaitable[object]]) -> int:
    """Delete the tenant and everything that belongs to it; return the number of rows.

    Its own row goes first, so that no process lets anybody in from then on, within a minute; what one still writes
    meanwhile is deleted after ``wait`` was called with that time. Whoever is interrupted calls it again.
    Raises NotFound (TENANT_NOT_FOUND) if there is nothing of it, and Conflict (STORE_HAS_ONE_TENANT) in a store.
    """
    if await database.read(read_store_tenant, system=True) is not None:
        message = "This is the database of a store, which is nothing without its tenant: delete the database instead."
        raise Conflict("STORE_HAS_ONE_TENANT", message, "tenantId")
    count = await _sweep(database, tenant_id)
    if not count:
        raise NotFound("TENANT_NOT_FOUND", f"There is no tenant {tenant_id}.", "tenantId")
    await wait(FORGOTTEN_AFTER)
    return count + await _sweep(database, tenant_id)


async def _sweep(database: Database, tenant_id: str) -> int:
    count = await database.write(lambda session: store.distrust(session, tenant_id), system=True)
    for name in store.tables_of_tenants():
        count += await _empty(database, name, tenant_id)
    return count


async def _empty(database: Database, name: str, tenant_id: str) -> int:
    async def work(session: Session) -> int:
        await store.loosen(session, name, tenant_id)
        return await store.delete_some(session, name, tenant_id, PORTION)

    count = found = await database.write(work, system=True)
    while found == PORTION:
        found = await database.write(work, system=True)
        count += found
    return count
