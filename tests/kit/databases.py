"""Fresh, migrated databases, cheap enough for every test: migrated once, then copied.

On PostgreSQL one role owns the databases and their tables. Tests get the URL of another role that owns nothing, so they
run behind row-level security, as a service should. Tests that must bypass it connect to `past_the_wall`.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from tests.kit.profile import made

__all__ = ["DIALECTS", "Databases", "Dialect", "past_the_wall"]

Dialect = Literal["sqlite", "postgresql"]
DIALECTS: tuple[Dialect, ...] = ("sqlite", "postgresql")

OWNER = "promenade_test_owner"
SERVING = "promenade_test_serving"
_MAKE_ROLES = "; ".join(f"CREATE ROLE {role} LOGIN PASSWORD '{role}'" for role in (OWNER, SERVING))
_superuser_urls: dict[str, str] = {}


def past_the_wall(url: str) -> str:
    """Return the URL of the same database for the superuser, who bypasses row-level security; SQLite URLs are
    unchanged.
    """
    return url if url.startswith("sqlite:") else _superuser_urls[url]


class Databases:
    """Creates databases on demand. One object serves one test process and removes only its own databases."""

    def __init__(
        self,
        directory: Path,
        postgres_url: Callable[[], str],
        migrate: Callable[[str], None],
        grant: Callable[[str, str], None],
    ) -> None:
        self._directory = directory
        self._postgres_url = postgres_url  # a superuser's; called on first use because most tests need no server
        self._migrate = migrate
        self._grant = grant
        self._has_roles = False
        self._names = itertools.count(1)
        self._templates: dict[Dialect, str] = {}

    def create(self, dialect: Dialect) -> str:
        """Create a database with the current schema and no rows; return its URL for a role that owns nothing."""
        template = self._template(dialect)
        made("databases")
        if dialect == "sqlite":
            path = self._directory / f"{next(self._names)}.sqlite3"
            shutil.copyfile(template, path)
            return f"sqlite:///{path}"
        name = self._new_name()
        # Copy files instead of using the write-ahead log (the default), which takes twice as long.
        self._administer(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY FILE_COPY OWNER {OWNER}')
        return self._url_of(name, SERVING)

    def create_empty(self, dialect: Dialect) -> str:
        """Create a database without a schema, as `promenade db upgrade` first sees it; return the URL for its owner."""
        made("databases")
        if dialect == "sqlite":
            return f"sqlite:///{self._directory / f'{next(self._names)}.sqlite3'}"
        name = self._new_name()
        self._make_roles()
        self._administer(f'CREATE DATABASE "{name}" OWNER {OWNER}')
        return self._url_of(name, OWNER)

    def owner_url(self, url: str) -> str:
        """Return the URL of a database made by `create`, for the role that owns it."""
        return url if url.startswith("sqlite:") else self._url_of(urlsplit(url).path[1:], OWNER)

    def serving_url(self, url: str) -> str:
        """Return the URL of a database made by `create_empty`, for the role that owns nothing and may be granted it."""
        return url if url.startswith("sqlite:") else self._url_of(urlsplit(url).path[1:], SERVING)

    def drop(self, url: str) -> None:
        """Remove a database made by `create` or `create_empty`, even if clients are still connected to it."""
        if url.startswith("sqlite:"):
            path = Path(url.removeprefix("sqlite:///"))
            for file in path.parent.glob(f"{path.name}*"):
                file.unlink(missing_ok=True)
        else:
            self._administer(f'DROP DATABASE IF EXISTS "{urlsplit(url).path[1:]}" WITH (FORCE)')

    def close(self) -> None:
        """Remove the templates."""
        if "postgresql" in self._templates:
            self._administer(f'DROP DATABASE IF EXISTS "{self._templates["postgresql"]}" WITH (FORCE)')
        self._templates.clear()

    def _template(self, dialect: Dialect) -> str:
        if dialect not in self._templates:
            url = self.create_empty(dialect)
            self._migrate(url)
            if dialect == "postgresql":
                self._grant(url, SERVING)
            self._templates[dialect] = _sqlite_path(url) if dialect == "sqlite" else urlsplit(url).path[1:]
        return self._templates[dialect]

    def _new_name(self) -> str:
        return f"test_{os.getpid()}_{next(self._names)}"

    def _url_of(self, name: str, role: str) -> str:
        given = urlsplit(self._postgres_url())
        place = given.netloc.rpartition("@")[2]
        url = urlunsplit(given._replace(netloc=f"{role}:{role}@{place}", path=f"/{name}"))
        _superuser_urls[url] = urlunsplit(given._replace(path=f"/{name}"))
        return url

    def _make_roles(self) -> None:
        """Create the roles; they belong to the server, which other test processes share."""
        if not self._has_roles:
            with contextlib.suppress(asyncpg.DuplicateObjectError, asyncpg.UniqueViolationError):
                self._administer(_MAKE_ROLES)
            self._has_roles = True

    def _administer(self, statement: str) -> None:
        url = self._postgres_url()  # in this thread: a server started by a thread would end with that thread

        async def run() -> None:
            connection = await asyncpg.connect(url)
            try:
                await connection.execute(statement)
            finally:
                await connection.close()

        # Use a separate thread: fixtures may run while a test's event loop is running.
        _in_thread(lambda: asyncio.run(run()))


def _sqlite_path(url: str) -> str:
    """Return the file of a migrated template, with its write-ahead log merged so that one file holds everything."""
    path = url.removeprefix("sqlite:///")
    connection = sqlite3.connect(path)
    try:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode=DELETE")
    finally:
        connection.close()
    return path


def _in_thread(work: Callable[[], None]) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
