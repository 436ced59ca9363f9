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
from promenade.workflows.clockwork import reports
from promenade.workflows.reports.aggregating import Run, aggregate, aggregate_all
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
