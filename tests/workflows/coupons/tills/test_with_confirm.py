"""An individual code that is reserved, redeemed and confirmed in one sale, in every order, is spent once."""

from __future__ import annotations

from datetime import timedelta

from tests.workflows.coupons.tills.till import Till
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.sales.priced import refusal
from tests.workflows.shop import NOON, Shop, identity

SAVED = outcome(
    (line("1", 1000, 500, discount("saver", ((1, 100),), "SAVE-1")),), (applied("saver", 100, coupon_code="SAVE-1"),)
)


async def _spent_once(shop: Shop, till: Till, transaction: str) -> None:
    code = await shop.row("CouponCodes", "SAVE-1")
    assert (code.status, code.redeemed_transaction_id, code.redemption_count) == ("REDEEMED", transaction, 1)
    (claim,) = await shop.rows("coupon_claims")
    assert (claim.transaction_id, claim.transaction_counter, claim.promotion_id) == (transaction, 1, identity("saver"))
    assert (await till.uses())[""] == 1
    assert [row.transaction_id for row in await shop.rows("RedemptionLogs", action="REDEEMED")] == [transaction]
    assert len(await shop.rows("outbox_events", kind="COUPON_REDEEMED")) == 1


async def test_a_sale_takes_over_what_its_till_has_redeemed(shop: Shop, till: Till) -> None:
    fact = await shop.coupon("SAVE-1", "save", valid_until=NOON + timedelta(minutes=5))
    held = await till.held("SAVE-1", "T1")
    assert (await till.redeem(held, "T1")).reason is None
    own, foreign = [await shop.price(name, SAVED, coupons=[fact]) for name in ("T1", "T2")]
    shop.later(minutes=10)  # the code has expired, but it was redeemed in time
    assert await refusal(shop, "T2", foreign, "saver") == "COUPON_EXPIRED"
    await shop.confirm("T1", own, "saver")
    await shop.work()
    await _spent_once(shop, till, "T1")
    assert [row.coupons_redeemed for row in await shop.rows("side_effect_jobs")] == [1]
    assert (await till.redeem(held, "T1")).reason == "REDEEMED_BEFORE"


async def test_a_sale_spends_what_its_till_has_reserved(shop: Shop, till: Till) -> None:
    fact = await shop.coupon("SAVE-1", "save")
    held = await till.held("SAVE-1", "T1")
    counter = await shop.price("T1", SAVED, coupons=[fact])
    await shop.confirm("T1", counter, "saver")
    for _ in range(2):  # before and after the worker has finished the redemption
        assert (await till.redeem(held, "T1")).reason == "REDEEMED_BEFORE"
        assert (await till.redeem(held, "T2")).reason == "WRONG_TRANSACTION"
        assert (await till.cancel(held)).reason == "REDEEMED_BEFORE"
        assert (await till.reserve("SAVE-1", "T1")).reason == "REDEEMED_BEFORE"
        await shop.work()
    await _spent_once(shop, till, "T1")


async def test_a_sale_cannot_spend_what_another_till_holds(shop: Shop, till: Till) -> None:
    fact = await shop.coupon("SAVE-1", "save")
    held = await till.held("SAVE-1", "T1")
    counter = await shop.price("T2", SAVED, coupons=[fact])
    assert await refusal(shop, "T2", counter, "saver") == "COUPON_ALREADY_CLAIMED"
    shop.later(minutes=15)
    await shop.confirm("T2", counter, "saver")
    assert (await till.redeem(held, "T1")).reason == "RESERVATION_NOT_FOUND"
    await shop.work()
    await _spent_once(shop, till, "T2")
    # The reservation that expired before any sweep has an end in the logs as well.
    assert await till.log() == [("CANCELLED", "T1"), ("REDEEMED", "T2"), ("RESERVED", "T1")]


async def test_a_redeemed_code_stays_redeemed_if_its_sale_omits_it(shop: Shop, till: Till) -> None:
    fact = await shop.coupon("SAVE-1", "save")
    assert (await till.redeem(await till.held("SAVE-1", "T1"), "T1")).reason is None
    await shop.confirm("T1", await shop.price("T1", SAVED, coupons=[fact]))
    await shop.work()
    (claim,) = await shop.rows("coupon_claims")
    assert (claim.transaction_counter, (await shop.row("CouponCodes", "SAVE-1")).status) == (None, "REDEEMED")
    assert len(await shop.rows("outbox_events", kind="COUPON_REDEEMED")) == 1
