"""Clients of the built-in token issuer, their codes and its signing keys: rows that are read before a tenant is known.

Every function needs a system session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, func, insert, or_, select, update

from promenade.store.schema import table
from promenade.store.unit import Session

__all__ = [
    "delete_client",
    "delete_codes",
    "delete_keys",
    "find_client",
    "insert_client",
    "insert_code",
    "insert_key",
    "read_clients",
    "read_keys",
    "retire_keys",
    "signs_already",
    "take_code",
]

_CLIENTS = table("clients")
_KEYS = table("signing_keys")
_CODES = table("authorization_codes")
_FIRST_KEY_LOCK = 7_310_001  # advisory lock: processes that start together make one key


async def insert_client(session: Session, row: Mapping[str, Any]) -> None:
    """Add a client."""
    await session.rowcount(insert(_CLIENTS), row)


async def find_client(session: Session, client_id: str) -> Row[Any] | None:
    """The client, unless it was disabled."""
    statement = select(_CLIENTS).where(_CLIENTS.c.client_id == client_id, _CLIENTS.c.disabled_at.is_(None))
    rows = await session.execute(statement)
    return rows[0] if rows else None


async def read_clients(session: Session, tenant_id: str | None) -> Sequence[Row[Any]]:
    """All clients that are not disabled, or those of one tenant, oldest first."""
    statement = select(_CLIENTS).where(_CLIENTS.c.disabled_at.is_(None))
    if tenant_id is not None:
        statement = statement.where(_CLIENTS.c.tenant_id == tenant_id)
    return await session.execute(statement.order_by(_CLIENTS.c.created_at, _CLIENTS.c.client_id))


async def delete_client(session: Session, client_id: str) -> bool:
    """Remove a client; whether there was one."""
    return bool(await session.rowcount(delete(_CLIENTS).where(_CLIENTS.c.client_id == client_id)))


async def read_keys(session: Session, *, retired_after: datetime) -> Sequence[Row[Any]]:
    """Keys that sign, and those retired since ``retired_after``; newest first."""
    statement = (
        select(_KEYS)
        .where(or_(_KEYS.c.retired_at.is_(None), _KEYS.c.retired_at > retired_after))
        .order_by(_KEYS.c.created_at.desc(), _KEYS.c.kid)
    )
    return await session.execute(statement)


async def signs_already(session: Session) -> bool:
    """Whether there is a key that signs; until the transaction ends nobody else gets an answer."""
    if session.dialect == "postgresql":
        await session.execute(select(func.pg_advisory_xact_lock(_FIRST_KEY_LOCK)))
    return bool(await session.execute(select(_KEYS.c.kid).where(_KEYS.c.retired_at.is_(None))))


async def retire_keys(session: Session, at: datetime) -> None:
    """Let no key there is sign any more."""
    await session.rowcount(update(_KEYS).where(_KEYS.c.retired_at.is_(None)).values(retired_at=at))


async def delete_keys(session: Session, *, retired_until: datetime | None) -> None:
    """Forget the keys that were retired at ``retired_until`` or before; None: whenever they were."""
    retired = _KEYS.c.retired_at.is_not(None) if retired_until is None else _KEYS.c.retired_at <= retired_until
    await session.rowcount(delete(_KEYS).where(retired))


async def insert_key(session: Session, row: Mapping[str, Any]) -> None:
    """Add a key."""
    await session.rowcount(insert(_KEYS), row)


async def insert_code(session: Session, row: Mapping[str, Any]) -> None:
    """Add a code."""
    await session.rowcount(insert(_CODES), row)


async def take_code(session: Session, code_hash: str) -> Row[Any] | None:
    """Remove a code; of several who ask for one at once a single one is given it."""
    rows = await session.execute(delete(_CODES).where(_CODES.c.code_hash == code_hash).returning(*_CODES.c))
    return rows[0] if rows else None


async def delete_codes(session: Session, *, ended_by: datetime) -> None:
    """Forget the codes that nobody came for."""
    await session.rowcount(delete(_CODES).where(_CODES.c.ends_at <= ended_by))
