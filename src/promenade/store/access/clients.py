"""Clients of the built-in token issuer, their authorization codes, and its signing keys.

These rows are read before a tenant is known. Every function needs a system session.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, delete, func, insert, or_, select, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

_CLIENTS = table("Clients")
_KEYS = table("signing_keys")
_CODES = table("authorization_codes")
_FIRST_KEY_LOCK = 7_310_001  # advisory lock: processes that start together create only one key


def digest_of(secret: str) -> str:
    """Return a secret as it is stored."""
    # A secret is 256 random bits: dictionary attacks are impossible, so a slow hash would only add load.
    return hashlib.sha256(secret.encode("utf-8")).hexdigest()


def secret_of(new_id: Callable[[], str]) -> str:
    """Return a new secret: two random UUIDs, which are 244 bits, in 43 characters that fit an address."""
    seed = bytes.fromhex(f"{new_id()}{new_id()}".replace("-", ""))
    return base64.urlsafe_b64encode(seed).decode().rstrip("=")


async def insert_client(session: Session, row: Mapping[str, Any]) -> None:
    """Insert a client."""
    await session.rowcount(insert(_CLIENTS), row)


async def find_client(session: Session, client_id: str) -> Row[Any] | None:
    """Return the client, or None if it does not exist or is switched off."""
    statement = select(_CLIENTS).where(_CLIENTS.c.client_id == client_id, _CLIENTS.c.is_active)
    rows = await session.execute(statement)
    return rows[0] if rows else None


async def read_clients(session: Session, tenant_id: str | None) -> Sequence[Row[Any]]:
    """Return all clients, or those of one tenant, oldest first."""
    statement = select(_CLIENTS)
    if tenant_id is not None:
        statement = statement.where(_CLIENTS.c.tenant_id == tenant_id)
    return await session.execute(statement.order_by(_CLIENTS.c.created_at, _CLIENTS.c.client_id))


async def change_client(session: Session, client_id: str, values: Mapping[str, Any], *, keeps_former: bool) -> bool:
    """Change a client; ``keeps_former``: its present secret becomes the former one. Return whether it exists."""
    former = _CLIENTS.c.secret_digest if keeps_former else None
    statement = update(_CLIENTS).where(_CLIENTS.c.client_id == client_id)
    changed = statement.values(former_digest=former, version=_CLIENTS.c.version + 1, **values)
    return bool(await session.rowcount(changed))


async def note_use(session: Session, client_id: str, at: datetime) -> None:
    """Record when a client last got a token."""
    await session.rowcount(update(_CLIENTS).where(_CLIENTS.c.client_id == client_id).values(last_used_at=at))


async def delete_client(session: Session, client_id: str) -> bool:
    """Delete a client and return whether it existed."""
    return bool(await session.rowcount(delete(_CLIENTS).where(_CLIENTS.c.client_id == client_id)))


async def read_keys(session: Session, *, retired_after: datetime) -> Sequence[Row[Any]]:
    """Return the active signing keys and those retired after ``retired_after``, newest first."""
    statement = (
        select(_KEYS)
        .where(or_(_KEYS.c.retired_at.is_(None), _KEYS.c.retired_at > retired_after))
        .order_by(_KEYS.c.created_at.desc(), _KEYS.c.kid)
    )
    return await session.execute(statement)


async def signs_already(session: Session) -> bool:
    """Return whether an active signing key exists, serializing concurrent callers until the transaction ends."""
    if session.dialect == "postgresql":
        await session.execute(select(func.pg_advisory_xact_lock(_FIRST_KEY_LOCK)))
    return bool(await session.execute(select(_KEYS.c.kid).where(_KEYS.c.retired_at.is_(None))))


async def retire_keys(session: Session, at: datetime) -> None:
    """Retire all active signing keys."""
    await session.rowcount(update(_KEYS).where(_KEYS.c.retired_at.is_(None)).values(retired_at=at))


async def delete_keys(session: Session, *, retired_until: datetime | None) -> None:
    """Delete the keys that were retired at ``retired_until`` or before; None: all retired keys."""
    retired = _KEYS.c.retired_at.is_not(None) if retired_until is None else _KEYS.c.retired_at <= retired_until
    await session.rowcount(delete(_KEYS).where(retired))


async def insert_key(session: Session, row: Mapping[str, Any]) -> None:
    """Insert a signing key."""
    await session.rowcount(insert(_KEYS), row)


async def replace_private_key(session: Session, key_id: str, pem: str) -> None:
    """Store a signing key in another form, such as encrypted."""
    await session.rowcount(update(_KEYS).where(_KEYS.c.kid == key_id).values(private_key=pem))


async def insert_code(session: Session, row: Mapping[str, Any]) -> None:
    """Insert an authorization code."""
    await session.rowcount(insert(_CODES), row)


async def take_code(session: Session, code_hash: str) -> Row[Any] | None:
    """Delete and return a code; of several concurrent callers only one gets it."""
    rows = await session.execute(delete(_CODES).where(_CODES.c.code_hash == code_hash).returning(*_CODES.c))
    return rows[0] if rows else None


async def delete_codes(session: Session, *, ended_by: datetime) -> None:
    """Delete the codes that expired unused."""
    await session.rowcount(delete(_CODES).where(_CODES.c.ends_at <= ended_by))
