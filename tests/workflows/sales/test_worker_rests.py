"""Deferrable work leaves processor time to sales, and never delays their side effects."""

from __future__ import annotations

import asyncio

from promenade.worker import Worker
from tests.workflows.sales.priced import PRICED
from tests.workflows.shop import Shop

WORKED = 0.02
ROUNDS = 5


class Making(Worker):
    """A worker with an endless number of codes to make. ``times`` are when its portions began and ended."""

    stop: asyncio.Event
    times: list[float]

    async def do_what_can_wait(self) -> int:
        now = asyncio.get_running_loop().time
        self.times.append(began := now())
        while now() < began + WORKED:
            pass
        self.times.append(now())
        if len(self.times) == 2 * ROUNDS:
            self.stop.set()
        return 1


async def test_codes_and_forecasts_pause_as_long_as_they_worked(shop: Shop) -> None:
    worker = Making(shop.context)
    worker.stop, worker.times = asyncio.Event(), []
    await worker.run(worker.stop)
    rests = [began - ended for ended, began in zip(worker.times[1:-1:2], worker.times[2::2], strict=True)]
    assert len(rests) == ROUNDS - 1
    assert min(rests) > 0.9 * WORKED


async def test_a_sale_never_waits_for_deferrable_work(shop: Shop) -> None:
    class Stuck(Worker):
        async def do_what_can_wait(self) -> int:
            await stop.wait()
            return 0

    stop = asyncio.Event()
    running = asyncio.create_task(Stuck(shop.context).run(stop))
    await shop.confirm("T1", await shop.price("T1", PRICED, customer_id="C1"), "off")
    async with asyncio.timeout(30):
        while (await shop.rows("side_effect_jobs"))[0].status != "COMPLETED":
            pass  # the read yields to the worker
    stop.set()
    async with asyncio.timeout(30):
        await running
