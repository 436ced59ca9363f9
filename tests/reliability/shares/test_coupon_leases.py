"""C1 to C3 with stores that hold leased codes (reliability.md, Coupons)."""

from __future__ import annotations

import asyncio
import random

import pytest

from promenade.engine.basket import CouponFact
from promenade.errors import Conflict, NotFound, TooMany
from promenade.store.sync.shares import COUPON_TYPE, PROMOTION
from promenade.workflows.clockwork import coupons
from promenade.workflows.clockwork.shares import reclaim
from promenade.workflows.sync.leases import Leased
from promenade.workflows.sync.shares import keep_leased
from tests.reliability.shares.stores import Stores
from tests.workflows.authoring.desk import Desk
from tests.workflows.coupons.tills.till import Till
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, identity

ON_SQLITE = pytest.mark.parametrize("dialect", ["sqlite"])
"""For what other tests run on PostgreSQL as well, statement by statement."""


async def _confirm(shop: Shop, name: str, coupon: CouponFact) -> str | None:
    """Confirm a sale with a coupon; return the code of the refusal."""
    priced = outcome(
        (line("1", 1000, 1000, discount("off", ((1, 100),))),), (applied("off", 100, coupon_code=coupon.code),)
    )
    try:
        await shop.confirm(name, await shop.price(name, priced, coupons=(coupon,)), "off")
    except Conflict as refusal:
        return refusal.code
    return None


async def _one_code(stores: Stores, **columns: object) -> CouponFact:
    await stores.shop.coupon_type("save")
    return await stores.shop.coupon("SAVE-1", "save", **columns)


async def test_a_code_is_held_by_one_store_and_no_till_of_the_cloud_gets_it(stores: Stores) -> None:
    coupon, till = await _one_code(stores), Till(stores.shop)
    first = await stores.lease("north", "SAVE-1", "NONE-1")
    assert [(one.code, one.status) for one in first.leased] == [("SAVE-1", "ACTIVE")]
    assert first.refused == (("NONE-1", "UNKNOWN_CODE"),)
    assert (await stores.lease("south", "SAVE-1")).refused == (("SAVE-1", "RESERVED_ELSEWHERE"),)
    assert (await till.validate("SAVE-1")).reason == "RESERVED_ELSEWHERE"
    assert (await till.reserve("SAVE-1", "T1")).reason == "RESERVED_ELSEWHERE"
    reference = (await stores.shop.row("CouponCodes", "SAVE-1")).reservation_ref
    for at in ("", "T1"):
        assert (await till.redeem(reference, at)).reason == "RESERVATION_NOT_FOUND"
    assert (await till.cancel(reference)).reason == "RESERVATION_NOT_FOUND"
    assert await _confirm(stores.shop, "T1", coupon) == "COUPON_ALREADY_CLAIMED"
    desk = Desk(stores.shop.context.database, stores.shop.tenant)
    with pytest.raises(Conflict):
        await desk.unit(lambda unit: unit.update("CouponCodes", identity("SAVE-1"), {"status": "CANCELLED"}))
    assert await stores.status("SAVE-1") == "RESERVED"


async def test_clock_jobs_leave_a_lease_alone_until_long_after_its_end(stores: Stores) -> None:
    await _one_code(stores)
    await stores.lease("north", "SAVE-1")
    for days in (13, 14):
        stores.shop.later(days=days)
        await coupons.release(stores.shop.context, None)
        await reclaim(stores.shop.context, None)
        assert await stores.status("SAVE-1") == "RESERVED"
    stores.shop.later(days=1)
    await reclaim(stores.shop.context, None)
    assert await stores.status("SAVE-1") == "ACTIVE"
    assert await stores.shop.count("store_shares") == 0


