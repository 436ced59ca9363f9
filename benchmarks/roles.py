"""Serve as in production: on PostgreSQL as a role that owns nothing, behind row-level security."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from promenade.store.driver.postgresql.roles import grant

__all__ = ["as_served"]

ROLE = "bench_serving"


def as_served(database_url: str) -> str:
    """Return the URL of a migrated database for a role that may only serve; SQLite URLs are unchanged.

    ``database_url`` is a superuser's, who bypasses all policies and needs no password; the role is created if missing.
    """
    if database_url.startswith("sqlite:"):
        return database_url
    asyncio.run(_make_role(database_url))
    grant(database_url, ROLE)
    given = urlsplit(database_url)
    return urlunsplit(given._replace(netloc=f"{ROLE}@{given.netloc.rpartition('@')[2]}"))


async def _make_role(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        if not await connection.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", ROLE):
            await connection.execute(f"CREATE ROLE {ROLE} LOGIN")
    finally:
        await connection.close()
