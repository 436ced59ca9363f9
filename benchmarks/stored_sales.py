"""What a sale costs, in bytes and CPU time: three evaluations of 20 lines, one confirm, its side effects."""

from __future__ import annotations

import asyncio
import hashlib
import random
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
from sqlalchemy import make_url, select

from benchmarks.databases import places, postgresql_analyzed, spent
from benchmarks.measure import show
from benchmarks.roles import as_served
from benchmarks.scale import Scale
from promenade.app import clock, opened_context
from promenade.demo import seed
from promenade.demo.assortment import Assortment, build_assortment, shelf_price
from promenade.demo.seeding import TENANT
from promenade.engine.basket import BasketLine, Customer, Payment
from promenade.settings import Settings
from promenade.store.driver.migrations import upgrade
from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.worker import Worker
from promenade.workflows.clockwork.dictionaries import SAMPLES_MIN, dictionaries
from promenade.workflows.context import Context
from promenade.workflows.pricing.evaluate import PricingRequest, evaluate
from promenade.workflows.sales.confirm import ConfirmCommand, ConfirmedPromotion, confirm

__all__ = ["TABLES", "bytes_of_rows", "prepare", "run", "sell"]

SEED = 1
LINES = 20
TABLES = (
    "iterations",
    "iteration_counters",
    "confirmations",
    "CalculationLogs",
    "calculation_log_parts",
    "calculation_log_blocks",
    "BudgetConsumptions",
    "LoyaltyTransactions",
    "side_effect_jobs",
    "outbox_events",
)
"""What every sale adds rows to. Sums of reports, and usage by customer, stop growing once all their rows exist."""

Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Measured:
    """Rows, bytes of their columns, and bytes on disk with indexes, by table."""

    rows: Sizes
    columns: Sizes
    disk: Sizes


def run(scale: Scale) -> None:
    """Print every table of this part."""
    sales = scale.of(400, 150, 3)
    for place in places():
        asyncio.run(measure(place.database, place.url, sales, scale))


async def measure(database: str, url: str, sales: int, scale: Scale) -> None:
    """Print what ``sales`` sales add, once the tenant has a dictionary."""
    await asyncio.to_thread(upgrade, url)
    served = await asyncio.to_thread(as_served, url)
    async with opened_context(Settings(database=served, data_dir=Path())) as context:
        assortment = await prepare(context, articles=scale.of(20_000, 20_000, 5_000))
        if url.startswith("postgresql"):
            await postgresql_analyzed(url)  # a server in use does it by itself
        before = await _measured(context, url)
        took = await spent(url, partial(sell, context, assortment, range(sales)))
        after = await _measured(context, url)

    def per_sale(of: str) -> dict[str, float]:
        old, new = getattr(before, of), getattr(after, of)
        return {name: (new[name] - old[name]) / sales for name in TABLES}

    rows, columns, disk = per_sale("rows"), per_sale("columns"), per_sale("disk")
    lines = [(name, f"{rows[name]:.1f}", f"{columns[name]:,.0f}", f"{disk[name]:,.0f}") for name in TABLES]
    total = ("all", f"{sum(rows.values()):.1f}", f"{sum(columns.values()):,.0f}", f"{sum(disk.values()):,.0f}")
    show(
        f"What one sale adds on {database}: three evaluations of {LINES} lines, one confirm",
        ("table", "rows", "bytes of columns", "bytes on disk"),
        [*lines, total],
        "On disk: with indexes and what is unused in their pages. Articles are drawn evenly from the whole assortment,"
        " which is the worst case. Sums of reports are not included. It took "
        f"{took.program * 1000 / sales:.1f} ms of CPU time without HTTP and JSON, and"
        f" {took.server * 1000 / sales:.1f} ms of the database server.",
    )


async def prepare(context: Context, *, articles: int) -> Assortment:
    """Seed the demo's shop, and sell until the tenant has a dictionary; then return the assortment."""
    await seed(context, SEED, articles=articles, sales=0)
    assortment = build_assortment(random.Random(SEED), articles)
    await sell(context, assortment, range(-2 * SAMPLES_MIN, 0))
    earlier, later = clock() - timedelta(hours=1), clock() + timedelta(days=1)
    made = await dictionaries(replace(context, clock=lambda: earlier), None)  # not too young to be used
    if not made.done:
        raise SystemExit("no dictionary was made")
    # Long after, so that the dictionary is looked for.
    await sell(replace(context, clock=lambda: later), assortment, range(-2 * SAMPLES_MIN - 1, -2 * SAMPLES_MIN))
    return assortment


