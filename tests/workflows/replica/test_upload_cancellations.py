"""A sale that was cancelled in its store is cancelled in the cloud too, once, after the sale."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from promenade.errors import NotFound
from promenade.workflows.reports.aggregating import aggregate_all
from promenade.workflows.sales.cancel import CancelCommand, cancel
from promenade.workflows.sync.shares import ShareRequest, grant_share
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.replica.market import Cloud, Store, price
from tests.workflows.sales.priced import PRICED, kinds
from tests.workflows.shop import Shop, identity

BACK = outcome((line("1", -1000, -500),), ())
SAVED = outcome(
    (line("1", 1000, 500, discount("saver", ((1, 100),), "SAVE-1")),), (applied("saver", 100, coupon_code="SAVE-1"),)
)


async def sell(shop: Shop, name: str) -> None:
    await shop.confirm(name, await price(shop, name, PRICED, customer_id="anna"), "off")


async def cancelled(shop: Shop, name: str, reason: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(await cancel(shop.context, shop.tenant, CancelCommand(name, 1, reason)))
    return found


async def spent(shop: Shop) -> Decimal:
    amount: Decimal = (await shop.row("Budgets", "marketing")).consumed_amount
    return amount


async def points(shop: Shop) -> int:
    await shop.work()
    return sum(row.points for row in await shop.rows("LoyaltyTransactions"))


@pytest.mark.parametrize("is_uploaded", [True, False])
async def test_a_cancelled_sale_leaves_nothing_here_and_there(cloud: Cloud, store: Store, is_uploaded: bool) -> None:
    await sell(store, "T1")
    if is_uploaded:
        await store.upload_all()
        await cloud.shop.work()
    await cancelled(store, "T1", "void")
    await store.upload_all()
    for shop in (store, cloud.shop):
        assert (await spent(shop), await points(shop)) == (Decimal(0), 0)
        assert {row._mapping["count"] for row in await shop.rows("promotion_usage")} == {0}
        (log,) = await shop.rows("CalculationLogs")
        assert (log.status, log.message) == ("CANCELLED", "void")
    assert (await kinds(cloud.shop)).count("TRANSACTION_CANCELLED") == 1
    await aggregate_all(cloud.shop.context, cloud.shop.tenant)
    assert await cloud.shop.rows("PromotionPerformance") == []
    assert await store.queue() == []


async def test_an_upload_that_arrives_twice_has_one_effect(cloud: Cloud, store: Store) -> None:
    await sell(store, "T1")
    await cancelled(store, "T1")
    await store.work()
    cloud.failing.append("after")
    with pytest.raises(Exception, match="answer was lost"):
        await store.upload()
    await store.upload_all()
    assert await store.queue() == []
    assert [one["cancellations"] != [] for one in cloud.requests] == [True, True]
    assert await spent(cloud.shop) == 0
    assert (await kinds(cloud.shop)).count("TRANSACTION_CANCELLED") == 1


async def test_returns_on_both_sides_and_a_cancel_add_up(cloud: Cloud, store: Store) -> None:
    await sell(store, "T1")
    await store.upload_all()
    await cloud.shop.confirm("C1", await price(cloud.shop, "C1", BACK, sales={"1": ("T1", "1")}))
    await cancelled(store, "T1")
    await store.upload_all()
    assert (await spent(cloud.shop), await points(cloud.shop)) == (Decimal(0), 0)


async def test_a_return_is_undone_here_and_there(cloud: Cloud, store: Store) -> None:
    await sell(store, "T1")
    await store.confirm("R1", await price(store, "R1", BACK, sales={"1": ("T1", "1")}))
    await cancelled(store, "R1")
    await store.upload_all()
    for shop in (store, cloud.shop):
        assert (await spent(shop), await points(shop)) == (Decimal(2), 20)


async def test_the_cloud_does_not_cancel_a_sale_of_a_store(cloud: Cloud, store: Store) -> None:
    await sell(store, "T1")
    await store.upload_all()
    with pytest.raises(NotFound) as unknown:
        await cancelled(cloud.shop, "T1")
    assert unknown.value.code == "ITERATION_NOT_FOUND"
    assert await spent(cloud.shop) == 2


async def test_a_cancellation_without_its_sale_is_refused(cloud: Cloud, store: Store) -> None:
    await sell(store, "T1")
    await cancelled(store, "T1")
    await store.work()
    await store.upload_all()
    body = {**cloud.requests[0], "transactions": [], "cancellations": cloud.requests[0]["cancellations"]}
    body["cancellations"][0]["transactionId"] = "T9"
    status, answer = await cloud.raw(msgspec.json.encode(body))
    assert (status, [one["reason"] for one in answer["cancellations"]]) == (200, ["ITERATION_NOT_FOUND"])


async def test_the_cloud_reactivates_a_code_that_the_store_gives_up(cloud: Cloud, store: Store) -> None:
    for shop in (cloud.shop, store):
        await shop.coupon_type("save", on_return="REACTIVATE", max_redemptions=1)
        fact = await shop.coupon("SAVE-1", "save")
    await store.confirm("T1", await price(store, "T1", SAVED, coupons=[fact]), "saver")
    told = await cancelled(store, "T1")
    assert told["couponsSpent"] == [
        {
            "couponId": identity("SAVE-1"),
            "couponTypeId": identity("save"),
            "reactivated": False,
            "reason": "AFTER_SYNC",
        }
    ]
    assert await store.rows("CouponCodes") == []
    await store.upload_all()
    code = await cloud.shop.row("CouponCodes", "SAVE-1")
    assert (code.status, code.redeemed_transaction_id) == ("ACTIVE", None)


async def test_the_store_may_use_again_what_the_sale_had_used_of_its_shares(cloud: Cloud, store: Store) -> None:
    shop = cloud.shop
    await shop.change("Promotions", "off", max_applications_total=5)
    for kind, name, amount in (("PROMOTION", "off", 2), ("BUDGET", "marketing", 20)):
        asked = ShareRequest(Decimal(amount))
        await grant_share(shop.context, shop.tenant, store.deployment_id, kind, identity(name), asked)

    async def held() -> tuple[dict[str, Decimal], Decimal, int]:
        shares = {row.kind: row.outstanding for row in await shop.rows("store_shares")}
        usage = await shop.rows("promotion_usage", promotion_id=identity("off"), customer_id="")
        return shares, (await shop.row("Budgets", "marketing")).reserved_amount, usage[0]._mapping["count"]

    granted = {"PROMOTION": Decimal(2), "BUDGET": Decimal(20)}
    assert await held() == (granted, Decimal(20), 2)
    await sell(store, "T1")
    await store.upload_all()
    assert await held() == ({"PROMOTION": Decimal(1), "BUDGET": Decimal(18)}, Decimal(18), 2)
    await cancelled(store, "T1")
    await store.upload_all()
    assert await held() == (granted, Decimal(20), 2)
    assert await spent(shop) == 0


async def test_sales_returns_and_cancels_of_two_stores_add_up_in_whatever_order_they_arrive(
    cloud: Cloud, store: Store, other_store: Store, seed: int
) -> None:
    draw = random.Random(seed)
    places: list[Shop] = [cloud.shop, store, other_store]
    made: list[tuple[Shop, str]] = []
    cancels: set[str] = set()
    for number in range(4):
        made.append((draw.choice(places[1:]), f"S{number}"))
        await sell(*made[-1])
    for number in range(16):
        at, name = draw.choice(made)
        match draw.randint(0, 2):
            case 0:
                await cancelled(at, name)
                cancels.add(name)
            case 1:
                made.append((draw.choice(places), f"R{number}"))
                sale = f"S{draw.randint(0, 3)}"
                counter = await price(made[-1][0], f"R{number}", BACK, sales={"1": (sale, "1")})
                await made[-1][0].confirm(f"R{number}", counter)
            case _:
                await draw.choice((store, other_store)).upload_all()
    for at in (store, other_store):
        await at.upload_all()
    await cloud.shop.work()
    # An unknown sale cannot be returned in the cloud, so a return may have come before its sale; nothing is lost by it.
    kept = Decimal(2) * sum(name.startswith("S") and name not in cancels for _, name in made)
    consumed = await spent(cloud.shop)
    assert 0 <= consumed <= kept
    assert consumed == sum(row.amount for row in await cloud.shop.rows("BudgetConsumptions"))
    assert await points(cloud.shop) == 10 * consumed
    draw.shuffle(made)
    for at, name in made:
        await cancelled(at, name)
    for at in (store, other_store):
        await at.upload_all()
        assert await at.queue() == []
    assert (await spent(cloud.shop), await points(cloud.shop)) == (Decimal(0), 0)
    assert {row._mapping["count"] for row in await cloud.shop.rows("promotion_usage")} == {0}
