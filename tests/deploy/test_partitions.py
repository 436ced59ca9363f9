"""Tables partitioned by month work as before, behind the same row-level security (docs/how-to/scaling-out.md)."""

from __future__ import annotations

import asyncio
import random
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database, Session
from promenade.store.sales.calculation_logs import insert_refusal
from promenade.workflows.replica.uploading import requeue_rejected
from tests.deploy.psql import environment
from tests.kit.databases import Databases
from tests.workflows.clockwork.erasures.ledgers import stored
from tests.workflows.clockwork.purging.test_dropping import DAYS, clean, live, shops, sums, unarchived
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.replica.market import open_cloud, open_store
from tests.workflows.replica.test_upload_coupons import furnish, sell
from tests.workflows.shop import NOON, TENANT, identity, open_shop

ROOT = Path(__file__).parent.parent.parent
SCRIPT = ROOT / "deploy/postgresql/partition-by-month.sql"
PAGE = (ROOT / "docs/how-to/scaling-out.md").read_text()
TABLES = dict(re.findall(r"--set=table=(\w+) --set=column=(\w+)", PAGE))
FROM = "2026-03-01"  # the shop's clock is in that month


def psql(url: str, *told: str) -> subprocess.CompletedProcess[str]:
    place = urlsplit(url)
    env = environment(url) | {"PGUSER": str(place.username), "PGPASSWORD": str(place.password)}
    command = ["psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", *told, place.path[1:]]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def partition(url: str, since: str = FROM) -> None:
    """Run the script, as the owner, for every table that the page names."""
    for name, column in TABLES.items():
        said = psql(url, f"--set=table={name}", f"--set=column={column}", f"--set=from={since}", f"--file={SCRIPT}")
        assert (said.returncode, said.stderr) == (0, ""), said


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """Return the URL of a database on PostgreSQL whose tables are partitioned."""
    made = databases.create("postgresql")
    partition(databases.owner_url(made))
    yield made
    databases.drop(made)


async def test_a_shop_with_partitioned_tables_sells_as_before(database: Database, database_url: str) -> None:
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
    for name in ("iterations", "CalculationLogs", "calculation_log_parts"):
        assert await stranger.count(name) == 0
    connection = await asyncpg.connect(database_url)
    await connection.execute("SET promenade.tenant = '*'")
    for name in ("iterations", "calculation_logs", "calculation_log_parts"):
        part = f"{name}_{NOON:%Y_%m}"
        assert await connection.fetchval(f"SELECT DISTINCT tableoid::regclass::text FROM {name}") == part
        assert await connection.fetchval(f"SELECT count(*) FROM {part}") == 0, "it is read by its own name"
    await connection.close()


async def test_logs_in_partitions_are_cancelled_and_dropped_as_others(database: Database, seed: int) -> None:
    here, there = await shops(database, "tenant-a", "tenant-b")
    await unarchived(here)
    await live([here, there], random.Random(seed), "p", 6)
    here.later(days=DAYS + 1)
    await clean(here)
    assert await here.count("CalculationLogs") == await here.count("calculation_log_parts") == 0
    assert await there.count("CalculationLogs") == await there.count("calculation_log_parts") > 0
    assert sums(await stored(here)) == sums(await stored(there))


async def test_a_sale_of_a_store_that_is_refused_again_has_one_log(
    database: Database, databases: Databases, database_url: str
) -> None:
    """Also in another month, and when it arrives twice at once; the key of the table does not tell."""
    cloud = await open_cloud(database)
    own = await open_database(databases.create("sqlite"))
    store = await open_store(own, cloud)
    for shop in (cloud.shop, store):
        await shop.promotion("saver")
        await furnish(shop, "CODE")
    await sell(cloud.shop, "C1")
    await sell(store, "T1")
    for _ in range(2):
        await store.upload_all()
        (left,) = await store.queue()
        assert left.reason.startswith("COUPON_ALREADY_CLAIMED: ")
        (log,) = await cloud.shop.rows("CalculationLogs", origin=store.deployment_id)
        assert (log.transaction_id, log.status) == ("T1", "FAILED")
        cloud.shop.later(days=31)
        assert await requeue_rejected(own, store.tenant) == 1
    await own.close()
    same = {name: value for name, value in log._mapping.items() if name not in ("created_at", "modified_at")}
    await _insert_at_once(database, database_url, same | {"id": identity("twice")}, cloud.shop.now[0])
    assert len(await cloud.shop.rows("CalculationLogs", id=identity("twice"))) == 1


async def _insert_at_once(database: Database, database_url: str, log: dict[str, Any], at: datetime) -> None:
    """Insert the log twice, the second time before the first one is committed, and at another time."""
    is_written, may_end = asyncio.Event(), asyncio.Event()

    async def first(session: Session) -> None:
        await insert_refusal(session, log, at=at)
        is_written.set()
        await may_end.wait()

    async def second(session: Session) -> None:
        await insert_refusal(session, log, at=at + timedelta(seconds=1))

    looker = await asyncpg.connect(database_url)
    writing = [asyncio.create_task(database.write(first, tenant=TENANT))]
    await is_written.wait()
    writing.append(asyncio.create_task(database.write(second, tenant=TENANT)))
    while not writing[1].done() and not await looker.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
        pass
    may_end.set()
    await asyncio.gather(*writing)
    await looker.close()


async def test_months_are_added_and_dropped_as_the_page_says(
    database: Database, databases: Databases, database_url: str
) -> None:
    owner = databases.owner_url(database_url)
    partition(owner, "2028-01-01")
    shop = await open_shop(database)
    await shop.promotion("off")
    shop.now[0] = datetime(2029, 12, 31, tzinfo=UTC)
    priced = outcome((line("1", 1000, 1000, discount("off", ((1, 100),))),), (applied("off", 100),))
    await shop.confirm("T1", await shop.price("T1", priced), "off")
    evaluations, logs = (
        sql.replace("2027-01-01", "2029-12-01").replace("2027-02-01", "2030-01-01").replace("2027_01", "2029_12")
        for sql in re.findall(r"```sql\n([^`]*DROP TABLE[^`]*)```", PAGE)
    )
    said = psql(owner, f"--command={logs}")
    assert "There are still logs of this month." in said.stderr
    assert await shop.count("CalculationLogs") == await shop.count("calculation_log_parts") == 1
    for sql in (
        evaluations,
        logs.replace("2029-12-01", "2028-12-01").replace("2030-", "2029-").replace("2029_", "2028_"),
    ):
        said = psql(owner, f"--command={sql}")
        assert (said.returncode, said.stderr) == (0, "")
    assert (await shop.count("iterations"), await shop.count("CalculationLogs")) == (0, 1)


def test_the_page_names_the_tables() -> None:
    assert TABLES == {
        "iterations": "created_at",
        "redemption_logs": "occurred_at",
        "audit_logs": "timestamp",
        "calculation_log_parts": "created_at",
        "calculation_logs": "created_at",
    }
    assert SCRIPT.name in PAGE
