"""When sales are uploaded, with which data, and what delays them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from sqlalchemy import delete, update

from promenade.engine.definition import ActionRow, PromotionDefinition
from promenade.engine.fingerprint import definition_hash
from promenade.engine.outcome import Outcome
from promenade.store.driver.schema import table
from promenade.store.pricing.iterations import keep_definitions
from promenade.workflows.replica import uploading
from promenade.workflows.replica.uploading import Uploaded, requeue_rejected
from promenade.workflows.uplink import CloudRefused
from tests.workflows.outcomes import applied, line, outcome
from tests.workflows.replica.market import TREE, Cloud, Store, price
from tests.workflows.sales.priced import PRICED
from tests.workflows.shop import TENANT, identity

# A store behaves the same with either database of the cloud.
pytestmark = pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)

EARNS = outcome((line("1", 2000, 1000),), (applied("off", coupon_type_ids=("thanks",)),))


async def sell(store: Store, name: str, priced: Outcome = PRICED) -> None:
    await store.confirm(name, await price(store, name, priced, customer_id="anna"), "off")


async def execute(store: Store, statement: Any) -> None:
    await store.context.database.write(lambda session: session.rowcount(statement), tenant=store.tenant)


async def test_a_sale_waits_for_its_side_effects_but_not_for_ever(cloud: Cloud, store: Store) -> None:
    for shop in (cloud.shop, store):
        await shop.coupon_type("thanks", code_type="INDIVIDUAL")
    await sell(store, "T1", EARNS)
    await sell(store, "T2")
    assert await store.upload() == Uploaded(0, 2)
    store.later(minutes=16)
    cloud.shop.later(minutes=16)
    assert (await store.upload()).sent == 2
    await cloud.shop.work()
    assert [row.customer_id for row in await cloud.shop.rows("CouponCodes")] == ["anna"]
    # From now on the coupon is issued by the cloud: a code that the store gets later is not issued as well.
    held = await store.coupon("POOL", "thanks")
    await store.work()
    assert (await store.rows("CouponCodes", id=held.coupon_id))[0].issued_at is None
    assert {row.status for row in await store.rows("side_effect_jobs")} == {"COMPLETED"}


async def test_a_worker_that_is_at_it_loses_what_the_cloud_has_been_told(cloud: Cloud, store: Store) -> None:
    for shop in (cloud.shop, store):
        await shop.coupon_type("thanks", code_type="INDIVIDUAL")
    await sell(store, "T1", EARNS)
    jobs = table("side_effect_jobs")
    await execute(store, update(jobs).values(status="RUNNING", lease_owner="w", lease_until=store.now[0]))
    store.later(minutes=16)
    assert (await store.upload()).sent == 1
    (job,) = await store.rows("side_effect_jobs")
    assert (job.status, job.lease_owner) == ("PENDING", None)


async def test_portions_are_bounded_and_in_order(cloud: Cloud, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploading, "ROWS_MAX", 3)
    for number in range(8):
        await sell(store, f"T{number}")
    await store.work()
    portions = [await store.upload() for _ in range(4)]
    assert [one.sent for one in portions] == [3, 3, 2, 0]
    assert [bool(one.left) for one in portions] == [True, True, False, False]
    sent = [one["transactionId"] for request in cloud.requests for one in request["transactions"]]
    assert sent == [f"T{number}" for number in range(8)]


async def test_a_large_sale_fills_a_portion_alone(cloud: Cloud, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploading, "BYTES_MAX", 1)
    for number in range(3):
        await sell(store, f"T{number}")
    await store.upload_all()
    assert [len(one["transactions"]) for one in cloud.requests] == [1, 1, 1]


async def test_a_sale_that_cannot_be_sent_delays_no_other(
    cloud: Cloud, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sell(store, "T1")
    await sell(store, "T2")
    await execute(store, delete(table("iterations")).where(table("iterations").c.transaction_id == "T1"))
    await store.upload_all()
    (left,) = await store.queue()
    assert left.reason.startswith("ITERATION_LOST")
    monkeypatch.setattr(uploading, "SALE_BYTES_MAX", 10)
    await sell(store, "T3")
    await store.upload_all()
    assert (await store.queue())[1].reason.startswith("TOO_LARGE")
    assert [row.transaction_id for row in await cloud.shop.rows("confirmations")] == ["T2"]


def definition(name: str) -> PromotionDefinition:
    row = ActionRow("a1", 1, "RECEIPT", "PERCENTAGE", 1000)
    return PromotionDefinition(identity(name), name, actions=(row,))


async def depend(store: Store, body: PromotionDefinition) -> Outcome:
    """Let the store price with a promotion that the cloud has not used in pricing yet."""
    key = definition_hash(body)
    at = store.now[0]
    await store.context.database.write(lambda session: keep_definitions(session, {key: body}, at), tenant=store.tenant)
    return replace(PRICED, candidate_hashes=(key,))


async def test_definitions_travel_once(cloud: Cloud, store: Store) -> None:
    priced = await depend(store, definition("off"))
    for name in ("T1", "T2"):
        await sell(store, name, priced)
        await store.upload_all()
    assert [sorted(one["definitions"]) for one in cloud.requests] == [sorted((TREE, *priced.candidate_hashes)), []]
    kept = {row.hash: row.body for row in await cloud.shop.rows("promotion_definitions")}
    assert kept == {row.hash: row.body for row in await store.rows("promotion_definitions")}


async def test_a_cloud_that_has_forgotten_definitions_gets_them_again(cloud: Cloud, store: Store) -> None:
    priced = await depend(store, definition("off"))
    await sell(store, "T1", priced)
    await store.upload_all()
    forget = delete(table("promotion_definitions"))
    await cloud.shop.context.database.write(lambda session: session.rowcount(forget), tenant=TENANT)
    await sell(store, "T2", priced)
    await store.work()
    assert (await store.upload()).sent == 0
    assert (await store.upload()).sent == 1
    assert await store.queue() == []


async def test_a_definition_that_is_not_what_its_hash_says_is_not_kept(cloud: Cloud, store: Store) -> None:
    priced = await depend(store, definition("off"))
    changed = update(table("promotion_definitions")).where(
        table("promotion_definitions").c.hash == priced.candidate_hashes[0]
    )
    await execute(store, changed.values(body=msgspec.msgpack.encode(definition("other"))))
    await sell(store, "T1", priced)
    await store.upload_all()
    (left,) = await store.queue()
    assert left.reason.startswith("DEFINITION_MISSING")
    assert [row.hash for row in await cloud.shop.rows("promotion_definitions")] == [TREE]


async def test_a_store_that_the_cloud_does_not_know_keeps_its_sales(cloud: Cloud, store: Store) -> None:
    await sell(store, "T1")
    await store.work()
    assert store.context.uplink is not None
    store.context.uplink.deployment_id = identity("nobody")
    with pytest.raises(CloudRefused) as caught:
        await store.upload()
    assert (caught.value.status, caught.value.code) == (404, "DEPLOYMENT_NOT_FOUND")
    assert len(await store.queue()) == 1


async def test_without_a_link_nothing_happens(store: Store) -> None:
    await sell(store, "T1")
    await store.work()
    assert store.context.uplink is not None
    store.context.uplink.client = None
    assert await store.upload() == Uploaded(0, 0)


async def test_sales_in_the_cloud_are_not_queued_for_upload(cloud: Cloud) -> None:
    await cloud.shop.confirm("C1", await price(cloud.shop, "C1", PRICED), "off")
    assert await cloud.shop.count("sync_uploads") == 0


async def test_sales_of_another_set_up_of_the_same_store_are_other_sales(cloud: Cloud, store: Store) -> None:
    await sell(store, "T1")
    await store.upload_all()
    made = ("confirmations", "iterations", "iteration_counters", "side_effect_jobs", "BudgetConsumptions")
    for name in (*made, "LoyaltyTransactions"):
        await execute(store, delete(table(name)))
    store.later(days=1)
    cloud.shop.later(days=1)
    await sell(store, "T1")
    await store.upload_all()
    (left,) = await store.queue()
    assert left.reason.startswith("CONFIRM_MISMATCH")
    assert await requeue_rejected(store.context.database, store.tenant) == 1


async def test_a_sale_from_the_future_is_dated_at_its_arrival(cloud: Cloud, store: Store) -> None:
    store.later(days=3)
    await sell(store, "T1")
    await store.upload_all()
    (log,) = await cloud.shop.rows("CalculationLogs")
    assert log.confirmed_at == cloud.shop.now[0]
    await cloud.shop.work()
    assert [row.status for row in await cloud.shop.rows("side_effect_jobs")] == ["COMPLETED"]
