"""I1, T4: kill -9 of `promenade worker` at random rows, with jumping clocks: each row once, one event."""

from __future__ import annotations

import random
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from promenade.store.driver.unit import Database
from tests.conftest import StartService
from tests.kit.moved_clock import MovedClock
from tests.kit.service import Service
from tests.workflows.imports.running.yard import Yard, open_yard

SOAK = (pytest.mark.soak, pytest.mark.timeout(900))
ROWS = {"Articles": 5_000, "PosGroups": 2_000}
KEYS = {"Articles": "articleNumber", "PosGroups": "code"}
COLUMNS = {"Articles": "article_number", "PosGroups": "code"}
WRONG = 777  # the row that cannot be stored; the others are not affected
JUMPS = (3600, -3600, 61)  # seconds: the killed worker's lease has expired, or was set by a wrong clock


def sent(entity: str, continue_on_error: bool) -> list[dict[str, Any]]:
    more = {"currency": "EUR"} if entity == "PosGroups" else {}
    rows = [{KEYS[entity]: f"K{number}", "name": f"Row {number}", **more} for number in range(1, ROWS[entity] + 1)]
    if continue_on_error:
        rows[WRONG - 1]["name"] = "x" * 10_000
    return rows


async def stored(yard: Yard, entity: str) -> Counter[str]:
    rows = await yard.every(entity)
    return Counter(getattr(row, COLUMNS[entity]) for row in rows if row.name != "Shop")


async def nothing_is_half_done(yard: Yard, entity: str, job_id: str, continue_on_error: bool) -> None:
    job, found = await yard.job(job_id), await stored(yard, entity)
    assert set(found.values()) <= {1}
    assert len(found) == job.rows_succeeded
    assert len(await yard.every("ImportJobErrors")) == job.rows_failed
    if not continue_on_error:
        assert len(found) in (0, ROWS[entity])


async def kill_at_a_random_row(yard: Yard, worker: Service, job_id: str, rng: random.Random) -> None:
    """Kill a worker after some progress, measured by the job's counts or by the number of polls."""
    before = await yard.job(job_id)
    rows, looks = rng.randint(1, before.total_rows // 8), rng.randint(1, 60)
    while worker.running:
        job = await yard.job(job_id)
        if job.version > before.version:
            looks -= 1
        done = job.rows_succeeded + job.rows_failed - before.rows_succeeded - before.rows_failed
        if done >= rows or (looks < 0 and not job.continue_on_error) or job.completed_at:
            break
    worker.kill()


@pytest.mark.parametrize("kills", [2, pytest.param(4, marks=SOAK)])
@pytest.mark.parametrize(("entity", "continue_on_error"), [("Articles", True), ("PosGroups", False)])
async def test_a_job_whose_workers_are_killed_ends_with_each_row_stored_once(
    database: Database, database_url: str, server: StartService, seed: int, tmp_path: Path, entity: str,
    continue_on_error: bool, kills: int,
) -> None:  # fmt: skip
    rng = random.Random(seed)
    clock = MovedClock(tmp_path / "clock")
    yard = await open_yard(database)
    yard.shop.context = replace(yard.context, clock=clock)
    job_id = await yard.accept(
        sent(entity, continue_on_error), entity=entity, continue_on_error=continue_on_error, part_rows=250
    )

    def start(module: str) -> Service:
        return server(
            *("--database-url", database_url), verb="worker", ready_path=None,
            command=(sys.executable, "-m", module),
            env={"CLOCK_FILE": str(tmp_path / "clock"), "ROWS_MAX": str(ROWS[entity] // (kills + 2))},
        )  # fmt: skip

    for _ in range(kills):
        await kill_at_a_random_row(yard, start("tests.reliability.imports.kills.resting"), job_id, rng)
        await nothing_is_half_done(yard, entity, job_id, continue_on_error)
        clock.move(seconds=rng.choice(JUMPS))
    assert (await yard.job(job_id)).status == "RUNNING", "no worker was killed at it"
    last = start("tests.kit.moved_clock")
    while last.running and (await yard.job(job_id)).completed_at is None:
        pass
    assert last.stop() == 0, last.output()[-4000:]
    job = await yard.job(job_id)
    failed = int(continue_on_error)
    assert (job.status, job.rows_succeeded, job.rows_failed) == ("SUCCEEDED", ROWS[entity] - failed, failed), job
    wrong = {WRONG} if continue_on_error else set()
    assert await stored(yard, entity) == {f"K{number}": 1 for number in {*range(1, ROWS[entity] + 1)} - wrong}
    assert [event["kind"] for event in await yard.events()] == ["ImportJobs.Completed"]
    assert {row.row_number for row in await yard.every("ImportJobErrors")} == wrong
    assert not await yard.every("import_work")
    assert not await yard.every("import_parts")
