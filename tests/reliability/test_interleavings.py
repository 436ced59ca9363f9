"""Changes between two statements of a confirm, forced to happen at that moment (reliability B1, B4)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import Executable, Row, update

from promenade.store.budgets import charges as budgets
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from tests.reliability.load import budget_state, event_count
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, identity

BUDGETS = table("Budgets")


@pytest.mark.parametrize("wanted", ["5.00", "1.01"])
async def test_b4_a_recharge_that_comes_between_gives_no_more_than_was_granted(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    """The budget has 1.00 left when more is requested, and 100.00 more when the remainder is drawn."""
    await shop.budget("hot", "1.00")
    granted = int(Decimal(wanted) * 100)
    priced = outcome(
        (line("1", 1000, 1000, discount("off", ((1, granted),))),), (applied("off", granted, budget_ids=("hot",)),)
    )
    counter = await shop.price("T1", priced)
    draw, calls = budgets.draw, []

    class Between:
        """A session in which another user recharges the budget before the second statement of a draw."""

        def __init__(self, session: Session) -> None:
            self._session = session

        async def execute(self, statement: Executable, params: Any) -> Sequence[Row[Any]]:
            calls.append(statement)
            if len(calls) == 2:
                recharge = update(BUDGETS).where(BUDGETS.c.id == identity("hot")).values(total_amount=101)
                await self._session.execute(recharge)
            return await self._session.execute(statement, params)

    async def recharged_between(session: Session, *arguments: Any) -> Any:
        between: Any = Between(session)
        return await draw(between, *arguments)

    monkeypatch.setattr(budgets, "draw", recharged_between)
    await shop.confirm("T1", counter, "off")
    assert len(calls) > 1
    state = await budget_state(shop, "hot")
    state.check()
    assert (state.consumed, state.status) == (Decimal(wanted), "ACTIVE")
    rows: Sequence[Row[Any]] = await shop.rows("BudgetConsumptions")
    assert [(row.amount, row.uncovered_amount) for row in rows] == [(Decimal(wanted), 0)]
    assert await event_count(shop, "BUDGET_EXHAUSTED") == 0
