"""A sale of the demo's shop takes little space. Counted are the bytes of its rows' columns, not pages of a file."""

from __future__ import annotations

from pathlib import Path

from benchmarks.stored_sales import TABLES, bytes_of_rows, prepare, sell
from promenade.app import opened_context
from promenade.settings import Settings
from promenade.workflows.context import Context
from tests.kit.databases import Databases

SALES = 12
ITERATIONS_MAX = 4_400  # bytes: 3 922 over 150 sales; 20 786 before there were dictionaries and differences
SALE_MAX = 9_600  # 8 908 over 150 sales; 12 941 when lines and promotions had rows of their own, and 33 967 at first


async def test_a_sale_with_three_evaluations_of_twenty_lines_stays_small(databases: Databases) -> None:
    url = databases.create("sqlite")
    async with opened_context(Settings(database=url, data_dir=Path())) as context:
        assortment = await prepare(context, articles=5_000)
        before = await sizes(context)
        await sell(context, assortment, range(SALES))
        after = await sizes(context)
    grown = {name: (after[name] - before[name]) // SALES for name in TABLES}
    assert grown["iterations"] <= ITERATIONS_MAX, grown
    assert sum(grown.values()) <= SALE_MAX, grown


async def sizes(context: Context) -> dict[str, int]:
    return {name: (await bytes_of_rows(context, name))[1] for name in TABLES}
