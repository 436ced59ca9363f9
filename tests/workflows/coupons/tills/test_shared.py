"""Shared codes: limits and active reservations combined (interface decisions, POS; reliability C1)."""

from __future__ import annotations

import pytest

from promenade.engine.basket import CouponFact
from promenade.store.pricing.facts import Presented, read_coupons
from promenade.store.pricing.surroundings import load_surroundings
from tests.workflows.coupons.tills.till import Till
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, identity

SAVED = outcome(
    (
        line(
            "1",
            1000,
            500,
            discount("saver", ((1, 100),), "ALL"),
        ),
    ),
    (applied("saver", 100, coupon_code="ALL"),),
)


async def presented(shop: Shop, transaction: str, customer: str | None = None, code: str = "ALL") -> str | None:
    """Return the reason why evaluate would refuse the code in a transaction."""
    surroundings = await shop.context.database.read(load_surroundings, tenant=shop.tenant)
    who = Presented(transaction, customer, shop.now[0], 0, shop.context.origin)
    (fact,) = await read_coupons(shop.context.database.look, shop.tenant, [code], surroundings, who)
    return fact.refusal


@pytest.fixture(params=["of its type", "in a row"])
async def shared(request: pytest.FixtureRequest, shop: Shop) -> CouponFact:
    """The code ALL: two redemptions in total, one per customer."""
    limits = {"max_redemptions": 2, "max_redemptions_per_customer": 1}
    if request.param == "in a row":
        await shop.coupon_type("shared", code_type="GENERIC", **limits)
        return await shop.coupon("ALL", "shared")
    await shop.coupon_type("shared", code_type="GENERIC", generic_code="ALL", **limits)
    return CouponFact("ALL", identity("shared"), "shared")


async def test_each_holder_of_a_reserved_shared_code_can_redeem_it(shop: Shop, till: Till, shared: CouponFact) -> None:
    first, second = await till.held("ALL", "T1"), await till.held("ALL", "T2")
    assert await till.held("ALL", "T1") == first
    assert (await till.reserve("ALL", "T3")).reason == "USAGE_LIMIT_REACHED"
    assert (await till.validate("ALL")).reason == "USAGE_LIMIT_REACHED"
    assert await presented(shop, "T3") == "USAGE_LIMIT_REACHED"
    assert await presented(shop, "T1") is None
    assert (await till.redeem(first, "T2")).reason == "WRONG_TRANSACTION"
    assert (await till.redeem(first, "T1")).reason is None
    assert (await till.redeem(first, "T1")).reason == "REDEEMED_BEFORE"
    assert (await till.cancel(first)).reason == "REDEEMED_BEFORE"
    assert (await till.reserve("ALL", "T1")).reason == "REDEEMED_BEFORE"
    assert (await till.cancel(second)).reason is None
    assert (await till.cancel(second)).reason == "RESERVATION_NOT_FOUND"
    assert (await till.redeem(second, "T2")).reason == "RESERVATION_NOT_FOUND"
    third = await till.held("ALL", "T3")
    assert (await till.redeem(third, "T3")).reason is None
    assert (await till.reserve("ALL", "T4")).reason == "USAGE_LIMIT_REACHED"
    assert sorted(row.slot for row in await shop.rows("coupon_claims")) == [1, 2]
    assert [row.status for row in await shop.rows("CouponCodes", code="ALL")] in ([], ["ACTIVE"])


async def test_a_code_reserved_by_a_transaction_is_valid_for_it(shop: Shop, till: Till, shared: CouponFact) -> None:
    await shop.coupon_type("own")
    await shop.coupon("OWN", "own")
    await till.held("ALL", "T0")
    for code, elsewhere in (("ALL", "USAGE_LIMIT_REACHED"), ("OWN", "RESERVED_ELSEWHERE")):
        assert (await till.validate(code, transaction="T1")).reservation_id is None
        held = await till.held(code, "T1")
        for transaction, found in (("T1", (None, held)), ("T2", (elsewhere, None)), ("", (elsewhere, None))):
            answer = await till.validate(code, transaction=transaction)
            assert (answer.reason, answer.reservation_id) == found
        await till.redeem(held, "T1")
        assert (await till.validate(code, transaction="T1")).reason == "REDEEMED_BEFORE"
    await shop.coupon("LATER", "own")
    await till.held("LATER", "T1")
    shop.later(minutes=15)
    answer = await till.validate("LATER", transaction="T1")
    assert (answer.reason, answer.reservation_id) == (None, None)  # its reservation has expired


