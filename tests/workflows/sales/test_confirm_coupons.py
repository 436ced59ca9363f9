"""Coupons are spent inside the confirm of their sale (section 11; reliability C1, C3)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from promenade.engine.basket import CouponFact
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.sales.priced import counts, refusal
from tests.workflows.shop import NOON, Shop, identity

SAVED = outcome(
    (line("1", 1000, 500, discount("saver", ((1, 100),), "SAVE-1")),), (applied("saver", 100, coupon_code="SAVE-1"),)
)


async def test_an_individual_coupon_is_spent_by_one_sale(shop: Shop) -> None:
    await shop.coupon_type("save")
    fact = await shop.coupon("SAVE-1", "save")
    first = await shop.price("T1", SAVED, coupons=[fact])
    second = await shop.price("T2", SAVED, coupons=[fact])
    await shop.confirm("T1", first, "saver")
    before = await counts(shop)
    assert await refusal(shop, "T2", second, "saver") == "COUPON_ALREADY_CLAIMED"
    after = await counts(shop)
    assert after == before | {"CalculationLogs": 2}
    failed = next(row for row in await shop.rows("CalculationLogs") if row.status == "FAILED")
    assert (failed.transaction_id, failed.grand_total) == ("T2", 4)
    assert "COUPON_ALREADY_CLAIMED" in failed.message
    assert identity("saver") in failed.message
    # The till may sell without the coupon.
    await shop.confirm("T2", second)


@pytest.mark.parametrize(
    ("kind", "code", "expected"),
    [
        ({}, {"status": "RESERVED", "reserved_by_transaction_id": "T9", "reserved_until": NOON + timedelta(1)},
         "COUPON_ALREADY_CLAIMED"),
        ({}, {"valid_until": NOON}, "COUPON_EXPIRED"),
        ({"max_redemptions": 0}, {}, "COUPON_LIMIT_REACHED"),
    ],
)  # fmt: skip
async def test_a_refused_sale_keeps_no_code(
    shop: Shop, kind: dict[str, object], code: dict[str, object], expected: str
) -> None:
    """People who may not see codes read logs, and this code may be valid for another sale."""
    await shop.coupon_type("save", **kind)
    fact = await shop.coupon("SAVE-1", "save", **code)
    assert await refusal(shop, "T1", await shop.price("T1", SAVED, coupons=[fact]), "saver") == expected
    (failed,) = await shop.rows("CalculationLogs")
    assert "SAVE-1" not in str(tuple(failed))


@pytest.mark.parametrize("status", ["RESERVED", "CANCELLED"])
async def test_an_unspent_coupon_is_not_reported_as_spent(shop: Shop, status: str) -> None:
    held = {"reserved_by_transaction_id": "T9", "reserved_until": NOON + timedelta(1)} if status == "RESERVED" else {}
    await shop.coupon_type("save")
    fact = await shop.coupon("SAVE-1", "save", status=status, **held)
    counter = await shop.price("T1", SAVED, coupons=[fact])
    assert await refusal(shop, "T1", counter, "saver") == "COUPON_ALREADY_CLAIMED"
    (failed,) = await shop.rows("CalculationLogs")
    assert "spent or reserved it, or it was cancelled" in failed.message


async def test_a_withdrawn_promotion_does_not_spend_its_coupon(shop: Shop) -> None:
    await shop.coupon_type("save")
    fact = await shop.coupon("SAVE-1", "save")
    await shop.confirm("T1", await shop.price("T1", SAVED, coupons=[fact]))
    assert (await shop.row("CouponCodes", "SAVE-1")).status == "ACTIVE"


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"valid_until": NOON}, "COUPON_EXPIRED"),
        ({"valid_until": NOON + timedelta(seconds=1)}, None),
        ({"status": "REDEEMED"}, "COUPON_ALREADY_CLAIMED"),
        ({"status": "CANCELLED"}, "COUPON_ALREADY_CLAIMED"),
        ({"status": "RESERVED", "reserved_by_transaction_id": "T1", "reserved_until": NOON + timedelta(1)}, None),
        (
            {"status": "RESERVED", "reserved_by_transaction_id": "T9", "reserved_until": NOON + timedelta(1)},
            "COUPON_ALREADY_CLAIMED",
        ),
        ({"status": "RESERVED", "reserved_by_transaction_id": "T9", "reserved_until": NOON}, None),
    ],
)
async def test_a_coupon_is_spent_only_where_it_is_free(
    shop: Shop, columns: dict[str, object], expected: str | None
) -> None:
    await shop.coupon_type("save")
    fact = await shop.coupon("SAVE-1", "save", **columns)
    counter = await shop.price("T1", SAVED, coupons=[fact])
    if expected is None:
        await shop.confirm("T1", counter, "saver")
        await shop.work()
        assert (await shop.row("CouponCodes", "SAVE-1")).status == "REDEEMED"
    else:
        assert await refusal(shop, "T1", counter, "saver") == expected


async def test_a_coupon_ends_with_its_type(shop: Shop) -> None:
    await shop.coupon_type("save", valid_to=NOON + timedelta(hours=1))
    fact = await shop.coupon("SAVE-1", "save")
    counter = await shop.price("T1", SAVED, coupons=[fact])
    shop.later(hours=1)
    assert await refusal(shop, "T1", counter, "saver") == "COUPON_EXPIRED"


async def test_a_generic_code_is_limited_in_total_and_per_customer(shop: Shop) -> None:
    await shop.coupon_type(
        "save", code_type="GENERIC", generic_code="SAVE-1", max_redemptions=3, max_redemptions_per_customer=2
    )
    fact = CouponFact("SAVE-1", identity("save"), "save")

    async def sell(transaction: str, customer: str) -> int:
        return await shop.price(transaction, SAVED, coupons=[fact], customer_id=customer)

    await shop.confirm("T1", await sell("T1", "C1"), "saver")
    await shop.confirm("T2", await sell("T2", "C1"), "saver")
    assert await refusal(shop, "T3", await sell("T3", "C1"), "saver") == "COUPON_LIMIT_REACHED"
    await shop.confirm("T4", await sell("T4", "C2"), "saver")
    assert await refusal(shop, "T5", await sell("T5", "C2"), "saver") == "COUPON_LIMIT_REACHED"
    assert await shop.count("coupon_claims") == 3
