"""The demo tenant in a real database: five weeks of sales that were actually priced, confirmed and processed."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from sqlalchemy import func, select

from promenade.demo import DemoTenant, seed
from promenade.demo.guide import tour_request
from promenade.model.declare import REPORTING
from promenade.model.edm import served_entities
from promenade.store.driver.cache import LocalCache
from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Session
from promenade.store.odata.services import rows_of
from promenade.store.pricing.catalogue import Catalogues
from promenade.store.webhooks.planning import has_waiting
from promenade.workflows.context import Context
from promenade.workflows.pricing.evaluate import simulate
from promenade.workflows.pricing.replay import replay
from promenade.workflows.reports.aggregating import Run
from promenade.workflows.reports.rebuilding import begin_rebuild, rebuild_portion
from tests.kit.databases import DIALECTS, Databases, Dialect

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)
SALES = 80


@dataclass(frozen=True)
class Seeded:
    """A seeded database, which the tests of a file read one after the other."""

    dialect: Dialect
    url: str
    made: DemoTenant

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[Context, DemoTenant]]:
        async with opened(self.url) as context:
            yield context, self.made


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Context]:
    database = await open_database(url)
    context = Context(
        database=database,
        catalogues=Catalogues(database),
        cache=LocalCache(),
        clock=lambda: NOW,
        new_id=lambda: str(uuid.uuid4()),
        source="btp",
        instance_id="test",
    )
    try:
        yield context
    finally:
        await context.cache.close()
        await database.close()


async def seed_anew(url: str) -> DemoTenant:
    async with opened(url) as context:
        return await seed(context, 5, articles=5_000, sales=SALES)


@pytest.fixture(scope="module", params=DIALECTS)
def seeded(request: pytest.FixtureRequest, databases: Databases) -> Iterator[Seeded]:
    url = databases.create(request.param)
    with ThreadPoolExecutor(1) as pool:  # a fixture may be created while an event loop runs
        made = pool.submit(asyncio.run, seed_anew(url)).result()
    yield Seeded(request.param, url, made)
    databases.drop(url)


async def sold(session: Session) -> list[tuple[str, Decimal, Decimal, int, int]]:
    logs = table("CalculationLogs")
    columns = (
        logs.c.transaction_id, logs.c.discount, logs.c.grand_total, logs.c.loyalty_points, logs.c.transaction_counter,
    )  # fmt: skip
    rows = await session.execute(select(*columns).where(logs.c.status == "CALCULATED").order_by(logs.c.transaction_id))
    return [tuple(row) for row in rows]


def share_of(logged: list[tuple[str, Decimal, Decimal, int, int]]) -> Decimal:
    """Return the part of what sales in euros would cost that promotions took off."""
    euros = [row for row in logged if row[0].startswith("DEMO-DE")]
    off = sum((discount for _, discount, *_ in euros), Decimal(0))
    return off / (off + sum((total for _, _, total, *_ in euros), Decimal(0)))


async def test_every_sale_is_confirmed_settled_and_can_be_priced_again(seeded: Seeded) -> None:
    async with seeded.opened() as (context, made):
        logged = await context.database.read(sold, tenant=made.tenant_id)
        assert len(logged) == made.sales == SALES
        assert sum(discount > 0 for _, discount, *_ in logged) > SALES // 2
        assert Decimal("0.05") < share_of(logged) < Decimal("0.25")

        async def unfinished(session: Session) -> int:
            jobs = table("side_effect_jobs")
            statement = select(func.count()).select_from(jobs).where(jobs.c.status != "COMPLETED")
            return int((await session.execute(statement))[0][0])

        assert await context.database.read(unfinished, tenant=made.tenant_id) == 0
        assert not await context.database.read(has_waiting, system=True)  # a new webhook is sent no event of before
        assert {counter for *_, counter in logged} == {1, 2}
        for transaction_id, *_, counter in logged:
            assert (await replay(context, made.tenant_id, transaction_id, counter)).is_same


async def test_one_seed_is_one_set_of_prices(seeded: Seeded, databases: Databases) -> None:
    url = databases.create(seeded.dialect)
    again = Seeded(seeded.dialect, url, await seed_anew(url))
    weeks = []
    for one in (seeded, again):
        async with one.opened() as (context, made):
            weeks.append(await context.database.read(sold, tenant=made.tenant_id))
    databases.drop(url)
    assert weeks[0] == weeks[1]


async def test_budgets_hold_what_was_consumed(seeded: Seeded) -> None:
    async with seeded.opened() as (context, made):

        async def books(session: Session) -> list[tuple[Decimal, Decimal]]:
            budgets, consumptions = table("Budgets"), table("BudgetConsumptions")
            spent = (
                select(func.coalesce(func.sum(consumptions.c.amount), 0))
                .where(consumptions.c.budget_id == budgets.c.id)
                .scalar_subquery()
                .label("spent")
            )
            rows = await session.execute(select(budgets.c.consumed_amount, spent))
            return [(Decimal(row.consumed_amount), Decimal(row.spent)) for row in rows]

        consumed = await context.database.read(books, tenant=made.tenant_id)
        assert all(stated == spent for stated, spent in consumed)
        assert any(stated for stated, _ in consumed)


async def test_the_greeting_names_every_role_and_what_the_basket_gets(seeded: Seeded) -> None:
    async with seeded.opened() as (_, made):
        text = made.greeting("http://127.0.0.1:8080")
        assert all(client.client_id in text and client.secret in text for client in made.clients)
        assert len(made.promotion_ids) >= 3
        assert all(promotion_id in text for promotion_id in made.promotion_ids)


async def test_the_basket_of_the_tour_costs_a_tenth_to_a_quarter_less_and_was_priced_with_data_of_today(
    seeded: Seeded,
) -> None:
    async with seeded.opened() as (context, made):
        priced = await simulate(context, made.tenant_id, tour_request(made.purchases))
        outcome = priced.outcome
        assert Decimal("0.10") <= Decimal(outcome.discount_minor) / outcome.subtotal_minor <= Decimal("0.25")
        assert priced.data_age == NOW


async def test_a_recount_of_the_reports_gives_the_same_sums(database_url: str) -> None:
    """On a database of its own, because it changes what is there."""
    made = await seed_anew(database_url)
    async with opened(database_url) as context:

        async def sums(session: Session) -> list[tuple[object, ...]]:
            days = table("PromotionUsageByDay")
            columns = [days.c[name] for name in ("promotion_id", "day", "currency", "applications", "total_discount")]
            return sorted(tuple(row) for row in await session.execute(select(*columns)))

        before = await context.database.read(sums, tenant=made.tenant_id)
        await begin_rebuild(context.database, made.tenant_id)
        run = Run(context.new_id)
        while await rebuild_portion(context, made.tenant_id, run, 200) is not None:
            pass
        assert before
        assert await context.database.read(sums, tenant=made.tenant_id) == before


async def test_every_report_of_the_demo_has_data(seeded: Seeded) -> None:
    async with seeded.opened() as (context, made):

        async def rows(session: Session) -> dict[str, int]:
            found = {}
            for entity in served_entities(REPORTING):
                statement = select(func.count()).select_from(rows_of(entity))
                found[entity.set_name] = int((await session.execute(statement))[0][0])
            return found

        counted = await context.database.read(rows, tenant=made.tenant_id)
        assert [name for name, count in counted.items() if not count] == []
