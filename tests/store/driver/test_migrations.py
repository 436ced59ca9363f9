"""New and upgraded databases have exactly the tables that the model declares, and older programs keep working."""

from __future__ import annotations

import asyncio
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import asyncpg
import pytest
import sqlalchemy as sa

from promenade.store.driver import migrations
from promenade.store.driver.migrations import baseline
from promenade.store.driver.schema import metadata
from tests.kit.databases import Databases, Dialect

# PostgreSQL's metadata of tables: columns with types, collations and defaults; constraints; indexes.
CATALOGUE = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull::text, coalesce(l.collname, '')
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
  LEFT JOIN pg_collation l ON l.oid = a.attcollation
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
UNION ALL
SELECT r.conrelid::regclass::text, r.conname, pg_get_constraintdef(r.oid), '', ''
  FROM pg_constraint r WHERE r.connamespace = 'public'::regnamespace AND r.contype <> 'n'
UNION ALL
SELECT tablename, indexname, indexdef, '', '' FROM pg_indexes WHERE schemaname = 'public'
"""
NEWER = sa.text("UPDATE alembic_version SET version_num = '9999'")
WORKS_WITH_NEWER_ALONE = sa.text("UPDATE schema_compatibility SET works_with = '9999'")
FIRST = Path(__file__).with_name("first_tables")
PAGE = Path(__file__).parents[3] / "docs/how-to/upgrade-without-downtime.md"
RELEASED = {
    "postgresql.sql": "4fbe07927a67986574677e1c9eae09acef1a106d733848b4a3a098f98647815a",
    "sqlite.sql": "808088bec3f896300127638c02739d4b2addbb80eaed75dae47bd8c86361950c",
}
"""SHA-256 of the steps that databases of users have gone through."""


@pytest.fixture
def owner_url(databases: Databases, database_url: str) -> str:
    """The URL of a migrated database for a role that may upgrade it."""
    return databases.owner_url(database_url)


def description(url: str) -> set[tuple[str, ...]]:
    """Return all table metadata of the database, except Alembic's own table."""
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        try:
            found = set(of_sqlite(connection))
        finally:
            connection.close()
    else:

        async def read() -> set[tuple[str, ...]]:
            connection = await asyncpg.connect(url)
            try:
                return {tuple(row) for row in await connection.fetch(CATALOGUE)}
            finally:
                await connection.close()

        with ThreadPoolExecutor(1) as thread:
            found = thread.submit(lambda: asyncio.run(read())).result()
    return {row for row in found if row[0] != "alembic_version"}


def of_sqlite(connection: sqlite3.Connection) -> Iterator[tuple[str, ...]]:
    """Columns, keys and references of each table, and the text of everything else: steps add columns at the end."""
    tables = connection.execute("SELECT name, wr, strict FROM pragma_table_list WHERE type = 'table'").fetchall()
    for table, *form in tables:
        if not table.startswith("sqlite_"):
            yield (table, *map(str, form))
            for column in connection.execute("SELECT * FROM pragma_table_xinfo(?)", (table,)):
                yield (table, *map(str, column[1:]))
            for reference in connection.execute("SELECT * FROM pragma_foreign_key_list(?)", (table,)):
                yield (table, *map(str, reference[1:]))
    others = "SELECT tbl_name, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND type <> 'table'"
    for table, name, sql in connection.execute(others):
        yield (table, name, " ".join(sql.split()))


def step_from(url: str) -> None:
    """Make a database of the first release."""

    def work(connection: sa.Connection) -> None:
        script = FIRST / f"{connection.dialect.name}.sql"
        for statement in script.read_text(encoding="utf-8").removesuffix(";\n").split(";\n\n"):
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql(
            "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL"
            ", CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
        )
        connection.exec_driver_sql("INSERT INTO alembic_version VALUES ('0001')")
        connection.exec_driver_sql("INSERT INTO schema_compatibility VALUES ('0001')")

    migrations.in_transaction(url, work)


def create_from_model(url: str) -> None:
    """Create the tables of the model, without migrations."""
    migrations.in_transaction(url, metadata.create_all)


