"""Returned lines give back what their units carried (section 11)."""

from __future__ import annotations

from decimal import Decimal

import msgspec
import pytest

from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.sales.priced import PRICED, counts, kinds, refusal, told_of
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


async def test_all_returns_together_give_back_at_most_the_sales_discount(shop: Shop) -> None:
    await shop.confirm("T1", await shop.price("T1", PRICED, customer_id="C1"), "off")
    for number in range(4):
        back = outcome((line("9", -1000, -400),), ())
        await shop.confirm(f"R{number}", await shop.price(f"R{number}", back, sales={"9": ("T1", "1")}))
    await shop.work()
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 0
    assert (await shop.rows("loyalty_balances"))[0].points == 0


async def test_a_return_makes_an_exhausted_budget_available_again(shop: Shop) -> None:
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
    # Returning what the exchange sold gives back all that it took, not the net of its row.
    back = outcome((line("9", -2000, -800),), ())
    await shop.confirm("R1", await shop.price("R1", back, sales={"9": ("X1", "1")}))
    assert [row.amount for row in await shop.rows("BudgetConsumptions", transaction_id="R1")] == [-2]
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 1


async def test_a_return_that_names_no_known_sale_gives_nothing_back(shop: Shop) -> None:
    back = outcome((line("9", -1000, -400),), ())
    await shop.confirm("R1", await shop.price("R1", back, sales={"9": ("T-unknown", "1")}))
    assert await shop.count("BudgetConsumptions") == 0
    assert await kinds(shop) == ["TRANSACTION_CONFIRMED", "TRANSACTION_RETURNED"]


@pytest.mark.parametrize(("currency", "exponent"), [("JPY", 0), ("EUR", 2), ("KWD", 3)])
async def test_amounts_given_back_are_in_the_currency_of_the_sale(shop: Shop, currency: str, exponent: int) -> None:
    odd = outcome(
        (line("1", 1000, 500, discount("off", ((1, 250),))),), (applied("off", 250, budget_ids=("marketing",)),)
    )
    await shop.confirm("T1", await shop.price("T1", odd), "off")
    # An exchange that gives back the 2.50 of that sale, and takes 4.00 for another.
    exchange = outcome(
        (line("9", -1000, -250), line("1", 2000, 1000, discount("off", ((2, 200),)))),
        (applied("off", 400, budget_ids=("marketing",)),),
    )
    await shop.confirm("X1", await shop.price("X1", exchange, sales={"9": ("T1", "1")}), "off")
    # Abroad, both pieces of the exchange are returned.
    back = outcome((line("9", -2000, -600),), (), currency=currency, exponent=exponent)
    await shop.confirm("R1", await shop.price("R1", back, sales={"9": ("X1", "1")}))
    (row,) = await shop.rows("BudgetConsumptions", transaction_id="R1")
    assert (row.amount, row.currency) == (-4, "EUR")
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 0
    events = [msgspec.json.decode(one.payload) for one in await shop.rows("outbox_events", kind="TRANSACTION_RETURNED")]
    told = {one["data"]["transactionId"]: one["data"]["budgetReturned"] for one in events}
    assert told == {"X1": 2.5, "R1": 4 if currency == "EUR" else 0}  # the event uses the currency of the return


async def test_an_exchange_can_spend_the_amount_that_it_gives_back(shop: Shop) -> None:
    """Whichever promotion comes first: the budget suffices, and is never exhausted."""
    await shop.budget("small", "2.00")
    for turn, (bought, returned) in enumerate([("off", "saver"), ("saver", "off")]):
        sale = outcome(
            (line("1", 1000, 1000, discount(returned, ((1, 200),))),), (applied(returned, 200, budget_ids=("small",)),)
        )
        await shop.confirm(f"T{turn}", await shop.price(f"T{turn}", sale), returned)
        exchange = outcome(
            (line("9", -1000, -800), line("1", 1000, 1000, discount(bought, ((1, 150),)))),
            (applied(bought, 150, budget_ids=("small",)),),
        )
        await shop.confirm(f"X{turn}", await shop.price(f"X{turn}", exchange, sales={"9": (f"T{turn}", "1")}), bought)
        rows = await shop.rows("BudgetConsumptions", transaction_id=f"X{turn}")
        assert {(row.promotion_id, row.amount, row.uncovered_amount) for row in rows} == {
            (identity(returned), -2, 0),
            (identity(bought), Decimal("1.5"), 0),
        }
        home = outcome((line("9", -1000, -850),), ())
        await shop.confirm(f"R{turn}", await shop.price(f"R{turn}", home, sales={"9": (f"X{turn}", "1")}))
        assert (await shop.row("Budgets", "small")).consumed_amount == 0
    assert (await kinds(shop)).count("BUDGET_EXHAUSTED") == 2  # by the two sales