@ON_SQLITE
@pytest.mark.parametrize("status", ["ACTIVE", "CREATED"])
async def test_a_code_given_back_is_as_it_was(stores: Stores, status: str) -> None:
    await _one_code(stores, status=status)
    assert (await stores.lease("north", "SAVE-1")).leased[0].status == status
    again = await stores.lease("north", "SAVE-1")
    assert again.leased[0].status == status
    await stores.give_back("south", "SAVE-1")
    assert await stores.status("SAVE-1") == "RESERVED"
    await stores.give_back("north", "SAVE-1")
    await stores.give_back("north", "SAVE-1")
    assert await stores.status("SAVE-1") == status
    assert (await stores.lease("south", "SAVE-1")).leased


async def test_a_code_that_the_store_activated_is_active_when_it_comes_back(stores: Stores) -> None:
    await _one_code(stores, status="CREATED")
    await stores.lease("north", "SAVE-1")
    statuses = {identity("SAVE-1"): "ACTIVE", identity("OTHER"): "ACTIVE"}
    database, at = stores.shop.context.database, stores.shop.now[0]
    kept = await database.write(
        lambda session: keep_leased(session, identity("north"), statuses, at), tenant=stores.shop.tenant
    )
    assert kept == {identity("SAVE-1")}
    assert (await stores.lease("north", "SAVE-1")).leased[0].status == "ACTIVE"
    await stores.give_back("north", "SAVE-1")
    assert await stores.status("SAVE-1") == "ACTIVE"


async def test_the_sale_of_the_store_spends_its_code_though_it_has_ended_since(stores: Stores) -> None:
    coupon = await _one_code(stores, valid_until=stores.shop.now[0].replace(hour=18))
    await stores.lease("north", "SAVE-1")
    sold_at = stores.shop.now[0]
    stores.shop.later(days=3)
    await coupons.expire(stores.shop.context, None)
    assert await stores.status("SAVE-1") == "EXPIRED"
    stores.shop.now[0] = sold_at  # the time of the sale
    await stores.release("north", codes=["SAVE-1"])
    assert await _confirm(stores.shop, "T1", coupon) is None
    assert (await stores.shop.row("CouponCodes", "SAVE-1")).redeemed_transaction_id == "T1"
    assert await stores.shop.count("store_shares") == 0


@ON_SQLITE
async def test_a_lease_that_ended_gives_its_store_no_right_to_what_another_has(stores: Stores) -> None:
    await _one_code(stores)
    await stores.lease("north", "SAVE-1")
    stores.shop.later(days=28)
    await coupons.release(stores.shop.context, None)
    assert (await stores.lease("south", "SAVE-1")).leased
    await stores.release("north", codes=["SAVE-1"])
    await stores.give_back("north", "SAVE-1")
    assert await stores.status("SAVE-1") == "RESERVED"
    (share,) = await stores.shop.rows("store_shares")
    assert share.deployment_id == identity("south")


@ON_SQLITE
async def test_a_code_that_cannot_be_leased_is_refused_with_its_reason(stores: Stores) -> None:
    shop = stores.shop
    await shop.coupon_type("save")
    await shop.coupon_type("off", status="INACTIVE")
    await shop.coupon_type("over", valid_to=shop.now[0])
    for code, kind, columns in (
        ("SPENT", "save", {"status": "REDEEMED"}),
        ("GONE", "save", {"status": "CANCELLED"}),
        ("LATE", "save", {"valid_until": shop.now[0]}),
        ("OFF", "off", {}),
        ("OVER", "over", {}),
        ("HELD", "save", {}),
        ("FREE", "save", {"customer_id": "C1"}),
    ):
        await shop.coupon(code, kind, **columns)
    await Till(shop).held("HELD", "T1", "C9")
    answer = await stores.lease("north", "SPENT", "GONE", "LATE", "OFF", "OVER", "HELD", "FREE")
    assert dict(answer.refused) == {
        "SPENT": "ALREADY_REDEEMED",
        "GONE": "NOT_ACTIVE",
        "LATE": "EXPIRED",
        "OFF": "NOT_ACTIVE",
        "OVER": "EXPIRED",
        "HELD": "RESERVED_ELSEWHERE",
    }
    assert [(one.code, one.customer_id) for one in answer.leased] == [("FREE", "C1")]
    shop.later(minutes=20)  # the till's reservation has expired but has not been swept
    assert (await stores.lease("north", "HELD")).leased
    assert ("CANCELLED", "T1") in await Till(shop).log()


