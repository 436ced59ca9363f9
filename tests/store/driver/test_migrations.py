"""Upgrading produces exactly the tables that the model declares, on both databases."""

from __future__ import annotations

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
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


@pytest.fixture
def owner_url(databases: Databases, database_url: str) -> str:
    """The URL of a migrated database for a role that may upgrade it."""
    return databases.owner_url(database_url)


def description(url: str) -> set[tuple[str, ...]]:
    """Return all table metadata of the database, except Alembic's own table."""
    if url.startswith("sqlite"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        try:
            rows = connection.execute("SELECT tbl_name, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        finally:
            connection.close()
        # ALTER TABLE and CREATE TABLE format their text differently; the content is the same.
        found: set[tuple[str, ...]] = {(table, name, " ".join(sql.split())) for table, name, sql in rows}
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


def create_from_model(url: str) -> None:
    """Create the tables of the model, without migrations."""
    migrations.in_transaction(url, metadata.create_all)


def test_an_upgraded_database_has_exactly_the_tables_of_the_model(databases: Databases, dialect: Dialect) -> None:
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


def test_the_newest_revision_is_known_without_alembic() -> None:
    assert migrations.head() == migrations.HEAD


def test_a_database_with_tables_but_without_a_revision_is_not_overwritten(databases: Databases) -> None:
    url = databases.create_empty("sqlite")
    try:
        migrations.in_transaction(url, lambda connection: connection.exec_driver_sql("CREATE TABLE tenants (id TEXT)"))
        with pytest.raises(sa.exc.OperationalError, match="already exists"):
            migrations.upgrade(url)
        assert [name for name, *_ in description(url)] == ["tenants"]
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
def test_the_first_revision_equals_the_model_until_the_first_release(name: str) -> None:
    written = (baseline.VERSIONS / f"0001_{name}.sql").read_text(encoding="utf-8")
    assert written == baseline.render(name), "run: python -m promenade.store.driver.migrations.baseline"


def test_a_database_of_a_newer_program_is_left_alone(owner_url: str) -> None:
    migrations.in_transaction(owner_url, lambda connection: connection.execute(NEWER))
    before = description(owner_url)
    with pytest.raises(LookupError, match="revision 9999"):
        migrations.upgrade(owner_url)
    assert description(owner_url) == before


def test_an_unsupported_database_cannot_be_upgraded() -> None:
    with pytest.raises(ValueError, match="unsupported database mysql"):
        migrations.upgrade("mysql://localhost/promenade")
