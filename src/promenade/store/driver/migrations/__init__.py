"""Migrations: they bring a database, empty or old, to the tables of this version.

``upgrade(url)`` is what ``promenade db upgrade`` runs. An empty database gets the newest tables from one script, which
is written from the model; an older one goes through the Alembic revisions in ``versions``. Nothing but this package is
needed, so an installed wheel upgrades without configuration files. One upgrade is one transaction: it is applied as a
whole or not at all; of two concurrent upgrades the second waits and finds nothing left to do. A SQLite file is copied
before its tables change.

Tills sell on PostgreSQL meanwhile. A step that holds one table and waits for another could wait for a sale that waits
for it, and PostgreSQL would end either of them after a second. So a step gives up sooner, and the upgrade begins again.

A revision says which programs still work on its tables (``works_with``, the oldest revision that they may be of); the
table ``schema_compatibility`` tells it to programs that do not know the revision. So the previous version of the
program runs on, and starts again, on the tables of this one. Revisions are numbers of four digits, in order.

Most starts find a database of this version, and most others an empty SQLite file. Neither needs Alembic.
"""

# ruff: noqa: PLC0415 -- Alembic and the tables take most of a second to load, and are needed by real upgrades alone

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from promenade.store.driver.sqlite.files import copy_beside, keep_private

if TYPE_CHECKING:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

__all__ = [
    "HEAD",
    "WORKS_WITH",
    "SchemaAheadError",
    "current",
    "differences",
    "give_up_soon",
    "head",
    "in_transaction",
    "is_behind",
    "upgrade",
    "when_free",
]

T = TypeVar("T")

HEAD = "0015"
"""The newest revision in ``versions``, known without loading Alembic; a test compares it with `head`."""
WORKS_WITH = "0001"
"""The oldest revision whose programs work on the tables of `HEAD`; a test compares it with the revisions."""

_NEWEST = "newest_{}.sql"  # creates the tables of HEAD: see `baseline`
_VERSION_TABLE = """CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
)"""  # noqa: W291 -- as Alembic writes it, so that a new database is the same to the byte
_NOTE = "INSERT INTO schema_compatibility (works_with) VALUES ('{}')"
_NOTED = "SELECT works_with FROM schema_compatibility"
_PATIENCE_SECONDS = 60.0
_TABLE_SECONDS = 0.5  # that a step waits for a table: less than the second after which PostgreSQL ends a sale
_IN_USE = {"55P03", "40P01"}  # what PostgreSQL answers whoever waits too long, or in a circle
_LOCK = 7_310_000  # PostgreSQL advisory lock: one upgrade at a time


class SchemaAheadError(LookupError):
    """A newer version of the program has upgraded the database to tables that this one cannot work on."""


def upgrade(url: str) -> None:
    """Upgrade the database at ``url`` (``sqlite:///path`` or ``postgresql://...``) to this version's tables.

    A SQLite file that is older is copied first, to a file beside it. A database of a newer version, on which this one
    works, is left as it is. Raises ValueError for another kind of URL, SchemaAheadError, Unavailable (COPY_FAILED), and
    the driver's errors if the database does not answer, or if others use its tables for a minute without a pause.
    """
    keep_private(url)
    if url.startswith("sqlite") and _sqlite_revision(url) == HEAD:
        return
    when_free(url, _upgrade)


def when_free(url: str, work: Callable[[sa.Connection], T]) -> T:
    """Run ``work`` as `in_transaction` does; for a minute, begin again if it gives up (`give_up_soon`).

    Raises the driver's errors.
    """
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        is_last = time.monotonic() >= end
        try:
            return in_transaction(url, work)
        except sa.exc.DBAPIError as error:
            if is_last or getattr(error.orig, "sqlstate", None) not in _IN_USE:
                raise
        time.sleep(_TABLE_SECONDS)


