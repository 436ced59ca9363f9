"""I1: whatever is imported while workers are killed, every job ends, its counts are right, and nothing is
incomplete.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database
from tests.conftest import StartService
from tests.kit.moved_clock import MovedClock
from tests.kit.service import Service
from tests.reliability.imports.history import KINDS, Import, Shopkeeper
from tests.reliability.imports.serving import ENDED, prepare, rows_of

COMMAND = (sys.executable, "-m", "tests.web.imports.master_data.served")  # a header replaces the certificate
SOAK = (pytest.mark.soak, pytest.mark.timeout(1_800))
END_SECONDS_MAX = 400.0


def live_through(
    keepers: list[Shopkeeper], service: Service, clock: MovedClock, rounds: int, kills: int, rng: random.Random
) -> None:
    """Import, write and sell concurrently while the service is killed."""

    def importing(keeper: Shopkeeper) -> None:
        for turn in range(rounds):
            for kind in keeper.rng.sample(KINDS, len(KINDS)):
                keeper.import_one(turn, kind)

    with ThreadPoolExecutor(3 * len(keepers)) as threads:
        imports = [threads.submit(importing, keeper) for keeper in keepers]
        beside = [threads.submit(work) for keeper in keepers for work in (keeper.write, keeper.sell)]
        pause = threading.Event()
        for _ in range(kills):
            pause.wait(rng.uniform(0.5, 2.0))
            service.kill()
            clock.move(seconds=61)  # the killed service's leases have expired
            service.restart()
        try:
            for one in imports:
                one.result()
        finally:
            keepers[0].stop.set()
        for one in beside:
            one.result()


async def until_all_have_ended(database: Database, tenants: list[str]) -> None:
    deadline = time.monotonic() + END_SECONDS_MAX
    while True:
        jobs = [row for name in tenants for row in await rows_of(database, name, "ImportJobs")]
        open_jobs = [row for row in jobs if row.status not in ENDED]
        if not open_jobs:
            return
        assert time.monotonic() < deadline, open_jobs
        await asyncio.to_thread(threading.Event().wait, 0.2)


@pytest.mark.parametrize(("rounds", "kills"), [(1, 3), pytest.param(10, 30, marks=SOAK)])
async def test_a_mixed_history_leaves_nothing_half_done(
    database_url: str, server: StartService, tmp_path: Path, seed: int, rounds: int, kills: int
) -> None:
    rng, stop = random.Random(seed), threading.Event()
    tenants = await prepare(database_url, "north", "south", "west")
    clock_file = tmp_path / "clock"
    clock = MovedClock(clock_file)
    service = server(
        "--database-url",
        database_url,
        "--data-dir",
        str(tmp_path),
        command=COMMAND,
        env={"CLOCK_FILE": str(clock_file)},
    )
    keepers = [Shopkeeper(tenant, service, random.Random(f"{seed} {tenant.name}"), stop) for tenant in tenants]
    await asyncio.to_thread(live_through, keepers, service, clock, rounds, kills, rng)
    database = await open_database(database_url)
    await until_all_have_ended(database, [tenant.name for tenant in tenants])
    service.stop()
    for keeper in keepers:
        assert len(keeper.imports) == rounds * len(KINDS)
        assert keeper.sold
        await everything_is_whole(database, keeper)
    await database.close()


async def everything_is_whole(database: Database, keeper: Shopkeeper) -> None:
    """The database contains exactly the imports of a tenant that were acknowledged."""
    name = keeper.tenant.name
    jobs = {row.id: row for row in await rows_of(database, name, "ImportJobs")}
    batches = {row.id: row.name for row in await rows_of(database, name, "ArticleImportJobs")}
    by_key: dict[str, list[Any]] = {}
    for job in jobs.values():
        by_key.setdefault(job.idempotency_key or batches[job.id], []).append(job)
    articles = {row.article_number for row in await rows_of(database, name, "Articles")}
    promotions = {row.code: row.id for row in await rows_of(database, name, "Promotions")}
    errors = await rows_of(database, name, "ImportJobErrors")
    for one in keeper.imports:
        found = by_key[one.key]
        # A batch has no key: an unanswered one may have been accepted, and was sent again.
        assert len(found) == 1 or (one.kind == "batch" and found), one
        for job in found:
            check_job(job, one, {row.row_number for row in errors if row.job_id == job.id})
        kind = set(promotions) if one.kind.startswith("deep") else articles
        assert {number for number in kind if number.startswith(f"{one.name}-")} == one.stored, one
    assert len(by_key) == len(keeper.imports)
    assert set(keeper.written) <= articles
    for children, each in (("PromotionPosGroups", len(keeper.tenant.places)), ("CalculationConfigs", 1)):
        owners = Counter(row.promotion_id for row in await rows_of(database, name, children))
        assert owners == Counter(dict.fromkeys(promotions.values(), each))
    for remains in ("import_parts", "import_work"):
        assert not await rows_of(database, name, remains), remains
    told = [
        json.loads(row.payload) for row in await rows_of(database, name, "outbox_events") if "ImportJobs." in row.kind
    ]
    ends = Counter((event["type"], event["data"]["jobId"]) for event in told if event["type"].startswith("Import"))
    kinds = {"SUCCEEDED": "ImportJobs.Completed", "FAILED": "ImportJobs.Failed"}
    assert ends == Counter((kinds[job.status], job.id) for job in jobs.values())


def check_job(job: Any, one: Import, error_rows: set[int]) -> None:
    """A job's counts match the rows that were sent."""
    assert job.total_rows == one.rows, job
    assert error_rows == set(one.bad), job
    if one.is_whole and one.bad:
        assert (job.status, job.rows_succeeded, job.rows_failed) == ("FAILED", 0, 1), job
        return
    assert job.status == "SUCCEEDED", job
    assert (job.rows_succeeded, job.rows_failed) == (len(one.stored), len(one.bad)), job
    assert job.total_rows == job.rows_succeeded + job.rows_failed + job.rows_skipped, job
