"""Two stores and the cloud share one budget, one limit and one code over an unreliable link (B1, C1)."""

from __future__ import annotations

import random
from decimal import Decimal
from functools import partial

import pytest

from promenade.store.verification.sums import read_differences
from promenade.workflows.clockwork.shares import reclaim
from promenade.workflows.replica.ending import end_shares
from promenade.workflows.replica.holding import hold_codes
from tests.reliability.load import budget_state
from tests.reliability.shares.offline import Branch, sale_of
from tests.reliability.shares.stores import Stores
from tests.workflows.coupons.tills.till import Till
from tests.workflows.shop import Shop, identity

ON_SQLITE = pytest.mark.parametrize("dialect", ["sqlite"])
"""For what the store does by itself; its own database is SQLite anyway."""


async def _budget(shop: Shop, total: str) -> None:
    await shop.budget("hot", total)
    await shop.put("BudgetPromotions", budget_id=identity("hot"), promotion_id=identity("off"))


async def _one_budget(stores: Stores, branches: list[Branch], total: str) -> None:
    await _budget(stores.shop, total)
    for branch in branches:
        await _budget(branch.shop, "0")


@ON_SQLITE
async def test_a_store_fills_up_what_it_has_used_and_asks_for_nothing_else(
    stores: Stores, branches: list[Branch]
) -> None:
    await _one_budget(stores, branches, "40.00")
    north = branches[0]
    assert await north.keep()
    assert await north.rest("hot") == 10  # its part of a half, as it knows nothing of its use yet
    sent = len(north.wire.sent)
    await north.sell("T1", 200, "hot")
    stores.shop.later(minutes=5)
    assert await north.keep()
    assert len(north.wire.sent) == sent
    await north.sell("T2", 400, "hot")
    await north.report()
    assert await north.keep()
    assert await north.rest("hot") == 10
    state = await budget_state(stores.shop, "hot")
    assert (state.consumed, state.reserved) == (Decimal(6), Decimal(10))
    await stores.check("hot")
    for shop, is_store in ((stores.shop, False), (north.shop, True)):
        work = partial(read_differences, is_store=is_store)
        assert (await shop.context.database.read(work, system=True))[1] == []  # as `promenade db check` sees it


@ON_SQLITE
async def test_a_store_spends_nothing_beyond_its_share_and_fetches_what_a_sale_lacks(
    stores: Stores, branches: list[Branch]
) -> None:
    await _one_budget(stores, branches, "40.00")
    north = branches[0]
    await north.keep()
    north.uplink.is_connected = False
    await north.sell("T1", 1200, "hot")
    state = await budget_state(north.shop, "hot")
    assert (state.consumed, state.total, state.status) == (Decimal(10), Decimal(10), "EXHAUSTED")
    north.uplink.is_connected = True
    await north.sell("T2", 1200, "hot")
    state = await budget_state(north.shop, "hot")
    assert state.consumed == Decimal(22)
    assert state.total >= 22


@ON_SQLITE
async def test_lost_requests_and_answers_lose_and_double_nothing(stores: Stores, branches: list[Branch]) -> None:
    await _one_budget(stores, branches, "40.00")
    north = branches[0]
    for fault in ("before", "after", "after"):
        north.wire.faults = [fault]
        assert not await north.keep()
        assert await north.rest("hot") == 0
    assert len({key for _, _, key in north.wire.sent}) == 1
    assert await north.keep()
    assert await north.rest("hot") == await stores.outstanding("hot") == 10


@ON_SQLITE
async def test_what_runs_out_offline_is_spent_no_more_and_comes_back(stores: Stores, branches: list[Branch]) -> None:
    await _one_budget(stores, branches, "40.00")
    north = branches[0]
    await north.keep()
    await north.sell("T1", 300, "hot")
    stores.shop.later(days=14)
    assert (await reclaim(north.shop.context, None)).done == 1  # by the store's clock, without a link
    assert await north.rest("hot") == 0
    north.uplink.is_connected = False
    await north.sell("T2", 100, "hot")
    assert (await budget_state(north.shop, "hot")).consumed == 3
    north.unsent.pop()  # it charged nothing
    north.uplink.is_connected = True
    north.wire.faults = ["after"]
    assert not await north.keep()
    assert await north.keep()  # returns 7 once, then is refilled
    await north.keep()
    assert await stores.outstanding("hot") == 3 + await north.rest("hot")
    await north.report()
    stores.shop.later(minutes=5)
    await north.keep()
    assert await stores.outstanding("hot") == await north.rest("hot") > 0
    await stores.check("hot")


