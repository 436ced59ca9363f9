"""64 clients use one code: whatever they do and in whatever order, it is never spent more often than allowed (C1)."""

from __future__ import annotations

import asyncio
import random

from promenade.engine.basket import CouponFact
from promenade.errors import Conflict
from tests.workflows.coupons.tills.till import Till
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, identity

CLIENTS = 64
LIMIT = 10
SAVED = outcome(
    (line("1", 1000, 500, discount("saver", ((1, 100),), "SAVE-1")),), (applied("saver", 100, coupon_code="SAVE-1"),)
)


async def confirm(shop: Shop, transaction: str, counter: int) -> bool:
    """Return whether the sale got the coupon."""
    try:
        await shop.confirm(transaction, counter, "saver")
    except Conflict as refused:
        if refused.code in {"COUPON_ALREADY_CLAIMED", "COUPON_LIMIT_REACHED"}:
            return False
        raise
    return True


async def serve(shop: Shop, till: Till, transaction: str, counter: int, chance: random.Random) -> set[str]:
    """Use the code as a till does; return the calls that spent it according to their answers."""
    for _ in range(3):
        held = (await till.reserve("SAVE-1", transaction)).reservation_id
        way = chance.choice(("redeem", "cancel", "redeem and cancel", "redeem and confirm", "confirm"))
        if held is None:
            if way == "confirm" and await confirm(shop, transaction, counter):
                return {"confirm"}
            continue
        redeeming = [till.redeem(held, transaction) for _ in range(2)] if "redeem" in way else []
        cancelling = [till.cancel(held)] if "cancel" in way else []
        confirming = [confirm(shop, transaction, counter)] if "confirm" in way else []
        redeemed, cancelled, confirmed = await asyncio.gather(
            asyncio.gather(*redeeming), asyncio.gather(*cancelling), asyncio.gather(*confirming)
        )
        told = {"redeem"} if [one.reason for one in redeemed].count(None) else set()
        assert [one.reason for one in redeemed].count(None) <= 1
        told |= {"confirm"} if any(confirmed) else set()
        if told:
            assert not [one for one in cancelled if one.reason is None], "it was redeemed and given back"
            return told
    return set()


async def fight(shop: Shop, till: Till, fact: CouponFact) -> dict[str, set[str]]:
    """Return the calls that spent the code by transaction, after the worker has run."""
    names = [f"T{number}" for number in range(CLIENTS)]
    priced = {name: await shop.price(name, SAVED, coupons=[fact]) for name in names}
    ways = [
        serve(shop, till, name, counter, random.Random(number)) for number, (name, counter) in enumerate(priced.items())
    ]
    told = await asyncio.gather(*ways)
    await shop.work()
    return {name: done for name, done in zip(names, told, strict=True) if done}


async def test_an_individual_code_is_spent_by_one(shop: Shop, till: Till) -> None:
    fact = await shop.coupon("SAVE-1", "save")
    told = await fight(shop, till, fact)
    assert len(told) <= 1
    if not told:  # all cancelled
        told = {"T999": {"redeem"}}
        assert (await till.redeem(await till.held("SAVE-1", "T999"), "T999")).reason is None
    code = await shop.row("CouponCodes", "SAVE-1")
    assert (code.status, code.redemption_count, {code.redeemed_transaction_id}) == ("REDEEMED", 1, set(told))
    assert {claim.transaction_id for claim in await shop.rows("coupon_claims")} == set(told)
    assert (await till.uses())[""] == 1
    assert len(await shop.rows("RedemptionLogs", action="REDEEMED")) == 1
    assert len(await shop.rows("outbox_events", kind="COUPON_REDEEMED")) == 1


async def test_a_shared_code_is_spent_up_to_its_limit(shop: Shop, till: Till) -> None:
    await shop.coupon_type("shared", code_type="GENERIC", generic_code="SAVE-1", max_redemptions=LIMIT)
    fact = CouponFact("SAVE-1", identity("shared"), "shared")
    told = await fight(shop, till, fact)
    assert 1 <= len(told) <= LIMIT
    claims = await shop.rows("coupon_claims")
    assert sorted(claim.transaction_id for claim in claims) == sorted(told)
    assert (await till.uses())[""] == len(told)
    assert len(await shop.rows("RedemptionLogs", action="REDEEMED")) == len(told)
    assert len(await shop.rows("outbox_events", kind="COUPON_REDEEMED")) == len(told)
    live = await shop.rows("coupon_reservations", state="HELD")
    assert len(told) + len(live) <= LIMIT
    for row in live:  # the holder of one can redeem it
        assert (await till.redeem(row.id, row.transaction_id)).reason is None


async def test_one_transaction_that_redeems_and_confirms_at_once_spends_once(shop: Shop, till: Till) -> None:
    await shop.coupon_type("shared", code_type="GENERIC", generic_code="SAVE-1")
    fact = CouponFact("SAVE-1", identity("shared"), "shared")
    rounds = 12
    for number in range(rounds):
        name = f"T{number}"
        counter = await shop.price(name, SAVED, coupons=[fact])
        held = await till.held("SAVE-1", name)
        redeemed, confirmed = await asyncio.gather(till.redeem(held, name), confirm(shop, name, counter))
        assert redeemed.reason in {None, "REDEEMED_BEFORE"}
        assert confirmed
    await shop.work()
    assert await till.uses() == {"": rounds}
    assert len(await shop.rows("coupon_claims")) == rounds
    assert len(await shop.rows("outbox_events", kind="COUPON_REDEEMED")) == rounds


async def test_sixty_four_concurrent_requests_of_one_transaction_make_one_reservation(shop: Shop, till: Till) -> None:
    await shop.coupon("SAVE-1", "save")
    await shop.coupon_type("shared", code_type="GENERIC", generic_code="ALL", max_redemptions=1)
    for code in ("SAVE-1", "ALL"):
        made = await asyncio.gather(*(till.reserve(code, "T1") for _ in range(CLIENTS)))
        assert {one.reason for one in made} == {None}
        assert len({one.reservation_id for one in made}) == 1
        redeemed = await asyncio.gather(*(till.redeem(made[0].reservation_id or "", "T1") for _ in range(CLIENTS)))
        assert sorted(str(one.reason) for one in redeemed) == sorted(["None", *["REDEEMED_BEFORE"] * (CLIENTS - 1)])
    assert len(await shop.rows("RedemptionLogs")) == 4
