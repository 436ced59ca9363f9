"""The worker: woken by the confirm of its own process, and waiting if the database is away."""

from __future__ import annotations

import asyncio

from sqlalchemy import select

from promenade.model.declare import Service
from promenade.store.driver.schema import draft_table
from promenade.store.driver.unit import Session
from promenade.worker import Clockwork, Worker
from promenade.workflows.authoring import Authoring
from promenade.workflows.clockwork import clock_jobs
from promenade.workflows.drafts import Drafts
from tests.workflows.sales.priced import PRICED
from tests.workflows.shop import Shop

HOURS = 3600.0


async def test_a_confirm_wakes_the_worker_of_its_process(shop: Shop) -> None:
    stop = asyncio.Event()
    running = asyncio.create_task(Worker(shop.context, poll_seconds=HOURS).run(stop))
    counter = await shop.price("T1", PRICED, customer_id="C1")
    await shop.confirm("T1", counter, "off")
    async with asyncio.timeout(30):
        while (await shop.rows("side_effect_jobs"))[0].status != "COMPLETED":
            pass  # the read yields to the worker
    stop.set()
    async with asyncio.timeout(30):
        await running


async def test_a_worker_asked_to_stop_ends_at_once(shop: Shop) -> None:
    stop = asyncio.Event()
    running = asyncio.create_task(Worker(shop.context, poll_seconds=HOURS).run(stop))
    stop.set()
    async with asyncio.timeout(30):
        await running


async def test_jobs_of_several_tenants_are_done_each_for_its_own(shop: Shop) -> None:
    other = Shop(shop.context, shop.now, "tenant-b")
    for one in (shop, other):
        await one.confirm("T1", await one.price("T1", PRICED, customer_id="C1"), "off")
    await shop.work()
    for one in (shop, other):
        (balance,) = await one.rows("loyalty_balances")
        assert (balance.customer_id, balance.points) == ("C1", 20)


async def test_the_clockwork_deletes_untouched_drafts(shop: Shop) -> None:
    async def begin(session: Session) -> None:
        at, ids = shop.context.clock(), shop.context.new_id
        authoring = Authoring(session, user="ann", at=at, new_id=ids, service=Service.ADMIN)
        await Drafts(session, authoring, user="ann", at=at, new_id=ids).create("Promotions", {"code": "LEFT"})

    async def left(session: Session) -> int:
        return len(await session.execute(select(draft_table("drafts").c.draft_uuid)))

    database = shop.context.database
    clockwork = Clockwork(shop.context, {"drafts.purge": clock_jobs()["drafts.purge"]})
    await database.write(begin, tenant=shop.tenant, user="ann", at=shop.context.clock())
    await clockwork.run_once()
    shop.later(days=29)
    await clockwork.run_once()
    assert await database.read(left, tenant=shop.tenant) == 1
    shop.later(days=1, minutes=1)
    await clockwork.run_once()
    assert await database.read(left, tenant=shop.tenant) == 0
