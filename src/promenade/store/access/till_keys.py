"""The rows of `till_keys`: keys that a store has given to single tills, as digests.

Every function needs a system session, or one of the store's tenant. In the cloud the table is empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_KEYS = table("till_keys")


@dataclass(frozen=True, slots=True)
class TillKey:
    """A till's key. Digests are SHA-256 in hexadecimal digits; the former key is accepted before ``former_until``."""

    name: str
    digest: str
    created_at: datetime
    former_digest: str | None = None
    former_until: datetime | None = None
    rotated_at: datetime | None = None
    last_used_at: datetime | None = None

    def accepts_former_until(self, now: datetime) -> datetime | None:
        """Return how long the former key is still accepted; None: it is not."""
        return self.former_until if self.former_until is not None and now < self.former_until else None


async def read_till_keys(session: Session) -> list[TillKey]:
    """Return all keys, by name."""
    c = _KEYS.c
    columns = (c.name, c.digest, c.created_at, c.former_digest, c.former_until, c.rotated_at, c.last_used_at)
    return [TillKey(*tuple(row)) for row in await session.execute(select(*columns).order_by(c.name))]


async def insert_till_key(session: Session, name: str, digest: str, at: datetime) -> None:
    """Insert a first key."""
    await session.rowcount(insert(_KEYS), {"name": name, "digest": digest, "created_at": at})


async def replace_till_key(
    session: Session, name: str, digest: str, at: datetime, *, former_until: datetime | None
) -> bool:
    """Replace a key; the present one is accepted until ``former_until``, None: no longer. Return whether it exists."""
    former = _KEYS.c.digest if former_until is not None else None
    values = {"digest": digest, "former_digest": former, "former_until": former_until, "rotated_at": at}
    return bool(await session.rowcount(update(_KEYS).where(_KEYS.c.name == name).values(**values)))


async def delete_till_key(session: Session, name: str) -> bool:
    """Delete a key; return whether it existed."""
    return bool(await session.rowcount(delete(_KEYS).where(_KEYS.c.name == name)))


async def note_use(session: Session, name: str, at: datetime) -> None:
    """Record when the key of the till with this name was last used."""
    await session.rowcount(update(_KEYS).where(_KEYS.c.name == name).values(last_used_at=at))