async def test_a_shared_code_is_accepted_in_any_case_and_an_individual_one_is_not(shop: Shop, till: Till) -> None:
    await shop.coupon_type("summer", code_type="GENERIC", generic_code="SUMMER26", max_redemptions=1)
    await shop.coupon_type("own")
    await shop.coupon("Own-1", "own")
    assert (await till.validate("own-1")).reason == "UNKNOWN_CODE"
    assert (await till.validate("summer26")).reason is None
    held = await till.held("Summer26", "T1")
    assert (await till.reserve("sUMMER26", "T1")).reservation_id == held
    assert (await till.reserve("SUMMER26", "T2")).reason == "USAGE_LIMIT_REACHED"
    surroundings = await shop.context.database.read(load_surroundings, tenant=shop.tenant)
    who = Presented("T1", None, shop.now[0], 0, shop.context.origin)
    shown = ["summer26", "own-1", "Own-1", "SUMMER26"]
    facts = await read_coupons(shop.context.database.look, shop.tenant, shown, surroundings, who)
    assert [(fact.code, fact.refusal) for fact in facts] == [
        ("summer26", None), ("own-1", "UNKNOWN_CODE"), ("Own-1", None), ("SUMMER26", "USAGE_LIMIT_REACHED"),
    ]  # fmt: skip
    assert (await till.redeem(held, "T1")).reason is None


async def test_a_confirm_does_not_touch_reservations_of_others(shop: Shop, till: Till, shared: CouponFact) -> None:
    for transaction in ("T1", "T2"):
        await till.held("ALL", transaction)
    counters = {name: await shop.price(name, SAVED, coupons=[shared]) for name in ("T1", "T2", "T3")}
    with pytest.raises(Exception, match="as often as allowed"):
        await shop.confirm("T3", counters["T3"], "saver")
    held = await till.held("ALL", "T1")
    await shop.confirm("T1", counters["T1"], "saver")  # it holds a reservation, and uses it up
    assert (await till.redeem(held, "T1")).reason == "REDEEMED_BEFORE"
    assert (await till.cancel(held)).reason == "REDEEMED_BEFORE"
    shop.later(minutes=15)  # T2's reservation has expired
    await shop.confirm("T3", counters["T3"], "saver")
    assert await till.uses() == {"": 2}


async def test_every_way_to_use_a_code_counts_against_the_customers_limit(
    shop: Shop, till: Till, shared: CouponFact
) -> None:
    held = await till.held("ALL", "T1", "C1")
    assert (await till.redeem(held, "T1")).reason is None
    assert (await till.reserve("ALL", "T2", "C1")).reason == "USAGE_LIMIT_REACHED"
    assert await presented(shop, "T2", "C1") == "USAGE_LIMIT_REACHED"
    assert (await till.reserve("ALL", "T2", "C2")).reason is None


async def test_a_redeemed_code_counts_in_its_own_basket_and_is_confirmed_once(
    shop: Shop, till: Till, shared: CouponFact
) -> None:
    await till.redeem(await till.held("ALL", "T9"), "T9")
    await till.redeem(await till.held("ALL", "T1"), "T1")
    assert (await presented(shop, "T1"), await presented(shop, "T2")) == (None, "USAGE_LIMIT_REACHED")
    counter = await shop.price("T1", SAVED, coupons=[shared], customer_id="C1")
    await shop.confirm("T1", counter, "saver")
    await shop.work()
    (claim,) = await shop.rows("coupon_claims", transaction_id="T1")
    assert (claim.transaction_counter, claim.promotion_id, claim.customer_id) == (counter, identity("saver"), "C1")
    assert await till.uses() == {"": 2, "C1": 1}
    assert [row.action for row in await shop.rows("RedemptionLogs", transaction_id="T1")].count("REDEEMED") == 1
    assert len(await shop.rows("outbox_events", kind="COUPON_REDEEMED")) == 2
    assert await presented(shop, "T1") == "USAGE_LIMIT_REACHED"  # the sale is complete


async def test_the_confirm_counts_the_customer_that_the_till_did_not_name(
    shop: Shop, till: Till, shared: CouponFact
) -> None:
    await till.redeem(await till.held("ALL", "T1", "C1"), "T1")
    await till.redeem(await till.held("ALL", "T2"), "T2")
    assert await presented(shop, "T2", "C1") == "USAGE_LIMIT_REACHED"
    assert await presented(shop, "T2", "C2") is None
    counter = await shop.price("T2", SAVED, coupons=[shared], customer_id="C1")
    with pytest.raises(Exception, match="as often as allowed"):
        await shop.confirm("T2", counter, "saver")
    assert await till.uses() == {"": 2, "C1": 1}
