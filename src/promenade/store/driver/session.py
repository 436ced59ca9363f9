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

from promenade.store.driver.unit import Database, Session

__all__ = ["Database", "Session", "open_database"]


async def open_database(url: str, *, waiting_max: int = 2048, seconds_max: float = 10.0) -> Database:
    """Open ``sqlite:///path`` or ``postgresql://...``.

    ``waiting_max`` limits the number of waiting units of work, ``seconds_max`` the run time of one statement; beyond
    either a unit fails with `Unavailable`. Raises ValueError for any other kind of URL.
    """
    if url.startswith("sqlite"):
        from promenade.store.driver.sqlite import SqliteDatabase

        return await SqliteDatabase.open(url, waiting_max=waiting_max, seconds_max=seconds_max)
    if url.startswith("postgres"):
        from promenade.store.driver.postgresql import PostgresqlDatabase

        return await PostgresqlDatabase.open(url, waiting_max=waiting_max, seconds_max=seconds_max)
    raise ValueError(f"unsupported database {url.partition(':')[0]}: give sqlite:///path or postgresql://...")