def test_a_new_database_has_exactly_the_tables_of_the_model(databases: Databases, dialect: Dialect) -> None:
    upgraded, created = databases.create_empty(dialect), databases.create_empty(dialect)
    try:
        assert migrations.current(upgraded) is None
        migrations.upgrade(upgraded)
        create_from_model(created)
        assert description(upgraded) == description(created)
        assert migrations.current(upgraded) == migrations.head()
    finally:
        databases.drop(upgraded)
        databases.drop(created)


def test_an_upgrade_from_the_first_release_ends_at_the_same_tables(databases: Databases, dialect: Dialect) -> None:
    upgraded, created = databases.create_empty(dialect), databases.create_empty(dialect)
    try:
        step_from(upgraded)
        migrations.upgrade(upgraded)
        migrations.upgrade(created)
        assert description(upgraded) == description(created)
        assert migrations.current(upgraded) == migrations.HEAD
        assert noted(upgraded) == noted(created) == [migrations.WORKS_WITH]
        assert migrations.differences(upgraded) == []
    finally:
        databases.drop(upgraded)
        databases.drop(created)


def test_an_upgraded_store_reads_everything_anew(databases: Databases, dialect: Dialect) -> None:
    """The version before has dropped what it did not know."""
    url = databases.create_empty(dialect)
    try:
        step_from(url)

        def link(connection: sa.Connection) -> None:
            now = "0" if dialect == "sqlite" else "now()"
            see_all(connection)
            columns = "name, url, auth_url, client_id, client_secret, store_code, interval_seconds, changed_at, cursor"
            values = f"'cloud', 'https://c', 'https://c', 'id', 'secret', 'S', 60, {now}, 'place'"
            connection.exec_driver_sql(f"INSERT INTO sync_link ({columns}) VALUES ({values})")
            connection.exec_driver_sql(f"INSERT INTO sync_pages VALUES ('t', 1, '', {now})")

        def read(connection: sa.Connection) -> None:
            see_all(connection)
            found.append(connection.exec_driver_sql("SELECT cursor FROM sync_link").scalar())
            found.append(connection.exec_driver_sql("SELECT count(*) FROM sync_pages").scalar())

        def see_all(connection: sa.Connection) -> None:
            if dialect == "postgresql":
                connection.exec_driver_sql("SET LOCAL promenade.tenant = '*'")

        found: list[object] = []
        migrations.in_transaction(url, link)
        migrations.upgrade(url)
        migrations.in_transaction(url, read)
        assert found == [None, 0]
    finally:
        databases.drop(url)


def test_indexes_may_be_made_before_the_upgrade_as_its_page_says(databases: Databases) -> None:
    page = PAGE.read_text(encoding="utf-8")
    (statements,) = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    upgraded, created = databases.create_empty("postgresql"), databases.create_empty("postgresql")
    try:
        step_from(upgraded)
        indexes = statements.replace(" CONCURRENTLY", "").split(";\n")[:-1]
        migrations.in_transaction(upgraded, lambda connection: [connection.exec_driver_sql(one) for one in indexes])
        migrations.upgrade(upgraded)
        migrations.upgrade(created)
        assert description(upgraded) == description(created)
    finally:
        databases.drop(upgraded)
        databases.drop(created)


def noted(url: str) -> list[str]:
    """The oldest revision whose programs work on the database, as older programs read it."""
    query = sa.text("SELECT works_with FROM schema_compatibility")
    return list(migrations.in_transaction(url, lambda connection: connection.execute(query).scalars().all()))


def test_a_new_sqlite_database_equals_one_made_by_alembic(databases: Databases) -> None:
    by_script, by_steps = databases.create_empty("sqlite"), databases.create_empty("sqlite")
    try:
        migrations.upgrade(by_script)
        migrations.in_transaction(by_steps, migrations._upgrade)
        assert written(by_script) == written(by_steps)
        assert migrations.current(by_script) == migrations.current(by_steps) == migrations.HEAD
    finally:
        databases.drop(by_script)
        databases.drop(by_steps)


