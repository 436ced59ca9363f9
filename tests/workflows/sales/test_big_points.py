"""Points in billions: whole sales at the highest rates that authors may set, and their results (section 6)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from promenade.engine.basket import BasketLine, Customer
from promenade.engine.benefits.loyalty import POINTS_MAX
from promenade.store.driver.rows import insert_rows
from promenade.store.driver.unit import Session
from promenade.store.pricing.changes import record_change
from promenade.workflows.pricing.evaluate import PricingRequest, evaluate
from tests.workflows.outcomes import applied, line, outcome
from tests.workflows.shop import NOON, Shop, identity

LINES = (line("1", 1000, 500),)


async def test_points_beyond_thirty_two_bits_are_booked_and_given_back(shop: Shop) -> None:
    rich = outcome(LINES, (applied("stamps", points=POINTS_MAX - 3),), base_points=3)
    for name in ("T1", "T2"):
        await shop.confirm(name, await shop.price(name, rich, customer_id="C1"))
        await shop.work()
        (job,) = await shop.rows("side_effect_jobs", transaction_id=name)
        assert (job.status, job.loyalty_points_earned, job.reason) == ("COMPLETED", POINTS_MAX, None)
    assert {row.loyalty_points for row in await shop.rows("CalculationLogs")} == {POINTS_MAX}
    back = outcome((line("9", -1000, -500),), ())
    await shop.confirm("R1", await shop.price("R1", back, sales={"9": ("T1", "1")}))
    await shop.work()
    booked = await shop.rows("LoyaltyTransactions", customer_id="C1")
    assert sorted((row.points, row.balance_after) for row in booked) == [
        (-POINTS_MAX, POINTS_MAX),
        (3, 3),
        (3, POINTS_MAX + 3),
        (POINTS_MAX - 3, POINTS_MAX),
        (POINTS_MAX - 3, 2 * POINTS_MAX),
    ]
    (balance,) = await shop.rows("loyalty_balances")
    assert balance.points == POINTS_MAX
    (of_log,) = {row.points for row in await shop.rows("CalculationLogPromotions", promotion_id=identity("stamps"))}
    assert of_log == POINTS_MAX - 3


async def test_no_multiplier_gives_more_points_than_can_be_counted(shop: Shop) -> None:
    """At a high price, three promotions multiply the points by 9999 each."""
    rows: dict[str, list[dict[str, Any]]] = {"Promotions": [], "LoyaltyActions": []}
    for number in range(3):
        promotion = identity(f"times-{number}")
        rows["Promotions"].append({"ID": promotion, "name": "Points times 9999", "status": "ACTIVE"})
        action = {"ID": identity(f"action-{number}"), "promotion_ID": promotion, "actionType": "MULTIPLY_POINTS"}
        rows["LoyaltyActions"].append({**action, "multiplier": Decimal(9999)})
    tenant = {
        "tenantId": shop.tenant,
        "name": "Retailer",
        "pointsPerCurrencyUnit": Decimal(9),
    }

    async def author(session: Session) -> None:
        for name, of_set in rows.items():
            await insert_rows(session, name, of_set, at=NOON, by="author")
        await record_change(session, "Promotions", at=NOON)

    async def settle(session: Session) -> None:
        await insert_rows(session, "Tenants", [tenant], at=NOON, by="operator")

    await shop.context.database.write(settle, system=True)
    await shop.context.database.write(author, tenant=shop.tenant)
    request = PricingRequest(
        lines=(BasketLine("1", "yacht", 1000, 999_999_999_00),), pos_group_code="SHOP", customer=Customer("C1")
    )
    priced = await evaluate(shop.context, shop.tenant, request)
    assert priced.outcome.points == POINTS_MAX
    assert priced.outcome.base_points == 8_999_999_991
    assert priced.transaction_counter == 1
    await shop.confirm(priced.transaction_id, 1)
    await shop.work()
    assert (await shop.rows("loyalty_balances"))[0].points == POINTS_MAX
