"""I1, T4: a worker that dies before any of its statements leaves nothing incomplete, and its job ends well."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter

import pytest

from promenade.workflows.imports.rows import importer_for
from promenade.workflows.imports.running import LEASE_SECONDS
from tests.reliability.imports.kills.dying import ROWS, WRONG, opened_yard, sent, tenant
from tests.workflows.imports.running.yard import Yard

STATEMENTS_MIN = {"batch": 25, "whole": 20, "faulty": 12}  # a worker with fewer has lost a part


def die_at_every_statement(verb: str, url: str) -> int:
    done = subprocess.run(
        [sys.executable, "-m", "tests.reliability.imports.kills.dying", verb, url],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return int(done.stdout.split()[-1])


async def nothing_is_half_done(yard: Yard, verb: str, steps: int) -> None:
    """The stored rows of each job match its counts, and no event is sent before its end."""
    articles = Counter(row.tenant_id for row in await yard.every("Articles"))
    errors = Counter(row.job_id for row in await yard.every("ImportJobErrors"))
    told = {event["jobId"] for event in await yard.events()}
    states: set[int] = set()
    for job in await yard.every("ImportJobs"):
        has_ended = job.status in ("SUCCEEDED", "FAILED")
        updated = 1 if verb == "batch" and has_ended else 0
        assert articles[job.tenant_id] == job.rows_succeeded - updated
        assert errors[job.id] == job.rows_failed
        assert (job.id in told) == has_ended
        states.add(job.rows_succeeded)
    assert states == {"batch": {0, 10, 19, 24}, "whole": {0, 25}, "faulty": {0}}[verb], "not all steps died somewhere"
    assert len(await yard.every("ImportJobs")) == steps


@pytest.mark.sampled(test=3, check=2)  # two of three imports in `make check`, all of them in `make soak`
@pytest.mark.parametrize("verb", ["batch", "whole", "faulty"])
async def test_an_import_survives_a_worker_that_dies_before_any_statement(database_url: str, verb: str) -> None:
    async with opened_yard(database_url, is_new=True):
        pass
    steps = 1 + await asyncio.to_thread(die_at_every_statement, verb, database_url)
    assert steps > STATEMENTS_MIN[verb]
    async with opened_yard(database_url) as yard:
        await nothing_is_half_done(yard, verb, steps)
        yard.shop.later(seconds=LEASE_SECONDS)
        yard.importers = importer_for  # type: ignore[method-assign]
        await yard.work()
        await each_job_has_ended_well(yard, verb, steps)


async def each_job_has_ended_well(yard: Yard, verb: str, steps: int) -> None:
    good = {row["articleNumber"] for row in sent(verb) if "status" not in row} if verb != "faulty" else set()
    failed = 0 if verb == "whole" else 1
    for job in await yard.every("ImportJobs"):
        assert job.status == ("FAILED" if verb == "faulty" else "SUCCEEDED")
        succeeded = 0 if verb == "faulty" else ROWS - failed
        assert (job.total_rows, job.rows_succeeded, job.rows_failed) == (ROWS, succeeded, failed)
    errors = await yard.every("ImportJobErrors")
    assert Counter(row.job_id for row in errors) == {row.id: 1 for row in await yard.every("ImportJobs") if failed}
    assert {row.row_number for row in errors} <= {WRONG}
    stored = Counter((row.tenant_id, row.article_number) for row in await yard.every("Articles"))
    assert stored == {(tenant(step), number): 1 for step in range(1, steps + 1) for number in good}
    events = Counter(event["kind"] for event in await yard.events())
    wanted = {"ImportJobs.Failed" if verb == "faulty" else "ImportJobs.Completed": steps}
    assert events == wanted | ({"ArticleImportJobs.Completed": steps} if verb == "batch" else {})
    trail = Counter(row.tenant_id for row in await yard.every("AuditLogs"))
    assert trail == {tenant(step): 1 for step in range(1, steps + 1)}
    items = Counter((row.tenant_id, row.status) for row in await yard.every("ArticleImportJobItems"))
    if verb == "batch":
        each = {"created": ROWS - 2, "updated": 1, "failed": 1}
        assert items == {(tenant(n), status): number for n in range(1, steps + 1) for status, number in each.items()}
    for name in ("import_work", "import_parts"):
        assert not await yard.every(name), name
