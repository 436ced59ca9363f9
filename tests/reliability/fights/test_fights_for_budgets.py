"""B1 to B3 over HTTP: 64 tills compete for the same budget while it is recharged (reliability.md, Money)."""

from __future__ import annotations

import asyncio
import json
import random
from decimal import Decimal

import pytest

from tests.reliability.fights.arena import Arena, identity
from tests.reliability.fights.history import Call
from tests.reliability.fights.tills import all_at_once

CLIENTS = 64
SOAK = (pytest.mark.soak, pytest.mark.timeout(900))
TOTAL = Decimal(10)


async def booked(arena: Arena, number: int) -> Decimal:
    """B1: the budget's consumed amount is the sum of the charges to it."""
    rows = await arena.rows("BudgetConsumptions", budget_id=identity(f"budget-{number}"))
    return sum((row.amount for row in rows), Decimal(0))


async def exhausted_events(arena: Arena, number: int) -> int:
    rows = await arena.rows("outbox_events", kind="BUDGET_EXHAUSTED")
    return sum(json.loads(row.payload)["data"]["budgetId"] == identity(f"budget-{number}") for row in rows)


@pytest.mark.parametrize("sales", [2, pytest.param(40, marks=SOAK)])
async def test_b1_b3_64_tills_spend_a_small_budget_to_the_cent_and_it_runs_out_once(
    arena: Arena, seed: int, sales: int
) -> None:
    rng = random.Random(seed)
    number = arena.budget()
    granted: dict[str, Decimal] = {}
    async with arena.tills() as tills:

        async def sell(till: int) -> None:
            for turn in range(sales):
                minor = rng.randint(10, 99)
                transaction = arena.name(f"B{till}-{turn}")
                priced = await tills.price(transaction, f"B-{number}", f"{minor / 10:.2f}")
                if not priced.answer["totals"]["savingsSummary"]["promotionBreakdown"]:
                    continue  # priced after the budget was used up
                granted[transaction] = Decimal(str(priced.answer["totals"]["discount"]["value"]))
                for call in await asyncio.gather(*(tills.confirm(priced) for _ in range(rng.choice((1, 1, 3))))):
                    assert call.outcome == "ok", call

        await all_at_once(CLIENTS, sell)
        (budget,) = await arena.rows("Budgets", id=identity(f"budget-{number}"))
        assert budget.consumed_amount == await booked(arena, number) == min(TOTAL, sum(granted.values(), Decimal(0)))
        rows = await arena.rows("BudgetConsumptions", budget_id=identity(f"budget-{number}"))
        assert {row.transaction_id: row.amount + row.uncovered_amount for row in rows} == granted  # B2
        assert budget.status == "EXHAUSTED"
        assert await exhausted_events(arena, number) == 1
        late = await tills.price(arena.name("late"), f"B-{number}", "9.90")
        assert late.answer["totals"]["savingsSummary"]["promotionBreakdown"] == []


async def test_b1_b3_recharges_in_the_middle_are_spent_too_and_each_end_is_told_once(arena: Arena, seed: int) -> None:
    rng = random.Random(seed)
    number = arena.budget()
    budget_id = identity(f"budget-{number}")
    recharged = [Decimal(rng.randint(100, 300)) / 100 for _ in range(4)]
    async with arena.tills() as tills:
        priced: list[Call] = []

        async def look(till: int) -> None:
            price = f"{rng.randint(20, 99) / 10:.2f}"
            priced.append(await tills.price(arena.name(f"R{till}"), f"B-{number}", price))

        await all_at_once(CLIENTS, look)  # the discount is offered to all while the budget lasts

        async def sell(till: int) -> None:
            assert (await tills.confirm(priced[till])).outcome == "ok"
            if till % 16 == 8:
                amount = recharged[till // 16]
                body = {"budget_ID": budget_id, "amount": str(amount), "currency": "EUR"}
                paid = await tills.call("recharge", body, client="integrator", path="/api/v1/RechargeContributions")
                assert paid.outcome == "ok", paid

        await all_at_once(CLIENTS, sell)
        offered = sum((Decimal(str(one.answer["totals"]["discount"]["value"])) for one in priced), Decimal(0))
        (budget,) = await arena.rows("Budgets", id=budget_id)
        total = TOTAL + sum(recharged)
        assert (budget.total_amount, budget.consumed_amount) == (total, await booked(arena, number))
        assert budget.consumed_amount <= total
        assert offered > total, "the fight was over before the money was"
        # One event each time it is exhausted: at most once before each recharge, and once at the end.
        assert (budget.status == "EXHAUSTED") == (budget.consumed_amount == total)
        assert (budget.status == "EXHAUSTED") <= await exhausted_events(arena, number) <= 1 + len(recharged)
