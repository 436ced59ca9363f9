"""Helpers for the tests of confirm: a shop with three promotions and a budget, and counts of its rows."""

from __future__ import annotations

import pytest

from promenade.engine.basket import BasketLine, Refund
from promenade.errors import Conflict
from promenade.workflows.sales.returned import read_refunds
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop

# Two coffees at 5.00 with 1.00 off each, charged to a budget, and stamps worth 7 points.
PRICED = outcome(
    (line("1", 2000, 1000, discount("off", ((2, 100),))),),
    (applied("off", 200, points=3, budget_ids=("marketing",)), applied("stamps", points=7)),
    base_points=10,
)
WRITTEN = (
    "confirmations",
    "CalculationLogs",
    "CalculationLogItems",
    "CalculationLogPromotions",
    "BudgetConsumptions",
    "coupon_claims",
    "side_effect_jobs",
    "outbox_events",
    "promotion_usage",
)


async def kinds(shop: Shop) -> list[str]:
    return sorted(row.kind for row in await shop.rows("outbox_events"))


async def counts(shop: Shop) -> dict[str, int]:
    return {name: await shop.count(name) for name in WRITTEN}


async def refusal(shop: Shop, transaction: str, counter: int, *promotions: str) -> str:
    with pytest.raises(Conflict) as caught:
        await shop.confirm(transaction, counter, *promotions)
    return caught.value.code


async def told_of(shop: Shop, transaction: str, *lines: tuple[str, int, str, str]) -> tuple[Refund, ...]:
    """Return what an evaluation tells of return lines: own reference, thousandths, sale, and its line."""
    names = ("originalTransactionId", "originalLineReference")
    basket = [
        BasketLine(own, "A", -quantity, 400, fields=tuple(zip(names, of, strict=True))) for own, quantity, *of in lines
    ]
    return await shop.context.database.read(
        lambda session: read_refunds(session, shop.context.origin, basket, transaction, "EUR"), tenant=shop.tenant
    )
