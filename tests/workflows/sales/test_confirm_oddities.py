"""Changes by authors between an evaluation and its confirm, and extreme settings."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from sqlalchemy import delete

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.workflows.coupons.issuing import VALID_UNTIL_MAX
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.sales.priced import PRICED
from tests.workflows.shop import NOON, Shop, identity


async def test_a_sale_is_confirmed_although_its_promotions_were_deleted(shop: Shop) -> None:
    counter = await shop.price("T1", PRICED, customer_id="C1")

    async def clear(session: Session) -> None:
        for name in ("Promotions", "Budgets", "PosGroups"):
            await session.rowcount(delete(table(name)))

    await shop.context.database.write(clear, tenant=shop.tenant)
    await shop.confirm("T1", counter, "off")
    await shop.work()
    (job,) = await shop.rows("side_effect_jobs")
    assert (job.status, job.loyalty_points_earned) == ("COMPLETED", 20)
    (log,) = await shop.rows("CalculationLogs")
    assert (log.status, log.discount) == ("CALCULATED", 2)
    # Its return finds no budget to credit.
    back = outcome((line("9", -1000, -400),), ())
    await shop.confirm("R1", await shop.price("R1", back, sales={"9": ("T1", "1")}))
    assert await shop.count("BudgetConsumptions") == 0


@pytest.mark.parametrize("days", [3_000_000, 2**31 - 1])
async def test_a_coupon_with_an_extreme_validity_does_not_block_rewards(shop: Shop, days: int) -> None:
    await shop.coupon_type("thanks", validity_days=days)
    rewarded = outcome(PRICED.lines, (applied("stamps", points=7, coupon_type_ids=("thanks",)),), base_points=10)
    await shop.confirm("T1", await shop.price("T1", rewarded, customer_id="C1"))
    await shop.work()
    (job,) = await shop.rows("side_effect_jobs")
    assert (job.status, job.reason) == ("COMPLETED", None)
    (code,) = await shop.rows("CouponCodes")
    assert (code.customer_id, code.valid_until) == ("C1", VALID_UNTIL_MAX)
    assert (await shop.rows("loyalty_balances"))[0].points == 17


async def test_a_clock_set_back_neither_redeems_nor_charges_again(shop: Shop) -> None:
    """A4: the clock goes back an hour between confirm, its repeat and the worker; then an hour forward."""
    await shop.coupon_type("save")
    fact = await shop.coupon("SAVE-1", "save", valid_until=NOON + timedelta(minutes=30))
    priced = outcome(
        (line("1", 1000, 500, discount("off", ((1, 100),), "SAVE-1")),),
        (applied("off", 100, points=3, coupon_code="SAVE-1", budget_ids=("marketing",)),),
    )
    counter = await shop.price("T1", priced, coupons=[fact], customer_id="C1")
    first = await shop.confirm("T1", counter, "off")
    for hours in (-1, 2):
        shop.later(hours=hours)
        assert await shop.confirm("T1", counter, "off") == first
        await shop.work()
        code = await shop.row("CouponCodes", "SAVE-1")
        assert (code.status, code.redemption_count) == ("REDEEMED", 1)
    assert (await shop.row("Budgets", "marketing")).consumed_amount == Decimal(1)
    assert (await shop.rows("loyalty_balances"))[0].points == 3
    moments: list[datetime] = [row.redeemed_at for row in await shop.rows("CouponCodes", id=identity("SAVE-1"))]
    assert moments == [NOON - timedelta(hours=1)]
