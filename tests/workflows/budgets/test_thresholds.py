"""Budget notifications: sent each time the usage rises to a threshold, and at no other time."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from promenade.workflows.authoring import Authoring
from tests.workflows.authoring.desk import NOON
from tests.workflows.budgets.office import Office
from tests.workflows.shop import identity


async def watched(office: Office, *percentages: str, total: str = "10", **columns: Any) -> None:
    """Create the budget "it", with notifications at percentages of its total."""
    await office.shop.budget("it", total, **columns)
    for one in percentages:
        await office.desk.create(
            "BudgetNotifications", ID=identity(one), budget_ID=identity("it"), thresholdPercentage=Decimal(one)
        )


async def test_each_threshold_sends_an_event_when_it_is_reached(office: Office) -> None:
    await watched(office, "50", "80", "100")
    await office.sell(499, "it")
    assert await office.reached() == []
    office.shop.later(minutes=1)
    await office.sell(1, "it")
    (said,) = await office.told("BUDGET_THRESHOLD_REACHED")
    assert said == {
        "budgetId": identity("it"),
        "budgetName": "it",
        "totalAmount": 10,
        "consumedAmount": 5,
        "currency": "EUR",
        "thresholdPercentage": 50,
    }
    row = await office.shop.row("BudgetNotifications", "50")
    assert (row.last_notified_at, row.version) == (NOON + timedelta(minutes=1), 2)
    assert (await office.shop.row("BudgetNotifications", "80")).last_notified_at is None
    await office.sell(900, "it")  # reaches both other thresholds at once
    assert await office.reached() == [50, 80, 100]
    assert await office.exhausted("it") == 1


async def test_a_lower_total_reaches_thresholds_too(office: Office) -> None:
    await watched(office, "50", "80", consumed_amount=Decimal(4))
    paid = await office.recharge("it", "10")
    await office.desk.update("Budgets", identity("it"), totalAmount=Decimal(18))
    await office.desk.update("RechargeContributions", paid, amount=Decimal("0.01"))
    assert await office.reached() == []
    office.desk.now += timedelta(minutes=1)
    await office.desk.remove("RechargeContributions", paid)
    assert await office.reached() == [50]
    assert (await office.shop.row("BudgetNotifications", "50")).last_notified_at == office.desk.now
    await office.desk.update("Budgets", identity("it"), totalAmount=Decimal(5))
    assert await office.reached() == [50, 80]
    await office.desk.update("Budgets", identity("it"), totalAmount=Decimal("4.50"))
    assert await office.reached() == [50, 80]


async def test_a_recharge_rearms_a_threshold(office: Office) -> None:
    await watched(office, "50")
    await office.sell(600, "it")
    assert await office.reached() == [50]
    await office.recharge("it", "1")  # 6 of 11: still above
    await office.sell(1, "it")
    assert await office.reached() == [50]
    await office.recharge("it", "9")  # 6.01 of 20
    await office.sell(399, "it")
    assert await office.reached() == [50, 50]


async def test_a_return_rearms_a_threshold_and_an_exchange_does_not(office: Office) -> None:
    await watched(office, "50")
    sale = await office.sell(250, "it", units=2)
    assert await office.reached() == [50]
    await office.exchange(sale, 250, "it")
    assert await office.reached() == [50]
    await office.take_back(sale)
    await office.sell(250, "it")
    assert await office.reached() == [50, 50]


async def test_a_budget_with_a_total_of_zero_reaches_no_threshold(office: Office) -> None:
    await watched(office, "50")
    await office.desk.update("Budgets", identity("it"), totalAmount=Decimal(0))
    assert (await office.reached(), await office.exhausted("it")) == ([], 1)
    await office.recharge("it", "1")
    await office.sell(50, "it")
    assert await office.reached() == [50]


async def test_a_new_threshold_that_is_passed_already_is_told_at_once(office: Office) -> None:
    await watched(office, "60", "70", consumed_amount=Decimal(6))
    assert await office.reached() == [60]
    assert (await office.shop.row("BudgetNotifications", "60")).last_notified_at == NOON
    await office.sell(1, "it")
    assert await office.reached() == [60]
    await office.desk.update("BudgetNotifications", identity("70"), thresholdPercentage=Decimal(50))
    assert await office.reached() == [50, 60]
    await office.desk.update("Budgets", identity("it"), name="Other")
    await office.desk.remove("BudgetNotifications", identity("60"))
    assert await office.reached() == [50, 60]


async def test_a_new_threshold_and_a_lower_total_in_one_unit_are_told_once(office: Office) -> None:
    await office.shop.budget("it", "100", consumed_amount=Decimal(6))

    async def both(authoring: Authoring) -> None:
        row = {"budget_ID": identity("it"), "thresholdPercentage": Decimal(50)}
        await authoring.create("BudgetNotifications", row)
        await authoring.update("Budgets", identity("it"), {"totalAmount": Decimal(10)})

    await office.desk.unit(both)
    assert await office.reached() == [50]
