"""Outbox and side-effect jobs: written with their cause, held by one worker at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import msgspec
import pytest
from sqlalchemy import select
from sqlalchemy.engine import make_url

from promenade.events import events
from promenade.store.driver.schema import table
from promenade.store.driver.session import Database, Session
from promenade.store.sales.jobs import Claimed, claim, complete, fail, find, job_row
from promenade.store.webhooks.outbox import emit
from tests.kit.databases import past_the_wall

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def enqueued(number: int) -> Callable[[Session], Awaitable[None]]:
    job = job_row(
        job_id=f"j{number}",
        origin="cloud",
        transaction_id=f"t{number}",
        transaction_counter=1,
        payload=b"\x01",
        at=NOW,
    )
    return lambda session: session.insert_together([job])


async def claimed(database: Database, owner: str, at: datetime = NOW, limit: int = 10) -> list[Claimed]:
    return await database.write(
        lambda session: claim(session, lease_owner=owner, at=at, lease_seconds=60, limit=limit), system=True
    )


def finished(job: Claimed) -> Callable[[Session], Awaitable[bool]]:
    return lambda session: complete(
        session, job, at=NOW, coupons_redeemed=1, loyalty_points_earned=5, post_purchase_coupons=[{"code": "X"}]
    )


async def status_of(database: Database, tenant: str, transaction: str) -> Any:
    row = await database.read(lambda session: find(session, "cloud", transaction, 1), tenant=tenant)
    assert row is not None
    return row


async def test_a_claim_takes_at_most_the_requested_number_of_jobs_in_any_plan(
    database: Database, database_url: str, dialect: str
) -> None:
    """PostgreSQL may run a sub-query once for each row that it examines."""
    if dialect == "postgresql":
        connection = await asyncpg.connect(past_the_wall(database_url))
        for way in ("hashjoin", "hashagg", "sort", "material", "mergejoin"):
            await connection.execute(f'ALTER DATABASE "{make_url(database_url).database}" SET enable_{way} = off')
        await connection.close()
    for number in range(20):
        await database.write(enqueued(number), tenant="a")
    assert len(await claimed(database, "w1", limit=5)) == 5
    assert len(await claimed(database, "w2")) == 10


async def test_jobs_are_held_by_one_worker_each(database: Database) -> None:
    for number in range(12):
        await database.write(enqueued(number), tenant="a" if number % 2 else "b")
    hauls = await asyncio.gather(*(claimed(database, f"w{n}", limit=5) for n in range(4)))
    held = [(job.tenant_id, job.id) for haul in hauls for job in haul]
    assert len(held) == len(set(held)) == 12
    assert await claimed(database, "late") == []


async def test_a_finished_job_shows_its_result(database: Database) -> None:
    await database.write(enqueued(1), tenant="a")
    assert (await status_of(database, "a", "t1")).status == "PENDING"
    [job] = await claimed(database, "w1")
    assert (job.attempts, job.payload, job.transaction_id) == (1, b"\x01", "t1")
    assert await database.write(finished(job), tenant="a")
    row = await status_of(database, "a", "t1")
    assert (row.status, row.coupons_redeemed, row.loyalty_points_earned) == ("COMPLETED", 1, 5)
    assert (row.started_at, row.completed_at, row.post_purchase_coupons) == (NOW, NOW, [{"code": "X"}])
    assert await claimed(database, "w2", NOW + 10 * MINUTE) == []


async def test_a_worker_that_lost_its_lease_cannot_write(database: Database) -> None:
    await database.write(enqueued(1), tenant="a")
    [slow] = await claimed(database, "w1")
    assert await claimed(database, "w2", NOW + MINUTE / 2) == []
    [again] = await claimed(database, "w2", NOW + MINUTE)
    assert again.attempts == 2
    assert not await database.write(finished(slow), tenant="a")
    assert not await database.write(
        lambda session: fail(session, slow, at=NOW, retry_at=None, reason="late"), tenant="a"
    )
    assert (await status_of(database, "a", "t1")).status == "RUNNING"
    assert await database.write(finished(again), tenant="a")


async def test_a_failed_job_is_claimed_again_when_due_until_it_has_finally_failed(database: Database) -> None:
    await database.write(enqueued(1), tenant="a")
    [job] = await claimed(database, "w1")
    await database.write(
        lambda session: fail(session, job, at=NOW, retry_at=NOW + MINUTE, reason="x" * 2000), tenant="a"
    )
    assert await claimed(database, "w2") == []
    [again] = await claimed(database, "w3", NOW + MINUTE)
    await database.write(lambda session: fail(session, again, at=NOW + MINUTE, retry_at=None, reason="no"), tenant="a")
    row = await status_of(database, "a", "t1")
    assert (row.status, row.attempts, row.reason, row.started_at) == ("FAILED", 2, "no", NOW)
    assert await claimed(database, "w4", NOW + 99 * MINUTE) == []


async def test_an_event_is_stored_only_if_its_transaction_commits(database: Database) -> None:
    kind = events()["CAMPAIGN_LOCKED"]
    event = kind(**dict.fromkeys(kind.__struct_fields__, "x"))

    async def rolled_back(session: Session) -> None:
        await emit(session, event, event_id="e0", at=NOW)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await database.write(rolled_back, tenant="a")
    await database.write(lambda session: emit(session, event, event_id="e1", at=NOW), tenant="a")
    rows = await database.read(lambda session: session.execute(select(table("outbox_events"))), tenant="a")
    assert [(row.id, row.kind, row.dispatched_at) for row in rows] == [("e1", "CAMPAIGN_LOCKED", None)]
    body = msgspec.json.decode(rows[0].payload)
    assert set(body) == {"type", "timestamp", "minorVersion", "tenantId", "data"}
    assert (body["type"], body["timestamp"], body["tenantId"]) == ("CAMPAIGN_LOCKED", "2026-05-04T12:00:00Z", "a")
