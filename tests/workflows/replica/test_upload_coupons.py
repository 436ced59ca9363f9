"""Coupons that a store spends and issues offline are spent and issued once in the cloud (reliability C1)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from promenade.engine.basket import CouponFact
from promenade.engine.outcome import Outcome
from promenade.workflows.coupons.presenting import activate
from promenade.workflows.coupons.redeeming import redeem
from promenade.workflows.coupons.reserving import ReserveOrder, reserve
from promenade.workflows.coupons.till_issue import IssueOrder, issue_at_till
from promenade.workflows.replica.uploading import requeue_rejected
from promenade.workflows.sync.leases import lease_codes, lease_pool
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.replica.market import Cloud, Store, price
from tests.workflows.shop import NOON, TENANT, Shop, identity

WITH_COUPON = outcome(
    (line("1", 2000, 1000, discount("saver", ((2, 100),), "CODE")),), (applied("saver", 200, coupon_code="CODE"),)
)
EARNS = outcome((line("1", 2000, 1000),), (applied("off", coupon_type_ids=("thanks",)),))


async def furnish(shop: Shop, *codes: str, **kind: Any) -> None:
    await shop.coupon_type("voucher", code_type="INDIVIDUAL", **kind)
    for code in codes:
        await shop.coupon(code, "voucher")


async def lend(cloud: Cloud, store: Store, *codes: str) -> None:
    """The cloud leases the codes to the store, which then has them."""
    leased = await lease_codes(cloud.shop.context, TENANT, store.deployment_id, codes)
    assert not leased.refused
    for code in codes:
        await store.coupon(code, "voucher")


def fact(code: str) -> CouponFact:
    return CouponFact(code, identity("voucher"), "voucher", identity(code))


async def sell(shop: Shop, name: str, priced: Outcome = WITH_COUPON) -> None:
    counter = await price(shop, name, priced, coupons=(fact("CODE"),), customer_id="anna")
    await shop.confirm(name, counter, "saver")


async def code(shop: Shop, text: str = "CODE") -> Any:
    return (await shop.rows("CouponCodes", code=text))[0]


async def uses(shop: Shop) -> dict[str, int]:
    return {row.customer_id: row._mapping["count"] for row in await shop.rows("coupon_usage")}


async def test_a_leased_code_is_spent_in_the_cloud_when_the_sale_arrives(cloud: Cloud, store: Store) -> None:
    await furnish(cloud.shop, "CODE")
    await furnish(store)
    await lend(cloud, store, "CODE")
    assert (await code(cloud.shop)).status == "RESERVED"
    await sell(store, "T1")
    await store.upload_all()
    await cloud.shop.work()
    spent = await code(cloud.shop)
    assert (spent.status, spent.redeemed_transaction_id, spent.redemption_count) == ("REDEEMED", "T1", 1)
    assert await uses(cloud.shop) == {"": 1, "anna": 1}
    (claim,) = await cloud.shop.rows("coupon_claims")
    assert (claim.origin, claim.transaction_counter) == (store.deployment_id, 1)


async def test_a_code_that_another_has_spent_makes_the_sale_rejected(cloud: Cloud, store: Store) -> None:
    await furnish(cloud.shop, "CODE")
    await furnish(store, "CODE")  # without a lease
    await sell(cloud.shop, "C1")
    await sell(store, "T1")
    await store.confirm("T2", await price(store, "T2", EARNS), "off")
    for _ in range(2):
        await store.upload_all()
        (left,) = await store.queue()
        assert left.transaction_id == "T1"
        assert left.reason.startswith("COUPON_ALREADY_CLAIMED: ")
        assert await requeue_rejected(store.context.database, store.tenant) == 1
    logs = await cloud.shop.rows("CalculationLogs", origin=store.deployment_id)
    assert sorted((log.transaction_id, log.status) for log in logs) == [("T1", "FAILED"), ("T2", "CALCULATED")]
    assert await cloud.shop.rows("iterations", origin=store.deployment_id, transaction_id="T1") == []
    assert await uses(cloud.shop) == {"": 1, "anna": 1}


async def test_a_code_that_expired_during_the_upload_counts_as_spent_in_time(cloud: Cloud, store: Store) -> None:
    await furnish(cloud.shop)
    await furnish(store)
    await cloud.shop.coupon("CODE", "voucher", valid_until=NOON + timedelta(days=1))
    await lend(cloud, store, "CODE")
    await sell(store, "T1")
    cloud.shop.later(days=3)
    await cloud.shop.change("CouponCodes", "CODE", status="EXPIRED")  # as the clock does
    await store.upload_all()
    await cloud.shop.work()
    assert (await code(cloud.shop)).status == "REDEEMED"


async def test_a_redemption_at_the_till_is_one_with_its_sale(cloud: Cloud, store: Store) -> None:
    await furnish(cloud.shop, "CODE", max_redemptions=5)
    await furnish(store)
    await lend(cloud, store, "CODE")
    held = await reserve(store.context, store.tenant, ReserveOrder("CODE", "T1", "anna"))
    assert held.reservation_id is not None
    assert (await redeem(store.context, store.tenant, held.reservation_id, "T1")).reason is None
    assert [row.kind for row in await store.queue()] == ["COUPON"]
    await store.upload_all()
    spent = await code(cloud.shop)
    assert (spent.status, spent.redemption_count) == ("REDEEMED", 1)
    await sell(store, "T1")
    await store.upload_all()
    await cloud.shop.work()
    assert await uses(cloud.shop) == {"": 1, "anna": 1}
    (claim,) = await cloud.shop.rows("coupon_claims")
    assert (claim.promotion_id, claim.transaction_counter) == (identity("saver"), 1)
    logs = await cloud.shop.rows("RedemptionLogs", action="REDEEMED")
    assert [row.transaction_id for row in logs] == ["T1"]


async def test_a_repeated_coupon_event_takes_effect_once(cloud: Cloud, store: Store) -> None:
    await furnish(cloud.shop, "CODE")
    await furnish(store)
    await lend(cloud, store, "CODE")
    held = await reserve(store.context, store.tenant, ReserveOrder("CODE", "T1"))
    await redeem(store.context, store.tenant, held.reservation_id or "", "T1")
    await store.upload_all()
    body = msgspec.json.encode(cloud.requests[0])
    for _ in range(3):
        status, answer = await cloud.raw(body)
        assert (status, [one["status"] for one in answer["coupons"]]) == (200, ["duplicate"])
    assert await cloud.shop.count("coupon_claims") == 1
    assert await uses(cloud.shop) == {"": 1}
    # Another till's use of the same code, in its own log, is refused.
    body = body.replace(cloud.requests[0]["coupons"][0]["logId"].encode(), identity("another log").encode())
    _, answer = await cloud.raw(body)
    (refused,) = answer["coupons"]
    assert (refused["status"], refused["reason"]) == ("rejected", "COUPON_ALREADY_CLAIMED")
    assert await uses(cloud.shop) == {"": 1}


@pytest.fixture
async def thanks(cloud: Cloud, store: Store) -> list[str]:
    """Create two unissued codes of a type, one of which the store holds; the held one's name sorts first."""
    for shop in (cloud.shop, store):
        await shop.coupon_type("thanks", code_type="INDIVIDUAL", validity_days=30)
    for name in ("POOL1", "POOL2"):
        await cloud.shop.coupon(name, "thanks")
    leased = await lease_pool(cloud.shop.context, TENANT, store.deployment_id, identity("thanks"), 1, "k1")
    (held,) = [one.code for one in leased.leased]
    await store.coupon(held, "thanks")
    return [held, *({"POOL1", "POOL2"} - {held})]