@ON_SQLITE
async def test_what_the_cloud_has_taken_back_is_not_given_back_twice(stores: Stores, branches: list[Branch]) -> None:
    await _one_budget(stores, branches, "40.00")
    north, south = branches
    await north.keep()
    await south.keep()
    stores.shop.later(days=28)
    await reclaim(stores.shop.context, None)
    assert await stores.outstanding("hot") == 0
    await end_shares(north.shop.context)
    await north.keep()
    await north.keep()
    assert await stores.outstanding("hot") == await north.rest("hot")
    await stores.check("hot")


@ON_SQLITE
async def test_shares_are_renewed_before_they_end_and_not_kept_for_what_is_gone(
    stores: Stores, branches: list[Branch]
) -> None:
    await _one_budget(stores, branches, "40.00")
    north = branches[0]
    await north.keep()
    rests = [await north.rest("hot")]
    for _ in range(3):
        stores.shop.later(days=8)
        assert await north.keep()
        assert await north.keep()  # renews what it has kept
        rests.append(await north.rest("hot"))
        assert rests[-1] == await stores.outstanding("hot")
    assert rests[0] == 10 > rests[1] > rests[2] > rests[3]  # what is idle for long goes back
    (share,) = await stores.shop.rows("store_shares")
    assert share.expires_at > stores.shop.now[0]
    await north.sell("T1", 50, "hot")  # fetches what it lacks
    await north.report()
    await north.shop.change("Promotions", "off", valid_to=stores.shop.now[0])
    assert await north.keep()
    assert await stores.outstanding("hot") == await north.rest("hot") == 0
    assert await north.keep()
    assert await north.shop.count("store_shares") == 0


@ON_SQLITE
async def test_a_clock_set_back_lengthens_no_share(stores: Stores, branches: list[Branch]) -> None:
    await _one_budget(stores, branches, "40.00")
    north = branches[0]
    await north.keep()
    stores.shop.later(days=-400)
    await end_shares(north.shop.context)
    assert await north.rest("hot") == 0


@ON_SQLITE
async def test_a_store_that_registers_anew_has_nothing_of_what_it_had(stores: Stores, branches: list[Branch]) -> None:
    await _one_budget(stores, branches, "40.00")
    north = branches[0]
    await north.keep()
    await stores.open("west")
    north.uplink.deployment_id = identity("west")
    await north.keep()
    assert await north.rest("hot") == 5  # of the 30.00 that are free, for three stores
    (share,) = await north.shop.rows("store_shares")
    assert share.deployment_id == identity("west")


async def test_b1_two_stores_and_the_cloud_fight_over_one_budget(
    stores: Stores, branches: list[Branch], seed: int
) -> None:
    """Whatever the link does: the cloud always has at least the amount that a store's till granted."""
    rng = random.Random(seed)
    await _one_budget(stores, branches, "30.00")
    spent = Decimal(0)
    for step in range(80):
        branch = rng.choice(branches)
        doing = rng.random()
        if doing < 0.4:
            minor = rng.randint(1, 150)
            if Decimal(minor) / 100 <= await branch.rest("hot"):
                await branch.sell(f"T{step}", minor, "hot")
                spent += Decimal(minor) / 100
        elif doing < 0.8:
            branch.wire.faults = [rng.choice(("", "", "before", "after")) for _ in range(rng.randint(0, 3))]
            await branch.keep()
        elif doing < 0.9:
            await branch.report()
        elif doing < 0.95:
            name, shop = f"C{step}", stores.shop
            await shop.confirm(name, await shop.price(name, sale_of(rng.randint(1, 100), "hot")), "off")
        else:
            stores.shop.later(days=rng.randint(1, 6))
        await stores.check("hot")
        free = (await budget_state(stores.shop, "hot")).reserved
        held = sum([await one.rest("hot") for one in branches], Decimal(0))
        unsent = sum([minor for one in branches for _, minor, _ in one.unsent], 0)
        assert held + Decimal(unsent) / 100 <= free
    for branch in branches:
        await branch.report()
    rows = await stores.shop.rows("BudgetConsumptions")
    of_stores = [row for row in rows if not row.transaction_id.startswith("C")]
    assert sum([row.amount for row in of_stores], Decimal(0)) == spent
    assert {row.uncovered_amount for row in of_stores} <= {Decimal(0)}
    await stores.check("hot")


# ---- limits -------------------------------------------------------------------------------------------------------


