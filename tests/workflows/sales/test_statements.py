"""How many statements a confirm takes: each of them costs a round trip, however little it writes."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from typing import Any

import asyncpg
import msgspec
import pytest
from sqlalchemy import select

from promenade.store.driver.hot import HOT
from promenade.store.driver.postgresql import PostgresqlDatabase
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.sales.usage import count_applications
from tests.kit.databases import past_the_wall
from tests.workflows.counting import note_statements
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, identity

LINES, PROMOTIONS = 20, 11
STATEMENTS_MAX = {"sqlite": 12, "postgresql": 6}


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
    parts = [*await shop.rows("CalculationLogItems"), *await shop.rows("CalculationLogPromotions")]
    (log,) = await shop.rows("CalculationLogs")
    assert {row.id[:32] for row in parts} == {log.id[:32]}
    assert len({uuid.UUID(row.id) for row in [log, *parts]}) == 1 + LINES + PROMOTIONS


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
