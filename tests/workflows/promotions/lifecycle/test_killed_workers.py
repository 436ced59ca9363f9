"""Worker processes killed in the middle of a batch: no code is duplicated, none is missing."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime

from sqlalchemy import func, select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from tests.conftest import StartService
from tests.kit.databases import Dialect
from tests.workflows.authoring.desk import TENANT
from tests.workflows.promotions.lifecycle.acting import Office

NUMBER = 20_000
SECONDS_MAX = 200
RESTING = (sys.executable, "-m", "tests.workflows.promotions.lifecycle.resting")


async def state(office: Office, batch_id: str) -> tuple[str, int, int]:
    """Return status, generatedCount and codes of a batch in one snapshot."""
    batches, codes = table("CouponCodeBatches"), table("CouponCodes")

    async def work(session: Session) -> tuple[str, int, int]:
        counted = select(func.count()).select_from(codes).scalar_subquery()
        (row,) = await session.execute(
            select(batches.c.status, batches.c.generated_count, counted.label("codes")).where(batches.c.id == batch_id)
        )
        return row.status, row.generated_count, row.codes

    return await office.database.read(work, tenant=TENANT)


async def beyond(office: Office, batch_id: str, count: int) -> int:
    """Wait until there are more codes than ``count``; return their number."""
    async with asyncio.timeout(SECONDS_MAX):
        while True:
            _, generated, there = await state(office, batch_id)
            assert generated == there  # INVARIANT: codes and their count are committed together.
            if generated > count:
                return generated


async def test_a_batch_is_completed_although_its_workers_are_killed(
    office: Office, database_url: str, dialect: Dialect, server: StartService
) -> None:
    office.now = datetime.now(UTC)
    batch = await office.generate(await office.given("CouponTypes"), NUMBER)
    side_by_side = 2 if dialect == "postgresql" else 1
    made = 0
    for _ in range(3):
        workers = [
            server("--database-url", database_url, verb="worker", ready_path=None, command=RESTING)
            for _ in range(side_by_side)
        ]
        made = await beyond(office, batch, made)
        for worker in workers:
            worker.kill()
    made = (await state(office, batch))[1]
    assert made < NUMBER, "they were killed too late to tell anything"
    server("--database-url", database_url, verb="worker", ready_path=None)
    await beyond(office, batch, NUMBER - 1)
    assert await state(office, batch) == ("COMPLETED", NUMBER, NUMBER)
    assert len({row["code"] for row in await office.rows("CouponCodes")}) == NUMBER
    assert [one["type"] for one in await office.news()] == ["COUPON_BATCH_COMPLETED"]
