"""Pacing of refreshers, so that tills and the other clock jobs get their turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from promenade.store.reports.queue import hold_state
from promenade.workflows.context import Context
from promenade.workflows.pace import Pacer, Rest

SECONDS = 2.0  # the rest is left to the aggregator's next run, some seconds later


async def in_portions(context: Context, tenant_id: str, portion: Callable[[], Awaitable[int]], *, full: int = 1) -> int:
    """Repeat a portion until it does less than ``full``, or the time is up; return the total of its results.

    While tills send requests, it pauses after each portion for as long as that took.
    """
    done, pacer = 0, Pacer(Rest(), tills=context.tills, run_seconds=SECONDS)
    began = pacer.now()
    while found := await portion():
        done += found
        if found < full:
            break
        await pacer.rest_after(began)
        began = pacer.now()
        if pacer.is_over:
            # Mark the tenant's reports as outdated again, as counting a portion of sales does.
            await context.database.write(hold_state, tenant=tenant_id, durable=False)
            break
    return done
