"""Prices do not depend on the clockwork: a till gets the same answer whether it has run or is late."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import insert

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Database
from promenade.store.pricing.catalogue import Catalogues
from promenade.workflows.clockwork import clock_jobs
from promenade.workflows.context import Context
from promenade.workflows.pricing.evaluate import evaluate, simulate
from tests.workflows.pricing import test_evaluate as till
from tests.workflows.pricing.test_evaluate import NOW, TENANT, author, basket, percent_off

TICK = timedelta(microseconds=1)
DAY = timedelta(days=1)
MOVING = ("promotions.expire", "campaigns.move", "budgets.move")

context = till.context


@dataclass(frozen=True)
class Case:
    """A promotion that applies from ``start`` until ``end`` by its own validity, its campaign's or its budget's."""

    of: str
    start: timedelta | None
    end: timedelta


def at(context: Context, passed: timedelta) -> Context:
    """Return the same context with its clock moved."""
    return replace(context, clock=lambda: NOW + passed)


async def furnish(database: Database, case: Case) -> None:
    await database.write(
        lambda session: session.rowcount(insert(table("Tenants")), {"tenant_id": TENANT, "name": "R"}), system=True
    )
    start, end = None if case.start is None else NOW + case.start, NOW + case.end
    key = str(uuid.uuid4())
    if case.of == "promotion":
        rows = percent_off(1, 50, validFrom=start, validTo=end)
    elif case.of == "campaign":
        campaign = {"ID": key, "code": "C", "name": "C", "status": "SCHEDULED", "startAt": start, "endAt": end}
        rows = {"Campaigns": [campaign]} | percent_off(1, 50, campaign_ID=key)
    else:
        budget: dict[str, Any] = {"ID": key, "code": "B", "name": "B", "status": "SCHEDULED", "currency": "EUR"}
        budget |= {"totalAmount": Decimal(1000), "validFrom": start, "validTo": end}
        promotion = percent_off(1, 50)
        link = {"ID": str(uuid.uuid4()), "promotion_ID": promotion["Promotions"][0]["ID"], "budget_ID": key}
        rows = promotion | {"Budgets": [budget], "BudgetPromotions": [link]}
    await author(database, "Promotions", rows)


CASES = [
    Case("promotion", None, DAY),
    Case("campaign", DAY, 2 * DAY),
    Case("campaign", None, DAY),
    Case("budget", DAY, 2 * DAY),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.of}-{'from ever' if case.start is None else 'later'}")
async def test_a_till_gets_the_same_price_whether_the_clockwork_ran_or_is_late(context: Context, case: Case) -> None:
    database = context.database
    await furnish(database, case)
    instants = [one for edge in (case.start or timedelta(), case.end) for one in (edge - TICK, edge, edge + TICK)]
    gives = [(case.start is None or case.start <= one) and one < case.end for one in instants]

    async def heard() -> list[bool]:
        """Return whether it applies at each instant; this process's catalogue and a fresh one must agree."""
        discounts = []
        for one in instants:
            now = at(context, one)
            fresh = replace(now, catalogues=Catalogues(database))
            first = await evaluate(now, TENANT, basket())
            second = await simulate(fresh, TENANT, basket())
            assert first.outcome.lines == second.outcome.lines
            discounts.append(bool(first.outcome.lines[0].discounts))
        return discounts

    assert await heard() == gives, "the clock has not run at all"
    for instant in instants:
        now = at(context, instant)
        for name in MOVING:
            await clock_jobs()[name].run(now, None)
        priced = await evaluate(now, TENANT, basket())
        assert bool(priced.outcome.lines[0].discounts) == gives[instants.index(instant)], instant
