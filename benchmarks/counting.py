"""What it costs to count a sale in the reports, and to count it again in a rebuild: CPU time of worker and PostgreSQL.

The time is that of processors, not of the clock, so that a busy machine changes little. How many sales a server counts
in a second follows from it: a second of a processor, divided by what a sale takes of it.
"""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import false, func, select, update

from benchmarks import stored_sales
from benchmarks.databases import Spent, places, postgresql_analyzed, spent
from benchmarks.measure import show
from benchmarks.roles import as_served
from benchmarks.scale import Scale
from promenade.app import opened_context
from promenade.demo.seeding import TENANT
from promenade.settings import Settings
from promenade.store.driver.migrations import upgrade
from promenade.store.driver.schema import table
from promenade.workflows.context import Context
from promenade.workflows.reports.aggregating import Run, count_portion
from promenade.workflows.reports.rebuilding import begin_rebuild, rebuild_portion

__all__ = ["run"]

LINES = 6
PORTION = 2_000  # as a worker of its own counts a backlog


def run(scale: Scale) -> None:
    """Print every table of this part."""
    sales, turns = scale.of(2_000, 500, 4), scale.of(5, 3, 1)
    for place in places():
        asyncio.run(measure(place.database, place.url, sales, turns, scale))


async def measure(database: str, url: str, sales: int, turns: int, scale: Scale) -> None:
    """Print what counting ``sales`` sales takes, and counting them again in a rebuild."""
    await asyncio.to_thread(upgrade, url)
    served = await asyncio.to_thread(as_served, url)
    async with opened_context(Settings(database=served, data_dir=Path())) as context:
        assortment = await stored_sales.prepare(context, articles=scale.of(20_000, 20_000, 5_000))
        await _count(context)
        await stored_sales.sell(context, assortment, range(sales), lines=LINES)
        counted, rebuilt = [], []
        await _count(context)  # every row of the sums exists by now, as after a day
        if url.startswith("postgresql"):
            await postgresql_analyzed(url)  # a server in use does it by itself
        for _ in range(turns):
            await context.database.write(_mark, tenant=TENANT)
            counted.append(await spent(url, partial(_count, context)))
            await begin_rebuild(context.database, TENANT)
            await _empty(context)
            rebuilt.append(await spent(url, partial(_rebuild, context)))
        total = await context.database.read(_number, tenant=TENANT)
    show(
        f"Counting sales of {LINES} lines and three evaluations on {database}, {PORTION} at a time, CPU time per sale",
        ("", "worker ms", "server ms", "both ms", "sales/s of a processor", "a million sales, min"),
        [_told("counted", counted, total), _told("rebuilt", rebuilt, total)],
        f"{total} sales, {total - sales} of them of {stored_sales.LINES} lines; the middle of {turns} turns. "
        "Worker and server may work at the same time.",
    )


def _told(name: str, found: list[Spent], sales: int) -> tuple[str, ...]:
    middle = sorted(found, key=lambda one: one.program + one.server)[len(found) // 2]
    worker, server = (one * 1000 / sales for one in (middle.program, middle.server))
    both = max(worker + server, 1e-3)
    return name, f"{worker:.3f}", f"{server:.3f}", f"{both:.3f}", f"{1000 / both:,.0f}", f"{both * 1000 / 60:.1f}"


async def _count(context: Context) -> None:
    while (await count_portion(context, TENANT, Run(context.new_id), PORTION)).counted:
        pass


async def _empty(context: Context) -> None:
    while (found := await rebuild_portion(context, TENANT, Run(context.new_id), PORTION)) and found.counted:
        pass


async def _rebuild(context: Context) -> None:
    while await rebuild_portion(context, TENANT, Run(context.new_id), PORTION) is not None:
        pass


async def _mark(session: Any) -> int:
    """Mark every sale as not counted: they are added once more."""
    jobs = table("side_effect_jobs")
    return int(await session.rowcount(update(jobs).values(reported=false())))


async def _number(session: Any) -> int:
    return int((await session.execute(select(func.count()).select_from(table("side_effect_jobs"))))[0][0])
