"""Row-level security on PostgreSQL: the second barrier behind the tenant gate, the serving role, and unchanged
results.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import pkgutil
import random
import re
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import asyncpg
import pytest
from sqlalchemy import insert, select, update

from promenade import store
from promenade.errors import Invalid, Unavailable
from promenade.store.authoring import statements
from promenade.store.driver import tenancy, unit
from promenade.store.driver.hot import HOT
from promenade.store.driver.postgresql.roles import grant, needless_power
from promenade.store.driver.row_security import SETTING, statement_for
from promenade.store.driver.schema import metadata, table
from promenade.store.driver.session import Database, Session, open_database
from promenade.store.driver.tenancy import TenantBreach
from tests.kit.databases import OWNER, SERVING, Databases, past_the_wall
from tests.kit.in_process import SERVICE_THREAD
from tests.kit.service import promenade
from tests.store.driver.test_tenancy import CHANGES, READS

USAGE = table("promotion_usage")
VERSIONS = table("catalogue_versions")
assert statements  # its hot statement is registered
TENANTS = [f"t{number}" for number in range(12)]
GONE_SECONDS_MAX = 60.0


@pytest.fixture
def url(databases: Databases) -> Iterator[str]:
    made = databases.create("postgresql")
    yield made
    databases.drop(made)


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    opened = await open_database(url)
    yield opened
    await opened.close()


async def fill(database: Database) -> None:
    """Give tenant t<n> a row whose number is n."""
    for number, tenant in enumerate(TENANTS):

        async def work(session: Session, number: int = number) -> None:
            await session.rowcount(insert(VERSIONS), {"promotions": number, "articles": 0})
            await session.rowcount(insert(USAGE), {"promotion_id": "p", "customer_id": "", "count": number})

        await database.write(work, tenant=tenant)


def note_commands(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which the texts that connections execute from now on are added.

    Those of a service that other tests keep in this process are left out: its worker asks now and then.
    """
    sent: list[str] = []
    execute = asyncpg.Connection.execute

    async def noted(self: Any, query: str, *args: Any, **options: Any) -> str:
        if threading.current_thread().name != SERVICE_THREAD:
            sent.append(query)
        return str(await execute(self, query, *args, **options))

    monkeypatch.setattr(asyncpg.Connection, "execute", noted)
    return sent


async def fetched(url: str, statement: str, setting: str | None = None) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(url)
    try:
        if setting is not None:
            await connection.execute(statement_for(setting, local=False))
        return list(await connection.fetch(statement))
    finally:
        await connection.close()


# --- the wall ------------------------------------------------------------------------------------------------------


async def test_row_level_security_protects_exactly_the_tables_with_a_tenant(url: str) -> None:
    statement = """
        SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity AND p.polname = 'tenant' AND p.polcmd = '*'
        FROM pg_class c LEFT JOIN pg_policy p ON p.polrelid = c.oid
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname <> 'alembic_version'
            AND c.relname <> 'articles_texts'  -- for its owner alone, see the tests of indexes of texts
    """
    found = {name: bool(walled) for name, walled in await fetched(url, statement)}
    assert found == {one.name: one.info["tenant_owned"] for one in metadata.sorted_tables}


@pytest.mark.parametrize("role", ["serving", "owner"])
async def test_a_connection_sees_the_tenant_that_it_names(
    databases: Databases, url: str, database: Database, role: str
) -> None:
    await fill(database)
    url = url if role == "serving" else databases.owner_url(url)
    count = "SELECT count(*), min(count) FROM promotion_usage"
    assert [tuple(row) for row in await fetched(url, count)] == [(0, None)]
    assert [tuple(row) for row in await fetched(url, count, "")] == [(0, None)]
    assert [tuple(row) for row in await fetched(url, count, "t7")] == [(1, 7)]
    assert [tuple(row) for row in await fetched(url, count, "nobody' OR '1'='1")] == [(0, None)]
    assert [tuple(row) for row in await fetched(url, count, "*")] == [(len(TENANTS), 0)]


async def test_a_row_can_neither_be_created_for_nor_moved_to_another_tenant(url: str, database: Database) -> None:
    await fill(database)
    for setting in (None, "t1", "T2", "t2 "):
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
            await fetched(url, "INSERT INTO promotion_usage VALUES ('t2', 'q', '', 1)", setting)
        await fetched(url, "UPDATE promotion_usage SET count = 99 WHERE tenant_id = 't2'", setting)
        await fetched(url, "DELETE FROM promotion_usage WHERE tenant_id = 't2'", setting)
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        await fetched(url, "UPDATE promotion_usage SET tenant_id = 't2'", "t1")
    assert [row["count"] for row in await fetched(url, "SELECT * FROM promotion_usage", "t2")] == [2]


