"""A store of a tenant that is being deleted is refused; it is not told that everything it has is gone."""

from __future__ import annotations

import pytest
from sqlalchemy import delete

from promenade.errors import Forbidden
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database
from promenade.store.pricing.changes import record_change
from promenade.workflows.access.tenants import create_tenant
from promenade.workflows.sync.deployments import StoreCard, register
from promenade.workflows.sync.feed import page_after
from tests.workflows.shop import NOON, TENANT, open_shop


async def test_a_download_during_the_deletion_is_refused(database: Database) -> None:
    await create_tenant(database, TENANT, settings={}, at=NOON, user="tests")
    shop = await open_shop(database)
    card = StoreCard("S1", "S1", None, "1")
    store = (await register(shop.context, TENANT, card, user="tests")).deployment_id
    first = await page_after(shop.context, TENANT, store, None)
    tenants = table("Tenants")
    gone = delete(tenants).where(tenants.c.tenant_id == TENANT)
    await database.write(lambda session: session.rowcount(gone), system=True)  # what goes first
    await database.write(lambda session: record_change(session, "Promotions", at=NOON), tenant=TENANT)
    for cursor in (None, first.cursor):
        with pytest.raises(Forbidden) as refused:
            await page_after(shop.context, TENANT, store, cursor)
        assert refused.value.code == "UNKNOWN_TENANT"
