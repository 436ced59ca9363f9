"""Ask for the erasure of a retailer's customer, see how far erasures are, and let an ID be used again.

`workflows.clockwork.erasures` carries them out.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from promenade.errors import Conflict, NotFound
from promenade.store.access import erasures as store
from promenade.store.access.erasures import Erasure
from promenade.store.authoring.trail import Subject, trail_entry, write_trail
from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.customers import check_customer_id
from promenade.workflows.access.tenants import require_tenant

__all__ = ["ERASURES", "Erasure", "erase_customer", "forget_erasure", "list_erasures", "page_of_erasures"]

ERASURES = "CustomerErasures"
"""What the audit trail calls them."""


async def erase_customer(
    database: Database,
    tenant_id: str,
    customer_id: str,
    *,
    secret: bytes,
    new_id: Callable[[], str],
    at: datetime,
    user: str | None = None,
) -> Erasure:
    """Ask for the erasure of a customer; the same request again is the same erasure.

    From then on, whatever comes under the ID is erased too, until `forget_erasure`. ``secret`` is 32 random bytes: the
    tenant's key, if this is its first erasure. ``user`` is who the audit trail says has asked, without the
    customer's ID; None: whoever has the database, of whom it says nothing. Raises Invalid (VALUE_REQUIRED,
    VALUE_TOO_LONG) for what cannot be an ID and NotFound (TENANT_NOT_FOUND).
    """
    check_customer_id(customer_id)
    await require_tenant(database, tenant_id)

    async def work(session: Session) -> Erasure:
        erasure = await store.request(session, customer_id, secret=secret, new_id=new_id, at=at)
        if user is not None:
            subject = Subject(ERASURES, erasure.id, erasure.id)
            await write_trail(session, [trail_entry(new_id(), at, user, "CREATE", subject)])
        return erasure

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


async def page_of_erasures(
    database: Database, tenant_id: str, limit: int, before: tuple[datetime, str] | None
) -> tuple[list[Erasure], bool]:
    """Return up to ``limit`` erasures, the latest first, and whether there are more.

    ``before``: those after the erasure with this ``requested_at`` and digest.
    """
    found = await database.read(partial(store.read_erasures, limit=limit + 1, before=before), tenant=tenant_id)
    return found[:limit], len(found) > limit
