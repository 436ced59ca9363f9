"""T1 and T2: one effect per transaction, counters without gaps (reliability.md, Transactions)."""

from __future__ import annotations

import asyncio

from tests.reliability.load import at_once
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop

PRICED = outcome(
    (line("1", 1000, 500, discount("off", ((1, 50),))),), (applied("off", 50, points=5, budget_ids=("hot",)),)
)
ONCE = (
    "confirmations",
    "CalculationLogs",
    "CalculationLogItems",
    "CalculationLogPromotions",
    "BudgetConsumptions",
    "side_effect_jobs",
    "outbox_events",
)


async def test_t1_64_identical_confirms_have_one_effect_and_equal_bodies(shop: Shop) -> None:
    await shop.budget("hot", "100.00")
    counter = await shop.price("T1", PRICED, customer_id="C1")
    calls = await at_once([shop.confirm("T1", counter, "off") for _ in range(64)])
    assert {call.outcome for call in calls} == {"ok"}
    assert len({call.body for call in calls}) == 1
    assert {name: await shop.count(name) for name in ONCE} == dict.fromkeys(ONCE, 1)
    assert (await shop.row("Promotions", "off")).applications_count == 1
    assert (await shop.row("Budgets", "hot")).consumed_amount * 2 == 1


async def test_t1_of_many_iterations_confirmed_at_once_one_wins(shop: Shop) -> None:
    await shop.budget("hot", "100.00")
    counters = [await shop.price("T1", PRICED) for _ in range(16)]
    calls = await at_once([shop.confirm("T1", counter, "off") for counter in counters])
    assert [call.outcome for call in calls].count("ok") == 1
    assert {call.code for call in calls if call.outcome == "refused"} == {"TRANSACTION_ALREADY_CONFIRMED"}
    statuses = [row.status for row in await shop.rows("CalculationLogs")]
    assert sorted(statuses) == ["CALCULATED"] + ["FAILED"] * 15
    assert await shop.count("BudgetConsumptions") == 1


async def test_t1_confirms_of_two_bodies_at_once_book_one_of_them(shop: Shop) -> None:
    await shop.budget("hot", "100.00")
    counter = await shop.price("T1", PRICED)
    calls = await at_once(
        [shop.confirm("T1", counter, ("off", "0.50") if number % 2 else ("off", "0.20")) for number in range(32)]
    )
    assert [call.outcome for call in calls].count("ok") == 16
    assert {call.code for call in calls if call.outcome == "refused"} == {"CONFIRM_MISMATCH"}
    assert await shop.count("BudgetConsumptions") == 1
    assert await shop.count("CalculationLogs") == 1


async def test_t2_counters_are_distinct_and_gapless(shop: Shop) -> None:
    names = [f"T{number % 4}" for number in range(64)]
    counters = await asyncio.gather(*(shop.price(name, PRICED) for name in names))
    for name in set(names):
        found = sorted(counter for one, counter in zip(names, counters, strict=True) if one == name)
        assert found == list(range(1, 17))
