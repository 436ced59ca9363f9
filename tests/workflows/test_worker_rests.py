"""What can wait leaves sales their share of the processor."""

from __future__ import annotations

import asyncio

from promenade.worker import Worker
from tests.workflows.shop import Shop

WORKED = 0.02
ROUNDS = 5


class Making(Worker):
    """A worker with codes to make, and no end of them. ``times`` are when its rounds began and ended."""

    stop: asyncio.Event
    times: list[float]

    async def run_once(self) -> int:
        now = asyncio.get_running_loop().time
        self.times.append(began := now())
        while now() < began + WORKED:
            pass
        self.times.append(now())
        if len(self.times) == 2 * ROUNDS:
            self.stop.set()
        return 1


async def test_codes_and_forecasts_rest_for_as_long_as_they_worked(shop: Shop) -> None:
    worker = Making(shop.context)
    worker.stop, worker.times = asyncio.Event(), []
    await worker.run(worker.stop)
    rests = [began - ended for ended, began in zip(worker.times[1:-1:2], worker.times[2::2], strict=True)]
    assert len(rests) == ROUNDS - 1
    assert min(rests) > 0.9 * WORKED


async def test_a_sale_ends_the_rest(shop: Shop) -> None:
    class Woken(Making):
        async def run_once(self) -> int:
            done = await super().run_once()
            shop.context.jobs_ready.set()
            return done

    worker = Woken(shop.context)
    worker.stop, worker.times = asyncio.Event(), []
    await worker.run(worker.stop)
    rests = [began - ended for ended, began in zip(worker.times[1:-1:2], worker.times[2::2], strict=True)]
    assert min(rests) < 0.5 * WORKED
