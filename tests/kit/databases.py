"""Fresh, migrated databases, cheap enough for every test: migrated once, then copied."""

from __future__ import annotations

import asyncio
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

__all__ = ["DIALECTS", "Databases", "Dialect"]

Dialect = Literal["sqlite", "postgresql"]
DIALECTS: tuple[Dialect, ...] = ("sqlite", "postgresql")


class Databases:
    """Makes databases on demand. One object serves one test process and removes nothing but its own."""

    def __init__(self, directory: Path, postgres_url: Callable[[], str], migrate: Callable[[str], None]) -> None:
        self._directory = directory
        self._postgres_url = postgres_url  # asked for at first need: most tests need no server
        self._migrate = migrate
        self._names = itertools.count(1)
        self._templates: dict[Dialect, str] = {}

    def create(self, dialect: Dialect) -> str:
        """The URL of a new database with the current schema and no rows."""
        template = self._template(dialect)
        if dialect == "sqlite":
            path = self._directory / f"{next(self._names)}.sqlite3"
            shutil.copyfile(template, path)
            return f"sqlite:///{path}"
        name = self._new_name()
        self._administer(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self._url_of(name)

    def create_empty(self, dialect: Dialect) -> str:
        """The URL of a new database without a schema, as `promenade db upgrade` first meets it."""
        if dialect == "sqlite":
            return f"sqlite:///{self._directory / f'{next(self._names)}.sqlite3'}"
        name = self._new_name()
        self._administer(f'CREATE DATABASE "{name}"')
        return self._url_of(name)

    def drop(self, url: str) -> None:
        """Remove a database that `create` or `create_empty` made, whoever is still connected to it."""
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
            self._templates[dialect] = _sqlite_path(url) if dialect == "sqlite" else urlsplit(url).path[1:]
        return self._templates[dialect]

    def _new_name(self) -> str:
        return f"test_{os.getpid()}_{next(self._names)}"

    def _url_of(self, name: str) -> str:
        return urlunsplit(urlsplit(self._postgres_url())._replace(path=f"/{name}"))

    def _administer(self, statement: str) -> None:
        url = self._postgres_url()  # here: a server started by a thread would end with that thread

        async def run() -> None:
            connection = await asyncpg.connect(url)
            try:
                await connection.execute(statement)
            finally:
                await connection.close()

        # A thread of its own: fixtures may run while a test's event loop does.
        _in_thread(lambda: asyncio.run(run()))


def _sqlite_path(url: str) -> str:
    """The file of a migrated template, with its write-ahead log folded in so that one file is everything."""
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
