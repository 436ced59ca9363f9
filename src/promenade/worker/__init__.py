"""Background work: side effects of sales, imports, scheduled jobs, webhook deliveries, and events for a broker.

In a store also the link to its cloud.

It runs in a process of its own (`promenade worker`) or inside `promenade serve`. Any number of workers may run on one
PostgreSQL database. When a worker dies, the leases of its jobs expire and another worker takes them.
"""

from __future__ import annotations

import asyncio

from promenade.errors import Unavailable
from promenade.log import Logger
from promenade.store.driver.leases import end_all
from promenade.worker.clockwork import Clockwork
from promenade.worker.delivery import Delivery
from promenade.worker.imports import Imports
from promenade.worker.loop import wait
from promenade.worker.publication import Publisher
from promenade.worker.rounds import Worker
from promenade.worker.uplink import UplinkWorker
from promenade.workflows.context import Context

__all__ = ["Clockwork", "Delivery", "Imports", "Publisher", "UplinkWorker", "Worker", "run_worker"]

PAUSE_SECONDS = 10.0  # before a restart of deliveries

_log = Logger(__name__)


async def run_worker(context: Context, stop: asyncio.Event) -> None:
    """Work with the default settings until ``stop`` is set; the kinds of work do not wait for each other.

    A SQLite database has one worker at a time: leases of the previous one are taken over at once.
    """
    await _take_over(context)
    await asyncio.gather(
        Worker(context).run(stop),
        Clockwork(context).run(stop),
        Imports(context).run(stop),
        _deliver(context, stop),
        Publisher(context).run(stop),
        UplinkWorker(context).run(stop),
    )


async def _take_over(context: Context) -> None:
    """End the leases of the previous process if there can be no other, so that nobody waits for them."""
    if context.database.dialect != "sqlite":
        return
    at = context.clock()
    try:
        ended = await context.database.write(lambda session: end_all(session, at=at), system=True, durable=False)
    except Unavailable as error:  # they expire
        _log.warning("worker.leases_left", reason=error.message)
    else:
        if ended:
            _log.info("worker.took_over", leases=ended)


async def _deliver(context: Context, stop: asyncio.Event) -> None:
    """Deliver until ``stop`` is set; an error at the start, such as in certificates, affects no other work."""
    while not stop.is_set():
        try:
            async with Delivery(context) as delivery:
                await delivery.run(stop)
        except Exception:
            _log.exception("delivery.ended")
            await wait(PAUSE_SECONDS, stop)
