"""Goods returned at another till than the one that sold them are settled in the cloud, whoever made the sale."""

from __future__ import annotations

from decimal import Decimal

from sqlalchemy import update

from promenade.store.driver.schema import table
from tests.workflows.outcomes import line, outcome
from tests.workflows.replica.market import Cloud, Store, price
from tests.workflows.sales.priced import PRICED
from tests.workflows.shop import Shop

BACK = outcome((line("1", -2000, -1000),), ())


async def sell(shop: Shop, name: str) -> None:
    await shop.confirm(name, await price(shop, name, PRICED, customer_id="anna"), "off")


async def bring_back(shop: Shop, name: str, sale: str) -> None:
    counter = await price(shop, name, BACK, customer_id="anna", sales={"1": (sale, "1")})
    await shop.confirm(name, counter)


async def spent(cloud: Cloud) -> Decimal:
    amount: Decimal = (await cloud.shop.row("Budgets", "marketing")).consumed_amount
    return amount


async def points(cloud: Cloud) -> int:
    await cloud.shop.work()
    return sum(row.points for row in await cloud.shop.rows("LoyaltyTransactions"))


async def test_a_return_at_the_same_store_is_settled_there_and_here(cloud: Cloud, store: Store) -> None:
    await sell(store, "T1")
    await bring_back(store, "T2", "T1")
    assert (await store.row("Budgets", "marketing")).consumed_amount == 0
    await store.upload_all()
    assert (await spent(cloud), await points(cloud)) == (Decimal(0), 0)
    assert {row.amount for row in await cloud.shop.rows("BudgetConsumptions")} == {Decimal(2), Decimal(-2)}


async def test_a_return_in_the_cloud_finds_the_sale_once_it_is_there(cloud: Cloud, store: Store) -> None:
    await sell(store, "T1")
    await bring_back(cloud.shop, "C1", "T1")
    await store.upload_all()
    assert (await spent(cloud), await points(cloud)) == (Decimal(2), 20)  # the sale was not known yet
    await bring_back(cloud.shop, "C2", "T1")
    assert (await spent(cloud), await points(cloud)) == (Decimal(0), 0)
    await bring_back(cloud.shop, "C3", "T1")
    assert (await spent(cloud), await points(cloud)) == (Decimal(0), 0)  # not more than the sale carried


async def test_a_return_at_another_store_is_settled_by_the_cloud(
    cloud: Cloud, store: Store, other_store: Store
) -> None:
    await sell(store, "T1")
    await store.upload_all()
    await bring_back(other_store, "T2", "T1")
    assert (await other_store.row("Budgets", "marketing")).consumed_amount == 0  # it does not know the sale
    await other_store.upload_all()
    assert (await spent(cloud), await points(cloud)) == (Decimal(0), 0)


async def test_a_sale_of_the_cloud_comes_back_to_a_store(cloud: Cloud, store: Store) -> None:
    await sell(cloud.shop, "C1")
    await bring_back(store, "T1", "C1")
    await store.upload_all()
    assert (await spent(cloud), await points(cloud)) == (Decimal(0), 0)


async def test_a_return_prefers_the_stores_own_sale_of_that_id(cloud: Cloud, store: Store, other_store: Store) -> None:
    for one in (store, other_store):
        await sell(one, "T1")
        await one.upload_all()
    await bring_back(other_store, "T2", "T1")
    await other_store.upload_all()
    back = {row.origin: row.returned for row in await cloud.shop.rows("confirmations", transaction_id="T1")}
    assert back[store.deployment_id] is None
    assert back[other_store.deployment_id] is not None
    assert await spent(cloud) == Decimal(2)


async def test_a_return_that_matches_two_sales_gives_nothing_back(
    cloud: Cloud, store: Store, other_store: Store
) -> None:
    for one in (store, other_store):
        await sell(one, "T1")
        await one.upload_all()
    await bring_back(cloud.shop, "C1", "T1")
    assert (await spent(cloud), await points(cloud)) == (Decimal(4), 40)


async def test_a_return_is_not_sent_before_its_sale(cloud: Cloud, store: Store) -> None:
    await sell(store, "T1")
    await bring_back(store, "T2", "T1")
    # The side effects of the return run first, those of the sale are pending.
    jobs = {row.transaction_id: row.id for row in await store.rows("side_effect_jobs")}
    await finish(store, jobs["T2"])
    assert (await store.upload()).sent == 0
    await finish(store, jobs["T1"])
    assert (await store.upload()).sent == 2
    assert await spent(cloud) == Decimal(0)


async def finish(store: Store, job_id: str) -> None:
    jobs = table("side_effect_jobs")
    done = update(jobs).where(jobs.c.id == job_id).values(status="COMPLETED")
    await store.context.database.write(lambda session: session.rowcount(done), tenant=store.tenant)
