"""Units of work: the only way to the database.

::

    db = await open_database("sqlite:////var/lib/promenade/promenade.db")
    promotion = await db.read(find_promotion, tenant="t1")
    await db.write(book_it, tenant="t1")

A unit of work is ``async def work(session) -> T``. One call is one transaction: committed when it returns, rolled back
when it raises; nothing else commits. It awaits nothing but methods of its session: on SQLite the writer thread
drives it without an event loop, many units to one commit; on PostgreSQL it runs on a pooled connection, and may run
a second time when the connection broke before its commit was sent.
"""

from __future__ import annotations

from promenade.store.postgresql import PostgresqlDatabase
from promenade.store.sqlite import SqliteDatabase
from promenade.store.unit import Database, Session, Work

__all__ = ["Database", "Session", "Work", "open_database"]


async def open_database(url: str, *, waiting_max: int = 2048, seconds_max: float = 10.0) -> Database:
    """Open ``sqlite:///path`` or ``postgresql://...``.

    ``waiting_max`` bounds the units of work that wait for their turn, ``seconds_max`` how long one statement may
    run; beyond either a unit fails with `Unavailable`. Raises ValueError for any other kind of URL.
    """
    if url.startswith("sqlite"):
        return await SqliteDatabase.open(url, waiting_max=waiting_max, seconds_max=seconds_max)
    if url.startswith("postgres"):
        return await PostgresqlDatabase.open(url, waiting_max=waiting_max, seconds_max=seconds_max)
    raise ValueError(f"no database for {url.partition(':')[0]}: give sqlite:///path or postgresql://...")
