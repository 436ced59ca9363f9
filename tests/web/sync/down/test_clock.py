"""Effects of time on stores: silent ones go OFFLINE, their old exchanges are deleted."""

from __future__ import annotations

from datetime import timedelta

import pytest

from promenade.store.driver.unit import Database, Session
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.clockwork import clock_jobs
from promenade.workflows.sync.deployments import StoreCard, record_exchange, record_heartbeat, register
from tests.workflows.authoring.desk import OTHER, TENANT, Desk
from tests.workflows.shop import Shop, open_shop


@pytest.fixture
async def shop(database: Database) -> Shop:
    found = await open_shop(database)
    for tenant in (TENANT, OTHER):
        await create_tenant(database, tenant, settings={}, at=found.now[0], user="tests")
    return found


async def enrolled(shop: Shop, code: str, tenant: str = TENANT) -> str:
    return (await register(shop.context, tenant, StoreCard(code, None, None, "1.0"), user="tests")).deployment_id


async def statuses(shop: Shop) -> dict[str, str]:
    """Return statuses by store code, of both tenants, after the scheduled work has run."""
    await clock_jobs()["deployments.offline"].run(shop.context, None)
    return {
        row["storeCode"]: row["status"]
        for tenant in (TENANT, OTHER)
        for row in await Desk(shop.context.database, tenant).rows("LocalDeployments")
    }


async def test_a_store_that_is_silent_for_three_heartbeats_is_offline_until_it_is_heard(shop: Shop) -> None:
    first = await enrolled(shop, "first")
    await enrolled(shop, "other", OTHER)
    shop.later(seconds=170)
    await record_heartbeat(shop.context, TENANT, first, version="1.1", pending=3)
    assert await statuses(shop) == {"first": "ONLINE", "other": "ONLINE"}
    shop.later(seconds=20)
    assert await statuses(shop) == {"first": "ONLINE", "other": "OFFLINE"}
    shop.later(seconds=170)
    assert await statuses(shop) == {"first": "OFFLINE", "other": "OFFLINE"}
    await record_heartbeat(shop.context, TENANT, first, version="1.1", pending=0)
    assert await statuses(shop) == {"first": "ONLINE", "other": "OFFLINE"}


async def test_a_clock_set_back_keeps_no_silent_store_online(shop: Shop) -> None:
    await enrolled(shop, "first")
    shop.later(hours=-1)
    assert await statuses(shop) == {"first": "OFFLINE"}


async def test_exchanges_are_kept_for_thirty_days_and_left_downloads_have_failed(shop: Shop) -> None:
    store = await enrolled(shop, "first")
    context, began = shop.context, shop.now[0]

    async def exchanges(session: Session) -> None:
        new_id = context.new_id
        for _ in range(100):
            await record_exchange(
                session, store, "UP", new_id=new_id, started_at=began, completed_at=began, transactions=2
            )
        later = began + timedelta(days=25)
        await record_exchange(session, store, "DOWN", new_id=new_id, started_at=later, completed_at=None,
                              promotions=1, status="RUNNING")  # fmt: skip

    await context.database.write(exchanges, tenant=TENANT)
    history = clock_jobs()["purge.sync_history"].run
    desk = Desk(context.database)
    shop.later(days=25, minutes=30)
    await history(context, None)
    rows = await desk.rows("SyncHistory")
    assert len(rows) == 101
    assert {row["status"] for row in rows} == {"SUCCEEDED", "RUNNING"}
    shop.later(hours=1)
    await history(context, None)
    (left,) = await desk.rows("SyncHistory", direction="DOWN")
    assert (left["status"], left["completedAt"]) == ("FAILED", shop.now[0])
    assert left["message"] == "The store did not continue the exchange."
    shop.later(days=5)
    await history(context, None)
    assert await desk.rows("SyncHistory") == [left]
    shop.later(days=31)
    await history(context, None)
    assert await desk.rows("SyncHistory") == []
