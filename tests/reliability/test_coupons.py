"""C1: an individual code is spent at most once, a generic one at most up to its limit (reliability.md, Coupons)."""

from __future__ import annotations

from promenade.engine.basket import CouponFact
from promenade.engine.outcome import Outcome
from tests.reliability.load import at_once
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, identity

CLIENTS = 64


def sold_with(code: str) -> Outcome:
    return outcome((line("1", 1000, 500, discount("off", ((1, 50),), code)),), (applied("off", 50, coupon_code=code),))


async def test_c1_64_sales_with_one_individual_code_spend_it_once(shop: Shop) -> None:
    await shop.coupon_type("once")
    fact = await shop.coupon("ONLY-ONE", "once")
    names = [f"T{number}" for number in range(CLIENTS)]
    priced = {name: await shop.price(name, sold_with("ONLY-ONE"), coupons=[fact]) for name in names}
    calls = await at_once([shop.confirm(name, counter, "off") for name, counter in priced.items()])
    assert [call.outcome for call in calls].count("ok") == 1
    assert {call.code for call in calls if call.outcome == "refused"} == {"COUPON_ALREADY_CLAIMED"}
    await shop.work()
    code = await shop.row("CouponCodes", "ONLY-ONE")
    winner = names[[call.outcome for call in calls].index("ok")]
    assert (code.status, code.redeemed_transaction_id) == ("REDEEMED", winner)
    redeemed = [row for row in await shop.rows("RedemptionLogs") if row.action == "REDEEMED"]
    assert [row.transaction_id for row in redeemed] == [winner]
    assert (await shop.row("Promotions", "off")).applications_count == 1


async def test_c1_a_generic_code_stops_at_its_limit(shop: Shop) -> None:
    limit, each = 20, 3
    await shop.coupon_type(
        "shared", code_type="GENERIC", generic_code="ALL", max_redemptions=limit, max_redemptions_per_customer=each
    )
    fact = CouponFact("ALL", identity("shared"), "shared")
    names = [f"T{number}" for number in range(CLIENTS)]
    priced = {
        name: await shop.price(name, sold_with("ALL"), coupons=[fact], customer_id=f"C{number % 16}")
        for number, name in enumerate(names)
    }
    calls = await at_once([shop.confirm(name, counter, "off") for name, counter in priced.items()])
    assert [call.outcome for call in calls].count("ok") == limit
    assert {call.code for call in calls if call.outcome == "refused"} == {"COUPON_LIMIT_REACHED"}
    claims = await shop.rows("coupon_claims")
    assert len(claims) == limit
    by_customer: dict[str, int] = {}
    for claim in claims:
        by_customer[claim.customer_id] = by_customer.get(claim.customer_id, 0) + 1
    assert max(by_customer.values()) <= each


async def test_c1_baskets_that_share_coupons_never_wait_for_each_other_in_a_circle(shop: Shop) -> None:
    kinds = [f"kind-{number}" for number in range(4)]
    facts = []
    for kind in kinds:
        await shop.coupon_type(kind, code_type="GENERIC", generic_code=kind.upper())
        await shop.promotion(f"by-{kind}")
        facts.append(CouponFact(kind.upper(), identity(kind), kind))
    calls = []
    for number in range(32):
        turned = facts[number % 4 :] + facts[: number % 4]
        priced = outcome(
            (line("1", 1000, 500, *(discount(f"by-{fact.coupon_type_name}", ((1, 10),)) for fact in turned)),),
            tuple(applied(f"by-{fact.coupon_type_name}", 10, coupon_code=fact.code) for fact in turned),
        )
        counter = await shop.price(f"T{number}", priced, coupons=turned)
        calls.append(shop.confirm(f"T{number}", counter, *(f"by-{kind}" for kind in kinds)))
    assert {call.outcome for call in await at_once(calls)} == {"ok"}
    assert await shop.count("coupon_claims") == 128
