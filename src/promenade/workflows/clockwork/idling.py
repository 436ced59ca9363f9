"""Forget customers of whom nothing was heard for as many days as their tenant has set (`idleCustomerDays`).

Once a day a walk looks at all customers of such a tenant, in the order of their IDs, table by table. Who is idle is
forgotten as an erased customer is (`workflows.clockwork.erasures`), but nothing remembers it: with the next sale the ID
is a new customer's. Somebody who comes back while this goes on is left alone from then on.

A store goes by what it knows itself, while it is in touch with its cloud, so that its clock can be believed, and not
before it has sent what happened so long ago.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial

from promenade.store.access import erasures as requests
from promenade.store.access.customers import read_customers, walked_tables
from promenade.store.clockwork import idling as store
from promenade.store.driver.unit import Session
from promenade.workflows.clockwork.erasures import SETTLES_FOR, portions
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import walking
from promenade.workflows.context import Context

EVERY = timedelta(days=1)
LOOKED = 40
"""Customers that are looked at together: each may have many sales."""


@clock_job("customers.idle", every=EVERY)
async def idle(context: Context, cursor: str | None) -> JobResult:
    """Go on with the walk over the customers of each tenant that forgets idle ones."""
    if not _is_in_touch(context):
        return JobResult(0)
    return await walking(context, cursor, "idle_customer_days", partial(_Walk, context))


def _is_in_touch(context: Context) -> bool:
    """Whether this is no store with a cloud, or one that has heard of it since yesterday."""
    uplink = context.uplink
    if uplink is None or uplink.client is None:
        return True
    return uplink.last_sync_at is not None and uplink.last_sync_at >= context.clock() - EVERY


class _Walk:
    """A walk over a tenant's customers; ``place`` is the table and the customer behind whom it goes on."""

    def __init__(self, context: Context, tenant_id: str, place: str) -> None:
        self._context = context
        self._tenant_id = tenant_id
        self._tables = walked_tables()
        table, _, after = place.partition("\n")
        self._table, self._after = (self._tables.index(table), after) if table in self._tables else (0, "")
        self._idle: list[str] = []
        self._since = context.clock()
        self._forgetting: Callable[[], Awaitable[tuple[int, bool]]] | None = None

    @property
    def place(self) -> str:
        return f"{self._tables[self._table]}\n{self._after}"

    async def portion(self) -> tuple[int, bool]:
        """Go on to forget a customer, or begin with the next one who is idle, or look for more.

        Returns how many rows were changed, and whether there is more to do.
        """
        if self._forgetting is not None:
            changed, more = await self._forgetting()
            if not more:
                self._pass()
            return changed, True
        if self._idle:
            await self._begin(self._idle[0])
            return 0, True
        return 0, await self._look()

    async def _begin(self, customer_id: str) -> None:
        """Begin to forget a customer: as a whole or, if something has to settle, not before the next walk."""
        context, at, tenant = self._context, self._context.clock(), self._tenant_id
        settling = partial(
            store.has_to_settle, customer_id=customer_id, before=at - SETTLES_FOR, is_store=context.is_store
        )
        begin = partial(requests.begin_idle, customer_id=customer_id, since=self._since, new_id=context.new_id, at=at)
        waits = await context.database.read(settling, tenant=tenant)
        erasure = None if waits else await context.database.write(begin, tenant=tenant)
        if erasure is None:
            self._pass()
        else:
            self._forgetting = portions(context, erasure)

    def _pass(self) -> None:
        """Go on behind the customer who was idle; until then the next run would go on with them."""
        self._after, self._forgetting = self._idle.pop(0), None

    async def _look(self) -> bool:
        """Find who is idle among the next customers; return False behind the last one of the last table."""
        at, name = self._context.clock(), self._tables[self._table]

        async def look(session: Session) -> tuple[datetime, list[str], bool, list[str]] | None:
            term = await store.read_term(session)
            if term is None:
                return None
            since = at - timedelta(days=term.days)
            if self._context.is_store and await store.has_to_send(session, since):
                return None
            stored, more = await read_customers(session, name, self._after, LOOKED)
            named = [one for one in stored if not requests.is_pseudonym(one)]
            return since, stored, more, await store.idle_among(session, named, since, points_lapse=term.points_lapse)

        found = await self._context.database.read(look, tenant=self._tenant_id)
        if found is None:
            return False
        self._since, stored, more, self._idle = found
        if self._idle:
            return True  # it looks again behind the last of them
        if more:
            self._after = stored[-1]
            return True
        if self._table + 1 == len(self._tables):
            return False
        self._table, self._after = self._table + 1, ""
        return True
