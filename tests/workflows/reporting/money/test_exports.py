"""Exports of budgets and their stakeholders: what a period has cost, whatever moments it begins and ends at."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import combinations

from promenade.workflows.reporting.aggregating import aggregate_all
from tests.workflows.reporting.money.books import exported, sell, take_back
from tests.workflows.shop import NOON, Shop, identity

ALWAYS = (NOON - timedelta(days=400), NOON + timedelta(days=400))


def moments() -> Iterator[datetime]:
    """Ends of periods around three days of sales, at midnight, at noon and at the moments of sales themselves."""
    midnight = NOON - timedelta(hours=12)
    for hours in (-30, 0, 11, 12, 19, 24, 33, 48, 61, 72, 200):
        yield midnight + timedelta(hours=hours)


async def test_a_period_has_what_was_consumed_in_it(shop: Shop, monkeypatch: object) -> None:
    await shop.budget("other", "1000.00")
    for number in range(9):
        await sell(shop, f"T{number}", 11 + number, *(("marketing",), ("other", "marketing"))[number % 2])
        if number == 4:
            await take_back(shop, "R", "T3")
            await sell(shop, "S", 70, "marketing", promotion="saver")
        shop.later(hours=7)
    await aggregate_all(shop.context, shop.tenant)
    consumptions = await shop.rows("BudgetConsumptions")
    for since, until in combinations(moments(), 2):
        for promotion in (None, "off"):
            named = {} if promotion is None else {"promotion_id": promotion}
            rows = await exported(shop, "budgetUtilization", since, until, **named)
            within = [
                one
                for one in consumptions
                if since <= one.consumed_at < until
                and promotion in (None, "off" if one.promotion_id == identity("off") else "")
            ]
            for row in rows:
                of_budget = [one for one in within if one.budget_id == row["budgetId"]]
                assert row["consumedAmount"] == sum(one.amount for one in of_budget), (since, until)
                assert row["transactionCount"] == len({one.transaction_id for one in of_budget}), (since, until)
            assert len(rows) == 2
