"""A simulation uses one state of the catalogue, whatever changes meanwhile."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal

import pytest
from sqlalchemy import update

from promenade.store.driver.cache import LocalCache
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database, Session
from promenade.store.pricing import catalogue
from promenade.store.pricing.catalogue import Catalogues, TenantCatalogue
from promenade.store.pricing.changes import Version, record_change
from promenade.workflows.context import Context
from promenade.workflows.pricing.evaluate import simulate
from tests.workflows.pricing.test_evaluate import NOW, OFF, SHOP, TENANT, a_context, author, basket, percent_off, uuid

ACTIONS = table("DiscountActions")


class _GatedCache(LocalCache):
    """Blocks the request that asks for its failed look-ups until the gate opens."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.gate = asyncio.Event(), asyncio.Event()

    async def count(self, key: str, seconds: int, by: int = 1) -> int:
        self.reached.set()
        await self.gate.wait()
        return await super().count(key, seconds, by)


@pytest.fixture
async def context(database: Database) -> Context:
    group = {"ID": SHOP, "code": "S1", "name": "Shop 1", "currency": "EUR"}
    await author(database, "Promotions", {"PosGroups": [group]})
    for number, percent in ((1, 10), (2, 30)):
        await author(database, "Promotions", percent_off(number, percent), uuid(3, number))
    return replace(a_context(database), cache=_GatedCache())


async def _swap(session: Session) -> None:
    """Swap the promotions of 10 % and of 30 %: 40 % in total, before and after."""
    for action, percent in ((OFF, 30), (uuid(5, 2), 10)):
        await session.rowcount(update(ACTIONS).where(ACTIONS.c.id == action).values(discount_value=Decimal(percent)))
    await record_change(session, "Promotions", uuid(3, 1), uuid(3, 2), at=NOW)


async def test_a_simulation_never_mixes_two_states(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    half, go_on = asyncio.Event(), asyncio.Event()

    async def pause(_seconds: float) -> None:
        half.set()
        await go_on.wait()

    refresh = Catalogues.refresh

    async def refresh_of_the_simulation(self: Catalogues, tenant_id: str, stale: Version) -> TenantCatalogue:
        go_on.set()
        return await refresh(self, tenant_id, stale)

    cache = context.cache
    assert isinstance(cache, _GatedCache)
    await context.catalogues.get(TENANT)
    simulating = asyncio.create_task(simulate(context, TENANT, basket(coupons=("NONE",))))
    await cache.reached.wait()
    await context.database.write(_swap, tenant=TENANT)
    with monkeypatch.context() as patched:
        patched.setattr(catalogue, "STEP", 1)
        patched.setattr("promenade.store.pricing.catalogue.asyncio.sleep", pause)
        patched.setattr(Catalogues, "refresh", refresh_of_the_simulation)
        refreshing = asyncio.create_task(
            refresh(context.catalogues, TENANT, (await context.catalogues.get(TENANT)).version)
        )
        await half.wait()
        cache.gate.set()
        priced = await simulating
        go_on.set()
        await refreshing
    assert (priced.outcome.subtotal_minor, priced.outcome.discount_minor) == (2000, 800)
