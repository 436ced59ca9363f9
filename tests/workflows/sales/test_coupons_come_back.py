"""Coupons of a sale that is cancelled, or returned as a whole: those it spent, and those it had earned (section 11)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from promenade.engine.basket import CouponFact
from promenade.errors import Conflict
from promenade.workflows.sales.cancel import CancelCommand, cancel
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import NOON, Shop, identity

SAVED = outcome(
    (line("1", 2000, 1000, discount("saver", ((2, 100),), "SAVE-1")),),
    (applied("saver", 200, coupon_code="SAVE-1"), applied("stamps", coupon_type_ids=("next-time",))),
)
BACK = outcome((line("9", -1000, -400),), ())
POOL = ("NEXT-1", "NEXT-2")


async def open_coupons(shop: Shop, **columns: Any) -> CouponFact:
    """Add a coupon to spend, and a pool of coupons to earn."""
    await shop.coupon_type("save", **columns)
    await shop.coupon_type("next-time", earned_on_return="CANCEL")
    for code in POOL:
        await shop.coupon(code, "next-time")
    return await shop.coupon("SAVE-1", "save")


async def sell(shop: Shop, name: str, fact: CouponFact) -> None:
    await shop.confirm(name, await shop.price(name, SAVED, coupons=[fact], customer_id="C1"), "saver")


async def cancelled(shop: Shop, name: str = "T1") -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(await cancel(shop.context, shop.tenant, CancelCommand(name, 1)))
    return found


async def give_back(shop: Shop, name: str, *numbers: int) -> None:
    """Return one piece of the sale for each of these numbers."""
    for number in numbers:
        back = f"{name}-{number}"
        await shop.confirm(back, await shop.price(back, BACK, sales={"9": (name, "1")}))


async def actions(shop: Shop, code: str) -> list[str]:
    return [row.action for row in await shop.rows("RedemptionLogs", coupon_code_id=identity(code))]


@pytest.mark.parametrize("works", [True, False])
@pytest.mark.parametrize("way", ["cancel", "return"])
async def test_a_code_is_valid_again_if_its_type_says_so(shop: Shop, way: str, works: bool) -> None:
    fact = await open_coupons(shop, on_return="REACTIVATE", max_redemptions=1, max_redemptions_per_customer=1)
    await sell(shop, "T1", fact)
    if works:
        await shop.work()
    if way == "cancel":
        told = await cancelled(shop)
        assert told["couponsSpent"] == [
            {"couponId": identity("SAVE-1"), "couponTypeId": identity("save"), "reactivated": True}
        ]
    else:
        await give_back(shop, "T1", 1)
        assert (await shop.row("CouponCodes", "SAVE-1")).status != "ACTIVE"
        await give_back(shop, "T1", 2)
    await shop.work()
    code = await shop.row("CouponCodes", "SAVE-1")
    assert (code.status, code.redeemed_transaction_id, code.redemption_count) == ("ACTIVE", None, 0)
    assert "REACTIVATED" in await actions(shop, "SAVE-1")
    await sell(shop, "T2", fact)  # within the limit of one use, in total and for the customer
    await shop.work()
    assert (await shop.row("CouponCodes", "SAVE-1")).redeemed_transaction_id == "T2"


@pytest.mark.parametrize("works", [True, False])
async def test_a_code_stays_redeemed_otherwise(shop: Shop, works: bool) -> None:
    fact = await open_coupons(shop)
    await sell(shop, "T1", fact)
    if works:
        await shop.work()
    told = await cancelled(shop)
    assert told["couponsSpent"][0]["reason"] == "KEEP_REDEEMED"
    code = await shop.row("CouponCodes", "SAVE-1")
    assert (code.status, code.redeemed_transaction_id, code.redemption_count) == ("REDEEMED", "T1", 1)
    assert await actions(shop, "SAVE-1") == ["REDEEMED"]


@pytest.mark.parametrize(
    ("which", "columns", "reason"),
    [
        ("SAVE-1", {"valid_until": NOON + timedelta(days=1)}, "EXPIRED"),
        ("save", {"valid_to": NOON + timedelta(days=1)}, "EXPIRED"),
        ("save", {"status": "INACTIVE"}, "INACTIVE"),
        ("SAVE-1", {"status": "CANCELLED"}, "CHANGED"),
    ],
)
async def test_a_code_that_has_ended_meanwhile_stays_so(
    shop: Shop, which: str, columns: dict[str, Any], reason: str
) -> None:
    fact = await open_coupons(shop, on_return="REACTIVATE", max_redemptions=5)
    await sell(shop, "T1", fact)
    await shop.work()
    await shop.change("CouponTypes" if which == "save" else "CouponCodes", which, **columns)
    shop.later(days=2)
    told = await cancelled(shop)
    assert [(one["reactivated"], one["reason"]) for one in told["couponsSpent"]] == [(False, reason)]
    code = await shop.row("CouponCodes", "SAVE-1")
    assert code.status == columns.get("status", "REDEEMED") if which == "SAVE-1" else "REDEEMED"
    assert {row._mapping["count"] for row in await shop.rows("coupon_usage")} == {1}


async def test_a_shared_code_counts_one_use_less(shop: Shop) -> None:
    await shop.coupon_type(
        "save", code_type="GENERIC", generic_code="SAVE-1", on_return="REACTIVATE", max_redemptions=1
    )
    await shop.coupon_type("next-time")
    fact = CouponFact("SAVE-1", identity("save"), "save", None)
    await sell(shop, "T1", fact)
    await shop.work()
    told = await cancelled(shop)
    assert told["couponsSpent"] == [{"couponId": None, "couponTypeId": identity("save"), "reactivated": True}]
    assert {row._mapping["count"] for row in await shop.rows("coupon_usage")} == {0}
    await sell(shop, "T2", fact)


async def test_earned_coupons_are_cancelled_unless_they_are_spent(shop: Shop) -> None:
    fact = await open_coupons(shop)
    await sell(shop, "T1", fact)
    await shop.work()
    (earned,) = await shop.rows("CouponCodes", issuing_transaction_id="T1")
    told = await cancelled(shop)
    assert told["couponsEarned"] == [{"couponId": earned.id, "couponTypeId": identity("next-time"), "cancelled": True}]
    (earned,) = await shop.rows("CouponCodes", issuing_transaction_id="T1")
    assert earned.status == "CANCELLED"


async def test_an_earned_coupon_that_was_spent_is_reported(shop: Shop) -> None:
    fact = await open_coupons(shop)
    await sell(shop, "T1", fact)
    await shop.work()
    (earned,) = await shop.rows("CouponCodes", issuing_transaction_id="T1")
    spend = outcome(
        (line("1", 1000, 500, discount("off", ((1, 100),), earned.code)),),
        (applied("off", 100, coupon_code=earned.code),),
    )
    spent = CouponFact(earned.code, identity("next-time"), "next-time", earned.id)
    await shop.confirm("T2", await shop.price("T2", spend, coupons=[spent], customer_id="C1"), "off")
    told = await cancelled(shop)
    assert [(one["cancelled"], one["reason"]) for one in told["couponsEarned"]] == [(False, "ALREADY_SPENT")]
    await shop.work()
    assert (await shop.rows("CouponCodes", id=earned.id))[0].status == "REDEEMED"


@pytest.mark.parametrize("works", [True, False])
@pytest.mark.parametrize(("policy", "status"), [("KEEP", "ACTIVE"), ("CANCEL", "CANCELLED")])
async def test_a_full_return_cancels_earned_coupons_if_their_type_says_so(
    shop: Shop, policy: str, status: str, works: bool
) -> None:
    """If they have not been issued yet, they never are."""
    fact = await open_coupons(shop)
    await shop.change("CouponTypes", "next-time", earned_on_return=policy)
    await sell(shop, "T1", fact)
    if works:
        await shop.work()
    await give_back(shop, "T1", 1, 2)
    await shop.work()
    codes = await shop.rows("CouponCodes", issuing_transaction_id="T1")
    if works or policy == "KEEP":
        assert [one.status for one in codes] == [status]
    else:
        assert codes == []
    assert (await shop.row("CouponCodes", "SAVE-1")).status == "REDEEMED"


async def test_a_return_that_made_a_code_valid_again_cannot_be_cancelled(shop: Shop) -> None:
    """Or the sale would keep its discount, and the code could be spent once more, again and again."""
    fact = await open_coupons(shop, on_return="REACTIVATE", max_redemptions=5)
    await sell(shop, "T1", fact)
    await give_back(shop, "T1", 1)
    await cancelled(shop, "T1-1")  # the sale was not returned as a whole
    await give_back(shop, "T1", 2, 3)
    with pytest.raises(Conflict) as caught:
        await cancelled(shop, "T1-3")
    assert caught.value.code == "COUPONS_VALID_AGAIN"
    assert (await shop.row("CouponCodes", "SAVE-1")).status == "ACTIVE"
    assert await shop.rows("cancellations", transaction_id="T1-3") == []
    await cancelled(shop, "T1")  # the sale itself can be: its return is told to no longer matter
    await cancelled(shop, "T1-3")
