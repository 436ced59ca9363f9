"""How many statements a confirm takes: each of them costs a round trip, however little it writes."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from decimal import Decimal
from typing import Any

import asyncpg
import msgspec
import pytest
from sqlalchemy import select

from promenade.store.driver.hot import HOT
from promenade.store.driver.postgresql.database import PostgresqlDatabase
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.sales.usage import count_applications
from tests.kit.databases import past_the_wall
from tests.workflows.counting import note_statements
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, identity

LINES, PROMOTIONS = 20, 11
STATEMENTS_MAX = {"sqlite": 8, "postgresql": 3}


@pytest.mark.parametrize("customer", [None, "C1"])
async def test_a_large_sale_is_confirmed_with_few_statements(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, customer: str | None
) -> None:
    names = [f"p{number}" for number in range(PROMOTIONS)]
    for name in names:
        await shop.promotion(name)
    lines = [line(str(at), 1000, 500, discount(names[at % PROMOTIONS], ((1, 10),))) for at in range(LINES)]
    off = [sum(one.discount_minor for one in lines[at::PROMOTIONS]) for at in range(PROMOTIONS)]
    granted = [applied(name, amount) for name, amount in zip(names, off, strict=True)]
    counter = await shop.price("T1", outcome(tuple(lines), tuple(granted)), customer_id=customer)

    statements = note_statements(monkeypatch, shop.context.database)
    await shop.confirm("T1", counter, *names)
    assert len(statements) <= STATEMENTS_MAX[shop.context.database.dialect], statements

    assert await shop.count("CalculationLogItems") == LINES
    assert await shop.count("CalculationLogPromotions") == PROMOTIONS
    assert {row.promotion_id for row in await shop.rows("calculation_log_blocks")} == {identity(one) for one in names}
    parts = [*await shop.rows("CalculationLogItems"), *await shop.rows("CalculationLogPromotions")]
    (log,) = await shop.rows("CalculationLogs")
    assert {row.id[:32] for row in parts} == {log.id[:32]}
    assert len({uuid.UUID(row.id) for row in [log, *parts]}) == 1 + LINES + PROMOTIONS


@pytest.mark.parametrize(
    ("total", "amounts", "left"),
    [
        ("100.00", {"off": ("1.50", "0.00"), "saver": ("2.50", "0.00"), "stamps": ("0.50", "0.00")}, "95.50"),
        ("4.50", {"off": ("1.50", "0.00"), "saver": ("2.50", "0.00"), "stamps": ("0.50", "0.00")}, "0.00"),
        ("4.49", {"off": ("1.50", "0.00"), "saver": ("2.49", "0.01"), "stamps": ("0.50", "0.00")}, "0.00"),
        ("1.00", {"off": ("0.50", "1.00"), "saver": ("0.00", "2.50"), "stamps": ("0.50", "0.00")}, "0.00"),
    ],
)
async def test_promotions_that_share_a_budget_are_charged_at_once_if_it_covers_all(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, total: str, amounts: dict[str, tuple[str, str]], left: str
) -> None:
    """In any case each is recorded with its own amount, smaller ones first, and never more than there is."""
    await shop.budget("shared", total)
    for percentage in (1, 3):
        await shop.put("BudgetNotifications", budget_id=identity("shared"), threshold_percentage=Decimal(percentage))
    off = {"off": 150, "saver": 250, "stamps": 50}
    lines = (line("1", 1000, 5000, *(discount(name, ((1, minor),)) for name, minor in off.items())),)
    granted = tuple(applied(name, minor, budget_ids=("shared",)) for name, minor in off.items())
    counter = await shop.price("T1", outcome(lines, granted))

    statements = note_statements(monkeypatch, shop.context.database)
    await shop.confirm("T1", counter, *off)
    charges = [one for one in statements if "UPDATE budgets SET consumed_amount" in one]
    covers_all = all(uncovered == "0.00" for _, uncovered in amounts.values())
    assert (len(charges) == 1) is covers_all, charges

    rows = await shop.rows("BudgetConsumptions")
    found = {row.promotion_id: (row.amount, row.uncovered_amount) for row in rows}
    assert found == {identity(name): tuple(map(Decimal, one)) for name, one in amounts.items()}
    budget = await shop.row("Budgets", "shared")
    assert budget.total_amount - budget.consumed_amount == Decimal(left)
    assert budget.status == ("ACTIVE" if budget.consumed_amount < budget.total_amount else "EXHAUSTED")
    reached = [row for row in await shop.rows("outbox_events") if row.kind == "BUDGET_THRESHOLD_REACHED"]
    assert len(reached) == 2


async def test_concurrent_sales_with_the_same_promotions_are_all_counted(shop: Shop) -> None:
    names = [f"p{number}" for number in range(PROMOTIONS)]
    for name in names:
        await shop.promotion(name)
    sales = []
    for number in range(24):
        some = names[number % 3 :: 1 + number % 2]
        priced = outcome((line("1", 1000, 500),), tuple(applied(name, points=1) for name in some[:: (-1) ** number]))
        transaction = f"T{number}"
        sales.append((transaction, await shop.price(transaction, priced, customer_id="C1"), some))
    await asyncio.gather(*(shop.confirm(transaction, counter) for transaction, counter, _ in sales))

    wanted = Counter(identity(name) for _, _, some in sales for name in some)
    assert {row.id: row.applications_count for row in await shop.rows("Promotions") if row.id in wanted} == wanted
    usage = {(row.promotion_id, row.customer_id): row._mapping["count"] for row in await shop.rows("promotion_usage")}
    assert usage == {(name, customer): number for name, number in wanted.items() for customer in ("", "C1")}


@pytest.mark.parametrize(("set_name", "column"), [("Promotions", "id"), ("promotion_usage", "promotion_id")])
async def test_rows_are_locked_in_key_order(shop: Shop, set_name: str, column: str) -> None:
    database = shop.context.database
    if database.dialect == "sqlite":
        pytest.skip("SQLite has one writer at a time")
    names = [f"p{number}" for number in range(PROMOTIONS)]
    for name in names:
        await shop.promotion(name)
    ids = sorted(identity(name) for name in names)
    rows, held, release = table(set_name), asyncio.Event(), asyncio.Event()
    free = select(rows.c[column]).where(rows.c[column].in_(ids)).with_for_update(skip_locked=True, key_share=True)

    async def hold(session: Session) -> None:
        assert len(await session.execute(free.where(rows.c[column] == ids[5]))) == 1
        held.set()
        await release.wait()

    async def count() -> None:
        await database.write(lambda session: count_applications(session, ids[::-1], None), tenant=shop.tenant)

    await count()
    holding = asyncio.create_task(database.write(hold, tenant=shop.tenant))
    await held.wait()
    counting = asyncio.create_task(count())
    left: set[str] = set()
    try:
        async with asyncio.timeout(10):
            while left != set(ids[6:]):
                there = await database.write(lambda session: session.execute(free), tenant=shop.tenant)
                left = {row[0] for row in there}
    finally:
        release.set()
        await asyncio.gather(holding, counting)


async def test_counting_examines_no_promotion_again_for_each_other_one(shop: Shop) -> None:
    """Where the tables were never analysed, the planner expects a tenant to have a single promotion."""
    database = shop.context.database
    if not isinstance(database, PostgresqlDatabase):
        pytest.skip("SQLite finds each row by its key")
    names = [f"p{number}" for number in range(6 * PROMOTIONS)]
    for name in names:
        await shop.promotion(name)
    ids = sorted(identity(name) for name in names[:PROMOTIONS])
    connection = await asyncpg.connect(past_the_wall(database.url))
    try:
        await connection.execute("SET plan_cache_mode = force_custom_plan")
        text = f"EXPLAIN (ANALYZE, FORMAT JSON) {HOT['count applications'].postgresql}"
        (plan,) = msgspec.json.decode(await connection.fetchval(text, shop.tenant, ids, [""]))
    finally:
        await connection.close()
    assert max(_loops(plan["Plan"])) <= len(names), plan


def _loops(node: dict[str, Any]) -> list[int]:
    below = [loops for part in node.get("Plans", ()) for loops in _loops(part)]
    return [int(node["Actual Loops"]), *below]
