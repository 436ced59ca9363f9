"""Tables partitioned by month work as before, behind the same row-level security (docs/how-to/scaling-out.md)."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from promenade.store.driver.session import open_database
from tests.deploy.psql import environment
from tests.kit.databases import Databases
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.shop import NOON, open_shop

ROOT = Path(__file__).parent.parent.parent
SCRIPT = ROOT / "deploy/postgresql/partition-by-month.sql"
TABLES = {"iterations": "created_at", "redemption_logs": "occurred_at", "audit_logs": "timestamp"}
FROM = "2026-03-01"  # the shop's clock is in that month


def partition(url: str) -> None:
    """Run the script, as the owner, for every table that the page names."""
    place = urlsplit(url)
    env = environment(url) | {"PGUSER": str(place.username), "PGPASSWORD": str(place.password)}
    for name, column in TABLES.items():
        told = ["--set", f"table={name}", "--set", f"column={column}", "--set", f"from={FROM}"]
        command = ["psql", "--quiet", "--no-psqlrc", *told, "--file", str(SCRIPT), place.path[1:]]
        said = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert (said.returncode, said.stderr) == (0, ""), said


async def test_a_shop_with_partitioned_tables_sells_as_before(databases: Databases) -> None:
    url = databases.create("postgresql")
    partition(databases.owner_url(url))
    database = await open_database(url)
    shop = await open_shop(database)
    await shop.promotion("off")
    priced = outcome((line("1", 1000, 1000, discount("off", ((1, 100),))),), (applied("off", 100),))
    first, second = [await shop.price("T1", priced) for _ in range(2)]
    assert (first, second) == (1, 2)
    body = (await shop.confirm("T1", second, "off")).body
    assert (await shop.confirm("T1", second, "off")).body == body
    await shop.work()
    assert {row.status for row in await shop.rows("side_effect_jobs")} == {"COMPLETED"}
    assert await shop.count("iterations") == 2
    stranger = await open_shop(database, "tenant-b")
    assert await stranger.count("iterations") == 0
    await database.close()
    connection = await asyncpg.connect(url)
    await connection.execute("SET promenade.tenant = '*'")
    part = f"iterations_{NOON:%Y_%m}"
    assert await connection.fetchval("SELECT DISTINCT tableoid::regclass::text FROM iterations") == part
    assert await connection.fetchval(f"SELECT count(*) FROM {part}") == 0, "it is read by its own name"
    await connection.close()
    databases.drop(url)


def test_the_page_names_these_tables() -> None:
    page = (ROOT / "docs/how-to/scaling-out.md").read_text()
    named = re.findall(r"--set=table=(\w+) --set=column=(\w+)", page)
    assert dict(named) == TABLES
    assert SCRIPT.name in page
