"""Clients of the built-in token issuer, and its signing keys."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from promenade.errors import Invalid, NotFound
from promenade.store.access import clients as access
from promenade.store.access.tenants import tenant_is_known
from promenade.store.driver.unit import Database, Session

SCOPES = (
    "svc.POSReader",
    "svc.PromotionManager",
    "svc.BudgetManager",
    "svc.Admin",
    "svc.Sync",
    "PublicApi.Read",
    "PublicApi.Write",
)


@dataclass(frozen=True, slots=True)
class Client:
    """A client that may request tokens for one tenant, with at most these scopes."""

    client_id: str
    tenant_id: str
    scopes: tuple[str, ...]
    name: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key of the issuer as PEM; retired keys still verify but do not sign."""

    key_id: str
    algorithm: str
    private_key: str
    created_at: datetime
    retired_at: datetime | None = None


def _digest(secret: str) -> str:
    # A secret is 256 random bits: dictionary attacks are impossible, so a slow hash would only add load.
    return hashlib.sha256(secret.encode("utf-8")).hexdigest()


async def create_client(
    database: Database,
    *,
    client_id: str,
    secret: str,
    tenant_id: str,
    scopes: Sequence[str],
    at: datetime,
    name: str | None = None,
) -> Client:
    """Store a client with only a digest of ``secret``, which must be 256 random bits or equally strong.

    Raises NotFound (TENANT_NOT_FOUND) and Invalid (UNKNOWN_SCOPE).
    """
    unknown = [scope for scope in scopes if scope not in SCOPES]
    if unknown or not scopes:
        given = f"{unknown[0]} is not a scope" if unknown else "A client needs a scope"
        raise Invalid("UNKNOWN_SCOPE", f"{given}; the scopes are {', '.join(SCOPES)}.", "scope")
    client = Client(client_id, tenant_id, tuple(dict.fromkeys(scopes)), name, at)

    async def work(session: Session) -> None:
        await _require_tenant(session, tenant_id)
        row = {
            "client_id": client_id,
            "tenant_id": tenant_id,
            "name": name,
            "secret_hash": _digest(secret),
            "scopes": list(client.scopes),
            "created_at": at,
        }
        await access.insert_client(session, row)

    await database.write(work, system=True)
    return client


async def authenticate_client(database: Database, client_id: str, secret: str) -> Client | None:
    """Return the client with this secret, or None; takes the same time for an unknown client and a wrong secret."""

    async def work(session: Session) -> tuple[Client, str] | None:
        # PostgreSQL stores no NUL and refuses it in a query.
        row = None if "\0" in client_id else await access.find_client(session, client_id)
        return None if row is None else (client_of(row), row.secret_hash)

    found = await database.read(work, system=True)
    expected = found[1] if found else _digest("")
    matches = hmac.compare_digest(expected.encode("ascii"), _digest(secret).encode("ascii"))
    return found[0] if found and matches else None


async def list_clients(database: Database, tenant_id: str | None = None) -> list[Client]:
    """Return all clients, or those of one tenant, oldest first."""

    async def work(session: Session) -> list[Client]:
        return [client_of(row) for row in await access.read_clients(session, tenant_id)]

    return await database.read(work, system=True)


async def delete_client(database: Database, client_id: str) -> None:
    """Delete a client: it gets no more tokens; existing ones expire by themselves. Raises NotFound."""

    async def work(session: Session) -> None:
        if not await access.delete_client(session, client_id):
            raise NotFound("CLIENT_NOT_FOUND", f"There is no client {client_id}.")

    await database.write(work, system=True)


def client_of(row: Any) -> Client:
    """Return the client of a row of the table `clients`."""
    return Client(row.client_id, row.tenant_id, tuple(row.scopes), row.name, row.created_at)


async def _require_tenant(session: Session, tenant_id: str) -> None:
    if not await tenant_is_known(session, tenant_id):
        text = f"There is no tenant {tenant_id}: create it with `promenade tenant create {tenant_id}`."
        raise NotFound("TENANT_NOT_FOUND", text, "tenant")


# ---- signing keys ---------------------------------------------------------------------------------------------------


async def list_signing_keys(database: Database, *, token_seconds: int, at: datetime) -> list[SigningKey]:
    """Return the keys that may still verify a token, newest first; the first that is not retired signs."""
    cutoff = at - timedelta(seconds=token_seconds)

    async def work(session: Session) -> list[SigningKey]:
        rows = await access.read_keys(session, retired_after=cutoff)
        return [SigningKey(row.kid, row.algorithm, row.private_key, row.created_at, row.retired_at) for row in rows]

    return await database.read(work, system=True)


async def add_first_signing_key(database: Database, key: SigningKey) -> None:
    """Store ``key`` unless a signing key exists, so that processes started together use the same one."""

    async def work(session: Session) -> None:
        if not await access.signs_already(session):
            await _insert_key(session, key)

    await database.write(work, system=True)


async def rotate_signing_key(database: Database, key: SigningKey, *, token_seconds: int) -> None:
    """Sign with ``key`` from now on; earlier keys verify until their last tokens have expired.

    ``token_seconds`` is the lifetime of tokens; 0: earlier keys are deleted, and their tokens become invalid.
    """
    cutoff = key.created_at - timedelta(seconds=token_seconds) if token_seconds else None

    async def work(session: Session) -> None:
        await access.retire_keys(session, key.created_at)
        await access.delete_keys(session, retired_until=cutoff)
        await _insert_key(session, key)

    await database.write(work, system=True)


async def _insert_key(session: Session, key: SigningKey) -> None:
    row = {
        "kid": key.key_id,
        "algorithm": key.algorithm,
        "private_key": key.private_key,
        "created_at": key.created_at,
        "retired_at": None,
    }
    await access.insert_key(session, row)