async def sell(context: Context, assortment: Assortment, numbers: Sequence[int], *, lines: int = LINES) -> None:
    """Carry out these sales, and what follows each of them. The same number makes the same basket."""
    for number in numbers:
        asked = _requests(assortment, number, lines)
        for request in asked:
            priced = await evaluate(context, TENANT, request)
        granted = [ConfirmedPromotion(one.promotion_id) for one in priced.outcome.applied if one.discount_minor]
        command = ConfirmCommand(
            transaction_id=priced.transaction_id,
            transaction_counter=priced.transaction_counter or 0,
            promotions=tuple(granted),
            fingerprint=hashlib.sha256(str(number).encode()).digest(),
            customer_id=asked[-1].customer.customer_id if asked[-1].customer else None,
        )
        await confirm(context, TENANT, command)
    while await Worker(context).do_jobs():
        pass


def _requests(assortment: Assortment, number: int, size: int) -> list[PricingRequest]:
    """Return the questions of a till: for the basket, with the customer's card, and with the means of payment."""
    draw = random.Random(f"sale {number}")
    till = draw.choice(assortment.tills())
    lines = tuple(
        BasketLine(
            reference=str(place),
            article_number=article.article_number,
            quantity_thousandths=draw.randint(120, 2_400) if article.by_weight else draw.choice((1, 1, 1, 2, 3)) * 1000,
            unit_price_hundredths=int(shelf_price(article, till.currency) * Decimal(100)),
            ean=article.ean,
        )
        for place, article in enumerate(draw.sample(assortment.articles, size), start=1)
    )
    basket = PricingRequest(
        transaction_id=f"SOLD-{till.code}-{number}",
        receipt_id=f"R-{number}",
        pos_group_code=till.code,
        lines=lines,
        channel="IN_STORE",
        client_id="till",
    )
    card = replace(basket, customer=Customer(f"C-{10_000 + draw.randrange(600)}", loyalty_tier="GOLD"))
    return [basket, card, replace(card, payment=Payment("CARD", "VISA_CREDIT", "40001234"))]


async def bytes_of_rows(context: Context, name: str) -> tuple[int, int]:
    """Return the number of the tenant's rows and the bytes of their columns, the tenant's own ID left out.

    Numbers and moments count as eight bytes: the same on every database.
    """

    async def work(session: Session) -> Sequence[Any]:
        rows = table(name)
        return await session.execute(select(*(column for column in rows.c if column.name != "tenant_id")))

    found = await context.database.read(work, tenant=TENANT)
    return len(found), sum(_length(value) for row in found for value in row)


def _length(value: object) -> int:
    if value is None:
        return 0
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, list):  # packed, see `PackedJson`
        return len(zlib.compress(msgspec.json.encode(value), 1))
    return len(value.encode()) if isinstance(value, str) else 1 if isinstance(value, bool) else 8


async def _measured(context: Context, url: str) -> _Measured:
    counted = {name: await bytes_of_rows(context, name) for name in TABLES}
    disk = await (_disk_of_sqlite(url) if url.startswith("sqlite") else _disk_of_postgresql(url))
    return _Measured(
        {name: rows for name, (rows, _) in counted.items()},
        {name: size for name, (_, size) in counted.items()},
        {name: disk[table(name).name] for name in TABLES},
    )


async def _disk_of_sqlite(url: str) -> Sizes:
    with closing(sqlite3.connect(str(make_url(url).database))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        found = connection.execute(
            "SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_master USING (name) GROUP BY tbl_name"
        )
        return dict(found.fetchall())


async def _disk_of_postgresql(url: str) -> Sizes:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("CHECKPOINT")
        rows = await connection.fetch(
            "SELECT relname, pg_total_relation_size(oid) AS size FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        return {row["relname"]: row["size"] for row in rows}
    finally:
        await connection.close()
