"""The keys that sign tokens of the built-in issuer, as the database keeps them: encrypted where a passphrase is set.

An encrypted key is PEM of PKCS #8 as every tool reads it; the passphrase is the service's setting `--key-passphrase`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from promenade.errors import Unavailable
from promenade.store.access import clients as access
from promenade.store.driver.unit import Database, Session


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key of the issuer as PEM; retired keys still verify but do not sign."""

    key_id: str
    algorithm: str
    private_key: str
    created_at: datetime
    retired_at: datetime | None = None

    @property
    def is_encrypted(self) -> bool:
        """Whether ``private_key`` can only be read with a passphrase."""
        return is_encrypted(self.private_key)


def is_encrypted(pem: str) -> bool:
    """Return whether a private key as PEM can only be read with a passphrase."""
    return pem.startswith("-----BEGIN ENCRYPTED")


def encrypted(pem: str, passphrase: str | None) -> str:
    """Return a private key as PEM that only the passphrase opens; as it is without one."""
    return pem if passphrase is None or is_encrypted(pem) else _written(pem, None, passphrase)


def decrypted(pem: str, passphrase: str | None) -> str:
    """Return a private key as PEM that needs no passphrase. Raises Unavailable (KEYS_UNREADABLE)."""
    if not is_encrypted(pem):
        return pem
    try:
        if passphrase is None:
            raise ValueError("there is none")
        return _written(pem, passphrase, None)
    except ValueError as error:
        message = "A private key cannot be read: --key-passphrase is missing or wrong."
        raise Unavailable("KEYS_UNREADABLE", message) from error


def _written(pem: str, known: str | None, wanted: str | None) -> str:
    key = load_pem_private_key(pem.encode("ascii"), None if known is None else known.encode("utf-8"))
    how = NoEncryption() if wanted is None else BestAvailableEncryption(wanted.encode("utf-8"))
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how).decode("ascii")


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


async def encrypt_signing_keys(database: Database, keys: Sequence[SigningKey], passphrase: str) -> None:
    """Encrypt those of ``keys`` that are stored without a passphrase. Whoever does it last wins; all can be read."""
    made = {key.key_id: encrypted(key.private_key, passphrase) for key in keys if not key.is_encrypted}

    async def work(session: Session) -> None:
        for key_id, pem in made.items():
            await access.replace_private_key(session, key_id, pem)

    if made:
        await database.write(work, system=True)
