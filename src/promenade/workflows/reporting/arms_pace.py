"""How refreshers make way: for tills that ask, and after a while for everything else that the clock starts."""

from __future__ import annotations

import asyncio

from promenade.store.report_queue import hold_state
from promenade.workflows.context import Context

__all__ = ["Pace"]

SECONDS = 2.0  # then what is left is for the next run of the aggregator, some seconds later


class Pace:
    """One run of a refresher that works in portions."""

    def __init__(self, context: Context, tenant_id: str) -> None:
        self._context = context
        self._tenant_id = tenant_id
        self._began = self._last = asyncio.get_running_loop().time()

    async def goes_on(self) -> bool:
        """Rest after a portion, as long as it took while tills ask; False: stop, and be called again soon."""
        loop = asyncio.get_running_loop()
        if self._context.tills.are_there():
            await asyncio.sleep(loop.time() - self._last)
        self._last = loop.time()
        if self._last - self._began < SECONDS:
            return True
        # The tenant's reports are behind again, as they are by a portion of sales.
        await self._context.database.write(hold_state, tenant=self._tenant_id, durable=False)
        return False
