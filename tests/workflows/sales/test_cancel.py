"""A confirmed sale is cancelled: all that it did is undone, once (section 11)."""

from __future__ import annotations

import msgspec
import pytest

from promenade.errors import Conflict, NotFound
from promenade.workflows.sales.cancel import CancelCommand, cancel
from promenade.workflows.sales.reading import read_transaction
from promenade.workflows.sales.side_effects import side_effects_status
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.sales.priced import PRICED, kinds, told_of
from tests.workflows.shop import Shop, identity


async def cancelled(shop: Shop, transaction_id: str, counter: int = 1, reason: str | None = None) -> dict[str, object]:
    """Cancel a sale and return the decoded response."""
    body = await cancel(shop.context, shop.tenant, CancelCommand(transaction_id, counter, reason))
    found: dict[str, object] = msgspec.json.decode(body)
    return found


async def sold(shop: Shop, transaction_id: str = "T1") -> None:
    await shop.confirm(transaction_id, await shop.price(transaction_id, PRICED, customer_id="C1"), "off")


async def test_everything_that_a_sale_did_is_undone(shop: Shop) -> None:
    await sold(shop)
    await shop.work()
    told = await cancelled(shop, "T1", reason="wrong customer")
    assert told == {
        "transactionId": "T1",
        "transactionCounter": 1,
        "cancelled": True,
        "message": "Transaction cancelled.",
        "pointsTakenBack": 20,
        "budgetsGivenBack": [{"budgetId": identity("marketing"), "amount": {"value": 2, "currency": "EUR"}}],
        "couponsSpent": [],
        "couponsEarned": [],
    }
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 0
    assert sum(row.amount for row in await shop.rows("BudgetConsumptions")) == 0
    assert [row.points for row in await shop.rows("loyalty_balances")] == [0]
    assert {row._mapping["count"] for row in await shop.rows("promotion_usage")} == {0}
    assert (await shop.row("Promotions", "off")).applications_count == 0
    (log,) = await shop.rows("CalculationLogs")
    assert (log.status, log.message) == ("CANCELLED", "wrong customer")
    assert (await kinds(shop)).count("TRANSACTION_CANCELLED") == 1


async def test_a_repeat_gets_the_same_bytes_and_changes_nothing(shop: Shop) -> None:
    await sold(shop)
    first = await cancel(shop.context, shop.tenant, CancelCommand("T1", 1, "once"))
    await shop.work()
    assert await cancel(shop.context, shop.tenant, CancelCommand("T1", 1, "twice")) == first
    assert sum(row.amount for row in await shop.rows("BudgetConsumptions")) == 0
    assert (await kinds(shop)).count("TRANSACTION_CANCELLED") == 1
    assert [row.message for row in await shop.rows("CalculationLogs")] == ["once"]


async def test_side_effects_not_yet_carried_out_never_happen(shop: Shop) -> None:
    await sold(shop)
    await cancelled(shop, "T1")
    await shop.work()
    assert await shop.count("LoyaltyTransactions") == 0
    assert "LOYALTY_POINTS_AWARDED" not in await kinds(shop)
    assert (await side_effects_status(shop.context, shop.tenant, "T1", 1)).status == "CANCELLED"


@pytest.mark.parametrize("works", [(True, True), (True, False), (False, True), (False, False)])
async def test_a_return_before_and_a_return_after_give_nothing_more(shop: Shop, works: tuple[bool, bool]) -> None:
    """Whether the side effects of sale and return have been carried out before or not."""
    await sold(shop)
    if works[0]:
        await shop.work()
    back = outcome((line("9", -1000, -400),), ())
    await shop.confirm("R1", await shop.price("R1", back, sales={"9": ("T1", "1")}))
    if works[1]:
        await shop.work()
    told = await cancelled(shop, "T1")
    assert told["pointsTakenBack"] == 10
    await shop.confirm("R2", await shop.price("R2", back, sales={"9": ("T1", "1")}))
    await shop.work()
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 0
    assert sum(row.amount for row in await shop.rows("BudgetConsumptions")) == 0
    assert sum(row.points for row in await shop.rows("loyalty_balances")) == 0
    assert await shop.rows("BudgetConsumptions", transaction_id="R2") == []


@pytest.mark.parametrize("works", [True, False])
async def test_cancelling_a_return_undoes_it(shop: Shop, works: bool) -> None:
    await sold(shop)
    await shop.work()
    back = outcome((line("9", -1000, -400),), ())
    for name in ("R1", "R2"):
        await shop.confirm(name, await shop.price(name, back, sales={"9": ("T1", "1")}))
    if works:
        await shop.work()
    await cancelled(shop, "R1")
    await shop.work()
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 1
    assert [row.points for row in await shop.rows("loyalty_balances")] == [10]
    await shop.confirm("R3", await shop.price("R3", back, sales={"9": ("T1", "1")}))
    await shop.work()
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 0
    assert [row.points for row in await shop.rows("loyalty_balances")] == [0]


