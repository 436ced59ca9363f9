"""B1 to B3 with stores that spend offline (reliability.md, Money)."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from decimal import Decimal

import pytest

from promenade.errors import Conflict, NotFound
from promenade.workflows.clockwork.shares import reclaim
from tests.reliability.load import budget_state, event_count
from tests.reliability.shares.stores import Stores
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import identity, open_shop

ON_SQLITE = pytest.mark.parametrize("dialect", ["sqlite"])
"""For what other tests run on PostgreSQL as well, statement by statement."""


def _sale(minor: int) -> object:
    return outcome(
        (line("1", 1000, 100_000, discount("off", ((1, minor),))),), (applied("off", minor, budget_ids=("hot",)),)
    )


async def _confirm(stores: Stores, name: str, minor: int) -> None:
    shop = stores.shop
    await shop.confirm(name, await shop.price(name, _sale(minor)), "off")  # type: ignore[arg-type]


async def test_a_granted_amount_is_reserved_and_can_be_given_back(stores: Stores) -> None:
    await stores.shop.budget("hot", "90.00")
    first = await stores.grant("north", "hot", "20.00")
    assert (first.granted, first.currency, first.outstanding) == (Decimal(20), "EUR", Decimal(20))
    assert first.expires_at == stores.shop.now[0] + timedelta(days=14)
    assert (await stores.grant("south", "hot", "80.00")).granted == Decimal(70)  # all that is free
    await stores.check("hot")
    assert (await stores.grant("north", "hot", "-5.00")).granted == Decimal(-5)
    assert (await stores.grant("north", "hot", "-50.00")).granted == Decimal(-15)  # not more than it holds
    await stores.check("hot")
    assert (await budget_state(stores.shop, "hot")).reserved == Decimal(70)


async def test_a_grant_repeated_with_its_key_is_done_once(stores: Stores) -> None:
    await stores.shop.budget("hot", "90.00")
    first = await stores.grant("north", "hot", "10.00", key="k1")
    stores.shop.later(days=1)
    assert [await stores.grant("north", "hot", "10.00", key="k1") for _ in range(2)] == [first, first]
    assert await stores.outstanding("hot") == 10
    with pytest.raises(Conflict, match="another request"):
        await stores.grant("north", "hot", "11.00", key="k1")
    together = await asyncio.gather(*(stores.grant("north", "hot", "3.00", key="k2") for _ in range(8)))
    assert {one.granted for one in together} == {Decimal(3)}
    assert await stores.outstanding("hot") == 13
    await stores.check("hot")


@ON_SQLITE
async def test_an_amount_too_small_to_share_goes_to_the_first_store(stores: Stores) -> None:
    await stores.shop.budget("hot", "0.02")
    assert (await stores.grant("north", "hot", "5.00")).granted == Decimal("0.02")
    assert (await stores.grant("south", "hot", "5.00")).granted == 0
    await stores.check("hot")


@ON_SQLITE
async def test_stores_that_do_not_say_how_much_share_a_half(stores: Stores) -> None:
    await stores.shop.budget("hot", "100.00")
    assert (await stores.grant("north", "hot", None)).granted == Decimal(25)
    assert (await stores.grant("south", "hot", None)).granted == Decimal("18.75")


async def test_only_running_budgets_of_the_tenant_are_granted(stores: Stores) -> None:
    await stores.shop.budget("draft", "10.00", status="DRAFT")
    await stores.shop.budget("over", "10.00", valid_to=stores.shop.now[0])
    for name in ("draft", "over"):
        with pytest.raises(Conflict) as refused:
            await stores.grant("north", name, "1.00")
        assert refused.value.code == "BUDGET_NOT_RUNNING"
    other = Stores(await open_shop(stores.shop.context.database, "tenant-b"))
    await other.shop.budget("theirs", "10.00")
    await other.open("west")
    for store, budget, code in (
        ("north", "theirs", "BUDGET_NOT_FOUND"),
        ("north", "none", "BUDGET_NOT_FOUND"),
        ("west", "draft", "DEPLOYMENT_NOT_FOUND"),
    ):
        with pytest.raises(NotFound) as missing:
            await stores.grant(store, budget, "1.00")
        assert missing.value.code == code
    assert await other.shop.count("store_shares") == await stores.shop.count("store_shares") == 0


async def test_a_budget_granted_away_is_not_exhausted_until_it_is_spent(stores: Stores) -> None:
    await stores.shop.budget("hot", "3.00")
    while (await stores.grant("north", "hot", "3.00")).granted:
        pass
    assert await stores.outstanding("hot") == 3
    await _confirm(stores, "T1", 100)  # the cloud has nothing left: the sale stands, uncovered
    state = await budget_state(stores.shop, "hot")
    assert (state.status, state.consumed) == ("ACTIVE", Decimal(0))
    assert await event_count(stores.shop, "BUDGET_EXHAUSTED") == 0
    await stores.release("north", budgets={"hot": "3.00"})
    await _confirm(stores, "T2", 300)
    state = await budget_state(stores.shop, "hot")
    assert (state.status, state.consumed, state.reserved) == ("EXHAUSTED", Decimal(3), Decimal(0))
    assert await event_count(stores.shop, "BUDGET_EXHAUSTED") == 1
    await stores.check("hot")


@ON_SQLITE
async def test_a_sale_releases_no_more_than_the_store_has(stores: Stores) -> None:
    await stores.shop.budget("hot", "30.00")
    await stores.grant("north", "hot", "5.00")
    await stores.grant("south", "hot", "5.00")
    await stores.release("north", budgets={"hot": "7.00", "unknown": "1.00"})
    assert await stores.outstanding("hot") == 5
    await stores.check("hot")


async def test_what_has_run_out_is_taken_back_as_long_again_later(stores: Stores) -> None:
    shop = stores.shop
    await shop.budget("hot", "30.00")
    await stores.grant("north", "hot", "5.00")
    shop.later(days=27)
    await stores.grant("south", "hot", "5.00")
    await reclaim(shop.context, None)
    assert await stores.outstanding("hot") == 10
    shop.later(days=1)
    assert (await reclaim(shop.context, None)).done == 1
    assert await stores.outstanding("hot") == 5
    await stores.check("hot")
    await stores.release("north", budgets={"hot": "5.00"})  # its sales are reported late: the ordinary rules apply
    await stores.check("hot")


@ON_SQLITE
async def test_a_share_given_by_a_clock_that_was_ahead_is_no_lease_for_years(stores: Stores) -> None:
    shop = stores.shop
    await shop.budget("hot", "30.00")
    shop.later(days=3000)
    await stores.grant("north", "hot", "5.00")
    shop.later(days=-3000)
    await reclaim(shop.context, None)
    assert await stores.outstanding("hot") == 5
    shop.later(days=29)
    await reclaim(shop.context, None)
    assert await stores.outstanding("hot") == 0
    await stores.check("hot")


@pytest.mark.parametrize("clients", [64, pytest.param(1000, marks=(pytest.mark.soak, pytest.mark.timeout(900)))])
async def test_b1_stores_and_tills_fight_over_one_budget(stores: Stores, seed: int, clients: int) -> None:
    """Grants, renewals, returned grants, reported sales and cloud sales at once; B1 holds at every moment."""
    rng = random.Random(seed)
    shop = stores.shop
    await shop.budget("hot", "20.00")
    names = ["north", "south", *(f"S{number}" for number in range(6))]
    for name in names[2:]:
        await stores.open(name)
    priced = {f"T{number}": (await shop.price(f"T{number}", _sale(rng.randint(1, 80)))) for number in range(clients)}  # type: ignore[arg-type]

    async def till(name: str) -> None:
        await shop.confirm(name, priced[name], "off")

    async def store() -> None:
        name = rng.choice(names)
        granted = await stores.grant(name, "hot", str(Decimal(rng.randint(0, 500)) / 100), key=str(rng.random()))
        spent = min(granted.outstanding, Decimal(rng.randint(0, 200)) / 100)
        if spent:
            await stores.release(name, budgets={"hot": str(spent)})
        await stores.grant(name, "hot", str(-Decimal(rng.randint(0, 100)) / 100))

    done = asyncio.Event()

    async def watch() -> int:
        looks = 0
        while not done.is_set():
            await stores.check("hot")
            looks += 1
        return looks

    doings = [*(till(name) for name in priced), *(store() for _ in range(clients))]
    rng.shuffle(doings)
    watching = asyncio.create_task(watch())
    try:
        await asyncio.gather(*doings)
    finally:
        done.set()
        assert await watching > 0
    for name in names:
        await stores.grant(name, "hot", "-1000")
    state = await budget_state(shop, "hot")
    assert state.reserved == 0
    assert (state.status == "EXHAUSTED") == (state.consumed == state.total)
    assert await event_count(shop, "BUDGET_EXHAUSTED") == (state.status == "EXHAUSTED")
    assert {row.id for row in await shop.rows("Budgets")} == {identity("hot")}
