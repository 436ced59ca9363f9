"""Time-driven changes happen once, even if workers are killed midway and clocks are an hour off (A4)."""

from __future__ import annotations

import asyncio
import json
import random
import signal
import subprocess
import sys
import uuid
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import insert

from promenade.engine.outcome import Outcome
from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database, Session
from promenade.workflows.clockwork import clock_jobs
from promenade.workflows.context import Context
from tests.kit.databases import Dialect
from tests.kit.processes import dying_with_parent
from tests.reliability.crashing import opened
from tests.reliability.test_workers import END_SECONDS_MAX, kill_after
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import TENANT, open_shop

SOAK = (pytest.mark.soak, pytest.mark.timeout(900))
SECONDS_OFF = (0, 3600, -3600)
HOUR = timedelta(hours=1)


def start(url: str, workers: int, seconds_off: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        dying_with_parent(
            signal.SIGKILL, sys.executable, "-m", "tests.reliability.clocking", url, str(workers), str(seconds_off)
        ),
        stdout=subprocess.PIPE,
        text=True,
    )


def kill_and_replace(url: str, dialect: Dialect, rng: random.Random, kills: int) -> None:
    """Run three workers; repeatedly kill one in the middle of a run and replace it by one with a shifted clock.

    A SQLite file belongs to one process: there the three start and die together.
    """
    workers = 3 if dialect == "sqlite" else 1
    running = [start(url, workers, 0) for _ in range(3 // workers)]
    for _ in range(kills):
        kill_after(running.pop(rng.randrange(len(running))), "portion")
        running.append(start(url, workers, rng.choice(SECONDS_OFF)))
    for process in running:
        process.communicate(timeout=END_SECONDS_MAX)
        assert process.returncode == 0


async def put_due(database: Database, number: int) -> None:
    """Create promotions, campaigns and budgets that are due by every clock, and some that are due by none."""
    now = datetime.now(UTC)

    def rows(kind: str, count: int, **columns: Any) -> list[dict[str, Any]]:
        return [{"id": str(uuid.uuid4()), "code": f"{kind}{n}", "name": kind, **columns} for n in range(count)]

    async def work(session: Session) -> None:
        for set_name, each in (
            ("Promotions", rows("over", number, status="ACTIVE", valid_to=now - 2 * HOUR)),
            ("Promotions", rows("runs", number, status="ACTIVE", valid_to=now + 3 * HOUR)),
            ("Campaigns", rows("missed", number, status="SCHEDULED", start_at=now - 4 * HOUR, end_at=now - 2 * HOUR)),
            ("Campaigns", rows("begun", number, status="SCHEDULED", start_at=now - 4 * HOUR, end_at=now + 3 * HOUR)),
            ("Budgets", rows("over", number, status="ACTIVE", valid_to=now - 2 * HOUR, **_MONEY)),
            ("Budgets", rows("begun", number, status="SCHEDULED", valid_from=now - 2 * HOUR, **_MONEY)),
        ):
            await session.execute_many(insert(table(set_name)), each)

    await know_tenant(database)
    await database.write(work, tenant=TENANT)


async def run_wholly(name: str, context: Context) -> None:
    """Run a clockwork job until no work is left: after a second a run leaves the rest to the next one."""
    cursor, more = None, True
    while more:
        ran = await clock_jobs()[name].run(context, cursor)
        cursor, more = ran.cursor, ran.more


_MONEY = {"total_amount": Decimal(100), "currency": "EUR"}


async def know_tenant(database: Database) -> None:
    row = {"tenant_id": TENANT, "name": "A"}
    await database.write(lambda session: session.rowcount(insert(table("Tenants")), row), system=True)


@pytest.mark.check
@pytest.mark.parametrize(("number", "kills"), [(16, 5), pytest.param(200, 30, marks=SOAK)])
async def test_each_row_that_is_due_moves_once_with_one_event(
    database_url: str, dialect: Dialect, seed: int, number: int, kills: int
) -> None:
    database = await open_database(database_url)
    await put_due(database, number)
    await database.close()
    await asyncio.to_thread(kill_and_replace, database_url, dialect, random.Random(seed), kills)
    async with opened(database_url) as shop:
        moved = {
            ("Promotions", "over"): ("EXPIRED", 2, ["EXPIRE"], ["PROMOTION_EXPIRED"]),
            ("Promotions", "runs"): ("ACTIVE", 1, [], []),
            ("Campaigns", "missed"): ("COMPLETED", 3, ["END", "START"], ["CAMPAIGN_ENDED", "CAMPAIGN_STARTED"]),
            ("Campaigns", "begun"): ("ACTIVE", 2, ["START"], ["CAMPAIGN_STARTED"]),
            ("Budgets", "over"): ("EXPIRED", 2, ["EXPIRE"], []),
            ("Budgets", "begun"): ("ACTIVE", 2, ["START"], []),
        }
        events = [json.loads(row.payload) for row in await shop.rows("outbox_events")]
        trail = await shop.rows("AuditLogs")
        for (set_name, name), expected in moved.items():
            rows = await shop.rows(set_name, name=name)
            assert len(rows) == number
            for row in rows:
                acts = sorted(one.action for one in trail if one.entity_id == row.id)
                kinds = sorted(one["type"] for one in events if row.id in one["data"].values())
                assert (row.status, row.version, acts, kinds) == expected, (set_name, name)
        assert len(events) == 4 * number


async def test_a_campaign_whose_window_was_missed_starts_before_it_ends(database: Database) -> None:
    await put_due(database, 3)
    shop = await open_shop(database, is_new=False)
    context = replace(shop.context, clock=lambda: datetime.now(UTC), new_id=lambda: str(uuid.uuid4()))
    await run_wholly("campaigns.move", context)
    happened: dict[str, list[str]] = {}
    for row in sorted(await shop.rows("outbox_events"), key=lambda row: row.created_at):
        happened.setdefault(json.loads(row.payload)["data"]["campaignId"], []).append(row.kind)
    both = ("CAMPAIGN_STARTED", "CAMPAIGN_ENDED")
    assert Counter(map(tuple, happened.values())) == {both: 3, both[:1]: 3}


# --- budgets that are charged meanwhile -------------------------------------------------------------------------------


@pytest.mark.parametrize("ends", [True, False], ids=["expires", "starts"])
async def test_b1_b3_confirms_charge_a_budget_while_the_clock_moves_it(database: Database, ends: bool) -> None:
    """Twelve sales of 10.00 on a budget of 50.00 while two clockworks move it: never overspent, at most one event."""
    await know_tenant(database)
    shop = await open_shop(database)
    await shop.promotion("off")
    validity = {"status": "ACTIVE", "valid_to": shop.now[0]} if ends else {"status": "SCHEDULED", "valid_from": None}
    await shop.budget("marketing", "50.00", **validity)
    for other in range(4):
        await shop.budget(f"other {other}", "50.00", **validity)
    counters = {f"T{n}": await shop.price(f"T{n}", a_sale()) for n in range(12)}

    async def sell(transaction_id: str) -> None:
        await shop.confirm(transaction_id, counters[transaction_id], "off")

    async def clock() -> None:
        context = replace(shop.context, new_id=lambda: str(uuid.uuid4()))
        await run_wholly("budgets.move", context)

    await asyncio.gather(*(sell(one) for one in counters), clock(), clock())
    row = await shop.row("Budgets", "marketing")
    taken = await shop.rows("BudgetConsumptions")
    assert row.consumed_amount == sum(one.amount for one in taken) <= row.total_amount
    assert len(taken) == 12
    told = [one for one in await shop.rows("outbox_events") if one.kind == "BUDGET_EXHAUSTED"]
    assert len(told) <= 1
    assert row.status == ("EXPIRED" if ends else "EXHAUSTED")
    if not ends:
        assert len(told) == 1
    assert {one.status for one in await shop.rows("Budgets")} == {row.status, "EXPIRED" if ends else "ACTIVE"}


def a_sale() -> Outcome:
    ten_off = discount("off", ((1, 1000),))
    return outcome((line("1", 1000, 10000, ten_off),), (applied("off", 1000, budget_ids=("marketing",)),))