async def test_what_other_returns_have_refunded_is_not_refunded_again(shop: Shop) -> None:
    """The free one of three comes back and one that was paid; then the first return is cancelled."""
    sale = outcome((line("1", 3000, 3000, discount("off", ((1, 1000), (2, 0)))),), (applied("off", 1000),))
    await shop.confirm("T1", await shop.price("T1", sale), "off")
    back = outcome((line("9", -1000, -1000),), ())
    refunded = []
    for name in ("R1", "R2", "R3", "R4"):
        await shop.confirm(name, await shop.price(name, back, sales={"9": ("T1", "1")}))
        if name == "R2":
            await cancelled(shop, "R1")
        state = (await read_transaction(shop.context, shop.tenant, "T1")).confirmed
        assert state is not None
        refunded.append((state.lines[0].returned_thousandths, state.lines[0].refunded_minor))
    assert refunded == [(1000, 0), (1000, 1000), (2000, 1000), (3000, 2000)]


@pytest.mark.parametrize("first", ["T1", "R1"])
async def test_a_sale_and_its_return_are_both_cancelled_in_either_order(shop: Shop, first: str) -> None:
    await sold(shop)
    back = outcome((line("9", -1000, -400),), ())
    await shop.confirm("R1", await shop.price("R1", back, sales={"9": ("T1", "1")}))
    for name in (first, "R1" if first == "T1" else "T1"):
        await cancelled(shop, name)
    await shop.work()
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 0
    assert sum(row.amount for row in await shop.rows("BudgetConsumptions")) == 0
    assert sum(row.points for row in await shop.rows("loyalty_balances")) == 0


async def test_only_a_confirmed_iteration_can_be_cancelled(shop: Shop) -> None:
    with pytest.raises(NotFound) as unknown:
        await cancelled(shop, "T1")
    assert unknown.value.code == "ITERATION_NOT_FOUND"
    counter = await shop.price("T1", PRICED)
    with pytest.raises(Conflict) as unconfirmed:
        await cancelled(shop, "T1", counter)
    assert unconfirmed.value.code == "TRANSACTION_NOT_CONFIRMED"
    await shop.confirm("T1", counter, "off")
    with pytest.raises(Conflict) as other:
        await cancelled(shop, "T1", counter + 1)
    assert other.value.code == "TRANSACTION_ALREADY_CONFIRMED"
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 2


async def test_a_confirm_that_is_repeated_after_the_cancel_is_answered_as_at_first(shop: Shop) -> None:
    counter = await shop.price("T1", PRICED)
    first = await shop.confirm("T1", counter, "off")
    await cancelled(shop, "T1")
    assert await shop.confirm("T1", counter, "off") == first
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 0


async def test_an_exhausted_budget_is_active_again(shop: Shop) -> None:
    await shop.change("Budgets", "marketing", total_amount=2)
    await sold(shop)
    assert (await shop.row("Budgets", "marketing")).status == "EXHAUSTED"
    await cancelled(shop, "T1")
    assert (await shop.row("Budgets", "marketing")).status == "ACTIVE"


@pytest.mark.parametrize("last", ["return", "cancel"])
async def test_a_budget_that_cannot_be_charged_again_gets_back_no_more_than_it_gave(shop: Shop, last: str) -> None:
    await shop.change("Budgets", "marketing", total_amount=2)
    await sold(shop)
    back = outcome((line("9", -1000, -400),), ())
    await shop.confirm("R1", await shop.price("R1", back, sales={"9": ("T1", "1")}))
    await sold(shop, "T2")  # spends what the return has given back, and is short of as much
    assert [row.amount for row in await shop.rows("BudgetConsumptions", transaction_id="T2")] == [1]
    await cancelled(shop, "R1")
    undone = next(row for row in await shop.rows("BudgetConsumptions", transaction_id="R1") if row.is_cancellation)
    assert (undone.amount, undone.uncovered_amount) == (0, 1)
    if last == "cancel":
        told = await cancelled(shop, "T1")
        assert told["budgetsGivenBack"] == [
            {"budgetId": identity("marketing"), "amount": {"value": 1, "currency": "EUR"}}
        ]
    else:
        for name, given in (("R2", 0), ("R3", 100)):
            (refund,) = await told_of(shop, name, ("9", 1000, "T1", "1"))
            assert refund.budget_minor == given
            await shop.confirm(name, await shop.price(name, back, sales={"9": ("T1", "1")}))
    rows = await shop.rows("BudgetConsumptions")
    assert sum(row.amount for row in rows) == (await shop.row("Budgets", "marketing")).consumed_amount == 1
    await cancelled(shop, "T2")
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 0
    assert sum(row.uncovered_amount for row in await shop.rows("BudgetConsumptions", transaction_id="T2")) == 0
