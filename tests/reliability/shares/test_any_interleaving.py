"""B1 whatever happens to stores: lost requests and answers, moved clocks, restored databases, cloned machines."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal

import pytest

from promenade.store.driver.session import open_database
from promenade.workflows.clockwork.shares import reclaim
from tests.kit.databases import Databases
from tests.reliability.load import budget_state
from tests.reliability.shares.offline import Branch, open_branch, sale_of
from tests.reliability.shares.selling import Till, furnish
from tests.reliability.shares.stores import Stores
from tests.workflows.shop import open_shop

TOTAL = Decimal(60)
STEPS = 60


@dataclass
class Market:
    """A cloud and the machines of its stores; ``given`` are minor units, by transaction as the cloud names it."""

    stores: Stores
    databases: Databases
    stack: AsyncExitStack
    rng: random.Random
    machines: list[Branch] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    given: dict[str, int] = field(default_factory=dict)
    reported: set[str] = field(default_factory=set)

    async def open(self, *names: str) -> None:
        for name in names:
            url = self.databases.create("sqlite")
            database = await open_database(url)
            self.stack.push_async_callback(database.close)
            self.machines.append(await open_branch(name, await open_shop(database), self.stores))
            self.urls.append(url)
            self.move_clock(self.machines[-1], timedelta())
        await furnish(self.stores, self.machines, "10", "PERCENTAGE", budget=TOTAL)

    def move_clock(self, branch: Branch, by: timedelta) -> None:
        now = self.stores.shop.now
        branch.shop.context = replace(branch.shop.context, clock=lambda: now[0] + by)

    async def copy(self, place: int) -> Branch:
        """Start a further machine from a copy of one's database; it knows of the sales that were made until now."""
        here, url = self.machines[place], self.databases.create_empty("sqlite")
        with sqlite3.connect(self.urls[place].removeprefix("sqlite:///")) as source:
            source.execute("VACUUM INTO ?", (url.removeprefix("sqlite:///"),))
        database = await open_database(url)
        self.stack.push_async_callback(database.close)
        shop = await open_shop(database, is_new=False)
        shop.now = here.shop.now
        shop.context = replace(
            here.shop.context,
            database=database,
            catalogues=shop.context.catalogues,
            cache=shop.context.cache,
            uplink=replace(here.uplink, client=replace(here.wire, faults=[]), reserves={}),
        )
        client = shop.context.uplink.client  # type: ignore[union-attr]
        copied = Branch(here.name, shop, client, self.stores, list(here.unsent))  # type: ignore[arg-type]
        self.urls.append(url)
        return copied

    async def sell(self, branch: Branch, name: str) -> None:
        if await Till(branch).sell(name, self.rng.randint(100, 9_000)):
            self.given[f"{branch.name}-{name}"] = branch.unsent[-1][1]

    async def report(self, branch: Branch) -> None:
        """Upload; what the cloud has from another machine already is answered without doing anything."""
        branch.unsent = [one for one in branch.unsent if f"{branch.name}-{one[0]}" not in self.reported]
        self.reported |= {f"{branch.name}-{one[0]}" for one in branch.unsent}
        await branch.report()

    async def sell_in_the_cloud(self, name: str) -> None:
        shop = self.stores.shop
        free = await budget_state(shop, "hot")
        minor = self.rng.randint(1, 200)
        if free.total - free.consumed - free.reserved >= Decimal(minor) / 100:
            await shop.confirm(name, await shop.price(name, sale_of(minor, "hot")), "off")
            self.given[name] = minor
            self.reported.add(name)


@pytest.fixture
async def market(stores: Stores, databases: Databases, seed: int) -> AsyncIterator[Market]:
    async with AsyncExitStack() as stack:
        opened = Market(stores, databases, stack, random.Random(seed))
        await opened.open("north", "south")
        yield opened


async def _step(market: Market, name: str, *, may_copy: bool) -> None:
    rng, branch = market.rng, market.rng.choice(market.machines)
    branch.uplink.is_connected = rng.random() < 0.8
    branch.wire.faults = [rng.choice(("", "", "before", "after")) for _ in range(rng.randint(0, 3))]
    doing = rng.random()
    if doing < 0.45:
        await market.sell(branch, name)
    elif doing < 0.65:
        await branch.keep()
    elif doing < 0.75:
        await market.report(branch)
    elif doing < 0.8:
        await branch.hear()
    elif doing < 0.85:
        await market.sell_in_the_cloud(name)
    elif doing < 0.93:
        market.stores.shop.later(minutes=rng.choice((1, 5, 60, 24 * 60, 4 * 24 * 60)))
        await reclaim(market.stores.shop.context, None)
    elif doing < 0.96 or not may_copy:
        market.move_clock(branch, timedelta(minutes=rng.choice((-3 * 24 * 60, -10, 0, 10, 24 * 60))))
    elif doing < 0.98:  # a clone
        market.machines.append(await market.copy(market.machines.index(branch)))
    else:  # a copy is restored: what was not uploaded by then is lost, as are the sales after it
        place = market.machines.index(branch)
        restored = await market.copy(place)
        market.urls[place] = market.urls.pop()
        for number in range(rng.randint(0, 3)):
            await market.sell(branch, f"{name}.{number}")
        if rng.random() < 0.5:
            await market.report(branch)
        market.machines[place] = restored


@pytest.mark.parametrize("may_copy", [False, True], ids=["own machines", "copied machines"])
async def test_b1_whatever_happens_to_stores(market: Market, may_copy: bool) -> None:
    stores = market.stores
    for step in range(STEPS):
        await _step(market, f"T{step}", may_copy=may_copy)
        await stores.check("hot")
        if not may_copy:
            held = sum([await one.rest("hot") for one in market.machines], Decimal(0))
            unsent = sum([minor for one in market.machines for _, minor, _ in one.unsent], 0)
            assert held + Decimal(unsent) / 100 <= (await budget_state(stores.shop, "hot")).reserved
    for machine in market.machines:
        await market.report(machine)
    await stores.check("hot")
    rows = await stores.shop.rows("BudgetConsumptions")
    booked = {one.transaction_id: int((one.amount + one.uncovered_amount) * 100) for one in rows}
    assert booked == {name: minor for name, minor in market.given.items() if name in market.reported}
    if not may_copy:
        assert {one.uncovered_amount for one in rows} <= {Decimal(0)}
        assert market.reported == set(market.given)
        for machine in market.machines:
            market.move_clock(machine, timedelta())
            machine.uplink.is_connected, machine.wire.faults = True, []
            assert await machine.keep()
            assert await machine.keep()
        held = sum([await one.rest("hot") for one in market.machines], Decimal(0))
        assert held == await stores.outstanding("hot")
