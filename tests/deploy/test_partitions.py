"""Tables partitioned by month work as before, behind the same row-level security (docs/how-to/scaling-out.md)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import repeat
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from promenade.doctor.data import examine_database
from promenade.doctor.findings import Verdict
from promenade.errors import Conflict
from promenade.settings import Settings
from promenade.store.driver.migrations import differences
from promenade.store.driver.months import BY_MONTH
from promenade.store.driver.postgresql.partitions import months_end, partition
from promenade.store.driver.session import open_database
from promenade.store.driver.unit import Database, Session
from promenade.store.sales.calculation_logs import insert_refusal
from promenade.workflows.replica.uploading import requeue_rejected
from tests.kit.databases import Databases
from tests.kit.service import promenade
from tests.workflows.clockwork.erasures.ledgers import stored
from tests.workflows.clockwork.purging.test_dropping import DAYS, clean, live, shops, sums, unarchived
from tests.workflows.outcomes import applied, discount, line, outcome
from tests.workflows.replica.market import open_cloud, open_store
from tests.workflows.replica.test_upload_coupons import furnish, sell
from tests.workflows.shop import NOON, TENANT, Shop, identity, open_shop

MARCH, APRIL, MAY = (datetime(2026, month, 1, tzinfo=UTC) for month in (3, 4, 5))
DAY = timedelta(days=1)
PRICED = outcome((line("1", 1000, 1000, discount("off", ((1, 100),))),), (applied("off", 100),))


def partitioned(owner: str, now: datetime, **options: Any) -> list[str]:
    """Do what is to be done at that time, with the current month and the two after it, and return what was said."""
    return list(partition(owner, now=now, months=2, **options))


def dropped(owner: str, now: datetime, **options: Any) -> list[str]:
    """Return the partitions that are dropped at that time."""
    said = partitioned(owner, now, **options)
    return [one.removesuffix(" is dropped.") for one in said if one.endswith(" is dropped.")]


async def sold(shop: Shop, transaction_id: str) -> None:
    await shop.confirm(transaction_id, await shop.price(transaction_id, PRICED), "off")


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """Return the URL of a database on PostgreSQL with months until May, made by somebody far from UTC."""
    made = databases.create("postgresql")
    owner = databases.owner_url(made)
    _run(owner, f"ALTER DATABASE {owner.rpartition('/')[2]} SET timezone = 'Pacific/Auckland'")
    partitioned(owner, MARCH - DAY)
    yield made
    databases.drop(made)


@pytest.fixture
def owner(databases: Databases, database_url: str) -> str:
    """Return its URL for the owner of the tables."""
    return databases.owner_url(database_url)


@pytest.fixture
async def shop(database: Database) -> Shop:
    """Return a shop there, with a promotion."""
    made = await open_shop(database)
    await made.promotion("off")
    return made


def _run(url: str, statement: str) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(url)
        await connection.execute("SET promenade.tenant = '*'")
        await connection.execute(statement)
        await connection.close()

    asyncio.run(run())


async def test_a_shop_with_partitioned_tables_sells_as_before(
    shop: Shop, database: Database, database_url: str
) -> None:
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


async def test_who_sells_meanwhile_sells_on(databases: Databases) -> None:
    """With statements that the server has prepared for the tables as they were."""
    url = databases.create("postgresql")
    owner, own = databases.owner_url(url), await open_database(url)
    shop = await open_shop(own)
    await shop.promotion("off")
    for number, days in enumerate((0, 30, 120)):
        await sold(shop, f"T{number}")
        await shop.work()
        shop.later(days=days)
        await asyncio.to_thread(partitioned, owner, shop.now[0])
    await sold(shop, "T3")
    await shop.work()
    assert (await shop.count("iterations"), await shop.count("CalculationLogs")) == (4, 4)
    assert {row.status for row in await shop.rows("side_effect_jobs")} == {"COMPLETED"}
    await own.close()
    databases.drop(url)


async def test_a_month_goes_once_it_is_over_and_empty(shop: Shop, owner: str) -> None:
    await sold(shop, "T1")
    await _run_here(owner, "DELETE FROM iterations")
    assert dropped(owner, MARCH + DAY) == [f"{name}_until_2026_03" for name in BY_MONTH]
    assert dropped(owner, APRIL + DAY - timedelta(seconds=1)) == []
    logs = ["calculation_log_parts", "calculation_logs"]
    assert dropped(owner, APRIL + DAY) == [f"{name}_2026_03" for name in BY_MONTH if name not in logs]
    for name in logs:
        await _run_here(owner, f"DELETE FROM {name}")
    assert dropped(owner, APRIL + DAY) == [f"{name}_2026_03" for name in logs]
    shop.now[0] = APRIL + DAY
    await sold(shop, "T2")
    assert (await shop.count("iterations"), await shop.count("CalculationLogs")) == (1, 1)


async def test_evaluations_go_by_whole_months_if_somebody_says_so(shop: Shop, owner: str) -> None:
    await sold(shop, "T1")
    await shop.price("T2", PRICED)
    late = APRIL + 60 * DAY
    assert "iterations_2026_03" not in dropped(owner, late, evaluations_days=60), "one may still be confirmed"
    await shop.confirm("T2", 1, "off")
    assert dropped(owner, late - DAY, evaluations_days=60) == []
    assert dropped(owner, late, evaluations_days=60) == ["iterations_2026_03"]
    assert (await shop.count("iterations"), await shop.count("CalculationLogs")) == (0, 2)


async def test_months_that_ran_out_are_made_up_for(shop: Shop, owner: str, database_url: str) -> None:
    for number, month in enumerate((3, 7, 8)):
        shop.now[0] = datetime(2026, month, 5, tzinfo=UTC)
        await sold(shop, f"T{number}")
    said = partitioned(owner, shop.now[0])
    assert "iterations had no months any more; iterations_until_2026_09 has what was written since." in said
    assert "iterations has months until 2026-11-01." in said
    shop.later(days=30)
    await sold(shop, "T4")
    where = "SELECT tableoid::regclass::text AS part, count(*) FROM calculation_logs GROUP BY 1 ORDER BY 1"
    assert await _rows(database_url, where) == [
        ("calculation_logs_2026_03", 1), ("calculation_logs_2026_09", 1), ("calculation_logs_until_2026_09", 2),
    ]  # fmt: skip
    assert await _rows(database_url, "SELECT count(*) FROM calculation_logs_until_2026_09") == [(0,)], "by its own name"
    assert partitioned(owner, shop.now[0])[0].endswith("has months until 2026-12-01.")


async def test_rows_of_months_to_come_are_an_error_of_their_table_alone(shop: Shop, owner: str) -> None:
    shop.now[0] = datetime(2026, 6, 5, tzinfo=UTC)  # its clock is wrong
    await shop.price("T1", PRICED)
    told = partition(owner, now=APRIL, months=2)
    said: list[str] = []
    with pytest.raises(Conflict, match="iterations: rows of months to come") as caught:
        said += told
    assert caught.value.code == "ROWS_OF_MONTHS_TO_COME"
    ends = dict(months_end(owner))
    assert ends.pop("iterations") == MAY
    assert set(ends.values()) == {datetime(2026, 7, 1, tzinfo=UTC)}
    assert sum("has months until 2026-07-01." in one for one in said) == len(ends)
    assert "audit_logs_until_2026_03 is dropped." in said
    assert await shop.count("iterations") == 1


async def test_a_table_in_use_is_waited_for(owner: str, database_url: str) -> None:
    user = await asyncpg.connect(database_url)
    ended = user.transaction()
    await ended.start()
    await user.execute("SELECT FROM iterations")
    making = asyncio.create_task(asyncio.to_thread(partitioned, owner, APRIL))
    looker = await asyncpg.connect(database_url)
    while not await looker.fetchval("SELECT count(*) FROM pg_locks WHERE NOT granted"):
        await asyncio.wait([making], timeout=0.01)
        assert not making.done()
    await ended.rollback()
    assert "iterations has months until 2026-07-01." in await making
    await looker.close()
    await user.close()


def test_a_copy_with_partitions_is_whole(owner: str) -> None:
    assert differences(owner) == []
    _run(owner, "DROP INDEX ix_iterations__created_at")
    assert len(differences(owner)) == 1


def test_the_doctor_warns_before_the_months_run_out(database_url: str) -> None:
    settings = Settings(database=database_url)
    for at, verdict in ((MAY - 46 * DAY, Verdict.OK), (MAY - 45 * DAY, Verdict.WARN), (MAY + DAY, Verdict.WARN)):
        (finding,) = (one for one in examine_database(settings, repeat(at).__next__) if one.check == "months")
        assert (finding.verdict, "until 2026-05-01" in finding.message) == (verdict, True)


def test_the_command_says_what_it_has_done(databases: Databases) -> None:
    url = databases.create("postgresql")
    command = ("db", "partition", "--months", "1", "--database-url", databases.owner_url(url))
    said = promenade(*command).splitlines()
    assert [one.split()[0] for one in said] == [name for name in BY_MONTH for _ in range(2)]
    assert promenade(*command) == "Nothing is to be done.\n"
    with pytest.raises(AssertionError, match="exited 2"):
        promenade("db", "partition", "--database-url", "sqlite:///x.db")
    databases.drop(url)


def test_the_page_names_the_tables() -> None:
    page = (Path(__file__).parent.parent.parent / "docs/how-to/scaling-out.md").read_text(encoding="utf-8")
    section = page.partition("## Logs partitioned by month")[2].partition("\n## ")[0]
    assert [name for name in BY_MONTH if f"`{name}`" not in section] == []


async def _run_here(url: str, statement: str) -> None:
    await asyncio.to_thread(_run, url, statement)


async def _rows(url: str, statement: str) -> list[tuple[Any, ...]]:
    connection = await asyncpg.connect(url)
    await connection.execute("SET promenade.tenant = '*'")
    rows = [tuple(row) for row in await connection.fetch(statement)]
    await connection.close()
    return rows