async def earn(shop: Shop, name: str) -> None:
    await shop.confirm(name, await price(shop, name, EARNS, customer_id="anna"), "off")


async def test_codes_issued_by_the_store_are_not_issued_again(cloud: Cloud, store: Store, thanks: list[str]) -> None:
    held, free = thanks
    await earn(store, "T1")
    await earn(store, "T2")
    await store.upload_all()
    assert await store.count("CouponCodes") == 1  # no code was invented
    await cloud.shop.work()
    first = await code(cloud.shop, held)
    assert (first.customer_id, first.issuing_promotion_id, first.issuance_channel) == (
        "anna",
        identity("off"),
        "POST_PURCHASE",
    )
    assert first.issued_at == NOON
    assert first.valid_until == NOON + timedelta(days=30)
    assert first.status == "RESERVED"  # the store may still spend it
    second = await code(cloud.shop, free)
    assert (second.customer_id, second.status) == ("anna", "ACTIVE")  # which the store could not issue
    assert await cloud.shop.count("CouponCodes") == 2
    logs = await cloud.shop.rows("RedemptionLogs", action="ISSUED")
    assert sorted(row.transaction_id for row in logs) == ["T1", "T2"]


async def test_two_stores_with_one_transaction_id_both_earn(cloud: Cloud, store: Store, other_store: Store) -> None:
    for shop in (cloud.shop, store, other_store):
        await shop.coupon_type("thanks", code_type="INDIVIDUAL")
    for one in (store, other_store):
        await earn(one, "T1")
        await one.upload_all()
    await earn(cloud.shop, "T1")
    await cloud.shop.work()
    issued = await cloud.shop.rows("CouponCodes")
    assert len({row.issuing_transaction_id for row in issued}) == len(issued) == 3


async def test_a_till_of_a_store_issues_and_activates(cloud: Cloud, store: Store, thanks: list[str]) -> None:
    held, _ = thanks
    for shop in (cloud.shop, store):
        await shop.change("CouponTypes", "thanks", requires_activation=True)
    order = IssueOrder(identity("thanks"), None, ("anna", "bert"), reason="sorry", metadata='{"a":1}')
    assert store.context.uplink is not None
    store.context.uplink.is_connected = False  # otherwise it asks the cloud for a second code
    answer = await issue_at_till(store.context, store.tenant, order, lambda letters: letters[0])
    assert [one.code for one in answer.issued] == [held]
    assert [one.code for one in answer.failures] == ["NEEDS_CLOUD"]
    assert (await activate(store.context, store.tenant, held, "anna")).reason is None
    await store.upload_all()
    issued = await code(cloud.shop, held)
    assert (issued.customer_id, issued.issue_reason, issued.issue_metadata) == ("anna", "sorry", '{"a":1}')
    assert issued.issuance_channel == "MANUAL"
    actions = [row.action for row in await cloud.shop.rows("RedemptionLogs", coupon_code_id=issued.id)]
    assert sorted(actions) == ["ACTIVATED", "ISSUED"]
    kinds = [row.kind for row in await cloud.shop.rows("outbox_events")]
    assert kinds == ["COUPON_ISSUED"]
