"""Fresh databases for each part: SQLite, and PostgreSQL on one server that all parts of a run share."""

from __future__ import annotations

import asyncio
import atexit
import itertools
import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import process_time

import asyncpg

from tests.kit.postgres import PostgresServer

__all__ = ["KINDS", "Place", "Spent", "limit_to", "places", "postgresql_analyzed", "postgresql_processes", "spent"]

KINDS = ("SQLite", "PostgreSQL")

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PREFIX = "promenade-bench-"
_numbers = itertools.count(1)
_kinds = set(KINDS)


@dataclass(frozen=True, slots=True)
class Place:
    """An empty database and a directory of its own; ``database`` is SQLite or PostgreSQL."""

    database: str
    url: str
    home: Path

    @property
    def is_sqlite(self) -> bool:
        return self.database == "SQLite"


def limit_to(kind: str) -> None:
    """Measure only on this kind of database from now on."""
    _kinds.intersection_update({kind})


def places() -> Iterator[Place]:
    """Yield one place for each kind of database that is measured; it is removed before the next one is made."""
    if "SQLite" in _kinds:
        with tempfile.TemporaryDirectory(prefix=_PREFIX) as directory:
            yield Place("SQLite", f"sqlite:///{directory}/bench.db", Path(directory))
    if "PostgreSQL" in _kinds:
        yield from _on_postgresql()


def _on_postgresql() -> Iterator[Place]:
    server, name = _postgresql(), f"bench_{next(_numbers)}"
    asyncio.run(_administer(server.url, f"CREATE DATABASE {name}"))
    try:
        with tempfile.TemporaryDirectory(prefix=_PREFIX) as directory:
            yield Place("PostgreSQL", server.url_of(name), Path(directory))
    finally:
        asyncio.run(_administer(server.url, f"DROP DATABASE {name} WITH (FORCE)"))


@cache
def _postgresql() -> PostgresServer:
    """Start a server with the default durability of PostgreSQL; it ends with this process."""
    home = tempfile.mkdtemp(prefix=_PREFIX)
    server = PostgresServer(Path(home) / "postgres.log", settings={})
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    atexit.register(server.stop)  # the last one registered runs first
    server.start()
    return server


def postgresql_processes() -> list[int]:
    """Return the IDs of the server's processes, as Linux knows them."""
    server = str(_postgresql().pid)
    found = [server]
    for one in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            if one.read_text(encoding="utf-8").rpartition(")")[2].split()[1] == server:
                found.append(one.parent.name)
    return [int(one) for one in found]


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of CPU time, which a busy machine changes little.

    Of this process, and of the PostgreSQL server; SQLite runs in this process.
    """

    program: float
    server: float


async def spent(url: str, work: Callable[[], Awaitable[object]]) -> Spent:
    """Do the work on the database at ``url``; return what it took."""
    server = _server_seconds if url.startswith("postgresql") else lambda: 0.0
    before = process_time(), server()
    await work()
    return Spent(process_time() - before[0], server() - before[1])


def _server_seconds() -> float:
    """Return the CPU time that the processes of the PostgreSQL server have taken so far."""
    ticks = 0
    for pid in postgresql_processes():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except FileNotFoundError:  # it ended meanwhile
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS_PER_SECOND


async def postgresql_analyzed(url: str) -> None:
    """Collect the statistics of a database for its planner."""
    await _administer(url, "ANALYZE")


async def _administer(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
