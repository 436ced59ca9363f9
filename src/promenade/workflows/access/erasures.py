"""Ask for the erasure of a retailer's customer, see how far erasures are, and let an ID be used again.

`workflows.clockwork.erasures` carries them out.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from promenade.errors import Conflict, NotFound
from promenade.store.access import erasures as store
from promenade.store.access.erasures import Erasure
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.customers import check_customer_id
from promenade.workflows.access.tenants import require_tenant

__all__ = ["Erasure", "erase_customer", "forget_erasure", "list_erasures"]


async def erase_customer(
    database: Database, tenant_id: str, customer_id: str, *, secret: bytes, new_id: Callable[[], str], at: datetime
) -> Erasure:
    """Ask for the erasure of a customer; the same request again is the same erasure.

    From then on, whatever comes under the ID is erased too, until `forget_erasure`. ``secret`` is 32 random bytes: the
    tenant's key, if this is its first erasure. Raises Invalid (VALUE_REQUIRED, VALUE_TOO_LONG) for what cannot be an ID
    and NotFound (TENANT_NOT_FOUND).
    """
    check_customer_id(customer_id)
    await require_tenant(database, tenant_id)

    async def work(session: Session) -> Erasure:
        return await store.request(session, customer_id, secret=secret, new_id=new_id, at=at)

    return await database.write(work, tenant=tenant_id)


async def forget_erasure(database: Database, tenant_id: str, customer_id: str) -> Erasure:
    """Forget that a customer was erased: the ID is a new customer's from now on. Return the erasure.

    Raises what `erase_customer` does, NotFound (ERASURE_NOT_FOUND), Conflict (ERASURE_PENDING) while it has not ended,
    and in a store Conflict (ERASURE_OF_CLOUD) if the cloud has told of it, which will tell when it forgets it.
    """
    check_customer_id(customer_id)
    await require_tenant(database, tenant_id)

    async def work(session: Session) -> Erasure:
        found = await store.find(session, customer_id)
        if not found:
            raise NotFound("ERASURE_NOT_FOUND", "The customer was not erased.", "customerId")
        if any(one.cloud_walk is not None for one in found):
            message = "The cloud has told of this erasure: forget it there, and the store follows with its next sync."
            raise Conflict("ERASURE_OF_CLOUD", message, "customerId")
        if any(one.status != store.COMPLETED for one in found):
            raise Conflict("ERASURE_PENDING", "The erasure has not ended yet; forget it afterwards.", "customerId")
        for one in found:
            await store.forget(session, one)
        return found[0]

    return await database.write(work, tenant=tenant_id)


async def list_erasures(database: Database, tenant_id: str) -> list[Erasure]:
    """Return a tenant's erasures, the latest first, at most 10 000. Raises NotFound (TENANT_NOT_FOUND)."""
    await require_tenant(database, tenant_id)
    return await database.read(store.read_erasures, tenant=tenant_id)
