"""Migrations: how a database, empty or old, gets the tables of this version.

``upgrade(url)`` is what ``promenade db upgrade`` runs. The steps are Alembic revisions in ``versions``; nothing but
this package is needed, so an installed wheel upgrades without configuration files. One upgrade is one transaction:
it happens whole or not at all, and of two at once the second waits and finds nothing left to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from promenade.store.row_security import EVERY_TENANT, tell
from promenade.store.schema import metadata

__all__ = ["SchemaAheadError", "current", "differences", "head", "in_transaction", "upgrade"]

T = TypeVar("T")

_LOCK = 7_310_000  # PostgreSQL advisory lock: one upgrade at a time


class SchemaAheadError(LookupError):
    """A newer version of the program has upgraded the database."""


def upgrade(url: str) -> None:
    """Bring the database at ``url`` (``sqlite:///path`` or ``postgresql://...``) to this version's tables.

    Raises ValueError for another kind of URL, SchemaAheadError, and what the driver raises when the database does not
    answer.
    """
    in_transaction(url, _upgrade)


def current(url: str) -> str | None:
    """The revision of the database at ``url``; None: it has no tables yet. Raises SchemaAheadError."""
    return in_transaction(url, lambda connection: _current(connection, _scripts()))


def _current(connection: sa.Connection, scripts: ScriptDirectory) -> str | None:
    found = MigrationContext.configure(connection).get_current_revision()
    if found is not None and found not in {step.revision for step in scripts.walk_revisions()}:
        raise SchemaAheadError(f"the database is at revision {found}, which this version of the program does not know")
    return found


def head() -> str:
    """The revision that this version of the program needs."""
    revision = _scripts().get_current_head()
    if revision is None:
        raise LookupError("the program was installed without its migrations")
    return revision


def differences(url: str) -> Sequence[Any]:
    """What Alembic finds that the database at ``url`` and the model do not agree on; empty: they agree."""
    return in_transaction(
        url,
        lambda connection: compare_metadata(
            MigrationContext.configure(connection, opts={"compare_server_default": True}), metadata
        ),
    )


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    # Alembic reads the path as a template, in which a percent sign is doubled.
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _upgrade(connection: sa.Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        connection.exec_driver_sql(tell(EVERY_TENANT, local=True))  # a step may have to change rows
    scripts = _scripts()
    _current(connection, scripts)
    with EnvironmentContext(
        _config(), scripts, fn=lambda revision, _: scripts._upgrade_revs("head", revision)
    ) as steps:
        steps.configure(connection=connection, target_metadata=metadata)
        steps.run_migrations()


def in_transaction(url: str, work: Callable[[sa.Connection], T]) -> T:
    """Run ``work`` in one transaction of a connection of its own.

    Raises ValueError for another kind of URL, and what the driver raises.
    """
    if url.startswith("sqlite"):
        return _run_sqlite(url, work)
    if url.startswith("postgres"):
        # A thread of its own: the caller may be inside an event loop.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(lambda: asyncio.run(_run_postgresql(url, work))).result()
    raise ValueError(f"no database for {url.partition(':')[0]}: give sqlite:///path or postgresql://...")


def _run_sqlite(url: str, work: Callable[[sa.Connection], T]) -> T:
    engine = sa.create_engine(url, poolclass=NullPool, connect_args={"timeout": 60.0})

    @sa.event.listens_for(engine, "connect")
    def _leave_transactions_to_us(connection: Any, _: object) -> None:
        connection.isolation_level = None  # the driver would commit before every DDL statement

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    with engine.begin() as connection:
        return work(connection)


async def _run_postgresql(url: str, work: Callable[[sa.Connection], T]) -> T:
    parsed = sa.make_url(url).set(drivername="postgresql+asyncpg")
    engine = create_async_engine(parsed, poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(work)
    finally:
        await engine.dispose()