@ON_SQLITE
async def test_a_store_guesses_no_better_than_a_till(stores: Stores) -> None:
    await stores.lease("north", *[f"GUESS-{number}" for number in range(100)])
    with pytest.raises(TooMany):
        await stores.lease("north", "GUESS-100")
    assert (await stores.lease("south", "GUESS-1")).refused


@ON_SQLITE
async def test_many_stores_at_once_guess_no_better_than_their_client_may(stores: Stores) -> None:
    await _one_code(stores)
    names = [f"store {number}" for number in range(30)]
    for name in names:  # any client may register as many as it likes
        await stores.open(name)
    guesses = [f"GUESS-{number}" for number in range(100)]
    told = await asyncio.gather(*(stores.lease(name, *guesses) for name in names), return_exceptions=True)
    assert sum(isinstance(one, TooMany) for one in told) == 20
    assert all(isinstance(one, TooMany | Leased) for one in told)
    with pytest.raises(TooMany):
        await stores.lease("north", "SAVE-1")
    assert (await stores.lease("north", "SAVE-1", client="another")).leased


async def test_c1_stores_and_tills_fight_over_one_code(stores: Stores, seed: int) -> None:
    """Leases, reservations, confirms and returned leases at once: in the end one of them has it, and it is spent
    once.
    """
    rng = random.Random(seed)
    shop, till = stores.shop, Till(stores.shop)
    await shop.coupon_type("save")
    coupon = await shop.coupon("SAVE-1", "save")
    spent: list[str] = []
    kept: list[str] = []

    async def sell(number: int) -> None:
        if await _confirm(shop, f"T{number}", coupon) is None:
            spent.append(f"T{number}")

    async def reserve(number: int) -> None:
        held = await till.reserve("SAVE-1", f"R{number}")
        if held.reservation_id is not None and (await till.redeem(held.reservation_id, f"R{number}")).reason is None:
            spent.append(f"R{number}")

    names = [f"store {number}" for number in range(8)]
    locks = {name: asyncio.Lock() for name in names}  # of one store, no request gives back what another has kept
    for name in names:
        await stores.open(name)

    async def hold(store: str) -> None:
        async with locks[store]:
            if store in kept or not (await stores.lease(store, "SAVE-1")).leased:
                return
            if rng.random() < 0.9:
                await stores.give_back(store, "SAVE-1")
            else:
                kept.append(store)

    doings = [*(hold(rng.choice(names)) for _ in range(40)), *(reserve(number) for number in range(12))]
    doings += [sell(number) for number in range(12)]
    rng.shuffle(doings)
    await asyncio.gather(*doings)
    row = await shop.row("CouponCodes", "SAVE-1")
    shares = await shop.rows("store_shares", kind="COUPON_CODE")
    if spent:
        assert len(spent) == 1
        assert row.redeemed_transaction_id == spent[0]
        assert len(await shop.rows("coupon_claims")) == 1
    else:
        assert row.status == (
            "RESERVED" if kept else "ACTIVE"
        )  # all may have come while a lease was out that came back
        assert [one.reference for one in shares] == [row.reservation_ref] * len(kept)


# ---- uses of limits -----------------------------------------------------------------------------------------------