def give_up_soon(connection: sa.Connection) -> None:
    """On PostgreSQL, let what follows in the transaction wait for a table for less time than a sale would."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{_TABLE_SECONDS}s'")


def _sqlite_revision(url: str) -> str | None:
    """Return the revision of a SQLite database, created if it is empty; None: it has tables but no revision."""
    with closing(_raw_sqlite(url)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master LIMIT 1").fetchone()
        if found is None:
            connection.execute("BEGIN IMMEDIATE")
            # no other process has created it in the meantime
            if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
                for statement in _newest("sqlite"):
                    connection.execute(statement)
                connection.execute(_VERSION_TABLE)
                connection.execute("INSERT INTO alembic_version (version_num) VALUES (?)", (HEAD,))
            connection.execute("COMMIT")
        try:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        except sqlite3.OperationalError:
            return None  # Alembic reports the problem
    return None if row is None else str(row[0])


def _newest(dialect_name: str) -> Iterator[str]:
    """The statements that create the tables of `HEAD` in an empty database, but for the one that tells the revision."""
    script = (Path(__file__).parent / _NEWEST.format(dialect_name)).read_text(encoding="utf-8")
    yield from script.removesuffix(";\n").split(";\n\n")
    yield _NOTE.format(WORKS_WITH)


def _raw_sqlite(url: str) -> sqlite3.Connection:
    parsed = sa.make_url(url)
    arguments, keywords = parsed.get_dialect()().create_connect_args(parsed)
    is_uri = bool(keywords.get("uri"))
    return sqlite3.connect(str(arguments[0]), timeout=_PATIENCE_SECONDS, isolation_level=None, uri=is_uri)


def current(url: str, *, patience: float = _PATIENCE_SECONDS) -> str | None:
    """Return the revision of the database at ``url``; None: it has no tables yet.

    It may be newer than `HEAD`, if this program works on its tables; if not, raises SchemaAheadError.
    """
    return in_transaction(url, _current, patience=patience)


def is_behind(url: str) -> bool:
    """Return whether the database at ``url`` must be upgraded before this program can use it.

    Raises SchemaAheadError.
    """
    return (current(url) or "") < HEAD


def _current(connection: sa.Connection) -> str | None:
    from alembic.runtime.migration import MigrationContext

    found = MigrationContext.configure(connection).get_current_revision()
    if found is not None and found > HEAD and not _works_on_newer(connection):
        raise SchemaAheadError(f"the database is at revision {found}, which this version of the program does not know")
    return found


def _works_on_newer(connection: sa.Connection) -> bool:
    noted = connection.exec_driver_sql(_NOTED).scalar()
    return noted is not None and str(noted) <= HEAD


def head() -> str:
    """Return the revision that this version of the program needs."""
    revision = _scripts().get_current_head()
    if revision is None:
        raise LookupError("the program was installed without its migrations")
    return revision


def differences(url: str) -> Sequence[Any]:
    """Return the differences that Alembic finds between the database at ``url`` and the model; empty: none."""
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    from promenade.store.driver.months import differs_by_partitions
    from promenade.store.driver.schema import metadata
    from promenade.store.driver.text_index import is_of_model

    def compare(connection: sa.Connection) -> Sequence[Any]:
        differs = differs_by_partitions(connection)

        def is_compared(found: Any, name: str | None, kind: str, reflected: bool, compared_to: Any) -> bool:
            is_expected = compared_to is None and differs(found, str(name), kind)
            return not is_expected and is_of_model(found, name, kind, reflected, compared_to)

        options = {"compare_server_default": True, "include_object": is_compared}
        found: Sequence[Any] = compare_metadata(MigrationContext.configure(connection, opts=options), metadata)
        return found

    return in_transaction(url, compare)


def _scripts() -> ScriptDirectory:
    from alembic.script import ScriptDirectory

    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    # Alembic treats the path as a template, so percent signs are doubled.
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _upgrade(connection: sa.Connection) -> None:
    from promenade.store.driver.row_security import EVERY_TENANT, statement_for

    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        connection.exec_driver_sql(
            statement_for(EVERY_TENANT, local=True)
        )  # a step may have to change rows of all tenants
    found = _current(connection)
    if found is None:
        _create(connection)
    elif found < HEAD:
        copy_beside(str(connection.engine.url), f"before-{HEAD}")  # as it is: the lock is ours
        give_up_soon(connection)
        _take_steps(connection)


def _create(connection: sa.Connection) -> None:
    from alembic.runtime.migration import MigrationContext

    for statement in _newest(connection.dialect.name):
        connection.exec_driver_sql(statement)
    MigrationContext.configure(connection).stamp(_scripts(), HEAD)


def _take_steps(connection: sa.Connection) -> None:
    from alembic.runtime.environment import EnvironmentContext

    from promenade.store.driver.schema import metadata

    scripts = _scripts()
    with EnvironmentContext(
        _config(), scripts, fn=lambda revision, _: scripts._upgrade_revs("head", revision)
    ) as steps:
        steps.configure(connection=connection, target_metadata=metadata)
        steps.run_migrations()
    connection.exec_driver_sql("DELETE FROM schema_compatibility")
    connection.exec_driver_sql(_NOTE.format(WORKS_WITH))


def in_transaction(url: str, work: Callable[[sa.Connection], T], *, patience: float = _PATIENCE_SECONDS) -> T:
    """Run ``work`` in one transaction on a connection of its own.

    ``patience``: how many seconds a connection, or the lock of a SQLite file, may take. Raises ValueError for another
    kind of URL, and the driver's errors.
    """
    if url.startswith("sqlite"):
        return _run_sqlite(url, work, patience)
    if url.startswith("postgres"):
        # In a thread of its own: the caller may be inside an event loop.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(lambda: asyncio.run(_run_postgresql(url, work, patience))).result()
    raise ValueError(f"unsupported database {url.partition(':')[0]}: give sqlite:///path or postgresql://...")


def _run_sqlite(url: str, work: Callable[[sa.Connection], T], patience: float) -> T:
    engine = sa.create_engine(url, poolclass=NullPool, connect_args={"timeout": patience})

    @sa.event.listens_for(engine, "connect")
    def _leave_transactions_to_us(connection: Any, _: object) -> None:
        connection.isolation_level = None  # the driver would commit before every DDL statement

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    with engine.begin() as connection:
        return work(connection)


async def _run_postgresql(url: str, work: Callable[[sa.Connection], T], patience: float) -> T:
    from sqlalchemy.ext.asyncio import create_async_engine

    from promenade.store.driver.connecting import connect

    creator = partial(connect, url, timeout=patience)
    engine = create_async_engine("postgresql+asyncpg://", poolclass=NullPool, async_creator=creator)
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(work)
    finally:
        await engine.dispose()
