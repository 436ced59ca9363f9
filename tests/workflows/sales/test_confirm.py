"""One priced iteration becomes a sale (pricing semantics, sections 8 and 11)."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal

import pytest

from promenade.errors import Conflict, Invalid, NotFound
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.sales.priced import PRICED, counts, kinds
from tests.workflows.shop import NOON, Shop, identity


async def test_a_confirmed_sale_is_in_the_log_with_its_lines_promotions_and_budget(shop: Shop) -> None:
    counter = await shop.price("T1", PRICED, customer_id="C1")
    answer = await shop.confirm("T1", counter, "off")
    assert json.loads(answer.body) == {"transactionId": "T1", "confirmed": True, "message": answer.message}
    (log,) = await shop.rows("CalculationLogs")
    assert (log.status, log.discrepancy, log.customer_id, log.loyalty_points) == ("CALCULATED", False, "C1", 20)
    assert (log.subtotal, log.discount, log.grand_total, log.currency) == (10, 2, 8, "EUR")
    (item,) = await shop.rows("CalculationLogItems")
    assert (item.line_reference, item.quantity, item.line_total, item.line_discount, item.line_net) == (
        "1",
        2,
        10,
        2,
        8,
    )
    promotions = {row.promotion_name: row for row in await shop.rows("CalculationLogPromotions")}
    assert {name: row.total_discount for name, row in promotions.items()} == {"off": 2, "stamps": 0}
    (consumption,) = await shop.rows("BudgetConsumptions")
    assert (consumption.amount, consumption.uncovered_amount, consumption.currency) == (2, 0, "EUR")
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 2
    assert await kinds(shop) == ["TRANSACTION_CONFIRMED"]


async def test_usage_is_counted_without_touching_the_version_of_the_promotion(shop: Shop) -> None:
    before = (await shop.row("Promotions", "off")).version
    for transaction, customer in (("T1", "C1"), ("T2", "C1"), ("T3", None)):
        await shop.confirm(transaction, await shop.price(transaction, PRICED, customer_id=customer), "off")
    promotion = await shop.row("Promotions", "off")
    assert (promotion.applications_count, promotion.version) == (3, before)
    usage = {(row.promotion_id, row.customer_id): row._mapping["count"] for row in await shop.rows("promotion_usage")}
    assert usage[identity("off"), ""] == 3
    assert usage[identity("off"), "C1"] == 2


async def test_the_same_confirm_again_gets_the_same_bytes_and_changes_nothing(shop: Shop) -> None:
    counter = await shop.price("T1", PRICED)
    first = await shop.confirm("T1", counter, "off")
    before = await counts(shop)
    assert (await shop.confirm("T1", counter, "off")).body == first.body
    assert await counts(shop) == before


async def test_another_body_for_a_confirmed_iteration_is_a_mismatch(shop: Shop) -> None:
    counter = await shop.price("T1", PRICED)
    await shop.confirm("T1", counter, "off")
    before = await counts(shop)
    with pytest.raises(Conflict) as caught:
        await shop.confirm("T1", counter, ("off", "1.00"))
    assert caught.value.code == "CONFIRM_MISMATCH"
    assert await counts(shop) == before


async def test_another_iteration_of_a_confirmed_transaction_is_refused_and_logged(shop: Shop) -> None:
    first, second = await shop.price("T1", PRICED), await shop.price("T1", PRICED)
    await shop.confirm("T1", first, "off")
    with pytest.raises(Conflict) as caught:
        await shop.confirm("T1", second, "off")
    assert caught.value.code == "TRANSACTION_ALREADY_CONFIRMED"
    assert caught.value.message == "Iteration 1 of this transaction was confirmed instead of this one."
    logs = {row.transaction_counter: row.status for row in await shop.rows("CalculationLogs")}
    assert logs == {first: "CALCULATED", second: "FAILED"}


async def test_an_iteration_evaluated_after_the_confirm_is_told_that_a_new_sale_begins(shop: Shop) -> None:
    await shop.confirm("T1", await shop.price("T1", PRICED), "off", timestamp=NOON + timedelta(days=1))
    shop.later(seconds=1)
    second = await shop.price("T1", PRICED)
    with pytest.raises(Conflict) as caught:
        await shop.confirm("T1", second, "off")
    assert caught.value.code == "TRANSACTION_ALREADY_CONFIRMED"
    assert "before this one was evaluated; a new sale needs a new transactionId." in caught.value.message


async def test_an_unknown_iteration_is_not_found(shop: Shop) -> None:
    await shop.price("T1", PRICED)
    with pytest.raises(NotFound) as caught:
        await shop.confirm("T1", 2, "off")
    assert caught.value.code == "ITERATION_NOT_FOUND"


async def test_a_malformed_confirm_changes_nothing(shop: Shop) -> None:
    counter = await shop.price("T1", PRICED)
    for promotions, rest in (
        (("saver",), {}),
        ((("off", "-1"),), {}),
        ((("off", "NaN"),), {}),
        (("off",), {"pos_group_code": "ELSEWHERE"}),
    ):
        with pytest.raises(Invalid):
            await shop.confirm("T1", counter, *promotions, **rest)
    assert set((await counts(shop)).values()) == {0}


async def test_an_iteration_of_another_tenant_cannot_be_confirmed(shop: Shop) -> None:
    counter = await shop.price("T1", PRICED)
    other = Shop(shop.context, shop.now, "tenant-b")
    with pytest.raises(NotFound):
        await other.confirm("T1", counter, "off")


async def test_an_amount_above_the_evaluated_one_is_recorded_but_not_charged(shop: Shop) -> None:
    await shop.confirm("T1", await shop.price("T1", PRICED), ("off", "50.00"))
    (log,) = await shop.rows("CalculationLogs")
    assert (log.discount, log.discrepancy) == (2, True)
    promotion = next(row for row in await shop.rows("CalculationLogPromotions") if row.promotion_name == "off")
    assert (promotion.total_discount, promotion.evaluated_discount, promotion.confirmed_discount) == (2, 2, 50)
    assert (await shop.row("Budgets", "marketing")).consumed_amount == 2


async def test_a_budget_pays_its_remaining_amount_and_the_sale_is_confirmed(shop: Shop) -> None:
    await shop.budget("small", "3.00")
    priced = outcome(
        (line("1", 2000, 1000, discount("off", ((2, 100),))),), (applied("off", 200, budget_ids=("small",)),)
    )
    for transaction in ("T1", "T2", "T3"):
        await shop.confirm(transaction, await shop.price(transaction, priced), "off")
    taken = {row.transaction_id: (row.amount, row.uncovered_amount) for row in await shop.rows("BudgetConsumptions")}
    assert taken == {"T1": (2, 0), "T2": (1, 1), "T3": (0, 2)}
    budget = await shop.row("Budgets", "small")
    assert (budget.consumed_amount, budget.status) == (3, "EXHAUSTED")
    assert (await kinds(shop)).count("BUDGET_EXHAUSTED") == 1


async def test_amounts_granted_to_stores_are_not_available(shop: Shop) -> None:
    await shop.budget("granted", "3.00", reserved_amount=Decimal("2.50"))
    priced = outcome(
        (line("1", 2000, 1000, discount("off", ((2, 100),))),), (applied("off", 200, budget_ids=("granted",)),)
    )
    await shop.confirm("T1", await shop.price("T1", priced), "off")
    (row,) = await shop.rows("BudgetConsumptions")
    assert (row.amount, row.uncovered_amount) == (Decimal("0.5"), Decimal("1.5"))


async def test_a_promotion_charges_each_of_its_budgets_in_full(shop: Shop) -> None:
    await shop.budget("supplier", "100.00")
    priced = outcome(
        (line("1", 2000, 1000, discount("off", ((2, 100),))),),
        (applied("off", 200, budget_ids=("marketing", "supplier")),),
    )
    await shop.confirm("T1", await shop.price("T1", priced), "off")
    assert [row.amount for row in await shop.rows("BudgetConsumptions")] == [2, 2]


async def test_each_notification_threshold_sends_one_event_when_passed(shop: Shop) -> None:
    await shop.budget("small", "10.00")
    for threshold in ("25", "50", "100"):
        await shop.put("BudgetNotifications", budget_id=identity("small"), threshold_percentage=Decimal(threshold))
    priced = outcome(
        (line("1", 2000, 1000, discount("off", ((2, 150),))),), (applied("off", 300, budget_ids=("small",)),)
    )
    told = []
    for transaction in ("T1", "T2", "T3", "T4", "T5"):
        await shop.confirm(transaction, await shop.price(transaction, priced), "off")
        events = [json.loads(row.payload) for row in await shop.rows("outbox_events")]
        told.append([one["data"]["thresholdPercentage"] for one in events if one["type"] == "BUDGET_THRESHOLD_REACHED"])
    assert [sorted(one) for one in told] == [[25], [25, 50], [25, 50], [25, 50, 100], [25, 50, 100]]


async def test_a_scheduled_budget_that_runs_is_exhausted_like_an_active_one(shop: Shop) -> None:
    await shop.budget("small", "1.00", status="SCHEDULED")
    priced = outcome(
        (line("1", 2000, 1000, discount("off", ((2, 100),))),), (applied("off", 200, budget_ids=("small",)),)
    )
    await shop.confirm("T1", await shop.price("T1", priced), "off")
    assert (await shop.row("Budgets", "small")).status == "EXHAUSTED"
    assert (await kinds(shop)).count("BUDGET_EXHAUSTED") == 1
