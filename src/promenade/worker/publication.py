"""Publication of events to the operator's broker: one worker of all does it, so that events stay in order.

It holds a lease like a job of the clock, in turns of half a minute. A worker that dies leaves the lease to the next one
within a minute, and what it had published without recording it is published once more.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

from promenade import metrics
from promenade.log import Logger
from promenade.settings import BrokerAddress
from promenade.worker.clockwork import stoppable
from promenade.worker.delivery import GATHER_SECONDS, GROWTH, POLL_SECONDS
from promenade.worker.loop import keep_going, wait
from promenade.workflows.clockwork import ClockJob, JobResult
from promenade.workflows.clockwork.runs import due, read_rows, run
from promenade.workflows.context import Context
from promenade.workflows.pace import Rest
from promenade.workflows.webhooks.brokers import Broker, open_broker
from promenade.workflows.webhooks.publishing import publish_portion

NAME = "events.publish"
TURN_SECONDS = 25.0  # with one answer that takes its time still shorter than a run may be
LOOK_SECONDS = 1.0  # between two looks at whether another worker has let go
PORTION = 128  # events of one batch on SQLite, where tills wait while it is taken out of the queue
BACKOFF_SECONDS, BACKOFF_SECONDS_MAX = 0.5, 15.0

_log = Logger(__name__)


class Publisher:
    """Publishes until stopped; without a broker in the settings it does nothing."""

    def __init__(
        self, context: Context, *, turn_seconds: float = TURN_SECONDS, poll_seconds: float = POLL_SECONDS
    ) -> None:
        self._context = context
        self._turn_seconds = turn_seconds
        self._poll_seconds = poll_seconds
        self._rest = Rest(seconds_min=GATHER_SECONDS, seconds_max=poll_seconds)
        self._size = PORTION * (GROWTH if context.database.dialect == "postgresql" else 1)
        self._failures = 0
        self._own: set[str] = set()  # leases that could not be released

    async def run(self, stop: asyncio.Event) -> None:
        """Publish until ``stop`` is set."""
        address = self._context.events_to
        if address is None:
            return
        broker = open_broker(address)
        try:
            await keep_going("publication", stop, lambda: self._work(broker, address, stop))
        finally:
            await broker.close()

    async def _work(self, broker: Broker, address: BrokerAddress, stop: asyncio.Event) -> None:
        """Take a turn, or see that another worker has it."""

        async def turn(context: Context, _: str | None) -> JobResult:
            return await self._turn(context, broker, address, stop)

        jobs = {NAME: ClockJob(NAME, timedelta(seconds=LOOK_SECONDS), turn)}
        rows = await read_rows(self._context, jobs)
        self._own &= {row.lease_owner for row in rows if row.lease_owner is not None}
        found = due(jobs, rows, self._context.clock(), self._own)
        if found:
            await stoppable(stop, run(self._context, jobs[NAME], found[0], self._own))
            return
        metrics.events_publish_lag.set(0)  # the worker that publishes tells it
        await wait(LOOK_SECONDS, stop)

    async def _turn(self, context: Context, broker: Broker, address: BrokerAddress, stop: asyncio.Event) -> JobResult:
        loop = asyncio.get_running_loop()
        began, done, trouble = loop.time(), 0, None
        while not stop.is_set() and loop.time() - began < self._turn_seconds:
            started = loop.time()
            portion = await publish_portion(context, broker, address.envelope, self._size)
            done += portion.number
            if portion.error is not None:
                if trouble is None:
                    _log.warning("publication.waits_for_the_broker", reason=portion.error)
                trouble = portion.error
                await wait(self._backoff(), stop)
                continue
            trouble, self._failures = None, 0
            await wait(self._rest.after(loop.time() - started) if portion.more else self._poll_seconds, stop)
        return JobResult(done, more=True, trouble=trouble)

    def _backoff(self) -> float:
        """Return the seconds until the broker is tried again: twice as long each time."""
        self._failures += 1
        return min(BACKOFF_SECONDS * 2.0 ** min(self._failures - 1, 10), BACKOFF_SECONDS_MAX)
