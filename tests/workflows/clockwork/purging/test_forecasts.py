"""A forecast after a purge: deleted evaluations count as skipped, and nothing else changes."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from promenade.store.driver.unit import Database
from promenade.workflows.clockwork.purges import CONDEMNED_FOR, iterations
from promenade.workflows.context import Retention
from tests.workflows.forecasts.market import OWN, Market, action, open_market, promotion

DAY = timedelta(days=1)
OLD, YOUNG = 13, 17


async def purge(market: Market) -> None:
    context = replace(market.context, retention=Retention(iterations=1, sales=30))
    for _ in range(2):
        cursor: str | None = None
        while True:
            ran = await iterations(context, cursor)
            cursor = ran.cursor
            if not ran.more:
                break
        market.now[0] += CONDEMNED_FOR + timedelta(seconds=1)


@pytest.mark.parametrize("background", [False, True])
async def test_a_forecast_skips_deleted_sales_and_reports_their_number(
    database: Database, background: bool, seed: int
) -> None:
    market = await open_market(database)
    await market.put(promotion("tried", action("beer", "PERCENTAGE", "20"), status="INACTIVE"))
    rng = random.Random(seed)
    start = market.now[0].date() - DAY
    await market.sell_many(rng, OLD, tenants=(OWN,))
    market.now[0] += timedelta(days=31)
    since = market.now[0].date()
    await market.sell_many(rng, YOUNG, tenants=(OWN,))
    alone = await market.forecast(since, market.now[0].date() + DAY, background=background)
    await purge(market)
    told = await market.forecast(start, market.now[0].date() + DAY, background=background)
    (row,) = await market.rows("PromotionForecasts", id=told)
    assert (row.status, row.progress) == ("COMPLETED", 100)
    assert (row.baskets_total, row.baskets_replayed, row.baskets_skipped) == (OLD + YOUNG, YOUNG, OLD)

    async def amounts(forecast_id: str) -> set[tuple[object, ...]]:
        found = await market.rows("PromotionForecastAmounts", forecast_id=forecast_id)
        return {(one.currency, one.baskets_replayed, one.discount, one.net_sales_with) for one in found}

    assert await amounts(told) == await amounts(alone), "what is kept counts as it did before"
