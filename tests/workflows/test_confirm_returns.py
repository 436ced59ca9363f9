"""Returned lines bring back what their units carried (section 11)."""

from __future__ import annotations

from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.sales import PRICED, kinds
from tests.workflows.shop import Shop, identity


async def test_a_return_gives_back_what_its_units_carried(shop: Shop) -> None:
    await shop.confirm("T1", await shop.price("T1", PRICED, customer_id="C1"), "off")
    await shop.work()
    back = outcome((line("9", -1000, -400),), ())
    counter = await shop.price("R1", back, sales={"9": ("T1", "1")})
    await shop.confirm("R1", counter)
    await shop.work()
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 1
    consumption = next(row for row in await shop.rows("BudgetConsumptions") if row.transaction_id == "R1")
    assert (consumption.amount, consumption.promotion_id) == (-1, identity("off"))
    assert "TRANSACTION_RETURNED" in await kinds(shop)
    (balance,) = await shop.rows("loyalty_balances")
    assert (balance.customer_id, balance.points) == ("C1", 10)
    points = await shop.rows("LoyaltyTransactions")
    assert sum(row.points for row in points) == 10


async def test_all_returns_together_bring_back_no_more_than_the_sale_carried(shop: Shop) -> None:
    await shop.confirm("T1", await shop.price("T1", PRICED, customer_id="C1"), "off")
    for number in range(4):
        back = outcome((line("9", -1000, -400),), ())
        await shop.confirm(f"R{number}", await shop.price(f"R{number}", back, sales={"9": ("T1", "1")}))
    await shop.work()
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 0
    assert (await shop.rows("loyalty_balances"))[0].points == 0


async def test_what_comes_back_to_an_exhausted_budget_can_be_spent_again(shop: Shop) -> None:
    await shop.budget("small", "2.00")
    priced = outcome(
        (line("1", 2000, 1000, discount("off", ((2, 100),))),), (applied("off", 200, budget_ids=("small",)),)
    )
    await shop.confirm("T1", await shop.price("T1", priced), "off")
    assert (await shop.row("Budgets", "small")).status == "EXHAUSTED"
    back = outcome((line("9", -1000, -400),), ())
    await shop.confirm("R1", await shop.price("R1", back, sales={"9": ("T1", "1")}))
    assert (await shop.row("Budgets", "small")).status == "ACTIVE"
    await shop.confirm("T2", await shop.price("T2", priced), "off")
    assert (await kinds(shop)).count("BUDGET_EXHAUSTED") == 2
    budget = await shop.row("Budgets", "small")
    assert budget.consumed_amount == sum(row.amount for row in await shop.rows("BudgetConsumptions")) == 2


async def test_an_exchange_charges_and_gives_back_one_budget_in_one_row(shop: Shop) -> None:
    await shop.confirm("T1", await shop.price("T1", PRICED), "off")
    exchange = outcome(
        (line("9", -1000, -400), line("1", 2000, 1000, discount("off", ((2, 100),)))),
        (applied("off", 200, budget_ids=("marketing",)),),
    )
    await shop.confirm("X1", await shop.price("X1", exchange, sales={"9": ("T1", "1")}), "off")
    assert [row.amount for row in await shop.rows("BudgetConsumptions", transaction_id="X1")] == [1]
    # Returning what the exchange sold brings back all that it took, not the net of its row.
    back = outcome((line("9", -2000, -800),), ())
    await shop.confirm("R1", await shop.price("R1", back, sales={"9": ("X1", "1")}))
    assert [row.amount for row in await shop.rows("BudgetConsumptions", transaction_id="R1")] == [-2]
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 1


async def test_a_return_that_names_no_known_sale_gives_nothing_back(shop: Shop) -> None:
    back = outcome((line("9", -1000, -400),), ())
    await shop.confirm("R1", await shop.price("R1", back, sales={"9": ("T-unknown", "1")}))
    assert await shop.count("BudgetConsumptions") == 0
    assert await kinds(shop) == ["TRANSACTION_CONFIRMED", "TRANSACTION_RETURNED"]
