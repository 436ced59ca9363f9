"""T5: every confirmed transaction ends COMPLETED or FAILED with each local effect once (reliability.md)."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from sqlalchemy import update

from promenade.store.driver.schema import table
from promenade.workflows.sales.side_effects import ATTEMPTS_MAX, claim_jobs
from promenade.workflows.sales.side_effects_requeue import requeue_all_failed
from tests.kit.databases import Dialect
from tests.kit.processes import dying_with_parent
from tests.reliability.crashing import a_sale, opened, prepare
from tests.reliability.test_crashes import each_effect_once
from tests.workflows.shop import identity

SOAK = (pytest.mark.soak, pytest.mark.timeout(900))
SECONDS_OFF = (0, 3600, -3600)
END_SECONDS_MAX = 300
ENOUGH = 1000
"""Attempts of a job whose leases are short and whose workers' clocks jump: on a busy machine it is taken again and
again before one of them gets to its end."""


def start(url: str, workers: int, seconds_off: int, jobs: int = 0, attempts: int = ENOUGH) -> subprocess.Popen[str]:
    numbers = (workers, seconds_off, jobs, attempts)
    return subprocess.Popen(
        dying_with_parent(signal.SIGKILL, sys.executable, "-m", "tests.reliability.working", url, *map(str, numbers)),
        stdout=subprocess.PIPE,
        text=True,
    )


def kill_after(victim: subprocess.Popen[str], said: str) -> None:
    """Kill a process (SIGKILL) as soon as it has printed something, or has ended."""
    assert victim.stdout is not None
    with victim.stdout:
        for line in victim.stdout:
            if line.strip() == said:
                break
        victim.kill()
        victim.wait()


def kill_and_replace(url: str, dialect: Dialect, rng: random.Random, kills: int, attempts: int = ENOUGH) -> None:
    """Run three workers; kill one after a few jobs, repeatedly, and replace it by one whose clock has jumped.

    A SQLite file belongs to one process: there the three start and die together.
    """
    workers = 3 if dialect == "sqlite" else 1
    kill_after(start(url, 1, 0, jobs=3, attempts=attempts), "held")
    running = [start(url, workers, 0, attempts=attempts) for _ in range(3 // workers)]
    for _ in range(kills):
        kill_after(running.pop(rng.randrange(len(running))), "done")
        running.append(start(url, workers, rng.choice(SECONDS_OFF), attempts=attempts))
    for process in running:
        process.communicate(timeout=END_SECONDS_MAX)
        assert process.returncode == 0


@pytest.mark.check
@pytest.mark.parametrize(("sales", "kills"), [(24, 4), pytest.param(200, 25, marks=SOAK)])
async def test_t5_each_effect_happens_once_despite_kills_expired_leases_and_clock_jumps(
    database_url: str, dialect: Dialect, seed: int, sales: int, kills: int
) -> None:
    await prepare(database_url)
    async with opened(database_url) as shop:
        for number in range(1, sales + 1):
            counter = await a_sale(shop, number)
            await shop.confirm(f"T{number}", counter, "off", "coupon-off")
    await asyncio.to_thread(kill_and_replace, database_url, dialect, random.Random(seed), kills)
    async with opened(database_url) as shop:
        assert max(row.attempts for row in await shop.rows("side_effect_jobs")) > 1, "no job was taken twice"
        await each_effect_once(shop, sales)


@pytest.mark.check
@pytest.mark.parametrize(("sales", "kills"), [(12, 3), pytest.param(100, 12, marks=SOAK)])
async def test_t5_requeued_side_effects_are_executed_once(
    database_url: str, dialect: Dialect, seed: int, sales: int, kills: int
) -> None:
    """A coupon type has run out of codes, and each job has one attempt left; workers are killed all along."""
    await prepare(database_url)
    async with opened(database_url) as shop:
        await shop.put(
            "CouponCodeConfigurations", id=identity("few"), coupon_type_id=identity("next-time"), length=1, alphabet="A"
        )
        for number in range(1, sales + 1):
            await shop.confirm(f"T{number}", await a_sale(shop, number), "off", "coupon-off")
        last = update(table("side_effect_jobs")).values(attempts=ATTEMPTS_MAX - 1)
        await shop.context.database.write(lambda session: session.rowcount(last), tenant=shop.tenant)
    await asyncio.to_thread(kill_and_replace, database_url, dialect, random.Random(seed), kills, ATTEMPTS_MAX)
    async with opened(database_url) as shop:
        failed = [row for row in await shop.rows("side_effect_jobs") if row.status == "FAILED"]
        # One got the only code, and others were killed in their last attempt.
        assert len(failed) >= sales - 1
        assert all("CODES_EXHAUSTED" in row.reason or "did not finish" in row.reason for row in failed)
        owed = [row.transaction_id for row in failed if "CODES_EXHAUSTED" in row.reason]
        redeemed = {row.redeemed_transaction_id for row in await shop.rows("CouponCodes") if row.status == "REDEEMED"}
        assert set(owed) <= redeemed  # all other effects were applied
        await shop.change("CouponCodeConfigurations", "few", length=12, alphabet="23456789ABCDEFGHJKLMNPQRSTUVWXYZ")
        context = shop.context
        again = await requeue_all_failed(
            context.database, shop.tenant, user="cli", at=datetime.now(UTC), new_id=context.new_id
        )
        assert again == len(failed)
    await asyncio.to_thread(kill_and_replace, database_url, dialect, random.Random(seed + 1), kills)
    async with opened(database_url) as shop:
        await each_effect_once(shop, sales)


async def test_t5_a_job_left_by_a_clock_ahead_is_not_waited_for(database_url: str) -> None:
    await prepare(database_url)
    async with opened(database_url) as shop:
        counter = await a_sale(shop, 1)
        await shop.confirm("T1", counter, "off", "coupon-off")
        shop.later(hours=1)
        assert len(await claim_jobs(shop.context, 10)) == 2  # and their worker dies
        shop.later(hours=-1)
        await shop.work()
        await each_effect_once(shop, 1)


async def test_t5_a_job_that_always_fails_ends_failed_with_its_reason(database_url: str) -> None:
    await prepare(database_url)
    async with opened(database_url) as shop:
        counter = await a_sale(shop, 1)
        await shop.confirm("T1", counter, "off", "coupon-off")
        jobs = table("side_effect_jobs")
        broken = update(jobs).where(jobs.c.transaction_id == "T1").values(payload=b"not a payload")
        await shop.context.database.write(lambda session: session.rowcount(broken), tenant=shop.tenant)
        for _ in range(20):
            await shop.work()
            shop.later(minutes=10)
        states = {row.transaction_id: row for row in await shop.rows("side_effect_jobs")}
        assert (states["S1"].status, states["T1"].status) == ("COMPLETED", "FAILED")
        assert states["T1"].attempts == 8
        assert states["T1"].reason
        assert {row.transaction_id for row in await shop.rows("LoyaltyTransactions")} == {"S1"}
