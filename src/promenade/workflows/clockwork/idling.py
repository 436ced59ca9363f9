"""Forget customers of whom nothing was heard for as many days as their tenant has set (`idleCustomerDays`).

Once a day a walk looks at all customers of such a tenant, in the order of their IDs, table by table. Who is idle is
forgotten as an erased customer is (`workflows.clockwork.erasures`), but nothing remembers it: with the next sale the ID
is a new customer's. Somebody who comes back while this goes on is left alone from then on.

A store goes by what it knows itself, and not before it has sent what happened so long ago.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial

from promenade.store.access import erasures as requests
from promenade.store.access.customers import read_customers, walked_tables
from promenade.store.clockwork import idling as store
from promenade.store.clockwork.dropping import read_wishing
from promenade.store.driver.unit import Session
from promenade.workflows.clockwork.erasures import portions
from promenade.workflows.clockwork.jobs import JobResult, clock_job
from promenade.workflows.clockwork.paced import Pace
from promenade.workflows.context import Context

EVERY = timedelta(days=1)
LOOKED = 40
"""Customers that are looked at together: each may have many sales."""


@clock_job("customers.idle", every=EVERY)
async def idle(context: Context, cursor: str | None) -> JobResult:
    """Go on with the walk over the customers of each tenant that forgets idle ones."""
    reached, _, place = (cursor or "").partition("\n")
    pace = Pace()
    wishing = partial(read_wishing, setting="idle_customer_days")
    for tenant_id in await context.database.read(wishing, system=True):
        if tenant_id < reached:
            continue
        walk = _Walk(context, tenant_id, place if tenant_id == reached else "")
        if not await pace.while_more(walk.portion):
            return JobResult(pace.done, more=True, cursor=f"{tenant_id}\n{walk.place}")
    return JobResult(pace.done)


class _Walk:
    """A walk over a tenant's customers; ``place`` is the table and the customer behind whom it goes on."""

    def __init__(self, context: Context, tenant_id: str, place: str) -> None:
        self._context = context
        self._tenant_id = tenant_id
        self._tables = walked_tables()
        table, _, self._after = place.partition("\n")
        self._table = self._tables.index(table) if table in self._tables else 0
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
            self._forgetting = self._forgetting if more else None
            return changed, True
        if self._idle:
            await self._begin(self._idle.pop(0))
            return 0, True
        return 0, await self._look()

    async def _begin(self, customer_id: str) -> None:
        begin = partial(
            requests.begin_idle,
            customer_id=customer_id,
            since=self._since,
            new_id=self._context.new_id,
            at=self._context.clock(),
        )
        erasure = await self._context.database.write(begin, tenant=self._tenant_id)
        self._forgetting = None if erasure is None else portions(self._context, erasure)
        self._after = customer_id

    async def _look(self) -> bool:
        """Find who is idle among the next customers; return False behind the last one of the last table."""
        at, name = self._context.clock(), self._tables[self._table]

        async def look(session: Session) -> tuple[datetime, list[str], list[str]] | None:
            term = await store.read_term(session)
            if term is None:
                return None
            since = at - timedelta(days=term.days)
            if self._context.is_store and await store.has_to_send(session, since):
                return None
            stored = await read_customers(session, name, self._after, LOOKED)
            named = [one for one in stored if not requests.is_pseudonym(one)]
            return since, stored, await store.idle_among(session, named, since, points_lapse=term.points_lapse)

        found = await self._context.database.read(look, tenant=self._tenant_id)
        if found is None:
            return False
        self._since, stored, self._idle = found
        if self._idle:
            return True  # it looks again behind the last of them
        if len(stored) == LOOKED:
            self._after = stored[-1]
            return True
        if self._table + 1 == len(self._tables):
            return False
        self._table, self._after = self._table + 1, ""
        return True
