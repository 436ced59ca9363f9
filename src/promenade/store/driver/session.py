"""Units of work: the only access to the database.

::

    db = await open_database("sqlite:////var/lib/promenade/promenade.db")
    promotion = await db.read(find_promotion, tenant="t1")
    await db.write(book_it, tenant="t1")

A unit of work is ``async def work(session) -> T``. One call is one transaction: committed when it returns, rolled back
when it raises; nothing else commits. It awaits only methods of its session: on SQLite the writer thread drives it
without an event loop, many units to one commit; on PostgreSQL it runs on a pooled connection, and may run a second time
if the connection broke before its commit was sent.
"""

# ruff: noqa: PLC0415 -- only the driver that is used is imported: PostgreSQL's takes a third of a second

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from promenade.store.driver.tenancy import Scope
from promenade.store.driver.unit import Database, Session, Work

__all__ = ["Database", "Replicated", "Session", "open_database"]

T = TypeVar("T")


async def open_database(url: str, *, waiting_max: int = 2048, seconds_max: float = 10.0) -> Database:
    """Open ``sqlite:///path`` or ``postgresql://...``.

    ``waiting_max`` limits the number of waiting units of work, ``seconds_max`` the run time of one statement; beyond
    either a unit fails with `Unavailable`. Raises ValueError for any other kind of URL.
    """
    if url.startswith("sqlite"):
        from promenade.store.driver.sqlite.database import SqliteDatabase

        return await SqliteDatabase.open(url, waiting_max=waiting_max, seconds_max=seconds_max)
    if url.startswith("postgres"):
        from promenade.store.driver.postgresql.database import PostgresqlDatabase

        return await PostgresqlDatabase.open(url, waiting_max=waiting_max, seconds_max=seconds_max)
    raise ValueError(f"unsupported database {url.partition(':')[0]}: give sqlite:///path or postgresql://...")


class Replicated(Database):
    """Reads from a streaming ``replica``, and writes to ``primary``: for reports, which may be a moment old.

    It owns neither of them: who opened them closes them. If the replica is gone, reads raise `Unavailable`: the primary
    would get their load just when it hurts most.
    """

    def __init__(self, primary: Database, replica: Database) -> None:
        self._primary, self._replica = primary, replica
        self.dialect, self.url = primary.dialect, primary.url

    async def hot(self, name: str, params: tuple[Any, ...], *, durable: bool = False) -> Sequence[Sequence[Any]]:
        """Run a statement that may write, on the primary."""
        return await self._primary.hot(name, params, durable=durable)

    async def ping(self) -> None:
        """Return when the replica answers."""
        await self._replica.ping()

    async def close(self) -> None:
        """Leave both open."""

    async def _write(self, work: Work[T], scope: Scope, durable: bool) -> T:
        return await self._primary._write(work, scope, durable)

    async def _read(self, work: Work[T], scope: Scope) -> T:
        return await self._replica._read(work, scope)
