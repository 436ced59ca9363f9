"""Two machines with one store's identity: noticed at the second heartbeat, and one of them spends nothing any more."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from decimal import Decimal

import pytest

from promenade.errors import Conflict
from promenade.store.driver.session import open_database
from promenade.workflows.replica.ending import end_shares
from promenade.workflows.replica.filling import compare_again
from promenade.workflows.sync.deployments import HeartbeatReceipt, record_heartbeat
from promenade.workflows.uplink import CloudRefused
from tests.kit.databases import Databases
from tests.reliability.load import budget_state
from tests.reliability.shares.offline import Branch, open_branch
from tests.reliability.shares.selling import Till, furnish
from tests.reliability.shares.stores import Stores
from tests.workflows.shop import identity, open_shop


@dataclass
class Machines:
    """A store's machine and a copy of it, each with a run of the program."""

    stores: Stores
    first: Branch
    copy: Branch

    async def beat(self, branch: Branch) -> HeartbeatReceipt:
        shop = self.stores.shop
        return await record_heartbeat(
            shop.context, shop.tenant, identity("north"), version="1", pending=0, run_id=branch.uplink.run_id
        )

    async def cloned_at(self) -> object:
        return (await self.stores.shop.row("LocalDeployments", "north")).cloned_at

    async def told(self) -> list[str]:
        rows = await self.stores.shop.rows("outbox_events")
        return [row.kind for row in rows if row.kind == "STORE_CLONED"]


@pytest.fixture
async def machines(stores: Stores, databases: Databases) -> AsyncIterator[Machines]:
    async with AsyncExitStack() as stack:
        url, copied = databases.create("sqlite"), databases.create_empty("sqlite")
        database = await open_database(url)
        stack.push_async_callback(database.close)
        first = await open_branch("north", await open_shop(database), stores)
        first.uplink.run_id = identity("run 1")
        await furnish(stores, [first], "4.00", budget="40.00")
        await first.keep()
        with sqlite3.connect(url.removeprefix("sqlite:///")) as source:
            source.execute("VACUUM INTO ?", (copied.removeprefix("sqlite:///"),))
        other = await open_database(copied)
        stack.push_async_callback(other.close)
        shop = await open_shop(other, is_new=False)
        shop.now = first.shop.now
        uplink = replace(first.uplink, run_id=identity("run 2"), reserves={})
        shop.context = replace(
            first.shop.context, database=other, catalogues=shop.context.catalogues, cache=shop.context.cache,
            uplink=uplink,
        )  # fmt: skip
        yield Machines(stores, first, Branch("north", shop, first.wire, stores))


async def test_a_clone_that_is_started_again_gives_nothing_back(machines: Machines) -> None:
    """The share that it was copied with is the other machine's."""
    stores, first, copy = machines.stores, machines.first, machines.copy
    for branch in (first, copy, first, first):
        await machines.beat(branch)
    held = await stores.outstanding("hot")
    assert held == await first.rest("hot") > 0
    await end_shares(copy.shop.context, all_of_them=True)
    copy.uplink.run_id = identity("run 3")
    await machines.beat(copy)
    for _ in range(2):
        with contextlib.suppress(CloudRefused):
            await copy.keep()
    assert await stores.outstanding("hot") == held
    for _ in range(2):
        await machines.beat(first)
    with pytest.raises(Conflict):
        await machines.beat(copy)
    assert await machines.told() == ["STORE_CLONED"] * 2


async def test_a_clone_is_noticed_at_the_second_heartbeat_and_stopped(machines: Machines) -> None:
    stores = machines.stores
    for branch in (machines.first, machines.copy, machines.first):  # the last one may have been under way for long
        assert (await machines.beat(branch)).epoch == 0
    assert await machines.cloned_at() is None
    assert (await machines.beat(machines.first)).epoch == 1
    assert await machines.cloned_at() == stores.shop.now[0]
    assert await machines.told() == ["STORE_CLONED"]
    for _ in range(2):
        with pytest.raises(Conflict) as stopped:
            await machines.beat(machines.copy)
        assert stopped.value.code == "DEPLOYMENT_CLONED"
    assert (await machines.beat(machines.first)).epoch == 1
    assert await machines.told() == ["STORE_CLONED"]
    # The copy gets no shares, and spends none of those that it was copied with.
    with pytest.raises(CloudRefused):
        await machines.copy.wire.post(
            "/sync/budget-grants",
            {"deploymentId": identity("north"), "budgetId": identity("hot"), "runId": machines.copy.uplink.run_id},
        )
    await end_shares(machines.copy.shop.context, all_of_them=True)
    machines.copy.uplink.is_connected = False
    assert not await Till(machines.copy).sell("C1")
    assert await machines.copy.rest("hot") == 0
    assert await machines.copy.shop.count("store_shares") == 0
    assert await Till(machines.first).sell("T1")


async def test_what_both_have_sold_is_booked_once_and_never_beyond_the_budget(machines: Machines) -> None:
    stores, first, copy = machines.stores, machines.first, machines.copy
    for branch in (first, copy):
        branch.uplink.is_connected = False
    assert [await Till(first).sell(f"T{number}") for number in range(2)] == [True, True]
    assert [await Till(copy).sell(f"C{number}") for number in range(2)] == [True, True]
    for branch in (first, copy, first, first):
        await machines.beat(branch)
    await end_shares(copy.shop.context, all_of_them=True)
    for branch in (first, copy):
        await branch.report()
    compare_again(first.shop.context.database)
    first.uplink.is_connected = True
    await first.keep()
    await first.keep()
    assert await first.rest("hot") == await stores.outstanding("hot")
    assert (await budget_state(stores.shop, "hot")).consumed == Decimal(16)
    await stores.check("hot")


@pytest.mark.parametrize("dialect", ["sqlite"])
async def test_a_store_that_is_started_again_or_restored_is_no_clone(machines: Machines) -> None:
    await machines.beat(machines.first)
    for number in range(3, 8):
        machines.first.uplink.run_id = identity(f"run {number}")
        await machines.beat(machines.first)
        await machines.beat(machines.first)
    assert await machines.cloned_at() is None
    assert await machines.told() == []