def open_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable the tenant criterion of statements."""
    monkeypatch.setattr(unit, "admit", lambda statement, params, scope: (statement, params))
    monkeypatch.setattr(tenancy, "_has_tenant", lambda _table: False)  # the tables are read directly


async def test_without_the_gate_a_unit_still_sees_only_its_own_tenant(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await two_rows_each(database)
    open_the_gate(monkeypatch)
    for shape, statement in READS.items():

        async def read(session: Session, statement: Any = statement) -> set[Any]:
            return {value for row in await session.execute(statement) for value in row}

        assert await database.write(read, tenant="a") == {"a"}, shape
        assert await database.write(read) <= {None}, shape
    for shape, change in CHANGES.items():

        async def changed(session: Session, change: Any = change) -> int:
            touched = 0
            with contextlib.suppress(_Undone):
                async with session.savepoint():
                    touched = await session.rowcount(change)
                    raise _Undone
            return touched

        assert await database.write(changed, tenant="a") == (0 if "b's" in shape else 2), shape
        assert await database.write(changed) == 0, shape


class _Undone(Exception):
    """Rolls back a change, so that the next one finds the original rows."""


async def two_rows_each(database: Database) -> None:
    for tenant in ("a", "b"):

        async def work(session: Session, tenant: str = tenant) -> None:
            rows = [{"promotion_id": f"p{n}", "customer_id": tenant, "count": n} for n in (1, 2)]
            await session.execute_many(insert(USAGE), rows)
            await session.rowcount(
                insert(table("coupon_usage")), {"coupon_type_id": "c", "customer_id": tenant, "count": 1}
            )

        await database.write(work, tenant=tenant)


async def test_a_session_refuses_tenant_names_that_mean_all_or_none(database: Database) -> None:
    for tenant in ("*", "", "a\0"):
        with pytest.raises(TenantBreach):
            await database.read(lambda session: session.execute(select(USAGE)), tenant=tenant)
        with pytest.raises(TenantBreach):
            await database.look("catalogue version", (tenant,))


async def test_unusual_tenant_names_are_passed_to_the_database_unchanged(database: Database) -> None:
    for name in ("o'neill", "a\\", "\\'", "$$", "ü; --", '"x"', "%s", "E'"):
        row = {"promotion_id": name, "customer_id": "", "count": 1}
        await database.write(lambda session, row=row: session.rowcount(insert(USAGE), row), tenant=name)  # type: ignore[misc]
        found = await database.read(lambda session: session.execute(select(USAGE.c.promotion_id)), tenant=name)
        assert [one.promotion_id for one in found] == [name]


# --- units of work -------------------------------------------------------------------------------------------------


async def test_a_unit_sends_only_its_statements_and_the_transaction_commands(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await database.read(lambda session: session.execute(select(USAGE)), tenant="a")
    sent = note_commands(monkeypatch)
    await database.read(lambda session: session.execute(select(USAGE)), tenant="a")
    assert [one.partition(";")[0].partition(" ")[0] for one in sent] == ["BEGIN", "COMMIT"]
    assert f"SET LOCAL {SETTING} = E'a'" in sent[0]


async def test_rolling_back_a_savepoint_keeps_the_sessions_tenant(database: Database) -> None:
    await fill(database)

    async def undone(session: Session) -> None:
        async with session.savepoint():
            await session.hot("pilot config anywhere", ("x",))
            raise ZeroDivisionError

    async def work(session: Session) -> list[int]:
        with pytest.raises(ZeroDivisionError):
            await undone(session)
        await session.hot("pilot config anywhere", ("x",))
        return [row[0] for row in await session.execute(update(USAGE).values(count=50).returning(USAGE.c["count"]))]

    assert await database.write(work, tenant="t3") == [50]
    rows = await database.read(lambda session: session.execute(select(USAGE.c["count"])), system=True)
    assert sorted(row[0] for row in rows) == sorted([50, *(n for n in range(len(TENANTS)) if n != 3)])


# --- hot statements ------------------------------------------------------------------------------------------------


def test_every_hot_statement_declares_its_tenant_parameter() -> None:
    for module in pkgutil.walk_packages(store.__path__, "promenade.store."):
        if "versions" not in module.name:
            importlib.import_module(module.name)
    for name, statement in HOT.items():
        compared = set(re.findall(r"tenant_id\s*=\s*\$(\d+)", statement.postgresql))
        assert compared <= {str(statement.tenant)}, name
        touches = any(re.search(rf"\b{one.name}\b", statement.postgresql) for one in metadata.sorted_tables)
        assert not touches or statement.tenant is not None or statement.across or "ANALYZE" in statement.postgresql, (
            name
        )


async def version_of(database: Database, tenant: str) -> int:
    ((promotions, _, _),) = await database.look("catalogue version", (tenant,))
    return int(promotions)


async def end_connections(url: str) -> list[int]:
    """Make the server end all connections of the serving role, which takes a while; return their process IDs."""
    statement = "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1 AND datname = $2"
    connection = await asyncpg.connect(past_the_wall(url))
    try:
        return [row["pid"] for row in await connection.fetch(statement, SERVING, url.rpartition("/")[2])]
    finally:
        await connection.close()


async def gone(url: str, processes: list[int]) -> None:
    """Wait until the server has ended them."""
    connection = await asyncpg.connect(past_the_wall(url))
    try:
        async with asyncio.timeout(GONE_SECONDS_MAX):
            while await connection.fetch("SELECT 1 FROM pg_stat_activity WHERE pid = ANY($1)", processes):
                pass
    finally:
        await connection.close()


@pytest.mark.parametrize("pooled", [False, True])
async def test_each_hot_statement_runs_for_its_own_tenant_whatever_happens_to_others(
    url: str, database: Database, seed: int, monkeypatch: pytest.MonkeyPatch, pooled: bool
) -> None:
    """With a wrong tenant setting it would find nothing, as each statement also names its own tenant."""
    if pooled:
        monkeypatch.setattr(asyncpg.Connection, "get_server_pid", lambda self: -1)
    await fill(database)
    draw = random.Random(seed)

    async def look(number: int) -> None:
        try:
            assert await version_of(database, TENANTS[number]) == number
        except Unavailable:
            unavailable.append(number)

    unavailable: list[int] = []
    ended: list[int] = []
    for _ in range(25):
        looking = [asyncio.create_task(look(draw.randrange(len(TENANTS)))) for _ in range(20)]
        for one in draw.sample(looking, 3):
            await asyncio.sleep(0)
            one.cancel()
        if draw.random() < 0.2:
            ended += await end_connections(url)
        await asyncio.gather(*looking, return_exceptions=True)
        for one in looking:
            if not one.cancelled() and one.exception() is not None:
                raise one.exception()  # type: ignore[misc]
    await gone(url, ended)  # a connection that is being ended may accept a statement and not answer it
    for number in range(len(TENANTS)):
        assert await version_of(database, TENANTS[number]) == number
    if pooled:
        assert await database._hot.fetch("SELECT current_setting('promenade.tenant', true)", (), None) in (  # type: ignore[attr-defined]
            [(None,)],
            [("",)],
        )


async def test_a_hot_statement_is_one_message_while_the_tenant_does_not_change(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(database)
    sent = note_commands(monkeypatch)
    for _ in range(5):
        for tenant in range(4):
            assert await version_of(database, TENANTS[tenant]) == tenant
    assert len(sent) == 4


# --- the role that serves ------------------------------------------------------------------------------------------


FORBIDDEN = (
    "CREATE TABLE mine (id int)",
    "DROP TABLE promotion_usage",
    "TRUNCATE promotion_usage",
    "ALTER TABLE promotion_usage DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE promotion_usage NO FORCE ROW LEVEL SECURITY",
    "DROP POLICY tenant ON promotion_usage",
    "CREATE POLICY mine ON promotion_usage USING (true)",
    "ALTER ROLE promenade_test_serving BYPASSRLS",
    "UPDATE alembic_version SET version_num = 'x'",
    "SET ROLE promenade_test_owner",
)


async def test_the_serving_role_cannot_disable_row_level_security(url: str) -> None:
    for statement in FORBIDDEN:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await fetched(url, statement)


async def test_the_serving_role_may_analyze_tables(url: str, database: Database) -> None:
    await fill(database)
    assert await fetched(url, "SELECT reltuples FROM pg_class WHERE relname = 'promotion_usage'") == [(-1,)]
    await fetched(url, "ANALYZE promotion_usage")
    version = int((await fetched(url, "SHOW server_version_num"))[0][0])
    found = await fetched(url, "SELECT reltuples FROM pg_class WHERE relname = 'promotion_usage'")
    assert found == [(len(TENANTS) if version >= 170000 else -1,)]


async def test_row_level_security_includes_tables_of_later_upgrades(databases: Databases, url: str) -> None:
    await fetched(databases.owner_url(url), "CREATE TABLE later (id int)")
    await fetched(url, "INSERT INTO later VALUES (1)")
    assert [row["id"] for row in await fetched(url, "SELECT * FROM later")] == [1]


def test_needless_privileges_of_the_serving_role_are_reported(databases: Databases, url: str) -> None:
    assert needless_power(url) is None
    assert needless_power(databases.owner_url(url)) == (OWNER, "owns the tables")
    role, power = needless_power(past_the_wall(url)) or ("", "")
    assert (bool(role), power) == (True, "is a superuser")
    assert needless_power("sqlite:///x") is None


def test_an_operator_grants_a_role_the_right_to_serve(databases: Databases, url: str) -> None:
    owner = databases.owner_url(url)
    assert "may now serve" in promenade("db", "grant", SERVING, "--database-url", owner)
    with pytest.raises(Invalid, match="no role nobody"):
        grant(owner, "nobody")
    with pytest.raises(AssertionError, match="exited 2"):
        promenade("db", "grant", SERVING, "--database-url", "sqlite:///x.db")
