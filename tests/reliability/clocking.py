"""Clockworks that tests kill: `python -m tests.reliability.clocking URL WORKERS SECONDS`, their clocks SECONDS off.

Prints `portion` before each unit that moves rows, so that it can be killed in the middle of a run, and ends when
nothing in the database is due any more.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from promenade.store.clockwork.due import find_due
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.worker import Clockwork
from promenade.workflows.authoring import Authoring
from promenade.workflows.clockwork import ClockJob, clock_jobs, passages, runs
from promenade.workflows.context import Context
from tests.workflows.shop import open_shop

PASSAGES = (*passages.PROMOTIONS, *passages.CAMPAIGNS, *passages.BUDGETS)
NAMES = ("promotions.expire", "campaigns.move", "budgets.move")


async def is_anything_due(context: Context) -> bool:
    async def work(session: Session) -> bool:
        return any([await find_due(session, one, context.clock(), None, 1) for one in PASSAGES])

    return await context.database.read(work, system=True)


async def watch(context: Context, stop: asyncio.Event) -> None:
    """Set ``stop`` when all work is done."""
    while await is_anything_due(context):
        with_pause = asyncio.create_task(stop.wait())
        await asyncio.wait({with_pause}, timeout=0.1)
        with_pause.cancel()
    stop.set()


def hasten() -> Mapping[str, ClockJob]:
    """Shorten leases and portions, so that a second covers as much as a minute usually does."""
    begin = Authoring.begin

    async def telling(self: Any, *, alone: bool) -> None:
        print("portion", flush=True)
        await begin(self, alone=alone)

    vars(passages)["PORTION"] = 4
    vars(runs)["LEASE"] = timedelta(seconds=1)
    Authoring.begin = telling  # type: ignore[method-assign]
    return {name: replace(clock_jobs()[name], every=timedelta(seconds=0.1)) for name in NAMES}


async def main(url: str, workers: int, seconds_off: float) -> None:
    jobs = hasten()
    database = await open_database(url)
    shop = await open_shop(database, is_new=False)
    context = replace(
        shop.context,
        clock=lambda: datetime.now(UTC) + timedelta(seconds=seconds_off),
        new_id=lambda: str(uuid.uuid4()),
    )
    stop = asyncio.Event()
    clockworks = [Clockwork(context, jobs, look_seconds_min=0.05) for _ in range(workers)]
    await asyncio.gather(watch(context, stop), *(one.run(stop) for one in clockworks))
    await database.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
