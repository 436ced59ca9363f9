"""The single row of `local_store`: the store's identity, the tills' API key, and its administrator's password.

Every function needs a system session. In the cloud the table is empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import insert, select, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_STORE = table("local_store")
_NAME = "store"


@dataclass(frozen=True, slots=True)
class StoreRow:
    """A store: its only tenant, its own ID, the tills' key, and the hash of its administrator's password.

    The key has 64 hexadecimal digits. The hash is Argon2; None: setup is open.
    """

    tenant_id: str
    instance_id: str
    api_key: str
    password_hash: str | None = None
    password_changed_at: datetime | None = None


async def read_store(session: Session) -> StoreRow | None:
    """Return the store's row; None: the database is not a store's, or not yet."""
    rows = await session.execute(select(_STORE).where(_STORE.c.name == _NAME))
    if not rows:
        return None
    row = rows[0]
    return StoreRow(row.tenant_id, row.instance_id, row.api_key, row.password_hash, row.password_changed_at)


async def read_store_tenant(session: Session) -> str | None:
    """Return the only tenant of a store's database; None: it is not a store's."""
    store = await read_store(session)
    return None if store is None else store.tenant_id


async def insert_store(session: Session, store: StoreRow, at: datetime) -> None:
    """Insert the row."""
    row = {
        "name": _NAME,
        "tenant_id": store.tenant_id,
        "instance_id": store.instance_id,
        "api_key": store.api_key,
        "password_hash": store.password_hash,
        "password_changed_at": store.password_changed_at,
        "created_at": at,
    }
    await session.rowcount(insert(_STORE), row)


async def set_api_key(session: Session, api_key: str) -> bool:
    """Replace the API key; return whether this is a store."""
    return bool(await session.rowcount(update(_STORE).where(_STORE.c.name == _NAME).values(api_key=api_key)))


async def set_first_password(session: Session, password_hash: str, at: datetime) -> bool:
    """Set the password if there is none; return whether it was set."""
    unset = update(_STORE).where(_STORE.c.name == _NAME, _STORE.c.password_hash.is_(None))
    return bool(await session.rowcount(unset.values(password_hash=password_hash, password_changed_at=at)))


async def replace_password(session: Session, former_hash: str, password_hash: str, at: datetime) -> bool:
    """Replace the password if it still has this hash; return whether it had."""
    same = update(_STORE).where(_STORE.c.name == _NAME, _STORE.c.password_hash == former_hash)
    return bool(await session.rowcount(same.values(password_hash=password_hash, password_changed_at=at)))


async def set_password(session: Session, password_hash: str | None, at: datetime) -> bool:
    """Replace the password, or remove it (None); return whether this is a store."""
    row = update(_STORE).where(_STORE.c.name == _NAME)
    return bool(await session.rowcount(row.values(password_hash=password_hash, password_changed_at=at)))
