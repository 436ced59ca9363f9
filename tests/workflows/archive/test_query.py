"""The query of the page on archives gives the figures of the reports, to the cent."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
from sqlalchemy import insert

from promenade.store.archive.reading import KINDS
from promenade.store.driver.schema import table
from promenade.store.driver.session import open_database
from promenade.workflows.archive.places import Directory
from promenade.workflows.archive.writing import write_archive
from promenade.workflows.clockwork import reports
from promenade.workflows.clockwork.jobs import JobResult
from promenade.workflows.sales.cancel import CancelCommand, cancel
from tests.kit.databases import Databases
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import Shop, identity, open_shop

PAGE = Path(__file__).parents[3] / "docs/how-to/archive-logs.md"
TENANT = "northwind"  # the page's
PROMOTIONS = ("off", "saver", "stamps")
CURRENCIES = (("EUR", 2), ("JPY", 0), ("TND", 3))


async def sell_for_months(shop: Shop, chance: random.Random) -> None:
    """Sell at the edges of months and between, with cancelled sales, control arms and three currencies."""
    edges = (datetime(2026, month, 1, tzinfo=UTC) for month in (4, 5, 6))
    for number, edge in enumerate(at + timedelta(minutes=shift) for at in edges for shift in range(-300, 301, 40)):
        shop.now[0] = edge
        name, (currency, exponent) = f"T{number}", chance.choice(CURRENCIES)
        given = {one: chance.randrange(1, 4000) for one in chance.sample(PROMOTIONS, chance.randrange(1, 4))}
        shares = (discount(one, ((1, minor),)) for one, minor in given.items())
        priced = outcome(
            (line("1", 1000, 20_000, *shares),),
            tuple(applied(one, minor) for one, minor in given.items()),
            currency=currency,
            exponent=exponent,
        )
        if len(given) < 3 and chance.random() < 0.5:
            control = next(one for one in PROMOTIONS if one not in given)
            priced = replace(priced, control_arms=(control,))
        await shop.confirm(name, await shop.price(name, priced), *given)
        if chance.random() < 0.2:
            await cancel(shop.context, shop.tenant, CancelCommand(name, 1, None))


async def reported(shop: Shop) -> dict[tuple[str, str, str], tuple[int, Decimal]]:
    """Return the applications and discounts of the report by month, promotion and currency."""
    ran = JobResult(0, more=True)
    while ran.more:
        ran = await reports.sales(shop.context, ran.cursor)
    found: dict[tuple[str, str, str], tuple[int, Decimal]] = {}
    for row in await shop.rows("PromotionUsageByDay"):
        key = (f"{row.day:%Y-%m}", row.promotion_id, row.currency)
        count, total = found.get(key, (0, Decimal(0)))
        if row.applications:
            found[key] = (count + row.applications, total + row.total_discount)
    return found


def queried(root: Path) -> dict[tuple[str, str, str], tuple[int, Decimal]]:
    """Return what the page's query finds."""
    match = re.search(r"```sql\n(SELECT strftime.*?)```", PAGE.read_text(), re.DOTALL)
    assert match is not None
    found: Any = duckdb.sql(match[1].replace("/srv/archive", str(root)))
    return {
        (month, promotion, currency): (count, total) for month, promotion, currency, count, total in found.fetchall()
    }


async def test_discounts_by_promotion_and_month_are_those_of_the_reports(
    databases: Databases, tmp_path: Path, seed: int
) -> None:
    url = databases.create("sqlite")
    database = await open_database(url)
    shop = await open_shop(database, TENANT)
    await shop.change("PosGroups", "shop", time_zone="Europe/Berlin")
    row = {"tenant_id": TENANT, "name": "A"}
    await database.write(lambda session: session.rowcount(insert(table("Tenants")), row), system=True)
    for name in PROMOTIONS:
        await shop.promotion(name)
    await sell_for_months(shop, random.Random(seed))
    shop.later(days=45)
    await write_archive(database, Directory(tmp_path), TENANT, [KINDS["calculation_logs"]], at=shop.now[0])
    expected = await reported(shop)
    assert queried(tmp_path) == expected
    assert {month for month, _, _ in expected} >= {"2026-03", "2026-04", "2026-05"}
    assert {promotion for _, promotion, _ in expected} == {identity(name) for name in PROMOTIONS}
    await database.close()
    databases.drop(url)