async def test_each_store_redeems_its_part_of_a_limit(stores: Stores, branches: list[Branch]) -> None:
    kind = {"code_type": "GENERIC", "generic_code": "TEN"}
    await stores.shop.coupon_type("ten", **kind, max_redemptions=30)
    await stores.shop.change("Promotions", "off", max_applications_total=40)
    for branch in branches:
        await branch.shop.coupon_type("ten", **kind, max_redemptions=0)
        await branch.shop.change("Promotions", "off", max_applications_total=0)
        assert (await Till(branch.shop).validate("TEN")).reason == "USAGE_LIMIT_REACHED"
        assert await branch.keep()
    assert [(await one.shop.row("CouponTypes", "ten")).max_redemptions for one in branches] == [7, 5]
    assert [(await one.shop.row("Promotions", "off")).max_applications_total for one in branches] == [10, 7]
    assert await branches[0].shop.count("catalogue_changes") > 0
    till = Till(branches[0].shop)
    for number in range(7):
        reservation = await till.held("TEN", f"T{number}")
        assert (await till.redeem(reservation, f"T{number}")).reason is None
    assert (await till.reserve("TEN", "T9")).reason == "USAGE_LIMIT_REACHED"
    await stores.release("north", types={"ten": 7})
    assert await stores.count("coupon_usage", "coupon_type_id", "ten") == 5
    stores.shop.later(minutes=5)
    await branches[0].keep()
    assert (await till.reserve("TEN", "T9")).reason is None
    assert await stores.count("coupon_usage", "coupon_type_id", "ten") == 5 + 7


# ---- codes --------------------------------------------------------------------------------------------------------


async def _one_code(stores: Stores, branches: list[Branch], **columns: object) -> None:
    await stores.shop.coupon_type("save")
    await stores.shop.coupon("SAVE-1", "save", **columns)
    for branch in branches:
        await branch.shop.coupon_type("save")


async def test_c1_a_code_is_redeemed_in_the_store_that_holds_it_alone(stores: Stores, branches: list[Branch]) -> None:
    await _one_code(stores, branches)
    north, south = (Till(one.shop) for one in branches)
    assert (await north.validate("SAVE-1")).reason is None
    assert (await south.reserve("SAVE-1", "T1")).reason == "RESERVED_ELSEWHERE"
    assert (await Till(stores.shop).reserve("SAVE-1", "T1")).reason == "RESERVED_ELSEWHERE"
    branches[0].uplink.is_connected = False
    reservation = await north.held("SAVE-1", "T1")
    assert (await north.redeem(reservation, "T1")).reason is None
    assert (await north.validate("SAVE-1")).reason == "ALREADY_REDEEMED"
    branches[0].uplink.is_connected = True
    stores.shop.later(hours=1)
    await branches[0].keep()  # the cloud does not know it yet
    assert await stores.status("SAVE-1") == "RESERVED"
    await stores.release("north", codes=["SAVE-1"])
    await branches[0].forget_uploads()
    await branches[0].keep()
    assert await branches[0].shop.count("store_shares") == 0


@ON_SQLITE
async def test_a_code_that_is_not_here_needs_the_cloud(stores: Stores, branches: list[Branch]) -> None:
    await _one_code(stores, branches)
    north, till = branches[0], Till(branches[0].shop)
    north.uplink.is_connected = False
    assert (await till.validate("SAVE-1")).reason == "NEEDS_CLOUD"
    assert (await till.reserve("SAVE-1", "T1")).reason == "NEEDS_CLOUD"
    assert (await till.activate("SAVE-1")).reason == "NEEDS_CLOUD"
    assert await hold_codes(north.shop.context, north.shop.tenant, ("SAVE-1",)) == {"SAVE-1": "NEEDS_CLOUD"}
    assert await hold_codes(stores.shop.context, stores.shop.tenant, ("SAVE-1",)) == {}
    north.uplink.is_connected = True
    assert (await till.validate("NO-SUCH")).reason == "UNKNOWN_CODE"
    assert (await till.reserve("SAVE-1", "T1")).reason is None


async def test_a_lost_answer_about_a_code_does_not_keep_it_from_others(stores: Stores, branches: list[Branch]) -> None:
    await _one_code(stores, branches)
    north, south = branches
    north.wire.faults = ["after"]
    assert (await Till(north.shop).validate("SAVE-1")).reason == "NEEDS_CLOUD"
    assert await stores.status("SAVE-1") == "RESERVED"
    stores.shop.later(minutes=2)
    north.wire.faults = ["after"]
    assert not await north.keep()
    assert (await Till(north.shop).validate("SAVE-1")).reason == "NEEDS_CLOUD"  # it is being returned
    assert await north.keep()
    assert await stores.status("SAVE-1") == "ACTIVE"
    assert (await Till(south.shop).validate("SAVE-1")).reason is None


