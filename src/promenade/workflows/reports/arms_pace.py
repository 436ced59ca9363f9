"""Pacing of refreshers, so that tills and the other clock jobs get their turn."""

from __future__ import annotations

from promenade.store.reports.queue import hold_state
from promenade.workflows.context import Context
from promenade.workflows.pace import Pacer, Rest

SECONDS = 2.0  # the rest is left to the aggregator's next run, some seconds later


class Pace:
    """One run of a refresher that works in portions."""

    def __init__(self, context: Context, tenant_id: str) -> None:
        self._context = context
        self._tenant_id = tenant_id
        self._pacer = Pacer(Rest(), tills=context.tills, run_seconds=SECONDS)
        self._last = self._pacer.now()

    async def should_continue(self) -> bool:
        """Pause after a portion, as long as it took, while tills send requests; False: stop, to be called again
        soon.
        """
        await self._pacer.rest_after(self._last)
        self._last = self._pacer.now()
        if not self._pacer.is_over:
            return True
        # Mark the tenant's reports as outdated again, as counting a portion of sales does.
        await self._context.database.write(hold_state, tenant=self._tenant_id, durable=False)
        return False
