"""The lease of a forecast, when the clocks of its workers differ."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from promenade.store.driver.leases import CLOCKS_APART
from promenade.store.driver.unit import Database
from promenade.store.forecasts.runs import claim
from promenade.workflows.forecasts.asking import Period, prepare_forecast, store_forecast
from tests.workflows.forecasts.market import OWN, START, TRIED, action, open_market, promotion


@pytest.mark.parametrize(
    ("behind", "is_taken"),
    [
        (timedelta(milliseconds=1), False),  # it read the time before the other worker did, and was served after it
        (CLOCKS_APART, False),
        (timedelta(hours=1), True),  # the first worker's clock has been set back: its lease would last for an hour
    ],
)
async def test_a_worker_whose_clock_is_behind_does_not_take_a_new_lease(
    database: Database, behind: timedelta, is_taken: bool
) -> None:
    market = await open_market(database)
    await market.put(promotion("tried", action("beer", "PERCENTAGE", "40"), status="DRAFT"), OWN)
    period = Period(START.date(), START.date() + timedelta(days=1))
    prepared = await prepare_forecast(market.context, OWN, TRIED, period, baskets_max=-1)
    await database.write(
        lambda session: store_forecast(session, prepared, user="planner", new_id=market.context.new_id), tenant=OWN
    )
    at = market.now[0] + timedelta(hours=2)

    async def claimed(owner: str, now: datetime) -> bool:
        job = await database.write(
            lambda session: claim(session, lease_owner=owner, at=now, lease_seconds=60), system=True
        )
        return job is not None

    assert await claimed("first", at)
    assert await claimed("second", at - behind) == is_taken
