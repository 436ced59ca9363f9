"""The key that hides names of callers and addresses from a shared cache: the same for all processes on a database."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from promenade.store.access.cache_keys import keep_cache_key, read_cache_key
from promenade.store.driver.unit import Database


async def cache_key(database: Database, draw: Callable[[], bytes], at: datetime) -> bytes:
    """Return the key of this database; what ``draw`` returns, 32 random bytes, becomes it if there is none yet.

    Raises Unavailable if the database does not answer.
    """
    found = await database.read(read_cache_key, system=True)
    if found is None:
        drawn = draw()
        await database.write(lambda session: keep_cache_key(session, drawn, at), system=True)
        found = await database.read(read_cache_key, system=True)
    if found is None:
        raise LookupError("the key that was just stored is gone")
    return found
