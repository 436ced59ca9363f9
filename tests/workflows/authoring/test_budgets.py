"""Budgets: contributions, forbidden withdrawals, and shares that add up to the whole."""

from __future__ import annotations

import asyncio
from decimal import Decimal

from promenade.errors import Conflict, Invalid
from tests.workflows.authoring.desk import NOON, Desk
from tests.workflows.authoring.test_every_entity import refused


async def total(desk: Desk, budget: str) -> tuple[Decimal, str]:
    row = await desk.row("Budgets", budget)
    return row["totalAmount"], row["status"]


async def test_contributions_raise_the_total_and_lower_it_when_deleted(desk: Desk) -> None:
    budget, other = await desk.given("Budgets", totalAmount=Decimal(100)), await desk.given("Budgets")
    paid = await desk.create("RechargeContributions", budget_ID=budget, amount=Decimal("50.50"))
    row = await desk.row("RechargeContributions", paid)
    assert (row["currency"], row["contributedAt"]) == ("EUR", NOON)
    assert await total(desk, budget) == (Decimal("150.50"), "DRAFT")
    await desk.update("RechargeContributions", paid, amount=Decimal(20))
    assert await total(desk, budget) == (Decimal(120), "DRAFT")
    await desk.update("RechargeContributions", paid, budget_ID=other)
    assert await total(desk, budget) == (Decimal(100), "DRAFT")
    assert await total(desk, other) == (Decimal(21), "DRAFT")
    await desk.remove("RechargeContributions", paid)
    assert await total(desk, other) == (Decimal(1), "DRAFT")
    error = await refused(
        desk, Invalid, desk.create("RechargeContributions", budget_ID=budget, amount=Decimal(1), currency="JPY")
    )
    assert (error.code, error.target) == ("CURRENCY_MISMATCH", "currency")


async def test_a_contribution_that_was_spent_cannot_be_withdrawn(desk: Desk) -> None:
    budget = await desk.given("Budgets", totalAmount=Decimal(10))
    await desk.create("RechargeContributions", budget_ID=budget, amount=Decimal(10))
    spent = await desk.put("Budgets", code="x", name="x", currency="EUR", status="EXHAUSTED", total_amount=Decimal(10),
                           consumed_amount=Decimal(10))  # fmt: skip
    error = await refused(desk, Conflict, desk.update("Budgets", spent, totalAmount=Decimal(9)))
    assert (error.code, error.target) == ("TOTAL_BELOW_CONSUMED", "totalAmount")
    error = await refused(desk, Conflict, desk.update("Budgets", spent, currency="USD"))
    assert error.code == "CURRENCY_IN_USE"
    error = await refused(desk, Conflict, desk.update("Budgets", budget, currency="USD"))
    assert error.code == "CURRENCY_IN_USE"
    more = await desk.create("RechargeContributions", budget_ID=spent, amount=Decimal(5))
    assert await total(desk, spent) == (Decimal(15), "ACTIVE")
    await desk.remove("RechargeContributions", more)
    assert await total(desk, spent) == (Decimal(10), "EXHAUSTED")


async def test_a_contribution_can_be_lowered_only_to_the_consumed_amount(desk: Desk) -> None:
    budget = await desk.put("Budgets", code="x", name="x", currency="EUR", status="ACTIVE", total_amount=Decimal(15),
                            consumed_amount=Decimal(12))  # fmt: skip
    paid = await desk.put("RechargeContributions", budget_id=budget, amount=Decimal(5), currency="EUR")
    error = await refused(desk, Conflict, desk.remove("RechargeContributions", paid))
    assert error.code == "TOTAL_BELOW_CONSUMED"
    await desk.update("RechargeContributions", paid, amount=Decimal(2))
    assert await total(desk, budget) == (Decimal(12), "EXHAUSTED")


async def test_a_budget_total_beyond_the_maximum_is_refused(desk: Desk) -> None:
    budget = await desk.given("Budgets", totalAmount=Decimal("9999999999999.99"))
    error = await refused(desk, Invalid, desk.create("RechargeContributions", budget_ID=budget, amount=Decimal("0.01")))
    assert (error.code, error.target) == ("OUT_OF_RANGE", "amount")