async def test_uses_of_a_limit_are_counted_in_advance_and_never_beyond_it(stores: Stores) -> None:
    shop, till = stores.shop, Till(stores.shop)
    await shop.coupon_type("ten", code_type="GENERIC", generic_code="TEN", max_redemptions=10)
    first = await stores.uses("north", COUPON_TYPE, "ten", 2, key="k1")
    assert first.granted == first.outstanding == 2
    assert await stores.uses("north", COUPON_TYPE, "ten", 2, key="k1") == first
    await till.held("TEN", "T1")
    assert (await stores.uses("south", COUPON_TYPE, "ten", 2)).granted == 2
    assert await stores.count("coupon_usage", "coupon_type_id", "ten") == 4
    assert (await stores.uses("south", COUPON_TYPE, "ten", -1)).granted == -1
    assert await stores.count("coupon_usage", "coupon_type_id", "ten") == 3
    for number in range(2, 12):
        reserved = await till.reserve("TEN", f"T{number}")
        if reserved.reservation_id is None:
            assert reserved.reason == "USAGE_LIMIT_REACHED"
            break
    assert number == 8  # 10 minus the 3 of the stores; T1 to T7 hold the rest
    assert (await stores.uses("north", COUPON_TYPE, "ten", 5)).granted == 0


async def test_shared_codes_are_claimed_on_though_uses_came_back(stores: Stores) -> None:
    shop = stores.shop
    await shop.coupon_type("ten", code_type="GENERIC", generic_code="TEN", max_redemptions=10)
    coupon = CouponFact("TEN", identity("ten"), "ten")
    await stores.uses("north", COUPON_TYPE, "ten", 3)
    for number in range(4):
        assert await _confirm(shop, f"C{number}", coupon) is None
    await stores.release("north", types={"ten": 1})
    assert await _confirm(shop, "S1", coupon) is None
    await stores.uses("north", COUPON_TYPE, "ten", -5)
    answers = [await _confirm(shop, f"D{number}", coupon) for number in range(6)]
    assert answers == [None] * 5 + ["COUPON_LIMIT_REACHED"]
    assert await stores.count("coupon_usage", "coupon_type_id", "ten") == 10
    assert len(await shop.rows("coupon_claims")) == 10


async def test_applications_of_a_promotion_are_shared_out_as_well(stores: Stores) -> None:
    shop = stores.shop
    await shop.change("Promotions", "off", max_applications_total=4)
    assert (await stores.uses("north", PROMOTION, "off", None)).granted == 1  # of four, a half for two stores
    assert (await stores.uses("south", PROMOTION, "off", 9)).granted == 3
    await stores.release("north", promotions=["off"])
    assert await stores.count("promotion_usage", "promotion_id", "off") == 3
    shop.later(days=28)
    await reclaim(shop.context, None)
    assert await stores.count("promotion_usage", "promotion_id", "off") == 0


@ON_SQLITE
async def test_uses_without_a_limit_or_of_inactive_types_cannot_be_leased(stores: Stores) -> None:
    await stores.shop.coupon_type("free", code_type="GENERIC", generic_code="FREE")
    await stores.shop.coupon_type("idle", status="INACTIVE", max_redemptions=5)
    for kind, name, code in (
        (COUPON_TYPE, "free", "NOT_LIMITED"),
        (PROMOTION, "off", "NOT_LIMITED"),
        (COUPON_TYPE, "idle", "NOT_RUNNING"),
    ):
        with pytest.raises(Conflict) as refused:
            await stores.uses("north", kind, name, 1)
        assert refused.value.code == code
    for kind, code in ((COUPON_TYPE, "COUPON_TYPE_NOT_FOUND"), (PROMOTION, "PROMOTION_NOT_FOUND")):
        with pytest.raises(NotFound) as missing:
            await stores.uses("north", kind, "nothing", 1)
        assert missing.value.code == code


