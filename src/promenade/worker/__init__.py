"""Background work: what is done after a sale, in portions, of what was imported, by the clock, and for subscribers.

In a store also the link to its cloud.

In a process of its own (`promenade worker`) or inside `promenade serve`. Any number of workers may run on one
PostgreSQL database. A worker that dies leaves jobs whose lease runs out; another takes them up.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

import structlog

from promenade.errors import Unavailable
from promenade.store.leases import end_all
from promenade.worker.clockwork import Clockwork
from promenade.worker.delivery import Delivery
from promenade.worker.imports import Imports
from promenade.worker.rounds import Worker
from promenade.worker.uplink import UplinkWorker
from promenade.workflows.context import Context

__all__ = ["Clockwork", "Delivery", "Imports", "UplinkWorker", "Worker", "run_worker"]

PAUSE_SECONDS = 10.0  # before deliveries are begun anew

_log = structlog.get_logger(__name__)


async def run_worker(context: Context, stop: asyncio.Event) -> None:
    """Work with the usual settings until ``stop`` is set; the kinds of work do not wait for each other.

    One worker at a time for a SQLite database: what one before it held is taken up at once.
    """
    await _take_over(context)
    await asyncio.gather(
        Worker(context).run(stop),
        Clockwork(context).run(stop),
        Imports(context).run(stop),
        _deliver(context, stop),
        UplinkWorker(context).run(stop),
    )


async def _take_over(context: Context) -> None:
    """End the leases of the process before this one, where there can be no other: nobody waits for them."""
    if context.database.dialect != "sqlite":
        return
    at = context.clock()
    try:
        ended = await context.database.write(lambda session: end_all(session, at=at), system=True, durable=False)
    except Unavailable as error:  # they run out
        _log.warning("worker.leases_left", reason=error.message)
    else:
        if ended:
            _log.info("worker.took_over", leases=ended)


async def _deliver(context: Context, stop: asyncio.Event) -> None:
    """Deliver until told to stop; what keeps that from beginning, such as certificates, keeps no other work."""
    while not stop.is_set():
        try:
            async with Delivery(context) as delivery:
                await delivery.run(stop)
        except Exception:
            _log.exception("delivery.ended")
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), PAUSE_SECONDS)
