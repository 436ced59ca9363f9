"""The key by which names become names in a shared cache. Both functions need a system session."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import select

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session
from promenade.store.driver.upsert import upsert

_KEYS = table("cache_keys")
_NAMES = "names"


async def read_cache_key(session: Session) -> bytes | None:
    """Return the key; None: no process has made it yet."""
    rows = await session.execute(select(_KEYS.c.secret).where(_KEYS.c.purpose == _NAMES))
    return bytes(rows[0].secret) if rows else None


async def keep_cache_key(session: Session, secret: bytes, at: datetime) -> None:
    """Store the key unless there is one already: of processes that start together, one is first."""
    row = {"purpose": _NAMES, "secret": secret, "created_at": at}
    await session.rowcount(upsert(session.dialect, _KEYS).on_conflict_do_nothing(), row)