async def test_c1_stores_and_tills_fight_over_a_limit(stores: Stores, seed: int) -> None:
    rng = random.Random(seed)
    shop = stores.shop
    await shop.coupon_type("ten", code_type="GENERIC", generic_code="TEN", max_redemptions=20)
    coupon = CouponFact("TEN", identity("ten"), "ten")
    sold: list[str] = []

    async def sell(number: int) -> None:
        if await _confirm(shop, f"T{number}", coupon) is None:
            sold.append(f"T{number}")

    async def ask(store: str) -> None:
        await stores.uses(store, COUPON_TYPE, "ten", rng.randint(-3, 4))

    doings = [*(sell(number) for number in range(24)), *(ask(rng.choice(["north", "south"])) for _ in range(24))]
    rng.shuffle(doings)
    await asyncio.gather(*doings)
    left = await stores.outstanding("ten")
    assert await stores.count("coupon_usage", "coupon_type_id", "ten") == len(sold) + left <= 20
    assert len(await shop.rows("coupon_claims")) == len(sold)


# ---- codes to issue -----------------------------------------------------------------------------------------------


async def test_pooled_codes_go_to_one_store_each_and_a_repeat_gets_the_same(stores: Stores) -> None:
    shop = stores.shop
    await shop.coupon_type("gift")
    for number in range(6):
        await shop.coupon(f"GIFT-{number}", "gift")
    await shop.coupon("GIFT-X", "gift", source="EXTERNAL")
    await shop.coupon("GIFT-I", "gift", issued_at=shop.now[0])
    first = await stores.pool("north", "gift", 4, key="k1")
    assert len(first.leased) == 4
    assert await stores.pool("north", "gift", 4, key="k1") == first
    second = await stores.pool("south", "gift", 4, key="k1")
    codes = [one.code for one in (*first.leased, *second.leased)]
    assert sorted(codes) == [f"GIFT-{number}" for number in range(6)]
    assert (await stores.pool("south", "gift", 4, key="k2")).leased == ()
    await stores.give_back("north", first.leased[0].code)
    assert [one.code for one in (await stores.pool("south", "gift", 4, key="k3")).leased] == [first.leased[0].code]


@ON_SQLITE
async def test_codes_that_all_share_are_not_issued_by_stores(stores: Stores) -> None:
    await stores.shop.coupon_type("ten", code_type="GENERIC", generic_code="TEN")
    with pytest.raises(Conflict) as refused:
        await stores.pool("north", "ten", 1)
    assert refused.value.code == "NOT_INDIVIDUAL"
    await stores.shop.coupon("TEN-ROW", "ten")
    assert [one.code for one in (await stores.lease("north", "TEN-ROW")).leased] == ["TEN-ROW"]
    assert (await stores.lease("south", "TEN-ROW")).leased  # every store may lease one of these
    assert await stores.status("TEN-ROW") == "ACTIVE"


async def test_a_sale_releases_all_that_it_uses_at_once(stores: Stores) -> None:
    shop = stores.shop
    for name in ("one", "two"):
        await shop.budget(name, "90.00")
        await shop.coupon_type(name, code_type="GENERIC", generic_code=name, max_redemptions=10)
        await shop.coupon_type(f"save-{name}")
        await shop.coupon(f"SAVE-{name}", f"save-{name}")
        await stores.grant("north", name, "9.00")
        await stores.uses("north", COUPON_TYPE, name, 2)
    await stores.lease("north", "SAVE-one", "SAVE-two")
    await stores.release(
        "north",
        budgets={"one": "2.00", "two": "-3.00"},
        codes=["SAVE-one", "SAVE-two"],
        types={"one": 1, "two": 1},
        promotions=["off"],
    )
    assert [(await shop.row("Budgets", name)).reserved_amount for name in ("one", "two")] == [7, 12]
    assert [await stores.count("coupon_usage", "coupon_type_id", name) for name in ("one", "two")] == [1, 1]
    assert [await stores.status(f"SAVE-{name}") for name in ("one", "two")] == ["ACTIVE", "ACTIVE"]
    for name in ("one", "two"):
        await stores.check(name)