async def test_returning_an_exchange_gives_back_only_its_own_discount(shop: Shop) -> None:
    for name in ("T1", "T2"):
        await shop.confirm(name, await shop.price(name, PRICED), "off")
    exchange = outcome(
        (line("8", -2000, -800), line("9", -1000, -400), line("1", 1000, 500, discount("off", ((1, 100),)))),
        (applied("off", 100, budget_ids=("marketing",)),),
    )
    await shop.confirm("X1", await shop.price("X1", exchange, sales={"8": ("T1", "1"), "9": ("T2", "1")}), "off")
    assert [row.amount for row in await shop.rows("BudgetConsumptions", transaction_id="X1")] == [-2]
    back = outcome((line("9", -1000, -400),), ())
    await shop.confirm("R1", await shop.price("R1", back, sales={"9": ("X1", "1")}))
    assert [row.amount for row in await shop.rows("BudgetConsumptions", transaction_id="R1")] == [-1]
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 1


async def test_what_is_told_is_what_is_booked(shop: Shop) -> None:
    await shop.confirm("T1", await shop.price("T1", PRICED, customer_id="C1"), "off")
    (refund,) = await told_of(shop, "R1", ("9", 1000, "T1", "1"))
    assert (refund.status, refund.amount_minor, refund.points, refund.budget_minor) == ("MATCHED", 400, 10, 100)
    back = outcome((line("9", -1000, -400),), ())
    await shop.confirm("R1", await shop.price("R1", back, sales={"9": ("T1", "1")}))
    event = next(one for one in await shop.rows("outbox_events") if one.kind == "TRANSACTION_RETURNED")
    data = msgspec.json.decode(event.payload)["data"]
    assert (data["pointsReturned"], data["budgetReturned"]) == (refund.points, 1)
    told_now = await told_of(shop, "R2", ("9", 2000, "T1", "1"), ("8", 1000, "T1", "7"), ("7", 1000, "T2", "1"))
    assert [(one.status, one.left_thousandths) for one in told_now] == [
        ("OVER_RETURNED", 1000),
        ("UNKNOWN_LINE", None),
        ("UNKNOWN_SALE", None),
    ]
    await shop.price("T3", PRICED)
    assert (await told_of(shop, "R2", ("9", 1000, "T3", "1")))[0].status == "NOT_CONFIRMED"


@pytest.mark.parametrize(
    ("sale", "code"),
    [
        (("T1", "1"), "OVER_RETURNED"),
        (("T1", "7"), "UNKNOWN_LINE"),
        (("T1", ""), "UNKNOWN_LINE"),
        (("T-unknown", "1"), "UNKNOWN_SALE"),
        (("R1", "9"), "UNKNOWN_SALE"),
    ],
)
async def test_a_tenant_may_refuse_returns_that_do_not_match(shop: Shop, sale: tuple[str, str], code: str) -> None:
    await shop.put("Tenants", tenant_id=shop.tenant, name="Strict", unmatched_returns="REFUSE")
    await shop.confirm("T1", await shop.price("T1", PRICED, customer_id="C1"), "off")
    before = await counts(shop)
    back = outcome((line("9", -3000, -1200),), ())
    counter = await shop.price("R1", back, sales={"9": sale})
    assert await refusal(shop, "R1", counter) == code
    # Only the log of the refusal is left.
    assert await counts(shop) == {**before, "CalculationLogs": before["CalculationLogs"] + 1}
    fitting = outcome((line("9", -2000, -800),), ())
    await shop.confirm("R1", await shop.price("R1", fitting, sales={"9": ("T1", "1")}))
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 0
