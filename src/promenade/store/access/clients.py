"""Clients of the built-in token issuer, their authorization codes, and its signing keys.

These rows are read before a tenant is known. Every function needs a system session.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, and_, delete, func, insert, or_, select, update

from promenade.store.driver.schema import table
from promenade.store.driver.unit import Session

NO_SECRET = ""
"""Stored instead of a digest: no secret has it, so the client gets no token before it is enrolled."""

SPENT = ""
"""Stored in place of the challenge of an authorization code that was used: no verifier has it."""

_CLIENTS = table("Clients")
_TENANTS = table("Tenants")
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


_SINCE = func.coalesce(_CLIENTS.c.rotated_at, _CLIENTS.c.created_at)
"""Since when a client has its secret."""

_WITH_POLICY = select(
    *_CLIENTS.c, _TENANTS.c.secret_days, _TENANTS.c.secret_overlap_hours, _TENANTS.c.secret_grace_days
).join_from(_CLIENTS, _TENANTS, _TENANTS.c.tenant_id == _CLIENTS.c.tenant_id)


async def find_client(session: Session, client_id: str) -> Row[Any] | None:
    """Return the client with its tenant's policy of secrets; None: it does not exist or is switched off."""
    rows = await session.execute(_WITH_POLICY.where(_CLIENTS.c.client_id == client_id, _CLIENTS.c.is_active))
    return rows[0] if rows else None


async def read_client(session: Session, client_id: str) -> Row[Any] | None:
    """Return the same, whether or not it is switched off."""
    rows = await session.execute(_WITH_POLICY.where(_CLIENTS.c.client_id == client_id))
    return rows[0] if rows else None


async def read_clients(session: Session, tenant_id: str | None) -> Sequence[Row[Any]]:
    """Return all clients, or those of one tenant, with its policy of secrets, oldest first."""
    statement = _WITH_POLICY
    if tenant_id is not None:
        statement = statement.where(_CLIENTS.c.tenant_id == tenant_id)
    return await session.execute(statement.order_by(_CLIENTS.c.created_at, _CLIENTS.c.client_id))


async def change_client(session: Session, client_id: str, values: Mapping[str, Any], *, keeps_former: bool) -> bool:
    """Change a client; ``keeps_former``: its present secret becomes the former one. Return whether it exists."""
    former = _CLIENTS.c.secret_digest if keeps_former else None
    statement = update(_CLIENTS).where(_CLIENTS.c.client_id == client_id)
    changed = statement.values(former_digest=former, version=_CLIENTS.c.version + 1, **values)
    return bool(await session.rowcount(changed))


async def withdraw_tokens(session: Session, client_id: str, at: datetime) -> Row[Any] | None:
    """Refuse all tokens that a client got before; return the client, None if it does not exist or is switched off."""
    statement = update(_CLIENTS).where(_CLIENTS.c.client_id == client_id)
    await session.rowcount(statement.values(tokens_from=at, version=_CLIENTS.c.version + 1))
    return await find_client(session, client_id)


async def replace_secret(session: Session, client_id: str, version: int, values: Mapping[str, Any]) -> bool:
    """Change the secret of a client of the session's tenant; False: it was changed since it was of this version."""
    statement = update(_CLIENTS).where(_CLIENTS.c.client_id == client_id, _CLIENTS.c.version == version)
    return bool(await session.rowcount(statement.values(version=_CLIENTS.c.version + 1, **values)))


async def ids_by_code(session: Session, codes: Collection[str]) -> Mapping[str, str]:
    """Return the IDs of the tenant's clients with these codes, by code."""
    asked = select(_CLIENTS.c.code, _CLIENTS.c.id).where(_CLIENTS.c.code.in_(codes))
    return {row.code: row.id for row in await session.execute(asked)}


async def codes_without_access(session: Session, at: datetime) -> Sequence[str]:
    """Return the codes of the tenant's active clients that have neither a secret nor an enrolment code, in order."""
    has_none = or_(_CLIENTS.c.enrolment_until.is_(None), _CLIENTS.c.enrolment_until <= at)
    conditions = (_CLIENTS.c.secret_digest == NO_SECRET, _CLIENTS.c.is_active, has_none, _CLIENTS.c.code.is_not(None))
    rows = await session.execute(select(_CLIENTS.c.code).where(*conditions).order_by(_CLIENTS.c.code))
    return [row.code for row in rows]


async def count_older(session: Session, since: datetime) -> int:
    """Return how many active clients of the session's tenant have a secret from this time or before."""
    conditions = (_CLIENTS.c.is_active, _CLIENTS.c.secret_digest != NO_SECRET, since >= _SINCE)
    asked = select(func.count()).select_from(_CLIENTS).where(_CLIENTS.c.tenant_id == session.tenant, *conditions)
    return int((await session.execute(asked))[0][0])


async def count_overdue(session: Session, at: datetime, limit: int) -> int:
    """Return how many active clients of all tenants have a secret that is older than their tenant allows.

    At most ``limit``, in two statements however many tenants there are; needs a system session.
    """
    asked = select(_TENANTS.c.secret_days).where(_TENANTS.c.secret_days.is_not(None)).distinct()
    ages = [row[0] for row in await session.execute(asked)]
    if not ages:
        return 0
    older = or_(*(and_(_TENANTS.c.secret_days == one, at - timedelta(days=one) >= _SINCE) for one in ages))
    joined = _CLIENTS.join(_TENANTS, _TENANTS.c.tenant_id == _CLIENTS.c.tenant_id)
    found = select(_CLIENTS.c.id).select_from(joined).where(
        _CLIENTS.c.is_active, _CLIENTS.c.secret_digest != NO_SECRET, older
    ).limit(limit).subquery()  # fmt: skip
    return int((await session.execute(select(func.count()).select_from(found)))[0][0])


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


async def find_code(session: Session, code_hash: str) -> Row[Any] | None:
    """Return an authorization code; its challenge is `SPENT` if it was used."""
    rows = await session.execute(select(_CODES).where(_CODES.c.code_hash == code_hash))
    return rows[0] if rows else None


async def spend_code(session: Session, code_hash: str, kept_until: datetime) -> bool:
    """Mark a code as used, and keep it for so long; of several concurrent callers only one gets True."""
    unused = (_CODES.c.code_hash == code_hash, _CODES.c.challenge != SPENT)
    return bool(await session.rowcount(update(_CODES).where(*unused).values(challenge=SPENT, ends_at=kept_until)))


async def delete_code(session: Session, code_hash: str) -> bool:
    """Delete a code; return whether it was there."""
    return bool(await session.rowcount(delete(_CODES).where(_CODES.c.code_hash == code_hash)))


async def delete_codes(session: Session, *, ended_by: datetime) -> None:
    """Delete the codes that expired unused, and used ones that nobody needs to recognize any more."""
    await session.rowcount(delete(_CODES).where(_CODES.c.ends_at <= ended_by))
