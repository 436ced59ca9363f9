"""Workers killed in the middle of a forecast, and several at once: the result is that of a single worker."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
from datetime import timedelta
from typing import Any

from promenade.store.driver.unit import Database
from promenade.workflows.forecasts.asking import Period, prepare_forecast, store_forecast
from tests.kit.databases import Dialect
from tests.kit.processes import dying_with_parent
from tests.workflows.forecasts.market import OWN, START, TRIED, Market, action, identity, open_market, promotion

SALES = 400
KILLS = 4
LEASE_SECONDS = 3
"""Of a worker that is killed: how long the next one waits for its forecast."""
LAST_LEASE_SECONDS = 60
"""Of the workers that finish: longer than a work unit takes on any machine. A lease that expires counts as an attempt,
and the kills leave a single one."""
SECONDS_MAX = 300
CHILDREN = ("PromotionForecastAmounts", "PromotionForecastBudgets", "PromotionForecastDisplacements")
UNLIKE = {"id", "forecast_id", "created_at", "modified_at", "started_at", "completed_at", "version"}


def start(url: str, lease_seconds: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        dying_with_parent(
            signal.SIGKILL, sys.executable, "-m", "tests.workflows.forecasts.working", url, str(lease_seconds)
        ),
        stdout=subprocess.PIPE,
        text=True,
    )


def kill_after(pages: int, victim: subprocess.Popen[str]) -> None:
    """Kill a worker (SIGKILL) as soon as it has printed this many pages, or has ended."""
    assert victim.stdout is not None
    with victim.stdout:
        for _ in range(pages):
            if not victim.stdout.readline():
                break
        victim.kill()
        victim.wait()


def kill_and_finish(url: str, dialect: Dialect, rng: random.Random) -> None:
    """Kill one worker after the other during its work; the last ones finish it, on PostgreSQL two at a time."""
    for _ in range(KILLS):
        kill_after(rng.randint(1, 3), start(url, LEASE_SECONDS))
    last = [start(url, LAST_LEASE_SECONDS) for _ in range(2 if dialect == "postgresql" else 1)]
    for process in last:
        process.communicate(timeout=SECONDS_MAX)
        assert process.returncode == 0


async def all_of(market: Market, forecast_id: str) -> dict[str, list[dict[str, Any]]]:
    """Return a forecast with all its rows, without the values that differ between equal forecasts."""
    found = {"PromotionForecasts": await market.rows("PromotionForecasts", id=forecast_id)}
    found |= {name: await market.rows(name, forecast_id=forecast_id) for name in CHILDREN}
    plain = {
        name: [{key: value for key, value in row._mapping.items() if key not in UNLIKE} for row in rows]
        for name, rows in found.items()
    }
    return {name: sorted(rows, key=repr) for name, rows in plain.items()}


async def test_a_forecast_whose_workers_are_killed_counts_each_sale_once(
    database: Database, database_url: str, dialect: Dialect, seed: int
) -> None:
    market = await open_market(database)
    rng = random.Random(seed)
    budget = {"ID": identity("b"), "code": "b", "name": "b", "status": "ACTIVE", "currency": "EUR",
              "totalAmount": 50}  # fmt: skip
    link = {"budget_ID": identity("b"), "promotion_ID": TRIED}
    await market.put(promotion("other", action("beer", "PERCENTAGE", "10")), OWN)
    tried = promotion("tried", action("beer", "PERCENTAGE", "40"), status="DRAFT", priority=1,
                      exclusivityLevel="PROMOTION", maxApplicationsPerCustomer=30)  # fmt: skip
    await market.put({"Budgets": [budget], **tried, "BudgetPromotions": [link]}, OWN)
    await market.sell_many(rng, SALES, tenants=(OWN,))
    period = Period(START.date(), market.now[0].date() + timedelta(days=1))
    wanted = await all_of(market, await market.forecast(period.date_from, period.date_to))
    prepared = await prepare_forecast(market.context, OWN, TRIED, period, baskets_max=-1)
    forecast_id = await database.write(
        lambda session: store_forecast(session, prepared, user="planner", new_id=market.context.new_id), tenant=OWN
    )
    await asyncio.to_thread(kill_and_finish, database_url, dialect, rng)
    assert await all_of(market, forecast_id) == wanted
    assert wanted["PromotionForecasts"][0]["baskets_replayed"] == SALES
    assert wanted["PromotionForecastBudgets"][0]["exhausted_on"] is not None
    assert not await market.rows("forecast_jobs")
    assert not await market.rows("forecast_customers")
