"""Remains of imports are deleted when nobody needs them any more."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from promenade.store.imports.parts import stage
from promenade.store.imports.purging import purge_import_jobs
from promenade.workflows.clockwork import clock_jobs, imports
from promenade.workflows.clockwork.jobs import JobResult
from promenade.workflows.context import Context, Retention
from tests.workflows.imports.running.yard import Yard, good, parts_of
from tests.workflows.shop import TENANT

ROWS = 90


async def purge(run: Callable[[Context, str | None], Awaitable[JobResult]], context: Context) -> int:
    """Run a purge until no work is left; return the total done."""
    cursor, done = None, 0
    for _ in range(1000):
        ran = await run(context, cursor)
        cursor, done = ran.cursor, done + ran.done
        if not ran.more:
            return done
    raise AssertionError("a purge that never ends")


def test_the_clockwork_runs_both_purges_of_imports() -> None:
    assert {"purge.import_keys", "purge.imports"} <= clock_jobs().keys()


async def test_idempotency_keys_are_deleted_after_a_day(yard: Yard) -> None:
    for number in range(ROWS):
        await yard.shop.put(
            "import_keys", scope="BULK_IMPORT", idempotency_key=f"k{number}", job_id="j", seen_at=yard.shop.now[0]
        )
        yard.shop.later(minutes=1)
    yard.shop.later(days=1, minutes=-50)
    assert await purge(imports.keys, yard.context) == 40
    assert {row.idempotency_key for row in await yard.every("import_keys")} == {f"k{n}" for n in range(40, ROWS)}
    yard.shop.later(days=-3)  # times set by a wrong clock are ignored
    assert await purge(imports.keys, yard.context) == ROWS - 40


async def test_rows_without_a_job_are_deleted_after_a_day(yard: Yard) -> None:
    kept = await yard.accept([good(number) for number in range(ROWS)])
    parts = parts_of([good(number) for number in range(ROWS)], 10)
    at = yard.shop.now[0]
    await yard.context.database.write(lambda session: stage(session, str(uuid.uuid4()), parts, at=at), tenant=TENANT)
    yard.shop.later(hours=23)
    assert await purge(imports.keys, yard.context) == 0
    yard.shop.later(hours=2)
    assert await purge(imports.keys, yard.context) == len(parts)
    assert {row.job_id for row in await yard.every("import_parts")} == {kept}
    await yard.work()
    assert (await yard.job(kept)).rows_succeeded == ROWS


async def test_jobs_that_ended_long_ago_are_deleted_with_their_rows(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    await yard.shop.put("Tenants", tenant_id=TENANT, name="Shop")
    context = replace(yard.context, retention=Retention(imports=10))
    sizes: list[int] = []
    whole = purge_import_jobs

    async def counting(*args: object, **options: object) -> tuple[int, bool]:
        gone, more = await whole(*args, **options)  # type: ignore[arg-type]
        sizes.append(gone)
        return gone, more

    monkeypatch.setattr(imports, "purge_import_jobs", counting)
    rows = [good(number, bad=["name"]) for number in range(ROWS)]
    await yard.accept(rows, source="POS_BATCH")
    await yard.accept(rows)
    await yard.work()
    for number in range(9):
        await yard.shop.put(
            "RawPayloads", message_id=f"m{number}", payload=b"<x/>", content_type="text/xml",
            received_at=yard.shop.now[0] + timedelta(days=number)
        )  # fmt: skip
    yard.shop.later(days=9)
    waiting = await yard.accept([good(1)])
    assert await purge(imports.ended_jobs, context) == 0
    yard.shop.later(days=6)
    done = await purge(imports.ended_jobs, context)
    assert done == 3 * ROWS + 2 + 5
    assert max(sizes) <= 42
    assert [row.id for row in await yard.every("ImportJobs")] == [waiting]
    for name in ("ImportJobErrors", "ArticleImportJobs", "ArticleImportJobItems"):
        assert not await yard.every(name), name
    assert {row.message_id for row in await yard.every("RawPayloads")} == {"m5", "m6", "m7", "m8"}
