"""Exports of budgets and their stakeholders: the cost of a period, whenever it begins and ends."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from itertools import combinations
from typing import Any

import pytest

from promenade.workflows.reports import budgets
from promenade.workflows.reports.aggregating import aggregate_all
from tests.workflows.reports.money.books import exported, sell, take_back
from tests.workflows.reports.money.test_stakeholders import pay_in, stakeholder
from tests.workflows.shop import NOON, Shop, identity

MIDNIGHT = NOON - timedelta(hours=12)
# Around three days of sales, the first at noon: at midnight, at moments of sales, and between.
MOMENTS = [MIDNIGHT + timedelta(hours=hours) for hours in (-30, 0, 12, 19, 24, 30, 48, 61, 200)]


async def test_an_export_has_the_consumption_of_its_period(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "READ_AT_ONCE", 1)
    await shop.budget("other", "1000.00")
    for number in range(9):
        await sell(shop, f"T{number}", 11 + number, *(("marketing",), ("other", "marketing"))[number % 2])
        if number == 4:
            await take_back(shop, "R", "T3")
            await sell(shop, "S", 70, "marketing", promotion="saver")
        shop.later(hours=7)
    await aggregate_all(shop.context, shop.tenant)
    consumptions = await shop.rows("BudgetConsumptions")
    for since, until in combinations(MOMENTS, 2):
        within = [one for one in consumptions if since <= one.consumed_at < until]
        rows = await exported(shop, "budgetUtilization", since, until)
        assert _consumed(rows) == _consumed_by(within, ("marketing", "other")), (since, until)
        rows = await exported(shop, "budgetUtilization", since, until, promotion_id="saver")
        of_promotion = [one for one in within if one.promotion_id == identity("saver")]
        assert _consumed(rows) == _consumed_by(of_promotion, ("marketing",)), (since, until)


def _consumed(rows: list[dict[str, Any]]) -> dict[str, tuple[Decimal, int]]:
    return {row["budgetName"]: (row["consumedAmount"], row["transactionCount"]) for row in rows}


def _consumed_by(consumptions: list[Any], names: tuple[str, ...]) -> dict[str, tuple[Decimal, int]]:
    """Recompute the amounts from the consumptions, by name of the budget."""
    found: dict[str, tuple[Decimal, int]] = {}
    for name in names:
        own = [one for one in consumptions if one.budget_id == identity(name)]
        found[name] = sum((one.amount for one in own), Decimal(0)), len({one.transaction_id for one in own})
    return found


async def test_the_rate_of_a_period_is_that_of_the_part_of_it_that_has_passed(shop: Shop) -> None:
    await sell(shop, "T1", 500, "marketing")
    shop.later(days=4)
    await aggregate_all(shop.context, shop.tenant)
    always = (NOON - timedelta(days=300), NOON + timedelta(days=300))
    (row,) = await exported(shop, "budgetUtilization", *always)
    assert (row["totalAmount"], row["remainingAmount"], row["utilizationPct"], row["status"]) == (100, 90, 10, "ACTIVE")
    assert (row["dailyBurnRate"], row["currency"], row["linkedPromotions"]) == (Decimal("2.5"), "EUR", 0)
    assert row["projectedExhaustion"] == shop.now[0] + timedelta(days=36)
    (row,) = await exported(shop, "budgetUtilization", always[0], NOON + timedelta(days=2))
    assert row["dailyBurnRate"] == 5
    await shop.change("Budgets", "marketing", status="EXPIRED")
    (row,) = await exported(shop, "budgetUtilization", NOON + timedelta(days=200), always[1])
    assert (row["dailyBurnRate"], row["consumedAmount"], row["projectedExhaustion"]) == (0, 0, None)
    (row,) = await exported(shop, "budgetUtilization", *always)
    assert (row["dailyBurnRate"], row["projectedExhaustion"]) == (Decimal("2.5"), None)


async def test_a_period_says_who_bears_what_of_it_and_has_paid_in_it(shop: Shop) -> None:
    await shop.budget("other", "50.00")
    await stakeholder(shop, "brand", marketing="33.33", other="100")
    await stakeholder(shop, "house", marketing="66.67")
    await stakeholder(shop, "patron", other="0")
    await pay_in(shop, "brand", "marketing", "20.00")
    await pay_in(shop, "patron", "other", "5.00")
    await sell(shop, "T1", 100, "marketing")
    await sell(shop, "T2", 50, "marketing", promotion="saver")
    shop.later(days=3)
    await sell(shop, "T3", 400, "marketing")
    await aggregate_all(shop.context, shop.tenant)
    day = (NOON, NOON + timedelta(days=1))

    def shown(rows: list[dict[str, Any]]) -> dict[tuple[str, str], tuple[Any, ...]]:
        columns = ("totalBudgetCost", "stakeholderCost", "contributionsTotal", "netBalance")
        return {(row["stakeholderName"], row["budgetName"]): tuple(row[column] for column in columns) for row in rows}

    assert shown(await exported(shop, "stakeholderCost", *day)) == {
        ("Brand", "marketing"): (3, 1, 20, 19),
        ("House", "marketing"): (3, 2, 0, -2),
        ("Brand", "other"): (0, 0, 0, 0),
        ("Patron", "other"): (0, 0, 5, 5),
    }
    rest = await exported(shop, "stakeholderCost", day[1], day[1] + timedelta(days=9), stakeholder_id="brand")
    brand = Decimal("2.67")
    assert shown(rest) == {("Brand", "marketing"): (8, brand, 0, -brand), ("Brand", "other"): (0, 0, 0, 0)}
    saver = await exported(shop, "stakeholderCost", *day, promotion_id="saver", stakeholder_id="house")
    house = Decimal("0.67")
    assert shown(saver) == {("House", "marketing"): (1, house, 0, -house)}
    only = await exported(shop, "budgetUtilization", *day, stakeholder_id="patron")
    assert [row["budgetName"] for row in only] == ["other"]
