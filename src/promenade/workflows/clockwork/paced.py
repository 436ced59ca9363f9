"""How a job of the clock does much in small units: with rests for tills, tenant by tenant, a second at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from promenade.store.tenants import read_tenants
from promenade.workflows.clockwork.jobs import Ran
from promenade.workflows.context import Context

__all__ = ["Pace", "tenant_by_tenant"]

RUN_SECONDS = 1.0
REST_SECONDS_MAX = 0.2
REST = 2  # times as long as a unit took: tills have the rest


class Pace:
    """Units one after another, each followed by a rest, until a run has taken long enough."""

    def __init__(self) -> None:
        self._now = asyncio.get_running_loop().time
        self._ends = self._now() + RUN_SECONDS
        self.done = 0

    @property
    def is_over(self) -> bool:
        """Whether the run has taken long enough."""
        return self._now() >= self._ends

    async def rest_after(self, began: float) -> None:
        """Rest after a unit that began at a moment of the event loop's clock."""
        await asyncio.sleep(min(REST * (self._now() - began), REST_SECONDS_MAX))

    async def while_more(self, unit: Callable[[], Awaitable[tuple[int, bool]]]) -> bool:
        """Repeat ``unit``, which tells how much it did and whether there is more; False: the time is over."""
        while not self.is_over:
            began = self._now()
            done, more = await unit()
            self.done += done
            if done or more:
                await self.rest_after(began)
            if not more:
                return True
        return False


async def tenant_by_tenant(
    context: Context, cursor: str | None, of_tenant: Callable[[str, Pace], Awaitable[bool]]
) -> Ran:
    """Do each tenant after the one that ``cursor`` names, until the time is over."""
    tenants = [row.tenant_id for row in await context.database.read(read_tenants, system=True)]
    pace = Pace()
    done_until = cursor
    for tenant_id in tenants:
        if cursor is None or tenant_id > cursor:
            if not await of_tenant(tenant_id, pace):
                return Ran(pace.done, more=True, cursor=done_until)
            done_until = tenant_id
    return Ran(pace.done)