async def test_shares_of_a_budget_add_up_to_at_most_100_percent(desk: Desk) -> None:
    budget, other = await desk.given("Budgets"), await desk.given("Budgets")
    people = [await desk.given("Stakeholders") for _ in range(3)]
    sixty = await desk.create("BudgetStakeholders", budget_ID=budget, stakeholder_ID=people[0], sharePercentage=60)
    await desk.create("BudgetStakeholders", budget_ID=budget, stakeholder_ID=people[1], sharePercentage=40)
    third = {"stakeholder_ID": people[2], "sharePercentage": Decimal("0.01")}
    error = await refused(desk, Invalid, desk.create("BudgetStakeholders", budget_ID=budget, **third))
    assert (error.code, error.target) == ("SHARES_EXCEED_100", "sharePercentage")
    elsewhere = await desk.create("BudgetStakeholders", budget_ID=other, **third)
    await refused(desk, Invalid, desk.update("BudgetStakeholders", elsewhere, budget_ID=budget))
    await desk.update("BudgetStakeholders", sixty, sharePercentage=Decimal("59.99"))
    await desk.update("BudgetStakeholders", elsewhere, budget_ID=budget)


async def test_concurrent_shares_do_not_exceed_100_percent(desk: Desk) -> None:
    budget = await desk.given("Budgets")
    people = [await desk.given("Stakeholders") for _ in range(6)]
    answers = await asyncio.gather(
        *(
            desk.create("BudgetStakeholders", budget_ID=budget, stakeholder_ID=one, sharePercentage=Decimal(30))
            for one in people
        ),
        return_exceptions=True,
    )
    refusals = [one for one in answers if isinstance(one, BaseException)]
    assert [type(one) for one in refusals] == [Invalid] * 3
    assert len(await desk.rows("BudgetStakeholders")) == 3


async def test_concurrent_contributions_all_count(desk: Desk) -> None:
    budget = await desk.given("Budgets", totalAmount=Decimal(0))
    await asyncio.gather(
        *(desk.create("RechargeContributions", budget_ID=budget, amount=Decimal(10)) for _ in range(8))
    )
    assert (await desk.row("Budgets", budget))["totalAmount"] == Decimal(80)


async def test_the_audit_trail_of_a_budget_has_every_field(desk: Desk) -> None:
    budget = await desk.given("Budgets", name="Spring", totalAmount=Decimal(100))
    await desk.update("Budgets", budget, totalAmount=Decimal(120), description="more")
    await desk.create("RechargeContributions", budget_ID=budget, amount=Decimal(5))
    trail = [row for row in await desk.rows("AuditLogs", entityType="Budgets") if row["action"] == "UPDATE"]
    assert {row["note"] for row in trail} == {
        "totalAmount: 100 -> 120",
        "description: null -> more",
        "totalAmount: 120 -> 125",
    }
    assert {(row["actor"], row["entityName"], row["entityId"]) for row in trail} == {("ann", "Spring", budget)}


async def test_a_promotion_in_another_currency_is_not_charged(desk: Desk) -> None:
    budget = await desk.given("Budgets", currency="USD")
    promotion = await desk.given("Promotions", currency="EUR", status="ACTIVE")
    error = await refused(desk, Invalid, desk.create("BudgetPromotions", budget_ID=budget, promotion_ID=promotion))
    assert error.code == "BUDGET_CURRENCY"
    draft = await desk.given("Promotions", currency="EUR")
    await desk.create("BudgetPromotions", budget_ID=budget, promotion_ID=draft)
    await desk.create("LoyaltyActions", promotion_ID=draft, actionType="ADD_FIXED", points=1)
    error = await refused(desk, Invalid, desk.update("Promotions", draft, status="ACTIVE"))
    assert (error.code, error.target) == ("BUDGET_CURRENCY", "currency")
