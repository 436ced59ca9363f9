"""Background work: what is done after a sale, in portions, by the clock, and for subscribers.

In a process of its own (`promenade worker`) or inside `promenade serve`. Any number of workers may run on one
PostgreSQL database. A worker that dies leaves jobs whose lease runs out; another takes them up.
"""

from __future__ import annotations

import asyncio

from promenade.worker.clockwork import Clockwork
from promenade.worker.delivery import Delivery
from promenade.worker.rounds import Worker
from promenade.workflows.context import Context

__all__ = ["Clockwork", "Delivery", "Worker", "run_worker"]


async def run_worker(context: Context, stop: asyncio.Event) -> None:
    """Work with the usual settings until ``stop`` is set; the kinds of work do not wait for each other."""
    async with Delivery(context) as delivery:
        await asyncio.gather(Worker(context).run(stop), Clockwork(context).run(stop), delivery.run(stop))
