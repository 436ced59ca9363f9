"""A store's sales arrive in the cloud once, as if they had been made there (reliability T1, T4)."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from functools import partial

import msgspec
import pytest

from promenade.errors import Unavailable
from promenade.store.pricing.iterations import StoredIteration, find_iteration
from promenade.store.verification.sums import read_differences
from promenade.workflows.replica.uploading import count_pending
from promenade.workflows.sync.shares import ShareRequest, grant_share
from promenade.zstd import decompress
from tests.workflows.replica.market import Cloud, Store, price
from tests.workflows.sales.priced import PRICED
from tests.workflows.shop import TENANT, Shop, identity


async def sell(store: Store, name: str, customer: str | None = "anna") -> None:
    counter = await price(store, name, PRICED, customer_id=customer)
    await store.confirm(name, counter, "off")


async def test_a_sale_arrives_with_all_that_it_means(cloud: Cloud, store: Store) -> None:
    await sell(store, "T1")
    assert await count_pending(store.context, store.tenant) == 1
    cloud.shop.later(days=2)
    await store.upload_all()
    await cloud.shop.work()
    assert await count_pending(store.context, store.tenant) == 0
    assert await store.queue() == []
    (log,) = await cloud.shop.rows("CalculationLogs")
    assert (log.status, log.origin, log.source, log.transaction_id) == (
        "CALCULATED",
        store.deployment_id,
        "local-store",
        "T1",
    )
    assert store.context.uplink is not None
    assert log.instance_id == store.context.uplink.instance_id
    assert log.confirmed_at == store.now[0]
    (consumption,) = await cloud.shop.rows("BudgetConsumptions")
    assert (consumption.amount, consumption.origin) == (Decimal("2.00"), store.deployment_id)
    (points,) = [sum(row.points for row in await cloud.shop.rows("LoyaltyTransactions"))]
    assert points == 20
    (iteration,) = await cloud.shop.rows("iterations")
    assert (iteration.origin, iteration.transaction_counter) == (store.deployment_id, 1)
    (own,) = await store.rows("iterations")
    kept = [msgspec.msgpack.decode(decompress(one.record)) for one in (iteration, own)]
    assert kept[0] == kept[1]
    for shop, is_store in ((cloud.shop, False), (store, True)):  # as `promenade db check` sees it
        work = partial(read_differences, is_store=is_store)
        assert (await shop.context.database.read(work, system=True))[1] == []
    assert iteration.advice == own.advice is not None


async def test_a_price_stored_as_a_difference_arrives_as_the_same_bytes(cloud: Cloud, store: Store) -> None:
    await price(store, "T1", PRICED, customer_id="anna")
    await store.confirm("T1", await price(store, "T1", PRICED, customer_id="anna"), "off")
    assert [row.base_counter for row in await store.rows("iterations")] == [None, 1]
    await store.work()
    await store.upload_all()
    (arrived,) = await cloud.shop.rows("iterations")
    assert arrived.base_counter is None  # the cloud has no other iteration of it
    assert arrived.advice == (await store.rows("iterations", transaction_counter=1))[0].advice
    prices = [
        await stored_price(cloud.shop, store.deployment_id),
        await stored_price(store, store.context.origin),
    ]
    assert prices[0] is not None
    assert prices[1] is not None
    assert prices[0].outcome_bytes == prices[1].outcome_bytes
    assert (prices[0].basket, prices[0].facts) == (prices[1].basket, prices[1].facts)


async def stored_price(shop: Shop, origin: str) -> StoredIteration | None:
    return await shop.context.database.read(lambda one: find_iteration(one, origin, "T1", 2), tenant=shop.tenant)


async def test_a_sale_is_stored_once_whichever_message_is_lost(cloud: Cloud, store: Store) -> None:
    await sell(store, "T1")
    await store.work()
    cloud.failing = ["before", "after"]
    for _ in range(2):
        with pytest.raises(Unavailable):
            await store.upload()
    assert len(await store.queue()) == 1
    assert (await store.upload()).sent == 1
    assert [one["status"] for one in (await answers(cloud))[-1]] == ["duplicate"]
    assert await store.queue() == []
    assert await cloud.shop.count("CalculationLogs") == 1
    assert await cloud.shop.count("BudgetConsumptions") == 1


async def answers(cloud: Cloud) -> list[list[dict[str, object]]]:
    """Return the answers that repeating each request would get now."""
    return [(await cloud.raw(msgspec.json.encode(one)))[1]["results"] for one in cloud.requests]


async def test_a_portion_repeated_by_eight_at_once_has_one_effect(cloud: Cloud, store: Store) -> None:
    for number in range(12):
        await sell(store, f"T{number}")
    await store.work()
    cloud.failing = ["after"]
    with pytest.raises(Unavailable):
        await store.upload()
    body = msgspec.json.encode(cloud.requests[0])
    await cloud.shop.change("Budgets", "marketing", consumed_amount=Decimal(0))
    every = await asyncio.gather(*[cloud.raw(body) for _ in range(8)])
    assert {one["status"] for _, answer in every for one in answer["results"]} == {"duplicate"}
    assert await cloud.shop.count("confirmations") == 12


async def test_eight_concurrent_uploads_of_a_new_portion_store_it_once(cloud: Cloud, store: Store) -> None:
    for number in range(12):
        await sell(store, f"T{number}")
    await store.work()
    cloud.failing = ["before"]
    with pytest.raises(Unavailable):
        await store.upload()
    body = await body_of(cloud, store)
    every = await asyncio.gather(*[cloud.raw(body) for _ in range(8)])
    told = [one["status"] for _, answer in every for one in answer["results"]]
    assert (told.count("accepted"), told.count("duplicate")) == (12, 84)
    assert await cloud.shop.count("CalculationLogs") == 12
    assert (await cloud.shop.row("Budgets", "marketing")).consumed_amount == Decimal("24.00")


async def body_of(cloud: Cloud, store: Store) -> bytes:
    """Return what the store would send now."""
    sent: list[bytes] = []

    class Listening:
        async def post(self, path: str, body: object, **_: object) -> dict[str, object]:
            sent.append(msgspec.json.encode(body))
            raise Unavailable("GONE", "Nobody is there.")

    uplink = store.context.uplink
    assert uplink is not None
    uplink.client = Listening()  # type: ignore[assignment]
    with pytest.raises(Unavailable):
        await store.upload()
    uplink.client = cloud
    return sent[0]


async def test_what_was_granted_is_used_up_and_what_was_not_is_taken_if_it_is_there(cloud: Cloud, store: Store) -> None:
    shop = cloud.shop
    asked = ShareRequest(Decimal(3))
    granted = await grant_share(shop.context, TENANT, store.deployment_id, "BUDGET", identity("marketing"), asked)
    assert granted.granted == Decimal(3)
    await shop.change("Budgets", "marketing", total_amount=Decimal(5))
    for number in range(3):
        await sell(store, f"T{number}")
        await store.upload_all()
        budget = await shop.row("Budgets", "marketing")
        assert (budget.consumed_amount, budget.reserved_amount) == [(2, 1), (4, 0), (5, 0)][number]
    booked = sorted((row.amount, row.uncovered_amount) for row in await shop.rows("BudgetConsumptions"))
    assert booked == [(1, 1), (2, 0), (2, 0)]


async def test_the_cloud_records_each_exchange(cloud: Cloud, store: Store) -> None:
    await sell(store, "T1")
    await sell(store, "T2")
    await store.upload_all()
    (exchange,) = await cloud.shop.rows("SyncHistory", direction="UP")
    assert (exchange.transactions, exchange.status, exchange.deployment_id) == (2, "SUCCEEDED", store.deployment_id)