def written(url: str) -> list[tuple[str, ...]]:
    """Return the schema exactly as stored in the file, including Alembic's own table."""
    connection = sqlite3.connect(url.removeprefix("sqlite:///"))
    try:
        return connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").fetchall()
    finally:
        connection.close()


def test_what_is_known_without_alembic_is_what_the_revisions_say() -> None:
    steps = {step.revision: step.module.works_with for step in migrations._scripts().walk_revisions()}
    assert migrations.head() == migrations.HEAD == max(steps)
    assert max(steps.values()) == migrations.WORKS_WITH
    assert sorted(steps) == [f"{number:04}" for number in range(1, len(steps) + 1)]


@pytest.mark.parametrize(("name", "digest"), RELEASED.items())
def test_what_is_released_stays(name: str, digest: str) -> None:
    assert sha256((FIRST / name).read_bytes()).hexdigest() == digest, "write a new revision instead"


NEXT = """
from alembic import op

revision, down_revision, works_with = "{next}", "{head}", "{head}"


def upgrade():
    op.execute("ALTER TABLE tenants ADD COLUMN shelf VARCHAR(20)")
    op.execute("{last}")
"""


@pytest.fixture
def next_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Make the program one that has a further step, whose last statement is given; return its revision."""

    def make(last: str) -> str:
        head = migrations.HEAD
        following = f"{int(head) + 1:04}"
        shutil.copytree(baseline.HERE, tmp_path / "steps", ignore=shutil.ignore_patterns("__pycache__"))
        step = tmp_path / "steps" / "versions" / f"{following}_shelves.py"
        step.write_text(NEXT.format(next=following, head=head, last=last), encoding="utf-8")
        config = migrations._config()
        config.set_main_option("script_location", str(tmp_path / "steps").replace("%", "%%"))
        monkeypatch.setattr(migrations, "_config", lambda: config)
        monkeypatch.setattr(migrations, "HEAD", following)
        monkeypatch.setattr(migrations, "WORKS_WITH", head)
        return following

    return make


def shelves(url: str) -> list[tuple[str, ...]]:
    return [row for row in description(url) if row[0] == "tenants" and row[1] == "shelf"]


def test_a_step_is_taken_and_a_sqlite_file_copied_before(
    databases: Databases, owner_url: str, next_release: Callable[[str], str]
) -> None:
    following = next_release("SELECT 1")
    assert migrations.is_behind(owner_url)
    migrations.upgrade(owner_url)
    assert migrations.current(owner_url) == following
    assert len(shelves(owner_url)) == 1
    assert noted(owner_url) == [migrations.WORKS_WITH] != [following]
    if owner_url.startswith("sqlite"):
        copy = Path(f"{owner_url.removeprefix('sqlite:///')}.before-{following}")
        assert copy.stat().st_mode & 0o777 == 0o600
        assert shelves(f"sqlite:///{copy}") == []
        with closing(sqlite3.connect(copy)) as before:
            assert before.execute("SELECT version_num FROM alembic_version").fetchall() == [(migrations.WORKS_WITH,)]


def test_a_step_that_fails_leaves_the_database_as_it_was(owner_url: str, next_release: Callable[[str], str]) -> None:
    before = description(owner_url)
    next_release("NONSENSE")
    with pytest.raises(Exception, match="NONSENSE"):
        migrations.upgrade(owner_url)
    assert description(owner_url) == before
    assert migrations.is_behind(owner_url)


def test_a_database_with_tables_but_without_a_revision_is_not_overwritten(databases: Databases) -> None:
    url = databases.create_empty("sqlite")
    try:
        migrations.in_transaction(url, lambda connection: connection.exec_driver_sql("CREATE TABLE tenants (id TEXT)"))
        with pytest.raises(sa.exc.OperationalError, match="already exists"):
            migrations.upgrade(url)
        assert {name for name, *_ in description(url)} == {"tenants"}
    finally:
        databases.drop(url)


def test_alembic_sees_no_difference_either(owner_url: str) -> None:
    assert migrations.differences(owner_url) == []


def test_a_second_upgrade_changes_nothing(owner_url: str) -> None:
    before = description(owner_url)
    migrations.upgrade(owner_url)
    assert description(owner_url) == before


def test_upgrades_at_once_do_not_disturb_each_other(databases: Databases, dialect: Dialect) -> None:
    url = databases.create_empty(dialect)
    try:
        with ThreadPoolExecutor(4) as threads:
            for done in [threads.submit(migrations.upgrade, url) for _ in range(4)]:
                done.result()
        assert migrations.current(url) == migrations.head()
    finally:
        databases.drop(url)


def test_an_upgrade_lets_sales_go_first(databases: Databases) -> None:
    url = databases.create_empty("postgresql")
    waits = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'redemption_logs'::regclass"

    async def sell() -> None:
        till = await asyncpg.connect(url)
        try:
            async with till.transaction():
                await till.execute("LOCK TABLE redemption_logs IN ROW EXCLUSIVE MODE")
                upgrade = asyncio.create_task(asyncio.to_thread(migrations.upgrade, url))
                while not await till.fetch(waits):
                    assert not upgrade.done()
                await till.execute("LOCK TABLE coupon_claims IN ROW EXCLUSIVE MODE")  # which the upgrade holds
            await upgrade
        finally:
            await till.close()

    try:
        step_from(url)
        asyncio.run(sell())
        assert migrations.current(url) == migrations.HEAD
    finally:
        databases.drop(url)


def test_an_upgrade_ends_if_a_table_stays_in_use(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrations, "_PATIENCE_SECONDS", 0)
    url = databases.create_empty("postgresql")

    async def export() -> None:
        reader = await asyncpg.connect(url)
        try:
            async with reader.transaction():
                await reader.execute("LOCK TABLE redemption_logs IN ROW EXCLUSIVE MODE")
                with pytest.raises(sa.exc.DBAPIError, match="lock timeout"):
                    await asyncio.wait_for(asyncio.to_thread(migrations.upgrade, url), 60)
        finally:
            await reader.close()

    try:
        step_from(url)
        before = description(url)
        asyncio.run(export())
        assert description(url) == before
        assert migrations.is_behind(url)
    finally:
        databases.drop(url)


def test_a_failed_upgrade_is_rolled_back(
    databases: Databases, dialect: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = databases.create_empty(dialect)
    read = Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda path, **options: read(path, **options).removesuffix(";\n") + ";\n\nCREATE NONSENSE;\n"
    )
    try:
        with pytest.raises(Exception, match="NONSENSE"):
            migrations.upgrade(url)
        assert description(url) == set()
        assert migrations.current(url) is None
    finally:
        databases.drop(url)


@pytest.mark.parametrize("name", baseline.DIALECTS)
def test_the_script_of_new_databases_equals_the_model(name: str) -> None:
    written = (baseline.HERE / f"newest_{name}.sql").read_text(encoding="utf-8")
    assert written == baseline.render(name), "run: python -m promenade.store.driver.migrations.baseline"


def test_a_database_of_a_newer_program_is_left_alone(owner_url: str) -> None:
    migrations.in_transaction(owner_url, lambda connection: connection.execute(NEWER))
    before = description(owner_url)
    migrations.in_transaction(owner_url, lambda connection: connection.execute(WORKS_WITH_NEWER_ALONE))
    with pytest.raises(LookupError, match="revision 9999"):
        migrations.upgrade(owner_url)
    assert description(owner_url) == before


def test_an_older_program_works_on_newer_tables_that_say_so(owner_url: str) -> None:
    migrations.in_transaction(owner_url, lambda connection: connection.execute(NEWER))
    migrations.upgrade(owner_url)
    assert migrations.current(owner_url) == "9999"
    assert not migrations.is_behind(owner_url)


def test_an_unsupported_database_cannot_be_upgraded() -> None:
    with pytest.raises(ValueError, match="unsupported database mysql"):
        migrations.upgrade("mysql://localhost/promenade")