@ON_SQLITE
async def test_a_code_that_was_only_validated_is_given_back(stores: Stores, branches: list[Branch]) -> None:
    await _one_code(stores, branches)
    north, south = branches
    assert (await Till(north.shop).validate("SAVE-1")).reason is None
    await north.keep()
    assert await north.shop.count("CouponCodes") == 1
    stores.shop.later(minutes=30)
    north.wire.faults = ["before"]
    assert not await north.keep()
    assert await north.shop.count("CouponCodes") == 0  # it can no longer be spent here
    assert (await Till(south.shop).validate("SAVE-1")).reason == "RESERVED_ELSEWHERE"
    assert await north.keep()
    assert (await Till(south.shop).validate("SAVE-1")).reason is None
    assert await north.shop.count("store_shares") == 0


@ON_SQLITE
async def test_a_code_is_activated_where_it_is_held(stores: Stores, branches: list[Branch]) -> None:
    await _one_code(stores, branches, status="CREATED", customer_id="C1")
    till = Till(branches[0].shop)
    assert (await till.activate("SAVE-1", "C1")).reason is None
    assert (await till.reserve("SAVE-1", "T1", "C1")).reason is None
    stores.shop.later(hours=1)
    assert await branches[0].keep()
    assert await stores.status("SAVE-1") == "RESERVED"  # the cloud must learn of it before it gets the code back
    await branches[0].forget_uploads()
    assert await branches[0].keep()
    assert await stores.status("SAVE-1") == "CREATED"
    assert await branches[0].shop.count("CouponCodes") == 0


async def test_a_store_keeps_codes_to_issue_and_renews_them(stores: Stores, branches: list[Branch]) -> None:
    shop, north = stores.shop, branches[0]
    await shop.coupon_type("gift")
    for number in range(30):
        await shop.coupon(f"GIFT-{number}", "gift")
    await north.shop.coupon_type("gift")
    await north.shop.put(
        "DiscountActions",
        promotion_id=identity("off"),
        target_coupon_type_id=identity("gift"),
        action_type="COUPON",
        discount_type="PERCENTAGE",
        discount_value=Decimal(1),
        sequence=1,
    )
    north.wire.faults = ["after"]
    assert not await north.keep()
    assert await north.keep()
    rows = await north.shop.rows("CouponCodes")
    assert len(rows) == 20
    assert {row.issued_at for row in rows} == {None}
    assert len(await shop.rows("CouponCodes", status="RESERVED")) == 20
    shop.later(days=8)
    assert await north.keep()
    until = {row.valid_until for row in await north.shop.rows("CouponCodes")}
    assert {(one - shop.now[0]).days for one in until} == {14}
    await north.shop.change("CouponTypes", "gift", status="INACTIVE")
    assert await north.keep()
    assert await north.shop.count("CouponCodes") == 0
    assert len(await shop.rows("CouponCodes", status="ACTIVE")) == 30


async def test_c1_two_stores_and_the_cloud_fight_over_one_code(
    stores: Stores, branches: list[Branch], seed: int
) -> None:
    rng = random.Random(seed)
    await _one_code(stores, branches)
    redeemed: list[str] = []
    for step in range(60):
        who: Branch | None = rng.choice([*branches, None])
        shop = stores.shop if who is None else who.shop
        till = Till(shop)
        if who is not None:
            who.uplink.is_connected = rng.random() < 0.8
            who.wire.faults = [rng.choice(("", "", "before", "after")) for _ in range(2)]
        doing = rng.random()
        if doing < 0.5:
            held = await till.reserve("SAVE-1", f"T{step}")
            if held.reservation_id is not None:
                if rng.random() < 0.15 and (await till.redeem(held.reservation_id, f"T{step}")).reason is None:
                    redeemed.append(f"T{step}")
                else:
                    await till.cancel(held.reservation_id)
        elif doing < 0.8 and who is not None:
            await who.keep()
        else:
            stores.shop.later(minutes=rng.randint(1, 40))
    assert len(redeemed) <= 1
    counts = [
        len(await shop.rows("CouponCodes", status="REDEEMED"))
        for shop in (stores.shop, *(one.shop for one in branches))
    ]
    assert sum(counts) == len(redeemed)
