"""The asynchronous stage of a confirmed sale (specification, side-effects result)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from promenade.errors import NotFound
from promenade.workflows.side_effects import side_effects_status
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.sales import PRICED, kinds
from tests.workflows.shop import Shop, identity


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


async def test_an_unconfirmed_iteration_has_no_side_effects(shop: Shop) -> None:
    counter = await shop.price("T1", PRICED)
    with pytest.raises(NotFound):
        await side_effects_status(shop.context, shop.tenant, "T1", counter)


async def test_without_a_customer_nobody_is_rewarded(shop: Shop) -> None:
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
