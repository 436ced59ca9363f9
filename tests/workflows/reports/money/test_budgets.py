"""BudgetUtilization: how far budgets are used up, how fast, and when they will be exhausted."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from decimal import Decimal
from typing import Any

from promenade.workflows.reports.aggregating import aggregate_all
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.reports.money.books import read_report, report, sell, take_back
from tests.workflows.shop import NOON, Shop, identity


async def test_a_budget_is_shown_with_the_amount_spent_by_sales(shop: Shop) -> None:
    await shop.put("BudgetPromotions", budget_id=identity("marketing"), promotion_id=identity("off"))
    await sell(shop, "T1", 125, "marketing")
    await sell(shop, "T2", 100, "marketing")
    await take_back(shop, "R1", "T2")
    await aggregate_all(shop.context, shop.tenant)
    row = await report(shop, "BudgetUtilization", budget_id="marketing")
    assert (row.total_amount, row.consumed_amount, row.remaining_amount) == (100, Decimal("3.5"), Decimal("96.5"))
    assert (row.budget_name, row.status, row.currency, row.utilization_pct) == ("marketing", "ACTIVE", "EUR", 3.5)
    assert (row.transaction_count, row.linked_promotions, row.uncovered_amount) == (3, 1, 0)
    assert (row.first_consumed_at, row.last_consumed_at) == (NOON, NOON)


async def test_a_day_that_has_just_begun_counts_as_a_day_and_nothing_does_not_burn(shop: Shop) -> None:
    await aggregate_all(shop.context, shop.tenant)
    row = await report(shop, "BudgetUtilization", budget_id="marketing")
    assert (row.daily_burn_rate, row.transaction_count, row.utilization_pct) == (0, 0, 0)
    assert row.projected_exhaustion is row.first_consumed_at is None
    await sell(shop, "T1", 500, "marketing")
    await aggregate_all(shop.context, shop.tenant)
    row = await report(shop, "BudgetUtilization", budget_id="marketing")
    assert (row.daily_burn_rate, row.projected_exhaustion) == (10, NOON + timedelta(days=9))


async def test_the_rate_is_an_average_since_the_first_sale_and_of_28_days_at_most(shop: Shop) -> None:
    await shop.budget("large", "1000.00")
    await sell(shop, "T1", 500, "large")
    shop.later(days=4)
    await aggregate_all(shop.context, shop.tenant)
    row = await report(shop, "BudgetUtilization", budget_id="large")
    assert (row.daily_burn_rate, row.projected_exhaustion) == (Decimal("2.5"), shop.now[0] + timedelta(days=396))
    # 35 days after the first sale, at noon: of the 27 days before this one, with half of today.
    shop.later(days=31)
    await sell(shop, "T2", 275, "large")
    await aggregate_all(shop.context, shop.tenant)
    row = await report(shop, "BudgetUtilization", budget_id="large")
    assert (row.consumed_amount, row.daily_burn_rate) == (Decimal("15.5"), Decimal("0.2"))
    assert row.projected_exhaustion == shop.now[0] + timedelta(days=984.5 / 0.2)


async def test_a_recharge_puts_the_end_off_at_once_and_what_is_over_has_none(shop: Shop) -> None:
    await sell(shop, "T1", 500, "marketing")
    await aggregate_all(shop.context, shop.tenant)
    await shop.change("Budgets", "marketing", total_amount=Decimal("200.00"))
    row = await report(shop, "BudgetUtilization", budget_id="marketing")
    assert (row.remaining_amount, row.projected_exhaustion) == (190, NOON + timedelta(days=19))
    over: list[dict[str, Any]] = [
        {"status": "EXPIRED"},
        {"status": "EXHAUSTED"},
        {"status": "ACTIVE", "reserved_amount": Decimal(190)},
    ]
    for change in over:
        await shop.change("Budgets", "marketing", **change)
        row = await report(shop, "BudgetUtilization", budget_id="marketing")
        assert (row.daily_burn_rate, row.projected_exhaustion) == (10, None), change


async def test_the_burn_rate_falls_to_zero_without_sales_and_below_zero_by_returns(shop: Shop) -> None:
    await shop.budget("endless", "9999999999999.99")
    await sell(shop, "T1", 500, "marketing", "endless")
    await aggregate_all(shop.context, shop.tenant)
    row = await report(shop, "BudgetUtilization", budget_id="endless")
    assert row.projected_exhaustion == NOON + timedelta(days=1_000_000)
    shop.later(days=28)
    await aggregate_all(shop.context, shop.tenant)
    row = await report(shop, "BudgetUtilization", budget_id="marketing")
    assert (row.daily_burn_rate, row.projected_exhaustion, row.consumed_amount) == (0, None, 10)
    await take_back(shop, "R1", "T1")
    await aggregate_all(shop.context, shop.tenant)
    row = await report(shop, "BudgetUtilization", budget_id="marketing")
    assert row.daily_burn_rate < 0
    assert row.projected_exhaustion is None


async def test_amounts_that_could_not_be_covered_are_reported(shop: Shop) -> None:
    await shop.budget("small", "3.00")
    await sell(shop, "T1", 250, "small", "marketing")
    await aggregate_all(shop.context, shop.tenant)
    row = await report(shop, "BudgetUtilization", budget_id="small")
    assert (row.consumed_amount, row.uncovered_amount, row.remaining_amount, row.status) == (3, 2, 0, "EXHAUSTED")
    assert (row.utilization_pct, row.projected_exhaustion) == (100, None)


async def test_sums_are_those_of_the_consumptions_by_budget_by_day_and_by_promotion(shop: Shop) -> None:
    await shop.budget("other", "1000.00")
    for number in range(30):
        budgets = (("marketing",), ("other",), ("other", "marketing"))[number % 3]
        await sell(shop, f"T{number}", 7 + number, *budgets, promotion=("off", "saver")[number % 2])
        if number % 4 == 1:
            await take_back(shop, f"R{number}", f"T{number - 1}")
        if number % 7 == 0:
            await aggregate_all(shop.context, shop.tenant)
        shop.later(hours=9)
    both = outcome(
        (line("1", 2000, 1000, discount("off", ((2, 10),)), discount("saver", ((2, 5),))),),
        (applied("off", 20, budget_ids=("other",)), applied("saver", 10, budget_ids=("other",))),
    )
    await shop.confirm("B", await shop.price("B", both), "off", "saver")
    await aggregate_all(shop.context, shop.tenant)
    consumed: dict[tuple[str, ...], Decimal] = defaultdict(Decimal)
    sales: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for one in await shop.rows("BudgetConsumptions"):
        day = str(one.consumed_at.date())
        for key in ((one.budget_id,), (one.budget_id, day), (one.promotion_id, one.budget_id, day)):
            consumed[key] += one.amount
            sales[key].add(one.transaction_id)
    counted: dict[tuple[str, ...], tuple[Decimal, int]] = {}
    for name, keys in (
        ("budget_totals", ("budget_id",)),
        ("budget_utc_days", ("budget_id", "day")),
        ("budget_promotion_utc_days", ("promotion_id", "budget_id", "day")),
    ):
        for row in await shop.rows(name):
            counted[tuple(str(getattr(row, key)) for key in keys)] = row.consumed, row.transactions
    assert counted == {key: (consumed[key], len(sales[key])) for key in consumed}
    assert len(counted) > 40
    for row in await read_report(shop, "BudgetUtilization"):
        assert row.consumed_amount == consumed[row.budget_id,]
        assert row.transaction_count == len(sales[row.budget_id,])
    shop.tenant = "tenant-b"
    assert not await read_report(shop, "BudgetUtilization")


async def test_a_clock_that_is_set_back_does_not_stop_the_rates(shop: Shop) -> None:
    await sell(shop, "T1", 500, "marketing")
    shop.later(hours=13)
    await aggregate_all(shop.context, shop.tenant)
    shop.later(hours=-1)
    await sell(shop, "T2", 500, "marketing")
    await aggregate_all(shop.context, shop.tenant)
    row = await report(shop, "BudgetUtilization", budget_id="marketing")
    assert (row.daily_burn_rate, row.projected_exhaustion) == (20, shop.now[0] + timedelta(days=4))
