"""Reports count each confirmed sale once, to the cent, whatever fails and whichever worker counts."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from dataclasses import replace

import pytest
from sqlalchemy import insert, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database
from promenade.store.reports.queue import Lane
from promenade.workflows.clockwork import clock_jobs, reports
from promenade.workflows.reports.aggregating import Run, aggregate, aggregate_all, count_portion
from promenade.workflows.reports.rebuilding import begin_rebuild, rebuild_portion
from tests.reliability.counted import Breaking, Broken, Till, kept, reckoned, shown
from tests.workflows.shop import TENANT, Shop, open_shop

STATEMENTS_MIN = 15  # a portion with fewer writes has lost a fold
BREAKS_MAX = 200


@pytest.fixture
async def till(database: Database) -> Till:
    """A till of a shop whose tenant is known to the clockwork."""
    row = {"tenant_id": TENANT, "name": "A"}
    await database.write(lambda session: session.rowcount(insert(table("Tenants")), row), system=True)
    opened = Till(await open_shop(database), random.Random(7))
    await opened.open()
    return opened


def breaking(shop: Shop, at: int) -> Shop:
    return replace(shop, context=replace(shop.context, database=Breaking(shop.context.database, at)))


async def work(shop: Shop) -> None:
    """Run the clockwork's job until no work is left."""
    cursor, more = None, True
    while more:
        ran = await reports.sales(shop.context, cursor)
        assert ran.trouble is None
        cursor, more = ran.cursor, ran.more


async def test_a_portion_that_breaks_off_at_any_statement_leaves_nothing_and_counts_once_afterwards(till: Till) -> None:
    shop = till.shop
    await till.sell(3)
    for step in range(1, BREAKS_MAX):
        try:
            assert await aggregate(breaking(shop, step).context, shop.tenant) == 3
            break
        except Broken:
            assert not any((await shown(shop)).values())
            assert not await shop.rows("side_effect_jobs", reported=True)
    assert step > STATEMENTS_MIN
    assert await shown(shop) == await reckoned(shop)


async def test_reports_match_the_logs_whichever_worker_counts_and_whatever_fails(till: Till) -> None:
    shop = till.shop

    async def count(seed: int) -> None:
        draw = random.Random(seed)
        for _ in range(12):
            with suppress(Broken):
                await aggregate(breaking(shop, draw.randint(5, 60)).context, shop.tenant, limit=draw.randint(1, 6))

    async def sell() -> None:
        for _ in range(5):
            await till.sell(5)
            await till.cancel(2)

    await till.sell(5)
    await asyncio.gather(sell(), *(count(seed) for seed in range(3)))
    await aggregate_all(shop.context, shop.tenant)
    await till.cancel(3)
    await aggregate_all(shop.context, shop.tenant)
    assert await shown(shop) == await reckoned(shop)
    before = await kept(shop)
    assert all(before[name] for name in ("PromotionPerformance", "budget_utc_days", "promotion_utc_days"))
    # Recounting in order of confirmation and in different portions gives the same contents in every table.
    await begin_rebuild(shop.context.database, shop.tenant)
    await work(shop)
    assert await kept(shop) == before


async def test_an_interrupted_recount_continues_where_it_stopped(till: Till) -> None:
    shop = till.shop
    await till.sell(8)
    await till.cancel(2)
    await aggregate_all(shop.context, shop.tenant)
    await till.cancel(1)
    await begin_rebuild(shop.context.database, shop.tenant)
    await till.sell(3)
    await till.cancel(2)
    broken, step = 0, 1
    while await rebuild_portion(breaking(shop, 1000).context, shop.tenant, Run(shop.context.new_id), 1) is not None:
        with suppress(Broken):
            broken += 1
            await rebuild_portion(breaking(shop, step).context, shop.tenant, Run(shop.context.new_id), 2)
            broken -= 1
        step += 5
    assert broken > 2
    await work(shop)
    assert await shown(shop) == await reckoned(shop)


async def test_the_comparison_detects_a_sale_that_is_counted_twice(till: Till) -> None:
    shop = till.shop
    await till.sell(2)
    await aggregate_all(shop.context, shop.tenant)
    twice = update(table("side_effect_jobs")).values(reported=False)
    await shop.context.database.write(lambda session: session.rowcount(twice), tenant=shop.tenant)
    await aggregate_all(shop.context, shop.tenant)
    assert await shown(shop) != await reckoned(shop)


@pytest.mark.parametrize("workers", [2, 3])
async def test_workers_side_by_side_count_as_one_does_and_as_a_rebuild_does(till: Till, workers: int) -> None:
    """In lanes or not, with sales, returns and cancellations meanwhile, and killed in the middle."""
    shop = till.shop
    is_postgresql = shop.context.database.dialect == "postgresql"

    async def count(number: int) -> None:
        draw = random.Random(workers * 10 + number)
        for _ in range(10):
            lane = Lane(draw.randrange(4), 4) if is_postgresql and draw.random() < 0.7 else None
            context = breaking(shop, draw.choice((1000, draw.randint(3, 60)))).context
            with suppress(Broken):
                await count_portion(context, TENANT, Run(shop.context.new_id), draw.randint(1, 8), lane=lane)

    async def sell() -> None:
        for _ in range(5):
            await till.sell(5)
            await till.cancel(2)

    await till.sell(20)
    await asyncio.gather(sell(), *(count(number) for number in range(workers)))
    await work(shop)
    assert await shown(shop) == await reckoned(shop)
    before = await kept(shop)
    await begin_rebuild(shop.context.database, shop.tenant)
    await work(shop)
    assert await kept(shop) == before


async def test_helpers_count_what_has_waited_and_leave_the_rest_to_others(till: Till) -> None:
    shop = till.shop
    await till.sell(40)
    helpers = [one for name, one in clock_jobs().items() if name.startswith("reports.aggregate.")]
    assert not sum([(await one.run(shop.context, None)).done for one in helpers])  # nothing has waited for long
    shop.later(seconds=60)
    done = [(await one.run(shop.context, None)).done for one in helpers]
    assert all(done) if shop.context.database.dialect == "postgresql" else not any(done)
    left = await shop.rows("side_effect_jobs", reported=False)
    assert len(left) == 40 - sum(done) > 0
    await begin_rebuild(shop.context.database, shop.tenant)
    assert not sum([(await one.run(shop.context, None)).done for one in helpers])
    await work(shop)
    assert await shown(shop) == await reckoned(shop)
    assert not await shop.rows("side_effect_jobs", reported=False)


async def test_first_and_last_use_within_an_hour_are_those_of_the_logs(till: Till) -> None:
    shop = till.shop
    for _ in range(8):
        shop.later(minutes=1)
        await till.sell(2)
    await aggregate_all(shop.context, shop.tenant)
    logs = {row.id: row.confirmed_at for row in await shop.rows("CalculationLogs")}
    used: dict[str, list[object]] = {}
    for row in await shop.rows("CalculationLogPromotions"):
        if row.pilot_arm != "CONTROL":
            used.setdefault(row.promotion_id, []).append(logs[row.log_id])
    for row in await shop.rows("PromotionPerformance"):
        moments = sorted(used[row.promotion_id])  # type: ignore[type-var]
        assert (row.first_applied_at, row.last_applied_at) == (moments[0], moments[-1])
