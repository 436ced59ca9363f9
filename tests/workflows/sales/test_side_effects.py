"""The asynchronous stage of a confirmed sale (specification, side-effects result)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import msgspec
import pytest
from sqlalchemy import delete

from promenade.errors import Conflict, NotFound
from promenade.store.driver.cache import LocalCache
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database
from promenade.worker import Worker
from promenade.workflows.sales.side_effects import claim_jobs, side_effects_status
from promenade.workflows.sales.side_effects_requeue import list_side_effects, requeue_all_failed, requeue_side_effects
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.sales.priced import PRICED, kinds
from tests.workflows.shop import NOON, Shop, identity


async def test_the_side_effects_are_pending_then_completed(shop: Shop) -> None:
    await shop.coupon_type("next-time", validity_days=30)
    await shop.coupon_type("save")
    fact = await shop.coupon("SAVE-1", "save")
    priced = outcome(
        (line("1", 1000, 500, discount("saver", ((1, 100),), "SAVE-1")),),
        (
            applied("saver", 100, coupon_code="SAVE-1", points=4, budget_ids=("marketing",)),
            applied("stamps", coupon_type_ids=("next-time",)),
        ),
        base_points=4,
    )
    counter = await shop.price("T1", priced, coupons=[fact])
    await shop.confirm("T1", counter, "saver", customer_id="C7")
    pending = await side_effects_status(shop.context, shop.tenant, "T1", counter)
    assert (pending.status, pending.attempts, pending.completed_at) == ("PENDING", 0, None)
    shop.later(seconds=2)
    await shop.work()
    done = await side_effects_status(shop.context, shop.tenant, "T1", counter)
    assert (done.status, done.attempts) == ("COMPLETED", 1)
    assert (done.coupons_redeemed, done.budgets_consumed, done.loyalty_points_earned) == (1, 1, 8)
    (issued,) = done.post_purchase_coupons
    code = next(row for row in await shop.rows("CouponCodes") if row.code == issued.code)
    assert (code.customer_id, code.issuing_transaction_id, code.issuance_channel) == ("C7", "T1", "POST_PURCHASE")
    assert code.valid_until == shop.now[0] + timedelta(days=30)
    assert len(issued.code) == 12
    logs = sorted((row.action, row.customer_id) for row in await shop.rows("RedemptionLogs"))
    assert logs == [("ISSUED", "C7"), ("REDEEMED", "C7")]
    assert {"COUPON_REDEEMED", "COUPON_ISSUED", "LOYALTY_POINTS_AWARDED"} <= set(await kinds(shop))
    assert all(issued.code.encode() not in row.payload for row in await shop.rows("outbox_events"))


async def test_the_status_is_cached_for_about_a_second(shop: Shop) -> None:
    counter = await shop.price("T1", PRICED)
    await shop.confirm("T1", counter, "off")
    assert (await side_effects_status(shop.context, shop.tenant, "T1", counter)).status == "PENDING"
    await shop.work()
    assert (await side_effects_status(shop.context, shop.tenant, "T1", counter)).status == "PENDING"
    shop.later(seconds=1.1)
    assert (await side_effects_status(shop.context, shop.tenant, "T1", counter)).status == "COMPLETED"


async def test_a_status_that_another_version_has_kept_is_read_again(shop: Shop) -> None:
    class Upgraded(LocalCache):
        async def get(self, key: str) -> bytes | None:
            return msgspec.msgpack.encode({"state": "DONE"})

    counter = await shop.price("T1", PRICED)
    await shop.confirm("T1", counter, "off")
    context = replace(shop.context, cache=Upgraded())
    assert (await side_effects_status(context, shop.tenant, "T1", counter)).status == "PENDING"


async def test_an_unconfirmed_iteration_has_no_side_effects(shop: Shop) -> None:
    counter = await shop.price("T1", PRICED)
    with pytest.raises(NotFound):
        await side_effects_status(shop.context, shop.tenant, "T1", counter)


async def test_a_sale_without_a_customer_earns_no_reward(shop: Shop) -> None:
    await shop.confirm("T1", await shop.price("T1", PRICED), "off")
    await shop.work()
    assert await shop.count("LoyaltyTransactions") == 0
    assert (await shop.rows("CalculationLogs"))[0].loyalty_points == 0


async def test_each_cause_of_points_is_a_row_with_its_balance(shop: Shop) -> None:
    await shop.confirm("T1", await shop.price("T1", PRICED, customer_id="C1"), "off")
    await shop.work()
    rows = sorted(await shop.rows("LoyaltyTransactions"), key=lambda row: row.balance_after)
    assert [(row.promotion_id, row.points, row.balance_after) for row in rows] == [
        (None, 10, 10),
        (identity("off"), 3, 13),
        (identity("stamps"), 7, 20),
    ]


async def test_post_purchase_coupons_come_from_the_pool_while_it_lasts(shop: Shop) -> None:
    await shop.coupon_type("next-time", requires_activation=True)
    await shop.coupon("POOLED", "next-time", source="MANUAL")
    await shop.coupon("OUTSIDE", "next-time", source="EXTERNAL")
    priced = outcome((line("1", 1000, 500),), (applied("stamps", coupon_type_ids=("next-time",)),))
    for transaction in ("T1", "T2"):
        await shop.confirm(transaction, await shop.price(transaction, priced, customer_id="C1"))
        await shop.work()
    codes = {row.code: row for row in await shop.rows("CouponCodes")}
    assert (codes["POOLED"].issuing_transaction_id, codes["POOLED"].status) == ("T1", "CREATED")
    assert codes["OUTSIDE"].issued_at is None
    assert len(codes) == 3


async def test_a_generic_type_hands_out_its_shared_code(shop: Shop) -> None:
    await shop.coupon_type("next-time", code_type="GENERIC", generic_code="COME-BACK")
    priced = outcome((line("1", 1000, 500),), (applied("stamps", coupon_type_ids=("next-time",)),))
    counter = await shop.price("T1", priced)
    await shop.confirm("T1", counter)
    await shop.work()
    (issued,) = (await side_effects_status(shop.context, shop.tenant, "T1", counter)).post_purchase_coupons
    assert issued.code == "COME-BACK"
    assert await shop.count("CouponCodes") == 0


# ---- owed, and run again --------------------------------------------------------------------------------------------

REWARDED = outcome(
    (line("1", 1000, 500, discount("saver", ((1, 100),), "SAVE-1")),),
    (
        applied("saver", 100, coupon_code="SAVE-1", points=4),
        applied("stamps", coupon_type_ids=("scarce", "next-time")),
    ),
)


async def a_sale_with_a_coupon_that_cannot_be_issued(shop: Shop) -> int:
    """Confirm and process a sale until its side effects fail: the codes of ``scarce`` have run out."""
    for kind in ("save", "next-time", "scarce"):
        await shop.coupon_type(kind)
    await shop.put(
        "CouponCodeConfigurations", id=identity("few"), coupon_type_id=identity("scarce"), length=1, alphabet="A"
    )
    await shop.coupon("A", "save")
    fact = await shop.coupon("SAVE-1", "save")
    counter = await shop.price("T1", REWARDED, coupons=[fact], customer_id="C1")
    await shop.confirm("T1", counter, "saver")
    await shop.work()
    return counter


async def until_it_has_failed(shop: Shop) -> None:
    for _ in range(10):
        shop.later(minutes=10)
        await shop.work()


async def mend(shop: Shop) -> None:
    await shop.change("CouponCodeConfigurations", "few", length=12, alphabet="ABCDEFGH")


async def counted(shop: Shop) -> dict[str, int]:
    found = await kinds(shop)
    return {kind: found.count(kind) for kind in ("COUPON_REDEEMED", "LOYALTY_POINTS_AWARDED", "COUPON_ISSUED")}


async def test_a_coupon_that_cannot_be_issued_holds_up_nothing_else(shop: Shop) -> None:
    counter = await a_sale_with_a_coupon_that_cannot_be_issued(shop)
    waiting = await side_effects_status(shop.context, shop.tenant, "T1", counter)
    assert (waiting.status, waiting.attempts, waiting.completed_at) == ("PENDING", 1, None)
    assert (waiting.coupons_redeemed, waiting.loyalty_points_earned) == (1, 4)
    assert [one.coupon_type_id for one in waiting.post_purchase_coupons] == [identity("next-time")]
    assert waiting.reason is not None
    assert identity("scarce") in waiting.reason
    assert "CODES_EXHAUSTED" in waiting.reason
    await until_it_has_failed(shop)
    failed = await side_effects_status(shop.context, shop.tenant, "T1", counter)
    assert (failed.status, failed.attempts, failed.reason) == ("FAILED", 8, waiting.reason)
    assert (failed.coupons_redeemed, failed.loyalty_points_earned) == (1, 4)
    assert len(failed.post_purchase_coupons) == 1
    assert await counted(shop) == {"COUPON_REDEEMED": 1, "LOYALTY_POINTS_AWARDED": 1, "COUPON_ISSUED": 1}
    assert (await shop.rows("loyalty_balances"))[0].points == 4


async def test_postponed_rewards_are_granted_once_when_possible(shop: Shop) -> None:
    counter = await a_sale_with_a_coupon_that_cannot_be_issued(shop)
    await mend(shop)
    shop.later(minutes=10)
    await shop.work()
    done = await side_effects_status(shop.context, shop.tenant, "T1", counter)
    assert (done.status, done.attempts, done.reason) == ("COMPLETED", 2, None)
    assert (done.coupons_redeemed, done.loyalty_points_earned) == (1, 4)
    assert {one.coupon_type_id for one in done.post_purchase_coupons} == {identity("next-time"), identity("scarce")}
    assert await counted(shop) == {"COUPON_REDEEMED": 1, "LOYALTY_POINTS_AWARDED": 1, "COUPON_ISSUED": 2}
    assert len({row.code for row in await shop.rows("CouponCodes") if row.issued_at is not None}) == 2


async def test_an_operator_lets_failed_side_effects_run_again(shop: Shop) -> None:
    counter = await a_sale_with_a_coupon_that_cannot_be_issued(shop)
    await until_it_has_failed(shop)
    failed = await side_effects_status(shop.context, shop.tenant, "T1", counter)
    await mend(shop)
    again = await requeue_side_effects(shop.context, shop.tenant, "T1", counter, user="olga")
    assert (again.status, again.attempts, again.completed_at) == ("PENDING", 0, None)
    assert again.reason == failed.reason  # until it has run
    assert await side_effects_status(shop.context, shop.tenant, "T1", counter) == again  # at once
    assert await requeue_side_effects(shop.context, shop.tenant, "T1", counter, user="olga") == again
    (trail,) = await shop.rows("AuditLogs")
    assert (trail.actor, trail.action, trail.entity_type, trail.entity_name) == (
        "olga", "REQUEUE", "SideEffects", f"T1/{counter}"
    )  # fmt: skip
    assert trail.note == failed.reason
    await shop.work()
    shop.later(seconds=2)
    done = await side_effects_status(shop.context, shop.tenant, "T1", counter)
    assert (done.status, done.attempts, done.reason) == ("COMPLETED", 1, None)
    assert done.started_at == failed.started_at
    assert (done.coupons_redeemed, done.loyalty_points_earned, len(done.post_purchase_coupons)) == (1, 4, 2)
    assert await counted(shop) == {"COUPON_REDEEMED": 1, "LOYALTY_POINTS_AWARDED": 1, "COUPON_ISSUED": 2}
    with pytest.raises(Conflict) as caught:
        await requeue_side_effects(shop.context, shop.tenant, "T1", counter, user="olga")
    assert caught.value.code == "NOT_FAILED"


async def test_a_coupon_whose_type_was_deleted_is_owed(shop: Shop) -> None:
    await shop.coupon_type("gone")
    priced = outcome((line("1", 1000, 500),), (applied("stamps", points=4, coupon_type_ids=("gone",)),))
    counter = await shop.price("T1", priced, customer_id="C1")
    await shop.confirm("T1", counter)
    types = table("CouponTypes")
    deleting = delete(types).where(types.c.id == identity("gone"))
    await shop.context.database.write(lambda session: session.rowcount(deleting), tenant=shop.tenant)
    await until_it_has_failed(shop)
    failed = await side_effects_status(shop.context, shop.tenant, "T1", counter)
    assert (failed.status, failed.loyalty_points_earned, failed.post_purchase_coupons) == ("FAILED", 4, ())
    assert failed.reason is not None
    assert f"{identity('gone')} (COUPON_TYPE_NOT_FOUND" in failed.reason


async def test_a_coupon_whose_type_has_ended_is_owed_until_the_type_is_extended(shop: Shop) -> None:
    await shop.coupon_type("over", valid_to=NOON + timedelta(minutes=1))
    priced = outcome((line("1", 1000, 500),), (applied("stamps", points=4, coupon_type_ids=("over",)),))
    counter = await shop.price("T1", priced, customer_id="C1")
    await shop.confirm("T1", counter)
    shop.later(minutes=1)
    await shop.work()
    waiting = await side_effects_status(shop.context, shop.tenant, "T1", counter)
    assert (waiting.status, waiting.loyalty_points_earned, waiting.post_purchase_coupons) == ("PENDING", 4, ())
    assert waiting.reason is not None
    assert f"{identity('over')} (COUPON_TYPE_ENDED" in waiting.reason
    assert await shop.count("CouponCodes") == 0
    await shop.change("CouponTypes", "over", valid_to=NOON + timedelta(days=1))
    shop.later(minutes=10)
    await shop.work()
    done = await side_effects_status(shop.context, shop.tenant, "T1", counter)
    assert (done.status, len(done.post_purchase_coupons)) == ("COMPLETED", 1)


async def test_database_error_messages_are_not_shown_to_tills(shop: Shop) -> None:
    await shop.coupon_type("save")
    fact = await shop.coupon("SAVE-1", "save")
    counter = await shop.price("T1", REWARDED, coupons=[fact], customer_id="C1")
    await shop.confirm("T1", counter, "saver")
    await Worker(replace(shop.context, new_id=lambda: identity("never new"))).run_once()
    found = await side_effects_status(shop.context, shop.tenant, "T1", counter)
    assert found.reason == "It failed with an internal error (IntegrityError); the log of the service says more."


async def test_side_effects_that_wait_for_another_attempt_get_it_at_once(shop: Shop) -> None:
    counter = await a_sale_with_a_coupon_that_cannot_be_issued(shop)
    await mend(shop)
    await shop.work()
    assert (await shop.rows("side_effect_jobs"))[0].status == "PENDING"  # it is not due
    again = await requeue_side_effects(shop.context, shop.tenant, "T1", counter, user="olga")
    assert (again.status, again.attempts) == ("PENDING", 1)
    await shop.work()
    assert (await shop.rows("side_effect_jobs"))[0].status == "COMPLETED"


async def test_only_failed_side_effects_run_again(shop: Shop) -> None:
    counter = await shop.price("T1", PRICED, customer_id="C1")
    for transaction in ("T1", "T2"):  # not confirmed, and not known
        with pytest.raises(NotFound):
            await requeue_side_effects(shop.context, shop.tenant, transaction, counter, user="olga")
    await shop.confirm("T1", counter, "off")
    with pytest.raises(Conflict):
        await requeue_side_effects(shop.context, shop.tenant, "T1", counter, user="olga")  # it is about to run
    await claim_jobs(shop.context, 10)
    with pytest.raises(Conflict):
        await requeue_side_effects(shop.context, shop.tenant, "T1", counter, user="olga")  # it runs
    with pytest.raises(NotFound):
        await requeue_side_effects(shop.context, "tenant-b", "T1", counter, user="olga")
    assert await shop.count("AuditLogs") == 0


async def test_all_failed_side_effects_run_again(shop: Shop) -> None:
    for number in range(1203):
        await shop.put(
            "side_effect_jobs", id=identity(f"job-{number}"), origin="cloud", transaction_id=f"F{number}",
            transaction_counter=1, status="FAILED" if number % 3 else "COMPLETED", payload=b"", enqueued_at=NOON,
            due_at=NOON, attempts=8, reason="broken", coupons_redeemed=0, budgets_consumed=0, loyalty_points_earned=0,
        )  # fmt: skip
    database, at = shop.context.database, shop.context.clock()
    listed = await list_side_effects(database, shop.tenant, status="FAILED")
    assert len(listed) == 802
    assert {row["reason"] for row in listed} == {"broken"}
    done = await requeue_all_failed(database, shop.tenant, user="cli", at=at, new_id=shop.context.new_id)
    assert done == 802
    assert await list_side_effects(database, shop.tenant, status="FAILED") == []
    assert {row.attempts for row in await shop.rows("side_effect_jobs", status="PENDING")} == {0}
    assert {row.action for row in await shop.rows("AuditLogs")} == {"REQUEUE"}
    assert await shop.count("AuditLogs") == 802


async def test_a_status_is_never_another_tenants(shop: Shop) -> None:
    """Tenant IDs and transaction IDs may contain colons: no combination of them reaches another tenant."""
    counter = await shop.price("cloud:1:X", PRICED)
    await shop.confirm("cloud:1:X", counter, "off")
    await side_effects_status(shop.context, shop.tenant, "cloud:1:X", counter)
    with pytest.raises(NotFound):
        await side_effects_status(shop.context, f"{shop.tenant}:cloud:1", "X", counter)


@pytest.mark.parametrize(("took", "kept_for"), [(0.0, [1.0]), (0.75, [0.25]), (1.0, []), (-3600.0, [1.0])])
async def test_a_status_is_kept_for_a_second_from_before_it_was_read(
    shop: Shop, took: float, kept_for: list[float]
) -> None:
    """PENDING, read just before the effects were finished, is shown for at most about a second after that."""
    kept: list[float] = []
    counter = await shop.price("T1", PRICED)
    await shop.confirm("T1", counter, "off")

    class SlowDatabase:
        async def read(self, work: Any, **scope: Any) -> Any:
            found = await shop.context.database.read(work, **scope)
            shop.later(seconds=took)
            return found

    class WatchedCache(LocalCache):
        async def put(self, key: str, value: bytes, seconds: float) -> None:
            kept.append(seconds)

    context = replace(shop.context, database=cast("Database", SlowDatabase()), cache=WatchedCache())
    await side_effects_status(context, shop.tenant, "T1", counter)
    assert kept == kept_for
